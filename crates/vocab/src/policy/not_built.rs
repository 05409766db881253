//! Values of policy rows that no code reads yet. Presets contain them, so that a stored policy says what its preset
//! means; a user who sets one gets an error, because it would change nothing.

use super::{PolicyPatch, Reasoning, ToolSource};

/// A value that has no effect yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` in `{row}` is not built yet: it would do nothing")]
pub struct NotBuilt {
    /// The row of the policy.
    pub row: &'static str,
    /// The value, as written in a configuration file.
    pub value: &'static str,
}

/// All of these values, as written in a configuration file.
pub const VALUES_NOT_BUILT: &[&str] = &["remote", "configured"];

impl PolicyPatch {
    /// Returns an error for the first row with a value that has no effect yet.
    pub fn check(&self) -> Result<(), NotBuilt> {
        let refused = [
            ("tools", self.tools.iter().flatten().find_map(|source| tool_source(*source))),
            ("reasoning", self.reasoning.and_then(reasoning)),
        ];
        match refused.into_iter().find_map(|(row, value)| Some(NotBuilt { row, value: value? })) {
            Some(refused) => Err(refused),
            None => Ok(()),
        }
    }
}

const fn tool_source(source: ToolSource) -> Option<&'static str> {
    match source {
        ToolSource::BuiltIn | ToolSource::Ending | ToolSource::Mcp => None,
        ToolSource::Remote => Some("remote"),
    }
}

const fn reasoning(reasoning: Reasoning) -> Option<&'static str> {
    match reasoning {
        Reasoning::ModelOwn | Reasoning::Low | Reasoning::Medium | Reasoning::High => None,
        Reasoning::Configured => Some("configured"),
    }
}

#[cfg(test)]
mod tests {
    use super::VALUES_NOT_BUILT;
    use crate::PolicyPatch;

    fn check(rows: &str) -> Result<(), String> {
        serde_json::from_str::<PolicyPatch>(rows).unwrap().check().map_err(|refused| refused.to_string())
    }

    #[test]
    fn exactly_the_values_that_would_do_nothing_are_refused() {
        let refused = [
            (r#"{"tools":["built_in","remote"]}"#, "tools", "remote"),
            (r#"{"reasoning":"configured"}"#, "reasoning", "configured"),
        ];
        for (rows, row, value) in refused {
            assert_eq!(check(rows), Err(format!("`{value}` in `{row}` is not built yet: it would do nothing")));
        }
        assert_eq!(refused.map(|(_, _, value)| value), *VALUES_NOT_BUILT);
    }

    #[test]
    fn every_other_value_is_taken() {
        for rows in [
            "{}",
            r#"{"tools":["built_in","ending","mcp"],"ends_by":"ending_tool","planning":"always","history":"pruned"}"#,
            r#"{"ends_by":"text","sampling":{"max_tokens":{"fixed":9}},"reasoning":"high","history":"all_that_fits"}"#,
            r#"{"sampling":{"max_tokens":"budget"},"history":"summarised"}"#,
            r#"{"history":{"consolidated":{"messages":9}}}"#,
            r#"{"nudges":["empty","cut_off","no_tool_call"],"sampling":{},"reasoning":"model_own"}"#,
            r#"{"ends_by":"judged_text","nudges":["incomplete","deflection"],"unasked_changes":"ask"}"#,
        ] {
            assert_eq!(check(rows), Ok(()), "{rows}");
        }
    }
}
