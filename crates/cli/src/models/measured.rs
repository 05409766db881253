//! Words for how a model did in file jobs.

use serde_json::{Value, json};
use windlass_provider::known_models::measured::{JobTally, MeasuredModel};

use crate::args::dialect_name;

/// How a model did with a setting, in a few words.
pub(crate) fn jobs_text(measured: &MeasuredModel) -> String {
    let JobTally { count, tries } = measured.needs_tools;
    format!("file jobs: {count} of {tries} done with {} (measured {})", setting_text(measured), measured.date)
}

/// A setting, in a few words.
pub(super) fn setting_text(measured: &MeasuredModel) -> String {
    let constrained = if measured.constrained { " calls held to a schema" } else { " calls" };
    format!("{}{constrained} and the preset {}", dialect_name(measured.dialect), measured.preset)
}

/// A measurement for programs.
pub(super) fn as_json(measured: &MeasuredModel) -> Value {
    let tally = |tally: JobTally| json!({ "count": tally.count, "tries": tally.tries });
    json!({
        "date": measured.date,
        "commit": measured.commit,
        "weights": measured.weights,
        "preset": measured.preset,
        "dialect": dialect_name(measured.dialect),
        "constrained": measured.constrained,
        "needs_tools": tally(measured.needs_tools),
        "questions": tally(measured.questions),
        "talk": tally(measured.talk),
        "refusals": tally(measured.refusals),
        "unasked_changes": tally(measured.unasked_changes),
    })
}
