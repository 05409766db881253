//! The last messages and answers of a session, shown again when a person resumes it.

use windlass_vocab::{Envelope, Record};

use super::console::dimmed;
use crate::output::harmless_lines;
use crate::screen::{TerminalLook, rendered_answer};

/// Messages and answers shown, and lines of each.
const SAID: usize = 4;
const LINES: usize = 6;

/// Returns the last few messages, dimmed, and answers, rendered as when they arrived; empty if there are none.
pub(crate) fn recap(records: &[Envelope], prompt: &str, look: TerminalLook) -> String {
    let said = records.iter().rev().filter_map(|envelope| match &envelope.record {
        Record::MessageAccepted(message) => {
            let text = harmless_lines(message.text.trim());
            let lines = shortened(text.lines().map(str::to_owned));
            Some(dimmed(&format!("{prompt}{lines}\n"), look.colour))
        }
        Record::RunEnded(ended) if !ended.answer.trim().is_empty() => {
            Some(shortened(rendered_answer(ended.answer.trim(), look)) + "\n")
        }
        _ => None,
    });
    let mut last: Vec<String> = said.take(SAID).collect();
    last.reverse();
    last.concat()
}

fn shortened(lines: impl IntoIterator<Item = String>) -> String {
    let mut lines: Vec<String> = lines.into_iter().take(LINES + 1).collect();
    if lines.len() > LINES {
        lines[LINES] = "…".to_owned();
    }
    lines.join("\n")
}
