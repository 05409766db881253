//! The steps of a plan that child sessions carry out (S3).

use windlass_vocab::{ChildReported, EndReason, PlanItem};

use crate::count::counted;
use crate::harmless::{TEXT, short_line};
use crate::line::{NarratedLine, Tone};
use crate::memory::NarratorMemory;

/// Returns a step in a line: `a.txt: change the price`.
pub(crate) fn title(item: &PlanItem) -> String {
    match &item.file {
        Some(file) => short_line(&format!("{file}: {}", item.step), TEXT),
        None => short_line(&item.step, TEXT),
    }
}

/// `step 2 of 5: a.txt: change the price`.
pub(crate) fn words(plan: &[PlanItem], step: u32) -> String {
    let (number, count) = (step.saturating_add(1), plan.len());
    let item = usize::try_from(step).ok().and_then(|step| plan.get(step));
    let about = item.map(|item| format!(": {}", title(item))).unwrap_or_default();
    format!("step {number} of {count}{about}")
}

/// Returns how a step ended: a line for whoever watches.
pub(crate) fn reported(memory: &NarratorMemory, reported: &ChildReported) -> Vec<NarratedLine> {
    let step = memory.running_step().unwrap_or_else(|| format!("step {}", reported.child));
    let (tone, end) = end(reported.reason);
    let changed = match reported.changed.len() {
        0 => String::new(),
        1 | 2 => format!(", changed {}", short_line(&reported.changed.join(", "), TEXT)),
        many => format!(", changed {}", counted(many, "file", "files")),
    };
    let why = if tone == Tone::Failure { format!(": {}", short_line(&reported.answer, TEXT)) } else { String::new() };
    vec![NarratedLine::new(tone, format!("{step}: {end}{changed}{why}"))]
}

/// Returns how a step ended, with all that its child session reported.
pub(crate) fn reported_in_full(memory: &NarratorMemory, reported: &ChildReported) -> Vec<NarratedLine> {
    let step = memory.running_step().unwrap_or_else(|| format!("step {}", reported.child));
    let (tone, end) = end(reported.reason);
    let session = reported.session.map(|session| format!(" (session {session})")).unwrap_or_default();
    let changed = reported.changed.join(", ");
    let changed = if changed.is_empty() { changed } else { format!("; changed {changed}") };
    vec![NarratedLine::new(tone, format!("{step}{session}: {end}{changed}: {}", reported.answer))]
}

const fn end(reason: EndReason) -> (Tone, &'static str) {
    match reason {
        EndReason::Completed | EndReason::Conversed => (Tone::Plain, "done"),
        EndReason::Asked => (Tone::Plain, "asks back"),
        EndReason::Unfinished => (Tone::Failure, "not finished"),
        EndReason::Cancelled => (Tone::Plain, "stopped"),
        EndReason::TurnCap => (Tone::Failure, "too many turns"),
        EndReason::BudgetSpent => (Tone::Failure, "a limit is reached"),
        EndReason::Failed => (Tone::Failure, "failed"),
    }
}
