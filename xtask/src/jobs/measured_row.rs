//! The row of a measurement for the shipped table of measured models, ready to be pasted into
//! `crates/provider/src/known_models/measured/rows.rs`.

use serde_json::Value;

use super::job::JobKind;
use super::trial::TrialResult;

/// What was measured, besides the results.
pub(crate) struct MeasuredSetting<'a> {
    pub(crate) model: &'a str,
    pub(crate) preset: &'a str,
    pub(crate) date: &'a str,
    /// What the program says of its version: `windlass 0.1.0 (…)`.
    pub(crate) program: &'a str,
    /// The events of one of the tries: their first record says how the model wrote calls.
    pub(crate) events: &'a str,
}

/// Returns the row, under a heading of the report. The id is to be written as Ollama writes it, with the size.
pub(crate) fn measured_row(setting: &MeasuredSetting<'_>, results: &[TrialResult]) -> String {
    let MeasuredSetting { model, preset, date, program, events } = setting;
    let version = program.split_whitespace().nth(1).unwrap_or_default();
    let (dialect, constrained) = calls(events);
    let tally = |kind: JobKind| {
        let of_kind = || results.iter().filter(|result| result.kind == kind);
        format!("JobTally::of({}, {})", of_kind().filter(|result| result.passed()).count(), of_kind().count())
    };
    let unasked = results.iter().filter(|result| !result.unasked.is_empty()).count();
    format!(
        "## For crates/provider/src/known_models/measured/rows.rs\n\nWrite the id as Ollama does, and the quantization.\n\n\
         ```rust\n    MeasuredModel {{\n        id: {model:?},\n        weights: \"\",\n        date: {date:?},\n        \
         version: {version:?},\n        preset: {preset:?},\n        dialect: Dialect::{dialect},\n        \
         constrained: {constrained},\n        needs_tools: {},\n        questions: {},\n        talk: {},\n        \
         refusals: {},\n        unasked_changes: JobTally::of({unasked}, {}),\n    }},\n```\n",
        tally(JobKind::NeedsTools),
        tally(JobKind::Question),
        tally(JobKind::Talk),
        tally(JobKind::Refuse),
        results.len(),
    )
}

/// How the model of a run writes calls, and whether they are held to a schema.
fn calls(events: &str) -> (String, bool) {
    let events = events.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let started = events.into_iter().find(|event| event["kind"] == "RunStarted").unwrap_or_default();
    let model = &started["body"]["models"][0];
    let dialect = model["dialect"].as_str().unwrap_or("native");
    (dialect.split('_').map(capitalised).collect(), model["constrained"] == true)
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{MeasuredSetting, measured_row};

    #[test]
    fn the_row_has_what_the_run_began_with() {
        let events =
            r#"{"kind":"RunStarted","body":{"models":[{"name":"m","dialect":"tool_tag","constrained":true}]}}"#;
        let (date, program) = ("2026-11-17", "windlass 0.1.0 (0123abcdef 2026-11-17)");
        let setting = MeasuredSetting { model: "m:1b", preset: "local-model", date, program, events };
        let row = measured_row(&setting, &[]);
        for line in [
            "        id: \"m:1b\",",
            "        date: \"2026-11-17\",",
            "        version: \"0.1.0\",",
            "        dialect: Dialect::ToolTag,",
            "        constrained: true,",
            "        needs_tools: JobTally::of(0, 0),",
        ] {
            assert!(row.lines().any(|found| found == line), "{line}\n{row}");
        }
        assert!(measured_row(&MeasuredSetting { events: "", ..setting }, &[]).contains("Dialect::Native,"));
    }
}
