//! The preset with which a model did best in file jobs (`cargo xtask jobs`), where nobody chose one. The dialect that goes
//! with it is chosen with the model (`windlass::door`); what a person sets always counts more.

use windlass_provider::known_models::measured::{MeasuredModel, best_measurement};
use windlass_vocab::{ModelName, Policy};

use super::error::SettingsError;
use super::ignored_setting::IgnoredSetting;
use super::mode::ModeSetting;
use super::policy::{self, USUAL_PRESET};
use super::sources::Sources;
use super::{Settings, hidden};

impl Settings {
    /// Uses the preset with which this model of the first server did best, if nobody chose one; after another model, the
    /// usual preset again.
    pub fn use_measured_preset(&mut self, sources: &Sources, model: &ModelName) -> Result<(), SettingsError> {
        let (sources, _) = sources.tightened();
        let best = if policy::chosen_preset(&sources)?.is_none() { self.best_measurement(model) } else { None };
        if best != self.measured {
            let usual = best.map_or(USUAL_PRESET, |best| best.preset);
            (self.policy, _) = sources.run_policy(usual, self.permissions.mode.value)?;
            self.measured = best;
        }
        Ok(())
    }

    /// Returns the best measurement of a model, unless a person has it write calls otherwise: then the rest of that setting
    /// was not measured with it.
    fn best_measurement(&self, model: &ModelName) -> Option<&'static MeasuredModel> {
        let best = best_measurement(self.endpoint.as_ref()?.kind(), model.as_str())?;
        let figures = self.table_of(model).map(|table| table.figures).unwrap_or_default();
        let dialect = self.dialects.applied_to(figures).dialect;
        dialect.is_none_or(|chosen| chosen == best.dialect).then_some(best)
    }
}

impl Sources {
    /// Returns the policy of a run whose preset is `usual` if nobody names one, and what a project's file may not loosen.
    pub(super) fn run_policy(
        &self,
        usual: &str,
        mode: ModeSetting,
    ) -> Result<(Policy, Vec<IgnoredSetting>), SettingsError> {
        let (mut policy, looser) = policy::policy(self, usual)?;
        policy.hidden.extend(hidden::hidden(self, std::env::consts::OS, mode)?);
        Ok((policy, looser))
    }
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{Dialect, EndsBy};

    use super::super::tests::SettingsFixture;
    use super::Settings;

    const MEASURED: &str = "ollama:qwen2.5-coder:1.5b";

    fn settings(fixture: SettingsFixture, model: &str) -> Settings {
        let fixture = fixture.flags(|flags| flags.model = Some(model.into()));
        let mut settings = fixture.settings();
        let first = settings.model.clone().expect("a model").value;
        settings.use_measured_preset(fixture.sources(), &first).expect("a preset");
        settings
    }

    // proves M2: what was measured best holds by itself, and whatever a person sets counts more
    #[test]
    fn a_measured_model_gets_its_best_preset_unless_a_person_says_otherwise() {
        let nothing = SettingsFixture::nothing;
        let by_itself = settings(nothing(), MEASURED);
        assert_eq!((by_itself.policy.preset.as_str(), by_itself.policy.ends_by), ("local-model", EndsBy::JudgedText));
        assert_eq!(by_itself.measured.map(|best| best.dialect), Some(Dialect::ToolTag));
        let rows = settings(nothing().user("[policy]\nturn_cap = 7\n"), MEASURED);
        assert_eq!((rows.policy.preset.as_str(), rows.policy.turn_cap), ("local-model", 7));
        let own_name = format!("[models.mine]\nmodel = '{MEASURED}'\n");
        assert_eq!(settings(nothing().user(&own_name), "mine").policy.preset, "local-model");
        let same = settings(nothing().flags(|flags| flags.dialects = vec![Dialect::ToolTag]), MEASURED);
        assert_eq!(same.policy.preset, "local-model");
        for otherwise in [
            nothing().user("preset = 'default'"),
            nothing().flags(|flags| flags.preset = Some("default".into())),
            nothing().flags(|flags| flags.dialects = vec![Dialect::Native]),
            nothing().user("[policy]\ndialects = ['bracket']\n"),
        ] {
            let settings = settings(otherwise, MEASURED);
            assert_eq!((settings.policy.preset.as_str(), settings.measured), ("default", None));
        }
        assert_eq!(settings(nothing(), "ollama:qwen3:4b").policy.preset, "default");
    }

    #[test]
    fn another_model_has_the_usual_preset_again() {
        let fixture = SettingsFixture::nothing().flags(|flags| flags.model = Some(MEASURED.into()));
        let (mut settings, sources) = (fixture.settings(), fixture.sources());
        let usual = settings.policy.clone();
        settings.use_measured_preset(sources, &"qwen2.5-coder:1.5b".into()).expect("a preset");
        assert_ne!(settings.policy, usual);
        settings.use_measured_preset(sources, &"qwen3:4b".into()).expect("a preset");
        assert_eq!((settings.policy, settings.measured), (usual, None));
    }
}
