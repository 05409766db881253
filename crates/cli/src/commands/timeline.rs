//! Renders records for people, one line each.

use windlass_narrate::{NarratedLine, Narrator, Tone, harmless_line, short_line};
use windlass_store::{WaitingMessage, repairs};
use windlass_vocab::{Envelope, OutcomeKind, Record};

const WIDTH: usize = 100;

/// Renders `seq  time  kind  what`, with a cross before failures and a tick before calls that worked.
pub(super) fn line(narrator: &mut Narrator, envelope: &Envelope) -> String {
    let at = envelope.at.to_string();
    let lines = narrator.record(&envelope.record, envelope.at);
    let mark = if lines.iter().any(|line| line.tone == Tone::Failure) {
        "✗ "
    } else if let Record::CallFinished(finished) = &envelope.record
        && finished.outcome == OutcomeKind::Ok
    {
        "✓ "
    } else {
        ""
    };
    let what = lines.iter().map(NarratedLine::to_string).collect::<Vec<_>>().join(" ");
    format!(
        "{:>5}  {}  {:<16}  {}\n",
        envelope.seq,
        time(&at),
        harmless_line(envelope.record.kind()),
        short_line(&format!("{mark}{what}"), WIDTH)
    )
}

/// Renders a message that no run has taken yet; it has no sequence number.
pub(super) fn waiting(message: &WaitingMessage) -> String {
    let at = message.at.to_string();
    format!("{:>5}  {}  {:<16}  {}\n", "-", time(&at), "waits", short_line(&message.text, WIDTH))
}

fn time(at: &str) -> &str {
    at.get(11..19).unwrap_or(at)
}

/// Counts the repairs of malformed calls, by kind; none if there were none.
pub(super) fn mended(envelopes: &[Envelope]) -> Option<String> {
    let counts = repairs(envelopes.iter().map(|envelope| &envelope.record));
    let parts: Vec<String> = counts.iter().map(|(repair, count)| format!("{count} × {}", repair.as_str())).collect();
    (!parts.is_empty()).then(|| format!("calls mended: {}\n", parts.join(", ")))
}
