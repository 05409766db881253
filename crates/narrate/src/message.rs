//! A person's message, with what is attached to it.

use windlass_vocab::MessageAccepted;

use crate::line::{LineSpeaker, NarratedLine, Tone};

/// Returns the line of a message. Attached files are named, not shown.
pub(crate) fn line(accepted: &MessageAccepted) -> NarratedLine {
    let mut text = accepted.text.clone();
    for attachment in &accepted.attachments {
        text.push_str(&format!("\n[attached {}]", attachment.description()));
    }
    NarratedLine::new(Tone::Said, text).by(LineSpeaker::Person)
}
