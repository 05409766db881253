//! A preset with which a model did more file jobs (`cargo xtask jobs`) than with the one in use. It is only suggested: a
//! preset changes how a run ends and what is asked, so none changes unless a person says so. The dialect is chosen with the
//! model (`windlass::door`).

use windlass_provider::known_models::measured::{BetterPreset, best_measurement, better_preset};
use windlass_vocab::ModelName;

use super::sources::Sources;
use super::{Settings, policy};

impl Settings {
    /// Returns the preset that this model of the first server does better with than with the one in use.
    pub fn better_preset(&self, model: &ModelName) -> Option<BetterPreset> {
        let (server, id) = (self.endpoint.as_ref()?.kind(), model.as_str());
        let figures = self.table_of(model).map(|table| table.figures).unwrap_or_default();
        let chosen = self.dialects.applied_to(figures).dialect;
        let dialect = chosen.or_else(|| Some(best_measurement(server, id)?.dialect))?;
        better_preset(server, id, &self.policy.preset, dialect)
    }
}

impl Sources {
    /// Whether a person names a preset.
    pub(crate) fn names_preset(&self) -> bool {
        let (sources, _) = self.tightened();
        policy::chosen_preset(&sources).is_ok_and(|chosen| chosen.is_some())
    }
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{Dialect, EndsBy};

    use super::super::tests::SettingsFixture;

    const MEASURED: &str = "ollama:qwen2.5-coder:1.5b";

    /// The preset in use, and the better one.
    fn presets(fixture: SettingsFixture, model: &str) -> (String, Option<&'static str>) {
        let settings = fixture.flags(|flags| flags.model = Some(model.into())).settings();
        let first = settings.model.clone().expect("a model").value;
        let better = settings.better_preset(&first).map(|found| found.better.preset);
        (settings.policy.preset, better)
    }

    // proves M2: a measured model changes no preset; a better one is only named
    #[test]
    fn a_measured_model_keeps_the_preset_and_a_better_one_is_suggested() {
        let nothing = SettingsFixture::nothing;
        let measured = nothing().flags(|flags| flags.model = Some(MEASURED.into())).settings().policy;
        let other = nothing().flags(|flags| flags.model = Some("ollama:qwen3:4b".into())).settings().policy;
        assert_eq!(measured, other, "the model changes nothing of the policy");
        assert_ne!(measured.ends_by, EndsBy::JudgedText);
        let suggested = ("default".to_owned(), Some("local-model"));
        assert_eq!(presets(nothing(), MEASURED), suggested);
        let own_name = format!("[models.mine]\nmodel = '{MEASURED}'\n");
        assert_eq!(presets(nothing().user(&own_name), "mine"), suggested);
        let same = nothing().flags(|flags| flags.dialects = vec![Dialect::ToolTag]);
        assert_eq!(presets(same, MEASURED), suggested);
        assert_eq!(presets(nothing().user("preset = 'local-model'"), MEASURED), ("local-model".to_owned(), None));
        for otherwise in [
            nothing().flags(|flags| flags.dialects = vec![Dialect::Native]),
            nothing().user("[policy]\ndialects = ['bracket']\n"),
        ] {
            assert_eq!(presets(otherwise, MEASURED), ("default".to_owned(), None), "not measured in that dialect");
        }
        assert_eq!(presets(nothing(), "ollama:qwen3:4b"), ("default".to_owned(), None));
    }

    #[test]
    fn who_names_a_preset_is_known() {
        let nothing = SettingsFixture::nothing;
        assert!(!nothing().sources().names_preset());
        assert!(nothing().user("preset = 'default'").sources().names_preset());
        assert!(nothing().flags(|flags| flags.preset = Some("default".into())).sources().names_preset());
    }
}
