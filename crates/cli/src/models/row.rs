//! What is known of one model.

use serde_json::{Value, json};
use windlass::door::{ModelFigures, ResolvedModel};
use windlass_provider::DeclaredModel;
use windlass_provider::abilities::{Abilities, Ability};
use windlass_provider::known_models::measured::{MeasuredModel, better_with_scripts, measurement_in_use, measurements};
use windlass_provider::known_models::{KnownModel, known_model, list_prices};
use windlass_provider::server_kind::ServerKind;
use windlass_setup::models::memory::RememberedModel;
use windlass_vocab::{Dialect, ListPrices, NanoMoney, Timestamp};

use super::measured::as_json;
use crate::args::dialect_name;

/// A model, with what is known of it without a call.
#[derive(Clone, Debug)]
pub(crate) struct ModelRow {
    /// The name to type.
    pub(crate) name: String,
    pub(crate) id: String,
    pub(crate) server: String,
    pub(super) window: Option<u64>,
    pub(super) max_output: Option<u64>,
    pub(super) prices: Option<ListPrices>,
    pub(super) abilities: Vec<&'static str>,
    /// The day of the last probe.
    pub(super) probed: Option<String>,
    /// The dialect that it writes calls in, where its entry, a measurement or the table says one.
    pub(super) dialect: Option<Dialect>,
    /// How it did in file jobs, with each setting that was measured.
    pub(super) measured: Vec<&'static MeasuredModel>,
    /// The measurement with the best setting, or with scripts where it writes them.
    pub(super) best: Option<&'static MeasuredModel>,
    /// The measurement with scripts, if it is better.
    pub(super) scripts: Option<&'static MeasuredModel>,
    /// Whether it is listed as one of the chain or of a role elsewhere.
    pub(super) in_use: bool,
}

/// Returns a row for each model of a chain.
pub(crate) fn chain_rows(chain: &[ResolvedModel], learned: &[RememberedModel]) -> Vec<ModelRow> {
    let row = |model: &ResolvedModel| {
        let is_model = |known: &&RememberedModel| known.server == model.base_url && known.model == model.id;
        let probed = learned.iter().find(is_model).and_then(|known| known.probed).map(|probed| date(probed.at));
        let row = ModelRow::of(model.kind(), &model.base_url, &model.id, model.figures, &model.declared);
        ModelRow { name: model.name.0.clone(), probed, ..row }
    };
    chain.iter().map(row).collect()
}

/// Returns the day of a time: `2026-01-31`.
pub(super) fn date(at: Timestamp) -> String {
    at.to_string().chars().take(10).collect()
}

impl ModelRow {
    /// Returns what is known of a model of this server; what is configured counts more than what the server declared, and
    /// that more than the table.
    pub(crate) fn of(
        kind: ServerKind,
        base_url: &str,
        id: &str,
        figures: ModelFigures,
        declared: &DeclaredModel,
    ) -> Self {
        let known = known_model(kind, id);
        let can = figures.applied_to(Abilities::of(kind, id).overridden(&declared.overrides()));
        let lacks_calls = if can.native_calls == Ability::No { Ability::Yes } else { Ability::No };
        let abilities = [
            (can.native_calls, "tools"),
            (lacks_calls, "no tools"),
            (can.parallel_calls, "parallel calls"),
            (can.images, "images"),
            (can.json_schema, "JSON schema"),
        ];
        let dialect = figures.dialect_of(kind, id);
        Self {
            name: format!("{base_url}#{id}"),
            id: id.to_owned(),
            server: base_url.to_owned(),
            window: figures.window.or(declared.window).or(known.and_then(KnownModel::usable_window)),
            max_output: figures.max_output.or(known.and_then(|row| row.max_output)),
            prices: figures.prices.or_else(|| list_prices(kind, id)),
            abilities: abilities.into_iter().filter(|(can, _)| can.is_certain()).map(|(_, name)| name).collect(),
            probed: None,
            dialect,
            measured: measurements(kind, id),
            best: measurement_in_use(kind, id, dialect),
            scripts: better_with_scripts(kind, id, dialect),
            in_use: false,
        }
    }

    /// Returns the row with the window that the server says it has.
    pub(crate) fn with_window(self, window: Option<u64>) -> Self {
        Self { window: window.or(self.window), ..self }
    }

    /// What stands before it in a list.
    pub(super) fn mark(&self) -> &'static str {
        if self.in_use { "*" } else { " " }
    }

    /// What is known of it, in a few words.
    pub(crate) fn details(&self) -> String {
        let window = self.window.map(|tokens| format!("window {tokens}"));
        let prices = self.prices.map(|prices| match (prices.usual.input, prices.usual.output) {
            (NanoMoney(0), NanoMoney(0)) => "free".to_owned(),
            (input, output) => format!("${} in, ${} out", dollars(input), dollars(output)),
        });
        let abilities = (!self.abilities.is_empty()).then(|| self.abilities.join(", "));
        let probed = self.probed.as_ref().map(|date| format!("probed {date}"));
        let dialect = self.dialect.map(|dialect| format!("calls as {}", dialect_name(dialect)));
        let known: Vec<String> = [window, prices, abilities, dialect, probed].into_iter().flatten().collect();
        if known.is_empty() { "nothing known".to_owned() } else { known.join("; ") }
    }

    /// The row for programs. Prices are dollars for a million tokens, as text, so that they are exact.
    pub(crate) fn as_json(&self) -> Value {
        let prices = self.prices.map(|prices| {
            let prices = prices.usual;
            json!({
                "input": dollars(prices.input),
                "output": dollars(prices.output),
                "cached": prices.cached.map(dollars),
            })
        });
        json!({
            "name": self.name,
            "id": self.id,
            "server": self.server,
            "window": self.window,
            "max_output": self.max_output,
            "prices": prices,
            "abilities": self.abilities,
            "probed": self.probed,
            "dialect": self.dialect.map(dialect_name),
            "measured": self.measured.iter().map(|row| as_json(row)).collect::<Vec<_>>(),
            "in_use": self.in_use,
        })
    }
}

/// Returns an amount in dollars without needless zeros: `0.25`.
pub(super) fn dollars(NanoMoney(nano): NanoMoney) -> String {
    let (sign, nano) = if nano < 0 { ("-", nano.unsigned_abs()) } else { ("", nano.unsigned_abs()) };
    let fraction = format!("{:09}", nano % 1_000_000_000);
    let kept = fraction.trim_end_matches('0');
    // Cents have two places.
    let kept = if kept.len() == 1 { &fraction[..2] } else { kept };
    let whole = nano / 1_000_000_000;
    if kept.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{kept}") }
}

#[cfg(test)]
mod tests {
    use windlass::door::ModelFigures;
    use windlass_provider::DeclaredModel;
    use windlass_provider::server_kind::ServerKind;
    use windlass_vocab::NanoMoney;

    use super::{ModelRow, dollars};

    #[test]
    fn money_is_written_exactly_and_briefly() {
        for (nano, text) in
            [(0, "0"), (400_000_000, "0.40"), (3_000_000_000, "3"), (1, "0.000000001"), (75_000_000, "0.075")]
        {
            assert_eq!(dollars(NanoMoney(nano)), text);
        }
    }

    // proves M2: window, prices and abilities are those of the table, unless they are configured
    #[test]
    fn a_row_says_what_the_table_and_the_settings_know() {
        let row = |figures| {
            ModelRow::of(
                ServerKind::OpenAi,
                "https://api.openai.com/v1",
                "gpt-4.1-mini",
                figures,
                &DeclaredModel::default(),
            )
        };
        let usual = row(ModelFigures::default());
        assert!(
            usual.details().contains("; $0.40 in, $1.60 out; tools, parallel calls, images"),
            "{}",
            usual.details()
        );
        let own = row(ModelFigures { window: Some(7), ..ModelFigures::default() });
        assert!(own.details().starts_with("window 7; $0.40"), "{}", own.details());
        assert_eq!(own.with_window(Some(9)).as_json()["window"], 9);
        let unknown =
            ModelRow::of(ServerKind::Other, "http://h/v1", "m", ModelFigures::default(), &DeclaredModel::default());
        assert_eq!(unknown.details(), "nothing known");
    }
}
