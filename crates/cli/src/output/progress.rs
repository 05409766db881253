//! Progress on standard error: one line per finished call, retry, nudge or question, and on a
//! terminal one live line that shows what the model is writing.

use std::collections::BTreeMap;
use std::io::Write;

use windlass_vocab::{
    AttemptFailed, CallFinished, CallId, CallRequested, CancelAsked, CompactionMethod, Delta, DeltaBody, Envelope,
    Event, Json, ModelReplied, NextAttempt, NudgeCause, OutcomeKind, Part, Record, StopBy,
};

use super::{Stream, harmless_line, short_line};

/// Characters of a call's arguments, of a text beside calls, and of the live line.
const ARGUMENTS: usize = 100;
const TEXT: usize = 200;
const LIVE: usize = 70;

/// Writes progress; what can't be written is lost, the run goes on.
#[derive(Debug)]
pub struct Progress<W: Write> {
    out: W,
    stream: Stream,
    /// Calls on the way, as they are shown.
    calls: BTreeMap<CallId, String>,
    /// The end of what the model is writing; on a terminal it stands on the screen.
    live: String,
}

#[derive(Clone, Copy)]
enum Weight {
    Plain,
    Dim,
}

impl<W: Write> Progress<W> {
    /// Progress to `out`.
    pub fn new(out: W, stream: Stream) -> Self {
        Self { out, stream, calls: BTreeMap::new(), live: String::new() }
    }

    /// Shows an event, if it is worth a line.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::Record(envelope) => self.record(envelope),
            Event::Delta(delta) => self.delta(delta),
        }
    }

    /// Shows one line.
    pub fn line(&mut self, text: &str) {
        self.print(Weight::Plain, text);
    }

    fn record(&mut self, envelope: &Envelope) {
        match &envelope.record {
            Record::CallRequested(call) => self.requested(call),
            Record::CallStarted(call) => {
                if let (Some(shown), Some(arguments)) = (self.calls.get_mut(&call.call), &call.arguments) {
                    let name = shown.split('(').next().unwrap_or_default();
                    *shown = show_call(name, arguments);
                }
            }
            Record::CallFinished(call) => self.finished(call),
            Record::AttemptFailed(attempt) => self.attempt_failed(attempt, envelope),
            Record::ModelReplied(reply) => self.replied(reply),
            Record::Nudged(nudge) => {
                let why = if nudge.evidence.is_empty() { nudge_cause(nudge.why) } else { &nudge.evidence };
                self.print(Weight::Dim, &format!("sent on: {}", short_line(why, TEXT)));
            }
            Record::ToolWithheld(tool) => {
                self.print(Weight::Plain, &format!("{} is withheld: {}", tool.tool, short_line(&tool.reason, TEXT)));
            }
            Record::RunResumed(_) => self.print(Weight::Dim, "going on with an unfinished run"),
            Record::Compacted(compacted) => {
                let what = match compacted.method {
                    CompactionMethod::Pruned => "the oldest turns are no longer sent",
                    CompactionMethod::Shrunk => "older results are sent shortened",
                };
                self.print(Weight::Dim, &format!("near the model's limit: {what}"));
            }
            Record::CancelAsked(CancelAsked { by: StopBy::Person }) => self.print(Weight::Plain, "stopping"),
            Record::CancelAsked(CancelAsked { by: StopBy::Deadline }) => {
                self.print(Weight::Plain, "stopping: the deadline is reached");
            }
            // Whoever can answer is asked elsewhere, on a clean line.
            Record::QuestionAsked(_) | Record::RunEnded(_) => self.erase_live(),
            Record::SessionOpened(_)
            | Record::SessionChanged(_)
            | Record::LeaseTaken(_)
            | Record::MessageAccepted(_)
            | Record::RunStarted(_)
            | Record::ContextPinned(_)
            | Record::TurnStarted(_)
            | Record::CallSettled(_)
            | Record::QuestionAnswered(_)
            | Record::PlanChanged(_)
            | Record::Unknown(_) => {}
        }
    }

    fn requested(&mut self, call: &CallRequested) {
        let name = call
            .tool
            .as_ref()
            .map_or(call.name.as_str(), |tool| if tool.server() == "local" { tool.bare() } else { tool.as_str() });
        self.calls.insert(call.call, show_call(name, &call.arguments));
    }

    fn finished(&mut self, call: &CallFinished) {
        let shown = self.calls.remove(&call.call).unwrap_or_else(|| format!("call {}", call.call));
        let took = took(call.took_ms);
        let from = if call.answered_from.is_some() { ", as before" } else { "" };
        let mut line = format!("{shown} {took}{from}");
        if let Some(problem) = outcome(call.outcome) {
            let detail = short_line(first_line(&call.text), TEXT);
            let colon = if detail.is_empty() { "" } else { ": " };
            line += &format!(", {problem}{colon}{detail}");
        }
        self.print(Weight::Plain, &line);
    }

    fn attempt_failed(&mut self, attempt: &AttemptFailed, envelope: &Envelope) {
        let next = match &attempt.next {
            NextAttempt::Retry { at } => format!("trying again in {}", took(at.ms_since(envelope.at))),
            NextAttempt::Model { model } => format!("trying {model} instead"),
            NextAttempt::Whole => "asking for the whole reply at once".into(),
            NextAttempt::Shorter => "trying again with a shorter history".into(),
            // The end of the run says it.
            NextAttempt::End => return,
        };
        let what = if attempt.failure.status == Some(429) { "rate limited" } else { &attempt.failure.message };
        self.print(Weight::Plain, &format!("{}; {next}", short_line(what.trim_end_matches('.'), TEXT)));
    }

    /// Text beside calls is progress, not the answer.
    fn replied(&mut self, reply: &ModelReplied) {
        self.erase_live();
        if !reply.parts.iter().any(|part| matches!(part, Part::Call { .. })) {
            return;
        }
        for part in &reply.parts {
            if let Part::Text { text } = part
                && !text.trim().is_empty()
            {
                self.print(Weight::Dim, &short_line(text.trim(), TEXT));
            }
        }
    }

    fn delta(&mut self, delta: &Delta) {
        let text = match &delta.body {
            DeltaBody::TextDelta { text } | DeltaBody::ThinkingDelta { text } | DeltaBody::CallDelta { text, .. } => {
                text
            }
            DeltaBody::Cleared {} => {
                self.erase_live();
                return;
            }
        };
        if self.stream == Stream::Terminal {
            self.live.push_str(&harmless_line(text));
            if let Some((start, _)) = self.live.char_indices().rev().nth(LIVE - 1) {
                self.live.drain(..start);
            }
            // Without wrapping (?7l): a second row would stay behind when the line is erased.
            let _ = write!(self.out, "\r\u{1b}[K\u{1b}[?7l\u{1b}[2m{}\u{1b}[0m\u{1b}[?7h", self.live);
            let _ = self.out.flush();
        }
    }

    fn erase_live(&mut self) {
        if !self.live.is_empty() {
            self.live.clear();
            let _ = write!(self.out, "\r\u{1b}[K");
            let _ = self.out.flush();
        }
    }

    fn print(&mut self, weight: Weight, text: &str) {
        self.erase_live();
        let text = harmless_line(text);
        let _ = match (self.stream, weight) {
            (Stream::Terminal, Weight::Dim) => writeln!(self.out, "\u{1b}[2m{text}\u{1b}[0m"),
            (Stream::Terminal, Weight::Plain) | (Stream::Piped, _) => writeln!(self.out, "{text}"),
        };
    }
}

/// `read_file(from=3, path=src/main.rs)`.
fn show_call(name: &str, arguments: &Json) -> String {
    let arguments = match arguments.to_value() {
        serde_json::Value::Object(members) => {
            let shown: Vec<_> = members
                .iter()
                .map(|(name, value)| match value {
                    serde_json::Value::String(text) => format!("{name}={}", short_line(text, ARGUMENTS)),
                    other => format!("{name}={other}"),
                })
                .collect();
            shown.join(", ")
        }
        other => other.to_string(),
    };
    format!("{}({})", short_line(name, ARGUMENTS), short_line(&arguments, ARGUMENTS))
}

fn first_line(text: &str) -> &str {
    text.trim().lines().next().unwrap_or_default()
}

fn took(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 if ms % 1_000 >= 100 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        1_000..60_000 => format!("{} s", ms / 1_000),
        60_000.. => format!("{} min {} s", ms / 60_000, ms / 1_000 % 60),
    }
}

/// What to call an outcome that is not a success.
const fn outcome(kind: OutcomeKind) -> Option<&'static str> {
    match kind {
        OutcomeKind::Ok => None,
        OutcomeKind::ToolError => Some("error"),
        OutcomeKind::InfrastructureError => Some("broken"),
        OutcomeKind::Unknown => Some("no such tool"),
        OutcomeKind::InvalidArguments => Some("wrong arguments"),
        OutcomeKind::Denied => Some("denied"),
        OutcomeKind::Cancelled => Some("cancelled"),
        OutcomeKind::TimedOut => Some("timed out"),
        OutcomeKind::Interrupted => Some("interrupted"),
    }
}

const fn nudge_cause(cause: NudgeCause) -> &'static str {
    use windlass_vocab::Nudge;
    match cause {
        NudgeCause::Reply(Nudge::Empty) => "the reply was empty",
        NudgeCause::Reply(Nudge::CutOff) => "the reply was cut off",
        NudgeCause::Reply(Nudge::Incomplete) => "the reply stopped half-way",
        NudgeCause::Reply(Nudge::Deflection) => "the reply handed the work back",
        NudgeCause::Reply(Nudge::NoToolCall) => "the reply called no tool",
        NudgeCause::ErrorTurns => "nothing but errors",
        NudgeCause::Cycle => "the model runs in circles",
        NudgeCause::TurnCap => "the turn cap is near",
        NudgeCause::Summarise => "empty replies in a row",
        NudgeCause::Halt => "asked to wrap up",
        NudgeCause::Misfit => "the answer did not fit its schema",
    }
}
