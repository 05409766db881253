//! The last messages and answers of a session, shown again when a person resumes it.

use windlass_vocab::{Envelope, Record};

use crate::output::harmless_lines;

/// Messages and answers shown, and lines of each.
const SAID: usize = 4;
const LINES: usize = 6;

/// Returns the last few messages and answers; empty if there are none.
pub(crate) fn recap(records: &[Envelope], prompt: &str) -> String {
    let said = records.iter().rev().filter_map(|envelope| match &envelope.record {
        Record::MessageAccepted(message) => Some(shortened(&message.text, prompt)),
        Record::RunEnded(ended) if !ended.answer.trim().is_empty() => Some(shortened(&ended.answer, "")),
        _ => None,
    });
    let mut last: Vec<String> = said.take(SAID).collect();
    last.reverse();
    last.concat()
}

fn shortened(text: &str, prompt: &str) -> String {
    let text = harmless_lines(text.trim());
    let mut lines: Vec<&str> = text.lines().take(LINES + 1).collect();
    if lines.len() > LINES {
        lines[LINES] = "…";
    }
    format!("{prompt}{}\n", lines.join("\n"))
}
