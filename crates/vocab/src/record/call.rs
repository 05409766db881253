//! A tool call, from what the model asked for to what came of it.

use serde::{Deserialize, Serialize};

use crate::{
    CallId, CommandExit, Cut, EffectClass, EffectId, Elicitation, Ending, Json, OutcomeKind, Preview, Remedy, Repair,
    SnapshotKind, TextOrigin, ToolName, Verdict, VerdictReason,
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
    /// The tool meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolName>,
    /// The arguments, an object.
    pub arguments: Json,
    /// What the model wrote, where it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// What was mended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<Repair>,
    /// What running it twice would mean.
    pub effect: EffectClass,
    /// The key of its effect to the outside.
    pub effect_id: EffectId,
    /// Set for loop-ending tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<Ending>,
    /// Exempt from progress guards.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeatable: bool,
    /// Set for built-in tools that only show what is in the workspace.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reads_files: bool,
    /// May it run?
    pub verdict: Verdict,
    /// What a person would be shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
    /// What is kept of the files before it (T9).
    #[serde(default, skip_serializing_if = "SnapshotKind::is_none")]
    pub snapshot: SnapshotKind,
    /// What decided the verdict (T11).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<VerdictReason>,
}

/// The call may have started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallStarted {
    /// Which.
    pub call: CallId,
    /// The arguments it runs with, where a person edited them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Json>,
}

/// The call can't go on before the person has answered; it is run again with the answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallPaused {
    /// Which.
    pub call: CallId,
    /// What its tool must be given back.
    pub state: Json,
    /// What is asked.
    pub asks: Vec<Elicitation>,
}

/// How a call cut short by a crash is settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Settlement {
    /// It is run again.
    RunAgain,
    /// The tool is asked whether it took place.
    Verify,
    /// It is taken as interrupted.
    Interrupt,
    /// A person is asked.
    Ask,
}

/// What becomes of a call cut short was decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallSettled {
    /// Which.
    pub call: CallId,
    /// How.
    pub settlement: Settlement,
}

/// A call has its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallFinished {
    /// Which.
    pub call: CallId,
    /// How it came out.
    pub outcome: OutcomeKind,
    /// The text the model sees.
    pub text: String,
    /// What was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
    /// How long it took.
    #[serde(default)]
    pub took_ms: u64,
    /// The earlier call whose result came out again; the text only says so (L11). Older versions repeated the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_from: Option<CallId>,
    /// Structure beside the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Json>,
    /// How the command ended, where the call ran one and saw its end; records from before this field have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<CommandExit>,
    /// Where the text came from, if from outside (X4); records from before this field do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<TextOrigin>,
    /// What a person could change so that such a call would run; records from before this field name it in the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<Remedy>,
}

/// Why a tool is withheld.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WithheldFor {
    /// It failed too often in a row.
    Failures,
    /// The model ran in circles with it.
    Cycle,
}

/// A tool is refused for the rest of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolWithheld {
    /// What for.
    pub cause: WithheldFor,
    /// Which.
    pub tool: ToolName,
    /// Why, for the model.
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
