//! The arguments of the tools.

use std::num::NonZeroUsize;

use rmcp::model::JsonObject;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Error as _};

use crate::args::name;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::prompt::PromptError;

/// Arguments of `ask`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AskArguments {
    pub(super) prompt: String,
    pub(super) session: Option<CheckedName>,
    pub(super) message_id: Option<CheckedName>,
}

impl AskArguments {
    pub(super) fn read(arguments: Option<JsonObject>) -> Result<Self, CommandError> {
        let ask: Self = read("ask", arguments)?;
        if ask.prompt.trim().is_empty() { Err(PromptError::Empty.into()) } else { Ok(ask) }
    }
}

/// Arguments of `resume` and `stop`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionArguments {
    pub(super) session: CheckedName,
}

/// Arguments of `list_sessions`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListSessionsArguments {
    pub(super) limit: Option<NonZeroUsize>,
}

/// Arguments of `read_session`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadSessionArguments {
    pub(super) session: CheckedName,
    pub(super) after: Option<u64>,
    pub(super) limit: Option<NonZeroUsize>,
}

/// A session key or message id, checked by the rules of the command line.
#[derive(Debug)]
pub(super) struct CheckedName(pub(super) String);

impl<'de> Deserialize<'de> for CheckedName {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        name(&text).map(Self).map_err(|problem| D::Error::custom(format!("`{text}` can't be a name: {problem}")))
    }
}

/// Parses a tool's arguments, or returns what is wrong with them.
pub(super) fn read<T: DeserializeOwned>(tool: &str, arguments: Option<JsonObject>) -> Result<T, CommandError> {
    serde_json::from_value(arguments.unwrap_or_default().into())
        .map_err(|error| CommandError::new(Exit::Usage, format!("wrong arguments for `{tool}`: {error}")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{AskArguments, ListSessionsArguments, ReadSessionArguments, SessionArguments, read};

    fn refused(arguments: &serde_json::Value) -> String {
        AskArguments::read(arguments.as_object().cloned()).map(|_| ()).expect_err("refused").message
    }

    // proves P5: the error for wrong arguments says what is wrong
    #[test]
    fn wrong_arguments_are_named() {
        for (arguments, said) in [
            (json!({}), "missing field `prompt`"),
            (json!({"prompt": " "}), "the prompt is empty"),
            (json!({"prompt": 3}), "expected a string"),
            (json!({"prompt": "go", "promt": "x"}), "unknown field `promt`"),
            (json!({"prompt": "go", "session": ""}), "it is empty"),
            (json!({"prompt": "go", "message_id": "a\nb"}), "control character"),
        ] {
            let text = refused(&arguments);
            assert!(text.contains(said), "{arguments}: {text}");
        }
        let zero: Result<ListSessionsArguments, _> = read("list_sessions", json!({"limit": 0}).as_object().cloned());
        assert!(zero.expect_err("refused").message.contains("integer `0`, expected a nonzero"));
        let zero = json!({"session": "s", "limit": 0}).as_object().cloned();
        assert!(read::<ReadSessionArguments>("read_session", zero).is_err());
        let none: Result<SessionArguments, _> = read("stop", None);
        assert!(none.expect_err("refused").message.contains("wrong arguments for `stop`: missing field `session`"));
    }

    #[test]
    fn what_is_left_out_and_what_is_null_are_the_same() {
        let ask = AskArguments::read(json!({"prompt": "go", "session": null}).as_object().cloned()).expect("read");
        assert!(ask.session.is_none() && ask.message_id.is_none());
    }
}
