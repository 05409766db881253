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
    match context.earlier.search(words).await {
        Ok(found) => Outcome { origin: found.origin, ..Outcome::ok(found.text) },
        Err(problem) => Outcome::new(OutcomeKind::InfrastructureError, problem),
    }
}

async fn result(context: CallContext, call: CallId) -> Outcome {
    match context.spilled.read(call).await {
        SpilledResult::Whole { text, origin } => Outcome { origin, ..Outcome::ok(text) },
        SpilledResult::Forbidden(reason) => Outcome::new(OutcomeKind::Denied, reason),
        SpilledResult::Absent => Outcome::new(OutcomeKind::NotFound, format!("There is no result of call {call}.")),
        SpilledResult::Unreadable(problem) => Outcome::new(OutcomeKind::InfrastructureError, problem),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use windlass_vocab::{CallId, OutcomeKind, SessionId};

    use super::Recall;
    use crate::{BoxFuture, CallContext, EarlierConversation, FoundText, SpilledResult, SpilledResults, Tool as _};

    struct DamagedStore;

    impl EarlierConversation for DamagedStore {
        fn search(&self, _: String) -> BoxFuture<'_, Result<FoundText, String>> {
            Box::pin(std::future::ready(Err("damaged".to_owned())))
        }
    }

    impl SpilledResults for DamagedStore {
        fn read(&self, _: CallId) -> BoxFuture<'_, SpilledResult> {
            Box::pin(std::future::ready(SpilledResult::Unreadable("damaged".to_owned())))
        }
    }

    // proves T5, C5
    #[tokio::test]
    async fn records_that_can_not_be_read_are_an_error_and_not_an_answer() {
        for arguments in [json!({"query": "harbour"}), json!({"call": "1.1.0"})] {
            let mut context = CallContext::detached(SessionId(uuid::Uuid::nil()));
            (context.earlier, context.spilled) = (Arc::new(DamagedStore), Arc::new(DamagedStore));
            let outcome = Recall::new().run(context, arguments).await;
            assert_eq!((outcome.kind, outcome.text.as_str()), (OutcomeKind::InfrastructureError, "damaged"));
        }
    }
}
