//! A request of which the server read only a part (M8).

use windlass_vocab::{CutInput, Remedy};

use crate::line::{NarratedLine, Tone};

/// A window that is worth setting up.
const LEAST_WINDOW: u64 = 16_384;

/// Returns what the person must know: how much was read, and what follows.
pub(crate) fn cut_input(cut: &CutInput) -> NarratedLine {
    let text = format!(
        "the server read only {} of about {} tokens, and left out the rest without saying so; the turns that follow are \
         shortened to fit",
        cut.read, cut.counted
    );
    // Twice what was sent now leaves room for what is to come; windows are usually powers of two.
    let tokens = cut.counted.saturating_mul(2).clamp(LEAST_WINDOW, 1 << 40).next_power_of_two();
    let remedy = Some(Remedy::LargerWindow { software: cut.software, tokens });
    NarratedLine { remedy, ..NarratedLine::new(Tone::Failure, text) }
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{CutInput, ModelReplied, ModelSoftware, Record, Remedy, RunStarted, Timestamp};

    use super::cut_input;
    use crate::narrator::{Detail, Narrator};

    // proves M8
    #[test]
    fn a_cut_request_is_told_with_a_window_that_would_do() {
        for (counted, tokens) in [(6_000, 16_384), (9_300, 32_768), (70_000, 262_144), (u64::MAX, 1 << 40)] {
            let software = Some(ModelSoftware::Ollama);
            let line = cut_input(&CutInput { counted, read: 4_096, software });
            assert!(line.text.starts_with(&format!("the server read only 4096 of about {counted} tokens")), "{line}");
            assert_eq!(line.remedy, Some(Remedy::LargerWindow { software, tokens }));
        }
    }

    // proves M8
    #[test]
    fn a_cut_is_told_once_in_a_run() {
        let json = r#"{"attempt":1,"model":"m","parts":[],"cut":{"counted":9000,"read":4096}}"#;
        let replied: ModelReplied = serde_json::from_str(json).expect("a record");
        let policy = windlass_machine::preset("default").expect("a preset");
        let started = serde_json::json!({"run": 1, "policy": policy, "chain": ["m"]});
        let started: RunStarted = serde_json::from_value(started).expect("a record");
        for detail in [Detail::Brief, Detail::Full] {
            let mut narrator = Narrator::new(detail);
            let mut told = |record: &Record| {
                let lines = narrator.record(record, Timestamp(0));
                lines.iter().filter(|line| line.text.starts_with("the server read only 4096")).count()
            };
            let replied = Record::from(replied.clone());
            assert_eq!((told(&replied), told(&replied)), (1, 0), "{detail:?}");
            told(&started.clone().into());
            assert_eq!(told(&replied), 1, "another run, {detail:?}");
        }
    }
}
