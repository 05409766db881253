//! `windlass models probe`: asks a server what its model can do, and finds out by a few small calls what is true (M8).

use std::time::Duration;

use serde_json::{Value, json};
use windlass::door::{ModelFigures, ResolvedModel};
use windlass_provider::abilities::Ability;
use windlass_provider::{DeclaredModel, ModelConfig, ResponseFormat};
use windlass_setup::models::memory::{DatedAnswers, RememberedModel};
use windlass_vocab::{
    EffectClass, Failure, FailureClass, Json, OutputSpec, PinnedContext, Reply, ReplyCall, StopReason, Timestamp,
    ToolSpec,
};

use super::row::date;
use super::trial::SmallCall;
use crate::output::advice::with_failure;
use crate::output::harmless_line;

/// How long each call may take; a local model may have to be loaded first.
const LIMIT: Duration = Duration::from_secs(180);

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
        "{name}: up to 3 small calls to {}; with a provider that takes money they usually cost less than a cent",
        harmless_line(&model.base_url)
    ));
    // What is true is found out whatever is configured.
    let unconfigured = ResolvedModel { figures: ModelFigures::default(), ..model.clone() };
    let found = call_all(&unconfigured, show).await;
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
    show(worded(found.native_calls, "  it came", "  it did not come"));
    found.parallel_calls = match found.native_calls {
        Ability::Yes => {
            show("  two calls in one reply are asked for");
            let at_once = calls_at_once(model).await?;
            show(worded(at_once, "  both came", "  they did not come together"));
            at_once
        }
        Ability::No => Ability::No,
        Ability::Unknown => Ability::Unknown,
    };
    show("  an answer by a JSON schema is asked for");
    found.json_schema = answer_by_schema(model).await?;
    show(worded(found.json_schema, "  it fits the schema", "  it does not fit the schema"));
    Ok(found)
}

/// Returns the line for what a call showed.
fn worded(found: Ability, yes: &'static str, no: &'static str) -> &'static str {
    match found {
        Ability::Yes => yes,
        Ability::No => no,
        Ability::Unknown => "  the reply was cut off before it could be seen",
    }
}

/// Returns what a reply shows: one that was cut off, or that the provider ended, proves only what it contains.
fn ability_in(reply: &Reply, contains: impl Fn(&Reply) -> bool) -> Ability {
    if contains(reply) {
        return Ability::Yes;
    }
    match reply.stop {
        StopReason::Stop | StopReason::Calls => Ability::No,
        StopReason::Length | StopReason::Filtered | StopReason::Refused | StopReason::Error | StopReason::Paused => {
            Ability::Unknown
        }
    }
}

async fn call_of_tool(model: &ResolvedModel) -> Result<Ability, Failure> {
    let words = "What is the weather in Paris? Call the tool get_weather for it.";
    match offered(model, words).await {
        Ok(reply) => Ok(ability_in(&reply, |reply| reply.calls.iter().any(is_of_offered))),
        Err(failure) if failure.no_tools => Ok(Ability::No),
        Err(failure) => Err(failure),
    }
}

async fn calls_at_once(model: &ResolvedModel) -> Result<Ability, Failure> {
    let words =
        "What is the weather in Paris and in Rome? Call the tool get_weather twice in one reply, once for each.";
    Ok(ability_in(&offered(model, words).await?, |reply| {
        reply.calls.iter().filter(|call| is_of_offered(call)).count() > 1
    }))
}

/// The name of the tool that is offered, on the wire.
const OFFERED: &str = "get_weather";

/// Whether a call is one of the offered tool, with arguments that fit its schema. Any other proves nothing: a run could do
/// nothing with it either.
fn is_of_offered(call: &ReplyCall) -> bool {
    let arguments: Option<Value> = serde_json::from_str(&call.arguments).ok();
    call.name == OFFERED && arguments.is_some_and(|arguments| arguments["city"].is_string())
}

/// Calls the model with a tool offered, whatever is believed of it.
async fn offered(model: &ResolvedModel, words: &str) -> Result<Reply, Failure> {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let tool = ToolSpec {
        name: "local.get_weather".into(),
        wire_name: OFFERED.to_owned(),
        description: "Returns the weather in a city.".into(),
        schema: Json::from(&schema),
        effect: EffectClass::ReadOnly,
        ending: None,
        repeatable: false,
        reads_files: false,
        tags: std::collections::BTreeSet::new(),
    };
    let context = PinnedContext { offer: vec![tool], ..PinnedContext::default() };
    SmallCall { words, context: &context, output: None, limit: LIMIT }.make(model, model.config()).await
}

async fn answer_by_schema(model: &ResolvedModel) -> Result<Ability, Failure> {
    let schema = json!({
        "type": "object",
        "properties": {"colour": {"type": "string"}},
        "required": ["colour"],
        "additionalProperties": false,
    });
    let output = OutputSpec { name: "colour".to_owned(), schema: Json::from(&schema) };
    let usual = model.config();
    // The schema must be sent as such, whatever is believed of the model: its JSON as the arguments of a tool proves nothing.
    let abilities = windlass_provider::Abilities {
        response_format: ResponseFormat::Always,
        json_schema: Ability::Yes,
        native_calls: Ability::No,
        ..usual.abilities
    };
    let config = ModelConfig { abilities, ..usual };
    let context = PinnedContext::default();
    // Nothing in these words asks for JSON: if it comes, the schema was obeyed.
    let call = SmallCall { words: "Name a colour.", context: &context, output: Some(&output), limit: LIMIT };
    match call.make(model, config).await {
        Ok(reply) => Ok(ability_in(&reply, |reply| {
            let value: Option<Value> = serde_json::from_str(reply.text().trim()).ok();
            value.is_some_and(|value| value["colour"].is_string())
        })),
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

    /// The cells of the table for people; none if the calls could not be made.
    fn cells(&self) -> Option<[String; 7]> {
        if self.failure.is_some() {
            return None;
        }
        let known = self.remembered.answers();
        let can = |ability: Ability| word(ability).to_owned();
        let window =
            self.figures_window.or(known.window).map_or_else(|| "unknown".to_owned(), |window| window.to_string());
        let date = self.remembered.probed.map(|probed| date(probed.at)).unwrap_or_default();
        let abilities = [known.native_calls, known.parallel_calls, known.json_schema, known.images].map(can);
        let [native, parallel, schema, images] = abilities;
        Some([self.name.clone(), native, parallel, schema, images, window, date])
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

/// What several probes found, for people: a table, or on a narrow screen a few lines for each model; then what failed.
pub(crate) fn probe_table(probes: &[ModelProbe], columns: Option<usize>) -> String {
    const HEAD: [&str; 7] = ["model", "native calls", "parallel", "schema", "images", "window", "date"];
    let rows: Vec<[String; 7]> = probes.iter().filter_map(ModelProbe::cells).collect();
    let widths: [usize; 7] = std::array::from_fn(|at| {
        let cells = rows.iter().map(|row| row[at].chars().count());
        cells.chain([HEAD[at].len()]).max().unwrap_or_default()
    });
    let is_wide = columns.is_none_or(|columns| widths.iter().sum::<usize>() + 2 * (HEAD.len() - 1) <= columns);
    let line = |row: &[String; 7]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    let lines = |row: &[String; 7]| {
        let cells = HEAD.iter().zip(row).skip(1).map(|(head, cell)| format!("  {head:<12}  {cell}\n"));
        format!("{}\n{}", row[0], cells.collect::<String>())
    };
    let table: String = match (rows.is_empty(), is_wide) {
        (true, _) => String::new(),
        (false, true) => line(&HEAD.map(str::to_owned)) + &rows.iter().map(line).collect::<String>(),
        (false, false) => rows.iter().map(lines).collect(),
    };
    let failed = |probe: &ModelProbe| {
        let failure = probe.failure.as_ref()?;
        Some(format!("{}  failed: {}\n", probe.name, harmless_line(&with_failure(failure))))
    };
    table + &probes.iter().filter_map(failed).collect::<String>()
}

fn word(ability: Ability) -> &'static str {
    match ability {
        Ability::Yes => "yes",
        Ability::No => "no",
        Ability::Unknown => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{Failure, FailureClass};

    use super::*;

    fn probe(name: &str, native_calls: Ability, failure: Option<Failure>) -> ModelProbe {
        let found = DeclaredModel { native_calls, ..DeclaredModel::default() };
        let probed = Some(DatedAnswers::new(Timestamp(0), &found));
        let remembered = RememberedModel { probed, ..RememberedModel::nothing("http://h/v1", name) };
        ModelProbe { name: name.to_owned(), remembered, figures_window: Some(131_072), failure }
    }

    // proves M8
    #[test]
    fn a_call_counts_only_with_arguments_that_parse_and_fit() {
        let is_call = |name: &str, arguments: &str| {
            let (name, arguments) = (name.to_owned(), arguments.to_owned());
            is_of_offered(&ReplyCall { provider_id: None, name, arguments, mended: None })
        };
        assert!(is_call("get_weather", r#"{"city":"Paris"}"#));
        for (name, arguments) in [("zzz", "{{{"), ("zzz", r#"{"city":"Paris"}"#), ("get_weather", "{{{")] {
            assert!(!is_call(name, arguments), "{name} {arguments}");
        }
        for arguments in ["", "[]", "\"city\"", "{}", r#"{"city":null}"#] {
            assert!(!is_call("get_weather", arguments), "{arguments}");
        }
    }

    // proves M8
    #[test]
    fn what_a_probe_found_is_aligned_and_fits_a_narrow_screen() {
        let failed = Failure::new(FailureClass::Transient, "Nothing listens there.");
        let probes = [
            probe("m", Ability::Yes, None),
            probe("gone", Ability::Unknown, Some(failed)),
            probe("a-model-with-a-longer-name", Ability::No, None),
        ];
        let wide = "\
model                       native calls  parallel  schema   images   window  date
m                           yes           unknown   unknown  unknown  131072  1970-01-01
a-model-with-a-longer-name  no            unknown   unknown  unknown  131072  1970-01-01
gone  failed: Nothing listens there.
";
        assert_eq!(probe_table(&probes, None), wide);
        assert_eq!(probe_table(&probes, Some(100)), wide);
        let narrow = probe_table(&probes, Some(40));
        assert!(narrow.starts_with("m\n  native calls  yes\n  parallel      unknown\n"), "{narrow}");
        assert!(narrow.lines().all(|line| line.chars().count() <= 40), "{narrow}");
    }
}
