//! Typed output (L10): the values an agent's runs end with.

use std::any::TypeId;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use windlass_runtime::ExpectedOutput;
use windlass_vocab::{Json, OutputSpec, RunEnded};

use crate::run_error::RunErrorReason;
use crate::schema::schema_of;

/// A type an agent can end a run with: text (`String`), or any type that can be parsed from JSON and has a schema. The
/// model reads the type's doc comments; a value that its `Deserialize` refuses goes back to the model like one that
/// its schema refuses.
pub trait Output: DeserializeOwned + JsonSchema + Send + 'static {}

impl<T: DeserializeOwned + JsonSchema + Send + 'static> Output for T {}

/// Returns what runs that must end with a `T` are checked against; none for text.
pub(crate) fn expected<T: Output>() -> Option<ExpectedOutput> {
    if is_words::<T>() {
        return None;
    }
    let spec = OutputSpec { name: wire_name(&T::schema_name()), schema: Json::from(&schema_of::<T>()) };
    let check = |output: &Json| match serde_json::from_str::<T>(output.as_str()) {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("It can't be read: {error}.")),
    };
    Some(ExpectedOutput { spec, check: Arc::new(check) })
}

/// Returns the output of an ended run, or why it has none.
pub(crate) fn output_of<T: Output>(ended: &RunEnded) -> Result<T, RunErrorReason> {
    if let Some(reason) = RunErrorReason::of(ended) {
        return Err(reason);
    }
    let read = if is_words::<T>() {
        serde_json::from_value(Value::String(ended.answer.clone()))
    } else {
        // The run may have begun without an output type and been resumed by an agent with one.
        let output = ended.output.as_ref().ok_or_else(|| RunErrorReason::Unreadable("it is words".to_owned()))?;
        serde_json::from_str(output.as_str())
    };
    read.map_err(|error| RunErrorReason::Unreadable(error.to_string()))
}

fn is_words<T: 'static>() -> bool {
    TypeId::of::<T>() == TypeId::of::<String>()
}

/// Replaces the characters that the wire protocol does not allow in a name.
fn wire_name(name: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    name.chars().map(fits).take(64).collect()
}
