//! Words for how a model did in file jobs.

use serde_json::{Value, json};
use windlass_provider::known_models::measured::{BetterPreset, JobTally, MeasuredModel};

use crate::args::dialect_name;

/// How a model did with a setting, in a few words.
pub(crate) fn jobs_text(measured: &MeasuredModel) -> String {
    let setting = setting_text(measured);
    format!("file jobs: {} done with {setting} (measured {})", tally_text(measured), measured.date)
}

fn tally_text(MeasuredModel { needs_tools: JobTally { count, tries }, .. }: &MeasuredModel) -> String {
    format!("{count} of {tries}")
}

/// A better preset than the one in use, in a few words.
pub(crate) fn preset_text(BetterPreset { better, in_use }: BetterPreset) -> String {
    let known = in_use.map(|row| format!("; with {}: {}", row.preset, tally_text(row))).unwrap_or_default();
    format!("try --preset {}: it did {}{known}", better.preset, tally_text(better))
}

/// That a model did better with scripts, and what to type for them.
pub(crate) fn scripts_text(measured: &MeasuredModel) -> String {
    format!("try --preset {} --dialect script --allow run_command: it did {}", measured.preset, tally_text(measured))
}

/// A setting, in a few words.
fn setting_text(measured: &MeasuredModel) -> String {
    let constrained = if measured.constrained { " calls held to a schema" } else { " calls" };
    format!("{}{constrained} and the preset {}", dialect_name(measured.dialect), measured.preset)
}

/// A measurement for programs.
pub(super) fn as_json(measured: &MeasuredModel) -> Value {
    let tally = |tally: JobTally| json!({ "count": tally.count, "tries": tally.tries });
    json!({
        "date": measured.date,
        "version": measured.version,
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
