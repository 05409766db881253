//! In which dialect a model writes calls, where a person says so: a flag counts more than the model's table, and that more
//! than the row of the policy in a file. What nobody says, the shipped table of models and the preset do.

use windlass::door::ModelFigures;
use windlass_vocab::Dialect;

use super::sources::Sources;

/// The dialects that are chosen for all models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChosenDialects {
    /// The first that a flag names.
    flag: Option<Dialect>,
    /// The first in the row of the policy in a file.
    row: Option<Dialect>,
}

impl ChosenDialects {
    pub(super) fn of(sources: &Sources) -> Self {
        let trusted = sources.project.as_ref().filter(|_| sources.trusts_project());
        let files = [trusted, sources.user.as_ref()].into_iter().flatten();
        let rows = files.filter_map(|file| file.settings.policy.dialects.as_ref());
        let row = rows.filter_map(|dialects| dialects.first().copied()).next();
        Self { flag: sources.flags.dialects.first().copied(), row }
    }

    /// Returns the figures of a model, with the dialect that holds for it.
    pub(crate) fn applied_to(self, figures: ModelFigures) -> ModelFigures {
        ModelFigures { dialect: self.flag.or(figures.dialect).or(self.row), ..figures }
    }
}

#[cfg(test)]
mod tests {
    use windlass_vocab::Dialect;

    use super::super::tests::SettingsFixture;

    const TABLE: &str = "[models.m]\nmodel = 'ollama:qwen3:4b'\ndialect = 'tool_tag'\n";

    fn dialect(settings: SettingsFixture) -> Option<Dialect> {
        let settings = settings.flags(|flags| flags.model = Some("m".into())).settings();
        let figures = settings.table.as_ref().map(|table| table.figures).unwrap_or_default();
        settings.dialects.applied_to(figures).dialect
    }

    // proves M2, T4: a model's own dialect, unless a flag says another
    #[test]
    fn a_flag_counts_more_than_the_table_and_that_more_than_the_row() {
        let row = "[policy]\ndialects = ['bracket', 'lines']\n";
        let given = |user: &str| SettingsFixture::nothing().user(user);
        assert_eq!(dialect(given(TABLE)), Some(Dialect::ToolTag));
        assert_eq!(dialect(given(&format!("{TABLE}{row}"))), Some(Dialect::ToolTag));
        let plain = format!("[models.m]\nmodel = 'ollama:qwen3:4b'\n{row}");
        assert_eq!(dialect(given(&plain)), Some(Dialect::Bracket));
        let flag = given(TABLE).flags(|flags| flags.dialects = vec![Dialect::Native, Dialect::Lines]);
        assert_eq!(dialect(flag), Some(Dialect::Native));
        assert_eq!(dialect(given("[models.m]\nmodel = 'ollama:qwen3:4b'\n")), None);
    }
}
