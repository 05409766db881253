//! `windlass models probe`: asks a server what its model can do, and finds out by a few small calls what is true (M8).

use std::time::Duration;

use serde_json::{Value, json};
use windlass::door::ResolvedModel;
use windlass_provider::abilities::Ability;
use windlass_provider::{DeclaredModel, ModelConfig, ResponseFormat};
use windlass_setup::models::memory::{DatedAnswers, RememberedModel};
use windlass_setup::models::questions::config_of;
use windlass_vocab::{EffectClass, Failure, FailureClass, Json, OutputSpec, PinnedContext, Reply, Timestamp, ToolSpec};

use super::row::date;
use super::trial::SmallCall;
use crate::output::advice::with_failure;
use crate::output::harmless_line;

/// How long each call may take; a local model may have to be loaded first.
const LIMIT: Duration = Duration::from_secs(90);

/// What a probe of one model found.
#[derive(Debug)]
pub(crate) struct ModelProbe {
    name: String,
    /// What is known of the model now.
    pub(crate) remembered: RememberedModel,
    figures_window: Option<u64>,
    /// Why the calls could not be made.
    failure: Option<Failure>,
}

/// Probes a model. `show` gets each step before it is taken, and what came of it.
pub(crate) async fn probe(
    model: &ResolvedModel,
    mut remembered: RememberedModel,
    now: Timestamp,
    show: &dyn Fn(&str),
) -> ModelProbe {
    let name = harmless_line(model.name.as_str());
    show(&format!(
        "{name}: up to 3 small calls to {}; with a provider that takes money they cost a fraction of a cent",
        harmless_line(&model.base_url)
    ));
    let found = call_all(model, show).await;
    let failure = match found {
        Ok(found) => {
            remembered.probed = Some(DatedAnswers::new(now, &found));
            None
        }
        Err(failure) => Some(failure),
    };
    ModelProbe { name, remembered, figures_window: model.figures.window, failure }
}

async fn call_all(model: &ResolvedModel, show: &dyn Fn(&str)) -> Result<DeclaredModel, Failure> {
    let mut found = DeclaredModel::default();
    show("  one call of a tool is asked for");
    found.native_calls = call_of_tool(model).await?;
    show(&format!("  it {}", if found.native_calls == Ability::Yes { "came" } else { "did not come" }));
    if found.native_calls == Ability::Yes {
        show("  two calls in one reply are asked for");
        found.parallel_calls = calls_at_once(model).await?;
        show(&format!(
            "  {}",
            if found.parallel_calls == Ability::Yes { "both came" } else { "they did not come together" }
        ));
    } else {
        found.parallel_calls = Ability::No;
    }
    show("  an answer by a JSON schema is asked for");
    found.json_schema = answer_by_schema(model).await?;
    show(&format!("  it {} the schema", if found.json_schema == Ability::Yes { "fits" } else { "does not fit" }));
    Ok(found)
}

async fn call_of_tool(model: &ResolvedModel) -> Result<Ability, Failure> {
    let words = "What is the weather in Paris? Call the tool get_weather for it.";
    match offered(model, words).await {
        Ok(reply) => Ok(Ability::from(!reply.calls.is_empty())),
        Err(failure) if failure.no_tools => Ok(Ability::No),
        Err(failure) => Err(failure),
    }
}

async fn calls_at_once(model: &ResolvedModel) -> Result<Ability, Failure> {
    let words =
        "What is the weather in Paris and in Rome? Call the tool get_weather twice in one reply, once for each.";
    Ok(Ability::from(offered(model, words).await?.calls.len() > 1))
}

/// Calls the model with a tool offered, whatever is believed of it.
async fn offered(model: &ResolvedModel, words: &str) -> Result<Reply, Failure> {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let tool = ToolSpec {
        name: "local.get_weather".into(),
        wire_name: "get_weather".to_owned(),
        description: "Returns the weather in a city.".to_owned(),
        schema: Json::from(&schema),
        effect: EffectClass::ReadOnly,
        ending: None,
        repeatable: false,
        reads_files: false,
        tags: std::collections::BTreeSet::new(),
    };
    let context = PinnedContext { offer: vec![tool], ..PinnedContext::default() };
    SmallCall { words, context: &context, output: None, limit: LIMIT }.make(model, config_of(model)).await
}

async fn answer_by_schema(model: &ResolvedModel) -> Result<Ability, Failure> {
    let schema = json!({
        "type": "object",
        "properties": {"colour": {"type": "string"}},
        "required": ["colour"],
        "additionalProperties": false,
    });
    let output = OutputSpec { name: "colour".to_owned(), schema: Json::from(&schema) };
    let usual = config_of(model);
    let abilities = windlass_provider::Abilities { response_format: ResponseFormat::Always, ..usual.abilities };
    let config = ModelConfig { abilities, ..usual };
    let context = PinnedContext::default();
    // Nothing in these words asks for JSON: if it comes, the schema was obeyed.
    let call = SmallCall { words: "Name a colour.", context: &context, output: Some(&output), limit: LIMIT };
    match call.make(model, config).await {
        Ok(reply) => {
            let value: Option<Value> = serde_json::from_str(reply.text().trim()).ok();
            Ok(Ability::from(value.is_some_and(|value| value["colour"].is_string())))
        }
        // The server refuses a schema, and accepted everything else before.
        Err(failure) if failure.class == FailureClass::BadRequest => Ok(Ability::No),
        Err(failure) => Err(failure),
    }
}

impl ModelProbe {
    /// Whether the calls could be made.
    pub(crate) fn is_ok(&self) -> bool {
        self.failure.is_none()
    }

    /// The row of the table for people, or why there is none.
    pub(crate) fn as_text(&self, width: usize) -> String {
        if let Some(failure) = &self.failure {
            return format!("{:<width$}  failed: {}\n", self.name, harmless_line(&with_failure(failure)));
        }
        let known = self.remembered.answers();
        let window =
            self.figures_window.or(known.window).map_or_else(|| "unknown".to_owned(), |window| window.to_string());
        format!(
            "{:<width$}  {:<12}  {:<8}  {:<6}  {:<6}  {:<8}  {}\n",
            self.name,
            word(known.native_calls),
            word(known.parallel_calls),
            word(known.json_schema),
            word(known.images),
            window,
            self.remembered.probed.map(|probed| date(probed.at)).unwrap_or_default(),
        )
    }

    /// The probe for programs.
    pub(crate) fn as_json(&self) -> Value {
        let known = self.remembered.answers();
        let answer = |ability: Ability| match ability {
            Ability::Yes => json!(true),
            Ability::No => json!(false),
            Ability::Unknown => Value::Null,
        };
        json!({
            "name": self.name,
            "server": self.remembered.server,
            "model": self.remembered.model,
            "ok": self.is_ok(),
            "native_calls": answer(known.native_calls),
            "parallel_calls": answer(known.parallel_calls),
            "json_schema": answer(known.json_schema),
            "images": answer(known.images),
            "window": self.figures_window.or(known.window),
            "software": known.software,
            "probed": self.remembered.probed.map(|probed| probed.at),
            "failure": self.failure,
            "problem": self.failure.as_ref().map(with_failure),
        })
    }
}

/// The table of several probes, for people.
pub(crate) fn probe_table(probes: &[ModelProbe]) -> String {
    let width = probes.iter().map(|probe| probe.name.chars().count()).max().unwrap_or_default().clamp(5, 48);
    let head = format!("{:<width$}  native calls  parallel  schema  images  window    date\n", "model");
    let rows: String = probes.iter().map(|probe| probe.as_text(width)).collect();
    if probes.iter().any(ModelProbe::is_ok) { head + &rows } else { rows }
}

fn word(ability: Ability) -> &'static str {
    match ability {
        Ability::Yes => "yes",
        Ability::No => "no",
        Ability::Unknown => "unknown",
    }
}
