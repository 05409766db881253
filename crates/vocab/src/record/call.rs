//! The records of a tool call, from the model's request to the result.

use serde::{Deserialize, Serialize};

use crate::{
    CallId, CommandExit, Cut, EffectClass, EffectId, Elicitation, Ending, ImageRef, Json, OutcomeKind, Preview, Remedy,
    Repair, SnapshotKind, TextOrigin, ToolName, Verdict, VerdictReason,
};

/// The model asked for a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallRequested {
    /// Its id.
    pub call: CallId,
    /// The provider's id for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// The name as the model wrote it.
    pub name: String,
    /// The tool that the name was resolved to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolName>,
    /// The arguments, an object.
    pub arguments: Json,
    /// The arguments as the model wrote them, where they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// The repairs made to the call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<Repair>,
    /// What running the call twice would mean.
    pub effect: EffectClass,
    /// The idempotency key of the call's effect, for external systems.
    pub effect_id: EffectId,
    /// Set for loop-ending tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<Ending>,
    /// Whether the call is exempt from progress guards.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeatable: bool,
    /// Set for built-in tools that only display what is in the workspace.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reads_files: bool,
    /// Whether the call may run.
    pub verdict: Verdict,
    /// What a person sees when asked about the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
    /// Which files are saved before the call (T9).
    #[serde(default, skip_serializing_if = "SnapshotKind::is_none")]
    pub snapshot: SnapshotKind,
    /// What decided the verdict (T11).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<VerdictReason>,
}

/// The call may have started. Stored before the tool is started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallStarted {
    /// The call.
    pub call: CallId,
    /// The arguments it runs with, where a person edited them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Json>,
}

/// The call can't continue before the person has answered; it is run again with the answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallPaused {
    /// The call.
    pub call: CallId,
    /// State that must be handed back to the tool.
    pub state: Json,
    /// The requests to the person.
    pub asks: Vec<Elicitation>,
}

/// How a call that a crash interrupted is settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Settlement {
    /// It is run again.
    RunAgain,
    /// The tool is asked whether the effect took place.
    Verify,
    /// It counts as interrupted.
    Interrupt,
    /// A person is asked.
    Ask,
}

/// It was decided how to settle a call that a crash interrupted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallSettled {
    /// The call.
    pub call: CallId,
    /// The decision.
    pub settlement: Settlement,
}

/// A call finished; this is its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallFinished {
    /// The call.
    pub call: CallId,
    /// The outcome of the call.
    pub outcome: OutcomeKind,
    /// The text the model sees.
    pub text: String,
    /// What was left out of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
    /// How long the call took, in milliseconds.
    #[serde(default)]
    pub took_ms: u64,
    /// The earlier call with the same result; the text then only refers to it (L11). Older versions repeated the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_from: Option<CallId>,
    /// Structured content beside the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Json>,
    /// The images of the result. In records from before this field they are in `structured`, and no model sees them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<ImageRef>,
    /// How the command ended, where the call ran one and observed its end; absent in records from before this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<CommandExit>,
    /// Where the text came from, if from outside (X4); absent in records from before this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<TextOrigin>,
    /// What a person could change so that such a call would run; in records from before this field the text says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<Remedy>,
}

/// Why a tool is withheld.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WithheldFor {
    /// It failed too often in a row.
    Failures,
    /// The model repeated the same calls with it.
    Cycle,
}

/// A tool is withheld: refused for the rest of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolWithheld {
    /// The cause.
    pub cause: WithheldFor,
    /// The tool.
    pub tool: ToolName,
    /// The explanation for the model.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::CallFinished;
    use crate::CommandExit;

    const BEFORE: &str = r#"{"call":"0.0.0","outcome":"ok","text":"[exit code 3]","took_ms":4}"#;

    // proves J7
    #[test]
    fn how_a_command_ended_is_written_and_a_record_from_before_has_none() {
        let before: CallFinished = serde_json::from_str(BEFORE).unwrap();
        assert_eq!(before.exit, None);
        assert_eq!(serde_json::to_string(&before).unwrap(), BEFORE);
        for (exit, written) in [(CommandExit::Code(3), r#"{"code":3}"#), (CommandExit::Signal(9), r#"{"signal":9}"#)] {
            let finished = CallFinished { exit: Some(exit), ..before.clone() };
            let line = serde_json::to_string(&finished).unwrap();
            assert_eq!(line, BEFORE.replace('}', &format!(r#","exit":{written}}}"#)));
            assert_eq!(serde_json::from_str::<CallFinished>(&line).unwrap(), finished);
        }
    }
}
