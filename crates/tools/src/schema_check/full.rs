//! Checks any schema, with the crate `jsonschema`.

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use super::fault_line::{FAULTS, fault_line};
use crate::shorten::shorten;

/// A schema, ready to check values.
#[derive(Debug)]
pub(crate) struct FullCheck(Validator);

impl FullCheck {
    /// Compiles a schema so that it can't make requests, read files or run patterns without a bound.
    pub(super) fn new(schema: &Value) -> Result<Self, String> {
        let validator = jsonschema::options()
            .offline()
            .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(50_000))
            .build(schema);
        validator.map(Self).map_err(|error| shorten(&error.to_string(), 400))
    }

    pub(super) fn fits(&self, value: &Value) -> bool {
        self.0.is_valid(value)
    }

    /// Returns what is wrong with `value`, one line per fault; `whole` is the name of the value.
    pub(super) fn faults(&self, value: &Value, whole: &str) -> String {
        let faults = self.0.iter_errors(value).take(FAULTS).map(|fault| {
            fault_line(&fault.instance_path().to_string(), whole, &fault.masked_with("the value").to_string())
        });
        faults.collect::<Vec<_>>().join("\n")
    }
}
