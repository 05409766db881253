//! Progress: a line per thing that happens, to clients that gave a token for it.

use std::collections::BTreeMap;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use windlass::Event;
use windlass_vocab::{CallFinished, CallId, CallRequested, DeltaBody, Envelope, ModelReplied, Part, Record};

use super::client::Client;
use crate::output::show_call;
use crate::output::wording::{self, TEXT, took};
use crate::output::{ToldRetry, harmless_line, short_line};

/// After so long a silence the last line is told again: many clients give up on a call that shows no
/// sign of life.
const PULSE: Duration = Duration::from_secs(15);

/// Where lines go.
pub(super) struct Progress(Option<(mpsc::UnboundedSender<String>, JoinHandle<()>)>);

impl Progress {
    pub(super) fn to(client: &Client) -> Self {
        Self(client.progress.clone().map(|token| {
            let (lines, told) = mpsc::unbounded_channel();
            (lines, tokio::spawn(tell(told, client.peer.clone(), token)))
        }))
    }

    pub(super) fn say(&self, line: &str) {
        if let Some((lines, _)) = &self.0 {
            // Nobody listens once the client is gone.
            let _ = lines.send(harmless_line(line));
        }
    }

    /// Waits until everything is told: no progress comes after the answer.
    pub(super) async fn finish(self) {
        if let Some((lines, telling)) = self.0 {
            drop(lines);
            let _ = telling.await;
        }
    }
}

async fn tell(mut lines: mpsc::UnboundedReceiver<String>, peer: Peer<RoleServer>, token: ProgressToken) {
    let (mut count, mut last) = (0.0, String::new());
    loop {
        tokio::select! {
            line = lines.recv() => match line {
                Some(line) => last = line,
                None => return,
            },
            () = tokio::time::sleep(PULSE) => {}
        }
        count += 1.0;
        let told = ProgressNotificationParam::new(token.clone(), count).with_message(last.clone());
        if peer.notify_progress(told).await.is_err() {
            return;
        }
    }
}

/// What a person is told of events.
#[derive(Default)]
pub(super) struct Telling {
    /// Calls on the way, as they are shown.
    calls: BTreeMap<CallId, String>,
    told_retry: ToldRetry,
}

impl Telling {
    /// Takes in what was asked for before.
    pub(super) fn recall(&mut self, call: &CallRequested) {
        self.calls.insert(call.call, show_call(wording::tool_name(call), &call.arguments));
    }

    /// The line an event is worth.
    pub(super) fn line(&mut self, event: &Event) -> Option<String> {
        match event {
            Event::Record(envelope) => self.record(envelope),
            // Words as they come are not progress, and there are many.
            Event::Delta(delta) => match &delta.body {
                DeltaBody::Waiting { wait, .. } => Some(wording::waiting(wait)),
                DeltaBody::TextDelta { .. }
                | DeltaBody::ThinkingStarted {}
                | DeltaBody::ThinkingEnded {}
                | DeltaBody::ThinkingDelta { .. }
                | DeltaBody::CallDelta { .. }
                | DeltaBody::Cleared {} => None,
            },
        }
    }

    fn record(&mut self, envelope: &Envelope) -> Option<String> {
        if self.told_retry.repeats(&envelope.record) {
            return None;
        }
        match &envelope.record {
            Record::CallRequested(call) => {
                self.recall(call);
                None
            }
            Record::TurnStarted(started) => Some(format!("turn {}: waiting for the model", started.turn)),
            Record::CallStarted(started) => self.calls.get(&started.call).map(|shown| format!("running {shown}")),
            Record::CallFinished(finished) => Some(self.finished(finished)),
            Record::ModelReplied(reply) => beside_calls(reply),
            Record::AttemptFailed(attempt) => wording::attempt_failed(attempt, envelope),
            Record::Nudged(nudge) => Some(wording::nudged(nudge)),
            Record::ToolWithheld(tool) => Some(wording::withheld(tool)),
            Record::RunResumed(_) => Some(wording::RESUMED.to_owned()),
            Record::Compacted(compacted) => Some(wording::compacted(compacted).to_owned()),
            Record::CancelAsked(asked) => Some(wording::cancel_asked(asked).to_owned()),
            Record::QuestionAsked(asked) => {
                let title = asked.preview.as_ref().map_or("a question", |preview| preview.title.as_str());
                Some(format!("asking: {}", short_line(title, TEXT)))
            }
            Record::SessionOpened(_)
            | Record::SessionChanged(_)
            | Record::LeaseTaken(_)
            | Record::MessageAccepted(_)
            | Record::RunStarted(_)
            | Record::ContextPinned(_)
            | Record::CallPaused(_)
            | Record::CallSettled(_)
            | Record::QuestionAnswered(_)
            | Record::PlanChanged(_)
            | Record::SnapshotTaken(_)
            | Record::FilesChanged(_)
            | Record::UndoStarted(_)
            | Record::Undone(_)
            | Record::RunEnded(_)
            | Record::Unknown(_) => None,
        }
    }

    fn finished(&mut self, call: &CallFinished) -> String {
        let shown = self.calls.remove(&call.call).unwrap_or_else(|| format!("call {}", call.call));
        let line = format!("{shown} {}", took(call.took_ms));
        match wording::problem_of(call) {
            Some((problem, detail)) if detail.is_empty() => format!("{line}, {problem}"),
            Some((problem, detail)) => format!("{line}, {problem}: {detail}"),
            None => line,
        }
    }
}

/// Text beside calls is progress, not the answer.
fn beside_calls(reply: &ModelReplied) -> Option<String> {
    if !reply.parts.iter().any(|part| matches!(part, Part::Call { .. })) {
        return None;
    }
    let said: Vec<&str> = reply
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Text { text } if !text.trim().is_empty() => Some(text.trim()),
            Part::Text { .. } | Part::Thinking { .. } | Part::Call { .. } => None,
        })
        .collect();
    (!said.is_empty()).then(|| short_line(&said.join(" "), TEXT))
}
