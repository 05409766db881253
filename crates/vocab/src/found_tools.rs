//! Tools that a model has looked for (S4): they join the offer of the run at the next turn.

use serde::{Deserialize, Serialize};

use crate::{CallFinished, Json, OutcomeKind, ToolName};

/// What the tool that finds tools has found; the structured content of its result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundTools {
    /// Their names, the best first.
    pub found: Vec<ToolName>,
}

impl FoundTools {
    /// The full name of the tool that finds tools.
    pub const TOOL: &'static str = "local.find_tools";

    /// Returns what a call of `tool` has found.
    #[must_use]
    pub fn by_call(tool: &ToolName, finished: &CallFinished) -> Vec<ToolName> {
        let is_search = tool.as_str() == Self::TOOL && finished.outcome == OutcomeKind::Ok;
        let content = finished.structured.as_ref().filter(|_| is_search).map(Json::as_str).unwrap_or_default();
        serde_json::from_str(content).map(|found: Self| found.found).unwrap_or_default()
    }
}
