//! Progress notifications: one line per event, to clients that gave a token for it.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use windlass::Event;
use windlass_narrate::{Narrator, Tone, harmless_line, short_line};

use super::client::Client;
use crate::output::advice::for_call;

/// After so long a silence the last line is sent again: many clients time out a call that shows no progress.
const PULSE: Duration = Duration::from_secs(15);

/// Characters of a question's first line.
const QUESTION: usize = 200;

/// Sends lines to the client, if it wants progress.
pub(super) struct ClientProgress(Option<(mpsc::UnboundedSender<String>, JoinHandle<()>)>);

impl ClientProgress {
    pub(super) fn to(client: &Client) -> Self {
        Self(client.progress.clone().map(|token| {
            let (lines, told) = mpsc::unbounded_channel();
            (lines, tokio::spawn(forward(told, client.peer.clone(), token)))
        }))
    }

    pub(super) fn send(&self, line: &str) {
        if let Some((lines, _)) = &self.0 {
            // Fails harmlessly once the client is gone.
            let _ = lines.send(harmless_line(line));
        }
    }

    /// Waits until every line is sent, so that no progress follows the answer.
    pub(super) async fn finish(self) {
        if let Some((lines, telling)) = self.0 {
            drop(lines);
            let _ = telling.await;
        }
    }
}

async fn forward(mut lines: mpsc::UnboundedReceiver<String>, peer: Peer<RoleServer>, token: ProgressToken) {
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

/// The lines that are told of an event. What the client is asked for and answers it sees itself, and words as they come
/// are not progress: there are many.
pub(super) fn progress_lines(narrator: &mut Narrator, event: &Event) -> Vec<String> {
    let lines = narrator.event(event).into_iter();
    lines
        .filter_map(|line| match line.tone {
            Tone::Passing | Tone::Delay | Tone::Quiet | Tone::Plain | Tone::Failure => {
                let remedy = line.remedy.as_ref().map(|remedy| format!(" ({})", for_call(remedy).join(" ")));
                Some(format!("{line}{}", remedy.unwrap_or_default()))
            }
            // A preview may have many lines.
            Tone::Question => line.to_string().lines().next().map(|first| short_line(first, QUESTION)),
            Tone::Bookkeeping
            | Tone::Said
            | Tone::Answer
            | Tone::Step(_)
            | Tone::Added
            | Tone::Removed
            | Tone::Note => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use windlass_narrate::{Detail, Narrator};
    use windlass_vocab::{
        OutcomeKind, Preview, QuestionAsked, QuestionId, QuestionKind, QuestionOption, Record, TurnId,
    };

    use super::progress_lines;
    use crate::sample::{call, event, finished, requested};

    // proves P5: each event is one line of progress, however long a preview or a change is
    #[test]
    fn a_question_is_told_by_its_first_line_and_a_change_is_not_told() {
        let edit = requested(0, "local.edit_file", r#"{"new_text":"b","old_text":"a","path":"f"}"#);
        let asked = QuestionAsked {
            question: QuestionId(1),
            kind: QuestionKind::Approval { call: call(0) },
            preview: Some(Preview { title: "edit f".into(), body: "-a\n+b".into(), rule: None }),
            options: vec![QuestionOption::No],
            expires: None,
            default: QuestionOption::No,
            elicitation: None,
            because: None,
        };
        let records: [Record; 3] = [edit.into(), asked.into(), finished(0, OutcomeKind::Ok, "", 3).into()];
        let mut narrator = Narrator::new(Detail::Brief);
        let lines = records.into_iter().flat_map(|record| progress_lines(&mut narrator, &event(TurnId(1), record)));
        assert_eq!(lines.collect::<Vec<_>>(), ["asks: edit f", "edit_file f 3 ms"]);
    }
}
