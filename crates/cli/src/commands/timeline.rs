//! One line per record, for people.

use windlass_narrate::{NarratedLine, Narrator, Tone, short_line};
use windlass_store::{WaitingMessage, repairs};
use windlass_vocab::Envelope;

const WIDTH: usize = 100;

/// `seq  time  kind  what`, with a cross where something went wrong.
pub(super) fn line(narrator: &mut Narrator, envelope: &Envelope) -> String {
    let at = envelope.at.to_string();
    let lines = narrator.record(&envelope.record, envelope.at);
    let cross = if lines.iter().any(|line| line.tone == Tone::Failure) { "✗ " } else { "" };
    let what = lines.iter().map(NarratedLine::to_string).collect::<Vec<_>>().join(" ");
    format!(
        "{:>5}  {}  {:<16}  {}\n",
        envelope.seq,
        time(&at),
        envelope.record.kind(),
        short_line(&format!("{cross}{what}"), WIDTH)
    )
}

/// A message that is not taken up: it has no number yet.
pub(super) fn waiting(message: &WaitingMessage) -> String {
    let at = message.at.to_string();
    format!("{:>5}  {}  {:<16}  {}\n", "-", time(&at), "waits", short_line(&message.text, WIDTH))
}

fn time(at: &str) -> &str {
    at.get(11..19).unwrap_or(at)
}

/// How often calls had to be mended, and why; nothing where none had to.
pub(super) fn mended(envelopes: &[Envelope]) -> Option<String> {
    let counts = repairs(envelopes.iter().map(|envelope| &envelope.record));
    let parts: Vec<String> = counts.iter().map(|(repair, count)| format!("{count} × {}", repair.as_str())).collect();
    (!parts.is_empty()).then(|| format!("calls mended: {}\n", parts.join(", ")))
}
