//! Typed output (L10): what an agent's runs end with.

use std::any::TypeId;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use windlass_runtime::Expected;
use windlass_vocab::{EndReason, Json, OutputSpec, RunEnded};

use crate::agent::FollowError;
use crate::schema::schema_of;

/// What an agent can end a run with: words (`String`), or any type that can be read from JSON and
/// says its schema. The type's doc comments are what the model is told of it; what its `Deserialize`
/// refuses is sent back to the model like what its schema refuses.
pub trait Output: DeserializeOwned + JsonSchema + Send + 'static {}

impl<T: DeserializeOwned + JsonSchema + Send + 'static> Output for T {}

/// There is no output to be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// The run has no end to report.
    #[error(transparent)]
    Run(#[from] FollowError),
    /// The run ended in another way than with its output.
    #[error("the run ended without its output ({reason:?}): {answer}")]
    #[non_exhaustive]
    Missing {
        /// How it ended.
        reason: EndReason,
        /// What it said.
        answer: String,
    },
    /// The output is of another type, as when the run was begun by an earlier version of the program.
    #[error("the run's output is of another type: {problem}")]
    #[non_exhaustive]
    Unreadable {
        /// What does not fit.
        problem: String,
    },
}

/// What is expected of runs that must end with a `T`; nothing for words.
pub(crate) fn expected<T: Output>() -> Option<Expected> {
    if is_words::<T>() {
        return None;
    }
    let spec = OutputSpec { name: wire_name(&T::schema_name()), schema: Json::from(&schema_of::<T>()) };
    let check = |output: &Json| match serde_json::from_str::<T>(output.as_str()) {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("It can't be read: {error}.")),
    };
    Some(Expected { spec, check: Arc::new(check) })
}

/// The output of a run that ended.
pub(crate) fn output_of<T: Output>(ended: &RunEnded) -> Result<T, OutputError> {
    let missing = || OutputError::Missing { reason: ended.reason, answer: ended.answer.clone() };
    let read = if is_words::<T>() {
        let said = match ended.reason {
            EndReason::Completed | EndReason::Asked | EndReason::Conversed => Ok(ended.answer.clone()),
            EndReason::Unfinished
            | EndReason::Cancelled
            | EndReason::TurnCap
            | EndReason::BudgetSpent
            | EndReason::Failed => Err(missing()),
        };
        serde_json::from_value(Value::String(said?))
    } else {
        serde_json::from_str(ended.output.as_ref().ok_or_else(missing)?.as_str())
    };
    read.map_err(|error| OutputError::Unreadable { problem: error.to_string() })
}

fn is_words<T: 'static>() -> bool {
    TypeId::of::<T>() == TypeId::of::<String>()
}

/// A name the wire takes.
fn wire_name(name: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    name.chars().map(fits).take(64).collect()
}
