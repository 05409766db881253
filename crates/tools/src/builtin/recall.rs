//! `recall`: reads the part of the conversation that is no longer sent (C5). It is offered once something was left out.

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_vocab::{CallId, EffectClass, Outcome, OutcomeKind, ToolSpec};

use super::answer::invalid_arguments;
use super::arguments::parse_arguments;
use super::spec::spec;
use crate::{BoxFuture, CallContext, SpilledResult, Tool};

/// The full name of the tool that reads the part of a conversation that is no longer sent.
pub const RECALL: &str = "local.recall";

#[derive(Deserialize)]
struct RecallArguments {
    #[serde(default)]
    query: Option<String>,
    #[serde(default)]
    call: Option<String>,
}

pub(crate) struct Recall {
    spec: ToolSpec,
}

impl Recall {
    pub(crate) fn new() -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "Words to search for."},
                "call": {"type": "string", "description": "The id of a call, such as 3.2.0."}
            },
            "additionalProperties": false
        });
        Self { spec: spec("recall", include_str!("recall.md"), EffectClass::ReadOnly, &schema) }
    }
}

impl Tool for Recall {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run(&self, context: CallContext, arguments: Value) -> BoxFuture<'static, Outcome> {
        let RecallArguments { query, call } = match parse_arguments(arguments) {
            Ok(arguments) => arguments,
            Err(problem) => return invalid_arguments(problem),
        };
        let query = query.filter(|words| !words.trim().is_empty());
        match (query, call.map(|call| call.parse::<CallId>())) {
            (Some(words), None) => Box::pin(search(context, words)),
            (None, Some(Ok(call))) => Box::pin(result(context, call)),
            (None, Some(Err(_))) => invalid_arguments("`call` is not the id of a call, such as 3.2.0.".to_owned()),
            (None, None) | (Some(_), Some(_)) => invalid_arguments("Give either `query` or `call`.".to_owned()),
        }
    }
}

async fn search(context: CallContext, words: String) -> Outcome {
    let found = context.earlier.search(words).await;
    Outcome { origin: found.origin, ..Outcome::ok(found.text) }
}

async fn result(context: CallContext, call: CallId) -> Outcome {
    match context.spilled.read(call).await {
        SpilledResult::Whole { text, origin } => Outcome { origin, ..Outcome::ok(text) },
        SpilledResult::Forbidden(reason) => Outcome::new(OutcomeKind::Denied, reason),
        SpilledResult::Absent => Outcome::new(OutcomeKind::NotFound, format!("There is no result of call {call}.")),
    }
}
