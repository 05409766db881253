//! The lines of a model's reply.

use windlass_vocab::Part;

use crate::harmless::{TEXT, short_line};
use crate::line::{LineSpeaker, NarratedLine, Tone};

/// Returns the text beside calls, which is progress and not the answer.
pub(crate) fn beside_calls(parts: &[Part]) -> Vec<NarratedLine> {
    if !parts.iter().any(|part| matches!(part, Part::Call { .. })) {
        return Vec::new();
    }
    let said = |text| NarratedLine::new(Tone::Quiet, short_line(text, TEXT)).by(LineSpeaker::Model);
    texts(parts).map(str::trim).map(said).collect()
}

/// Returns the model's text, and below it the other parts of its reply.
pub(crate) fn whole(parts: &[Part]) -> Vec<NarratedLine> {
    let text = words(parts);
    let said = (!text.is_empty()).then(|| NarratedLine::new(Tone::Said, text).by(LineSpeaker::Model));
    let other = |part: &Part| match part {
        Part::Text { .. } | Part::Opaque { .. } => None,
        Part::Thinking { .. } => Some("(thinking)".to_owned()),
        Part::Call { index } => Some(format!("(call {index})")),
    };
    let others: Vec<String> = parts.iter().filter_map(other).collect();
    let others =
        (!others.is_empty()).then(|| NarratedLine::new(Tone::Bookkeeping, others.join(" ")).by(LineSpeaker::Model));
    said.into_iter().chain(others).collect()
}

/// Returns the text of a reply.
pub(crate) fn words(parts: &[Part]) -> String {
    texts(parts).collect::<Vec<_>>().join("\n")
}

/// Returns the texts of a reply that are not blank.
fn texts(parts: &[Part]) -> impl Iterator<Item = &str> {
    parts.iter().filter_map(Part::as_text).filter(|text| !text.trim().is_empty())
}
