//! The plain summary of messages that are no longer sent, where no model wrote one (C5): the first words of each message,
//! and each call with its outcome. The newest lines stay.

use windlass_vocab::{Message, OutcomeKind, Part};

use crate::notes::{cut_text, one_line};
use crate::transcript::Transcript;

/// The most characters of a message.
const LINE: usize = 160;

/// Returns the summary of the messages before `cut`, in at most about this many bytes.
pub(crate) fn of(transcript: &Transcript, cut: usize, room: usize) -> String {
    let messages = transcript.history.iter().take(cut).skip(transcript.replacements());
    let lines: Vec<String> = messages.filter_map(line).collect();
    let earlier = transcript.summary.as_deref().map(|earlier| cut_text(earlier, room / 2));
    let mut left = room.saturating_sub(earlier.as_ref().map_or(0, String::len));
    let mut kept: Vec<&str> = Vec::new();
    for line in lines.iter().rev() {
        if line.len() + 1 > left {
            break;
        }
        left -= line.len() + 1;
        kept.push(line);
    }
    let left_out = lines.len() - kept.len();
    let left_out = (left_out > 0).then(|| format!("[{left_out} earlier messages]"));
    let newest = kept.into_iter().rev().map(str::to_owned);
    earlier.into_iter().chain(left_out).chain(newest).collect::<Vec<_>>().join("\n")
}

fn line(message: &Message) -> Option<String> {
    match message {
        Message::User { text, .. } => Some(format!("person: {}", one_line(text, LINE))),
        Message::Assistant { parts, .. } => {
            let text = Part::joined_text(parts);
            (!text.trim().is_empty()).then(|| format!("you: {}", one_line(&text, LINE)))
        }
        Message::Tool { name, outcome, .. } => Some(format!("{name}: {}", outcome_word(*outcome))),
    }
}

fn outcome_word(outcome: OutcomeKind) -> &'static str {
    match outcome {
        OutcomeKind::Ok => "done",
        OutcomeKind::ToolError | OutcomeKind::NotFound | OutcomeKind::InfrastructureError => "failed",
        OutcomeKind::Unknown | OutcomeKind::InvalidArguments => "not understood",
        OutcomeKind::Denied => "not allowed",
        OutcomeKind::Cancelled => "cancelled",
        OutcomeKind::TimedOut => "timed out",
        OutcomeKind::Interrupted => "interrupted",
    }
}
