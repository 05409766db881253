//! The tables `[models.NAME]`: models with names of their own, and figures that are known better than by the table of
//! models that is shipped. NAME can stand wherever the name of a model can, and is the model's name in records.

use toml::Spanned;
use windlass::door::{ModelFigures, NamedModel, NamedServer};
use windlass_provider::ReasoningControl;
use windlass_provider::abilities::EffortLevel;
use windlass_vocab::{Dialect, ListPrices, ModelName, NanoMoney, Prices};

use super::error::SettingsError;
use super::file::SettingsFile;
use super::file_settings::FileModel;
use super::nearest::nearest;
use super::origin::{SettingOrigin, Sourced};
use super::sources::Sources;

/// No window or reply is nearly as long, in tokens.
const MOST_TOKENS: u64 = 1_000_000_000;
/// No million tokens costs nearly as much, in dollars.
const MOST_DOLLARS: i64 = 1_000_000;
const NANO: i64 = 1_000_000_000;

/// A model with a name of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableModel {
    /// Its name in the chain.
    pub name: ModelName,
    /// What the table says of it.
    pub figures: ModelFigures,
}

/// A table that was found.
pub(super) struct FoundTable {
    pub(super) model: TableModel,
    /// The name of the model that it stands for.
    pub(super) stands_for: Sourced<String>,
    /// The variable with the key for its server.
    pub(super) key: Option<Sourced<String>>,
}

/// What an untrusted project may not say, for messages.
pub(super) const OWN_MODEL: &str = "a model of its own";

/// Returns the table with this name: the project's before the person's.
pub(super) fn find(sources: &Sources, name: &str) -> Result<Option<FoundTable>, SettingsError> {
    for file in [&sources.project, &sources.user].into_iter().flatten() {
        let Some(table) = file.settings.models.get(name) else { continue };
        let origin = file.origin(table);
        if matches!(origin, SettingOrigin::Project(_)) && !sources.trusts_project() {
            return Err(sources.untrusted(OWN_MODEL, origin));
        }
        let figures = figures(file, table.get_ref())?;
        let stands_for = file.sourced(&table.get_ref().model).unwrap_or(Sourced::new(name.to_owned(), origin));
        let key = file.sourced(&table.get_ref().api_key_env);
        return Ok(Some(FoundTable { model: TableModel { name: name.into(), figures }, stands_for, key }));
    }
    Ok(None)
}

/// Refuses tables with wrong values, whether or not they are used.
pub(super) fn check(file: &SettingsFile) -> Result<(), SettingsError> {
    for (name, table) in &file.settings.models {
        let wrong = |problem: &str| Err(SettingsError::wrong(file.origin(table), problem));
        if name.trim().is_empty() || name.trim() != name || name.contains(',') || name.chars().any(char::is_control) {
            return wrong("this can't be the name of a model");
        }
        if let Some(model) = &table.get_ref().model
            && (model.get_ref().trim().is_empty() || model.get_ref().contains(','))
        {
            let problem = "this is not the name of one model; a chain is a list in `model` outside of the tables";
            return Err(SettingsError::wrong(file.origin(model), problem));
        }
        // A table may describe the id that it is named after, but not stand for another table: that could go in a circle.
        if let Some(model) = &table.get_ref().model
            && model.get_ref() != name
            && file.settings.models.contains_key(model.get_ref())
        {
            let problem =
                "this is the name of another table; write the model it stands for, such as `openai:gpt-5-mini`";
            return Err(SettingsError::wrong(file.origin(model), problem));
        }
        let named = table.get_ref().model.as_ref().map_or(name.as_str(), |model| model.get_ref().trim());
        if let Some(key) = &table.get_ref().api_key_env
            && NamedModel::parse(named).server == NamedServer::Unnamed
        {
            let problem = "a key needs its server: write `model` with it, such as `https://llm.example/v1#big`";
            return Err(SettingsError::wrong(file.origin(key), problem));
        }
        figures(file, table.get_ref())?;
    }
    Ok(())
}

fn figures(file: &SettingsFile, table: &FileModel) -> Result<ModelFigures, SettingsError> {
    let tokens = |value: &Option<Spanned<toml::Value>>| parsed(file, value, tokens);
    let dollars = |value: &Option<Spanned<toml::Value>>| parsed(file, value, dollars);
    let (input, output) = (dollars(&table.price_input)?, dollars(&table.price_output)?);
    let cached = dollars(&table.price_cached)?;
    let prices = match (input, output) {
        (Some(input), Some(output)) => {
            Some(ListPrices { usual: Prices { input, output, cached, cache_written: None }, long: None })
        }
        (None, None) if cached.is_none() => None,
        (Some(_) | None, _) => {
            let given = [&table.price_input, &table.price_output, &table.price_cached].into_iter().flatten().next();
            let origin = given.map_or(SettingOrigin::Default, |given| file.origin(given));
            return Err(SettingsError::wrong(origin, "`price_input` and `price_output` belong together"));
        }
    };
    let ability = |value: &Option<Spanned<bool>>| value.as_ref().map(|value| *value.get_ref());
    let reasoning = file.sourced(&table.reasoning).map(|value| value.try_map(|value| reasoning(&value))).transpose()?;
    Ok(ModelFigures {
        window: tokens(&table.window)?,
        max_output: tokens(&table.max_output)?,
        prices,
        images: ability(&table.images),
        tools: ability(&table.tools),
        json_schema: ability(&table.json_schema),
        reasoning: reasoning.map(|reasoning| reasoning.value),
        dialect: dialect(file, table)?,
        tools_offered: table.tools_offered.as_ref().map(|count| *count.get_ref()),
        constrained: ability(&table.constrained),
    })
}

/// Returns the dialect of a model. Only calls that are JSON can be held to a schema.
fn dialect(file: &SettingsFile, table: &FileModel) -> Result<Option<Dialect>, SettingsError> {
    let named = table.dialect.as_ref().map(|dialect| *dialect.get_ref());
    match (&table.constrained, named) {
        (Some(constrained), Some(Dialect::BareJson) | None) if *constrained.get_ref() => Ok(Some(Dialect::BareJson)),
        (Some(constrained), Some(_)) if *constrained.get_ref() => {
            let problem =
                "only calls that are JSON can be held to a schema: write `dialect = \"bare_json\"`, or no dialect";
            Err(SettingsError::wrong(file.origin(constrained), problem))
        }
        (Some(_) | None, named) => Ok(named),
    }
}

/// Parses how a model reasons.
fn reasoning(text: &str) -> Result<ReasoningControl, String> {
    const NAMES: [&str; 3] = ["none", "always", "effort"];
    match text {
        "none" => Ok(ReasoningControl::NoReasoning),
        "always" => Ok(ReasoningControl::Fixed),
        "effort" => Ok(ReasoningControl::Levels(&[EffortLevel::Low, EffortLevel::Medium, EffortLevel::High])),
        other => Err(format!("unknown way to reason {other:?}; {}", nearest(other, &NAMES))),
    }
}

fn parsed<T>(
    file: &SettingsFile,
    value: &Option<Spanned<toml::Value>>,
    parse: fn(&toml::Value, &str) -> Result<T, String>,
) -> Result<Option<T>, SettingsError> {
    let Some(value) = value else { return Ok(None) };
    // A decimal number is read as it is written: as a binary fraction it would not be exact.
    let written = file.text().get(value.span()).unwrap_or_default();
    let parsed = parse(value.get_ref(), written).map_err(|problem| SettingsError::wrong(file.origin(value), problem));
    parsed.map(Some)
}

fn tokens(value: &toml::Value, _: &str) -> Result<u64, String> {
    let count = value.as_integer().and_then(|count| u64::try_from(count).ok());
    let count = count.filter(|count| (1..=MOST_TOKENS).contains(count));
    count.ok_or_else(|| format!("this is not a number of tokens: write one from 1 to {MOST_TOKENS}"))
}

/// Parses the price of a million tokens, in dollars, as a number or as a text.
fn dollars(value: &toml::Value, written: &str) -> Result<NanoMoney, String> {
    let text = match value {
        toml::Value::String(text) => text.trim(),
        toml::Value::Integer(_) | toml::Value::Float(_) => written,
        toml::Value::Boolean(_) | toml::Value::Datetime(_) | toml::Value::Array(_) | toml::Value::Table(_) => "",
    };
    let problem = || {
        format!(
            "this is not the price of a million tokens in dollars: write one like 0.25, from 0 to {MOST_DOLLARS}, with \
             at most nine places"
        )
    };
    nano_dollars(text).ok_or_else(problem)
}

fn nano_dollars(text: &str) -> Option<NanoMoney> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || whole.len() > 7 || fraction.len() > 9 {
        return None;
    }
    let nano: i64 = format!("{fraction:0<9}").parse().ok()?;
    let price = whole.parse::<i64>().ok()?.checked_mul(NANO)?.checked_add(nano)?;
    (price <= MOST_DOLLARS * NANO).then_some(NanoMoney(price))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use windlass_vocab::{Dialect, NanoMoney};

    use super::super::file::{SettingsFile, SettingsScope};
    use super::super::tests::SettingsFixture;
    use super::nano_dollars;

    const TABLES: &str = r#"
        [models.fast]
        model = "groq:gpt-oss"
        window = 32768
        max_output = 4096
        price_input = 0.15
        price_output = "0.60"
        price_cached = 0

        [models."qwen3:8b"]
        window = 40960
    "#;

    fn given(model: &str) -> SettingsFixture {
        let keys = [("OPENAI_API_KEY", "sk-of-openai"), ("GROQ_API_KEY", "gsk_1")];
        SettingsFixture::nothing().env(&keys).user(TABLES).flags(|flags| flags.model = Some(model.into()))
    }

    // proves M2: models are named in the configuration, with server, id, window and prices
    #[test]
    fn a_model_of_a_table_has_its_name_server_and_figures() {
        let settings = given("fast").settings();
        let table = settings.table.expect("a table");
        assert_eq!(
            (table.name.as_str(), table.figures.window, table.figures.max_output),
            ("fast", Some(32_768), Some(4_096))
        );
        let prices = table.figures.prices.expect("prices").usual;
        assert_eq!((prices.input, prices.output), (NanoMoney(150_000_000), NanoMoney(600_000_000)));
        assert_eq!(prices.cached, Some(NanoMoney(0)));
        assert_eq!(settings.model.map(|model| model.value.0).as_deref(), Some("gpt-oss"));
        let endpoint = settings.endpoint.expect("a server");
        assert_eq!(endpoint.base_url.value, "https://api.groq.com/openai/v1");
        assert_eq!(endpoint.api_key.expect("a key").value.expose(), "gsk_1");

        let chain = given("openai:a,fast,qwen3:8b").settings().fallbacks;
        let seen: Vec<_> =
            chain.iter().map(|model| (model.name.value.as_str(), model.id.as_str(), model.figures.window)).collect();
        assert_eq!(seen, [("fast", "gpt-oss", Some(32_768)), ("qwen3:8b", "qwen3:8b", Some(40_960))]);
        assert_eq!(given("ollama:a").settings().table, None);
    }

    // proves M2, S4: the configuration overrides what is known of a model's abilities
    #[test]
    fn a_table_says_what_a_model_can_do() {
        use windlass_provider::ReasoningControl;
        let text =
            "[models.m]\ntools = false\nimages = true\njson_schema = false\nreasoning = 'none'\ntools_offered = 8";
        let given = SettingsFixture::nothing().user(text).flags(|flags| flags.model = Some("m".into()));
        let figures = given.settings().table.expect("a table").figures;
        assert_eq!((figures.tools, figures.images, figures.json_schema), (Some(false), Some(true), Some(false)));
        assert_eq!((figures.reasoning, figures.tools_offered), (Some(ReasoningControl::NoReasoning), Some(8)));
    }

    // proves T4: only calls that are JSON can be held to a schema
    #[test]
    fn constrained_calls_are_json() {
        let given = |rows: &str| {
            let table = format!("[models.m]\nmodel = 'ollama:qwen3'\n{rows}\n[policy]\ndialects = ['bracket']\n");
            SettingsFixture::nothing().user(&table).flags(|flags| flags.model = Some("m".into()))
        };
        let figures = |rows: &str| given(rows).settings().table.expect("a table").figures;
        for (rows, dialect, constrained) in [
            ("constrained = true", Some(Dialect::BareJson), Some(true)),
            ("constrained = true\ndialect = 'bare_json'", Some(Dialect::BareJson), Some(true)),
            ("constrained = false\ndialect = 'tool_tag'", Some(Dialect::ToolTag), Some(false)),
            ("", None, None),
        ] {
            assert_eq!((figures(rows).dialect, figures(rows).constrained), (dialect, constrained), "{rows}");
        }
        let file = |text: &str| SettingsFile::parse(Path::new("/u/windlass.toml"), SettingsScope::User, text);
        let wrong = file("[models.m]\nconstrained = true\ndialect = 'tool_tag'").map(|_| ()).expect_err("refused");
        assert!(wrong.to_string().contains("only calls that are JSON"), "{wrong}");
    }

    // proves X1, M2: each model of a chain can have the key of its own server, which goes to no other
    #[test]
    fn the_key_of_a_table_is_for_its_own_server() {
        let tables = "[models.a]\nmodel = 'https://a.example/v1#x'\napi_key_env = 'KEY_A'\n\
                      [models.b]\nmodel = 'https://b.example/v1#x'\napi_key_env = 'KEY_B'";
        let keys = [("KEY_A", "of-a"), ("KEY_B", "of-b"), ("WINDLASS_API_KEY", "for-any")];
        let given = |model: &str| {
            SettingsFixture::nothing().env(&keys).user(tables).flags(|flags| flags.model = Some(model.into()))
        };
        let settings = given("a,b").settings();
        let key = |endpoint: &Option<crate::settings::ModelEndpoint>| {
            endpoint.as_ref().and_then(|endpoint| endpoint.api_key.as_ref()).map(|key| key.value.expose().to_owned())
        };
        assert_eq!(key(&settings.endpoint).as_deref(), Some("of-a"));
        assert_eq!(key(&settings.fallbacks[0].endpoint).as_deref(), Some("of-b"));
        let missing = SettingsFixture::nothing().user(tables).flags(|flags| flags.model = Some("a".into()));
        assert!(missing.error().ends_with("the key should be in the variable KEY_A, which is not set"));
    }

    // proves X1: a file's key is for the server of the file's own model
    #[test]
    fn a_table_with_an_address_gets_the_files_key_only_where_the_file_is_about_it() {
        let table = "api_key_env = 'K'\n[models.m]\nmodel = 'https://llm.example/v1#x'";
        let key = |text: &str| {
            let given = SettingsFixture::nothing().env(&[("K", "of-the-file")]).user(text);
            let given = given.flags(|flags| flags.model = Some("m".into()));
            given.settings().endpoint.and_then(|endpoint| endpoint.api_key).map(|key| key.value.expose().to_owned())
        };
        assert_eq!(key(&format!("model = 'm'\n{table}")).as_deref(), Some("of-the-file"));
        assert_eq!(key(&format!("model = 'groq:a'\n{table}")), None);
    }

    // proves X2: a project that nobody trusted says neither where a model is nor what it costs
    #[test]
    fn an_untrusted_project_has_no_models_of_its_own() {
        let given = given("fast").project("[models.fast]\nmodel = 'https://elsewhere/v1#x'");
        assert!(
            given.error().ends_with("a model of its own is not taken from a project you have not trusted"),
            "{}",
            given.error()
        );
        assert!(given.needing_trust()[0].contains("a model of its own"), "{:?}", given.needing_trust());
        let address = given.trusted().settings().endpoint.map(|endpoint| endpoint.base_url.value);
        assert_eq!(address.as_deref(), Some("https://elsewhere/v1"));
    }

    #[test]
    fn a_wrong_figure_is_refused_with_its_line() {
        let error = |text: &str| {
            let file = SettingsFile::parse(Path::new("windlass.toml"), SettingsScope::User, text);
            file.expect_err("it is refused").to_string()
        };
        for wrong in ["-1", "'free'", "0.0000000001", "1000001", "1e3", "true", "''"] {
            let text = format!("[models.m]\nprice_input = {wrong}\nprice_output = 1");
            assert!(error(&text).starts_with("windlass.toml:2:15: this is not the price"), "{wrong}: {}", error(&text));
        }
        for wrong in ["0", "-5", "1.5", "'8k'", "1000000001"] {
            let text = format!("[models.m]\nwindow = {wrong}");
            assert!(error(&text).starts_with("windlass.toml:2:10: this is not a number of tokens"), "{}", error(&text));
        }
        for (text, problem) in [
            ("[models.m]\nprice_input = 1", "windlass.toml:2:15: `price_input` and `price_output` belong together"),
            ("[models.m]\nwindwo = 1", "windlass.toml:2:1: unknown key \"windwo\"; did you mean \"window\"?"),
            ("[models]\nm = 3", "windlass.toml:2:5: invalid type: integer `3`, expected a table"),
            ("[models.m]\ntools = 'no'", "windlass.toml:2:9: invalid type: string \"no\", expected a boolean"),
            (
                "[models.m]\nreasoning = 'alwys'",
                "windlass.toml:2:13: unknown way to reason \"alwys\"; did you mean \"always\"?",
            ),
            (
                "[models.m]\napi_key_env = 'K'",
                "windlass.toml:2:15: a key needs its server: write `model` with it, such as `https://llm.example/v1#big`",
            ),
        ] {
            assert_eq!(error(text), problem);
        }
        assert!(error("[models.'a,b']\nwindow = 1").ends_with("this can't be the name of a model"));
        let circle = "[models.a]\nmodel = 'b'\n[models.b]\nmodel = 'a'";
        assert!(error(circle).contains("windlass.toml:2:9: this is the name of another table"), "{}", error(circle));
        assert!(error("[models.a]\nmodel = 'b,c'").contains("windlass.toml:2:9: this is not the name of one model"));
    }

    #[test]
    fn prices_are_read_exactly() {
        for (text, nano) in
            [("0.1", 100_000_000), ("3", 3_000_000_000), ("0.000000001", 1), ("1000000", 1_000_000_000_000_000)]
        {
            assert_eq!(nano_dollars(text), Some(NanoMoney(nano)), "{text}");
        }
        for wrong in ["", ".", "1.", ".5", "-1", "+1", "1,5", "0x1", "1 000", "99999999"] {
            assert_eq!(nano_dollars(wrong), None, "{wrong}");
        }
    }
}
