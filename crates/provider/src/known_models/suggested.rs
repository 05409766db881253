//! Models to begin with, for somebody whose Ollama has none: small ones that call tools. A test holds them against the
//! table of models.

/// A model that is suggested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuggestedModel {
    /// Its name in Ollama's library.
    pub name: &'static str,
    /// The size of its download.
    pub download: &'static str,
    /// What it is good for, in a few words.
    pub about: &'static str,
}

/// The suggestions, from small to large.
pub const SUGGESTED: &[SuggestedModel] = &[
    SuggestedModel { name: "qwen2.5-coder:1.5b", download: "1 GB", about: "did 3 of 10 file jobs; for small machines" },
    SuggestedModel { name: "qwen3:4b", download: "2.5 GB", about: "calls tools, reasons; 6 GB of memory" },
    SuggestedModel { name: "qwen3:8b", download: "5.2 GB", about: "calls tools, reasons; 10 GB of memory" },
    SuggestedModel { name: "gpt-oss:20b", download: "14 GB", about: "calls tools, reasons; 16 GB of memory" },
];

/// The one to name where one is enough.
pub const FIRST_MODEL: &str = "qwen3:4b";

#[cfg(test)]
mod tests {
    use super::{FIRST_MODEL, SUGGESTED};
    use crate::ability::Ability;
    use crate::known_models::known_model;
    use crate::known_models::measured::best_measurement;
    use crate::server_kind::ServerKind;

    // proves S5: a person without a model is named one that can do the work
    #[test]
    fn every_suggested_model_calls_tools_and_the_first_is_among_them() {
        for model in SUGGESTED {
            let row = known_model(ServerKind::Ollama, model.name).unwrap_or_else(|| panic!("{}", model.name));
            assert_eq!(row.native_calls, Ability::Yes, "{}", model.name);
            assert!(model.name.contains(':'), "{} names no size", model.name);
        }
        assert!(SUGGESTED.iter().any(|model| model.name == FIRST_MODEL));
    }

    // proves M2: a figure in a suggestion is the measured one
    #[test]
    fn a_suggestion_says_what_was_measured() {
        for model in SUGGESTED {
            let figure = best_measurement(ServerKind::Ollama, model.name).map(|best| {
                let tenths = f64::from(best.needs_tools.count * 10) / f64::from(best.needs_tools.tries);
                format!("did {tenths:.0} of 10 file jobs; ")
            });
            let is_said = figure.as_ref().is_some_and(|figure| model.about.starts_with(figure.as_str()));
            assert!(is_said || figure.is_none(), "{}: {figure:?}", model.name);
        }
    }
}
