//! Events: what subscribers see. Every record is one; deltas are the live-only rest.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{CallId, Envelope, RunId, ToolName, TurnId};

/// Something happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Event {
    /// A record, after it was stored.
    Record(Arc<Envelope>),
    /// A fragment that is never stored.
    Delta(Delta),
}

/// A live-only fragment of a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delta {
    /// Its run.
    pub run: RunId,
    /// Its turn.
    pub turn: TurnId,
    /// The attempt it belongs to, from 1.
    pub attempt: u32,
    /// Bytes of the same kind that came before it in the attempt.
    pub offset: u64,
    /// What came.
    #[serde(flatten)]
    pub body: DeltaBody,
}

/// What a delta carries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "body")]
pub enum DeltaBody {
    /// Words of the answer.
    TextDelta {
        /// The words.
        text: String,
    },
    /// The model begins to think, for the first time in the attempt or again; `offset` counts what it thought before.
    ThinkingStarted {},
    /// It has thought; what follows is text or calls. Said at the end of the attempt at the latest.
    ThinkingEnded {},
    /// Words of the reasoning, between a start and an end.
    ThinkingDelta {
        /// The words.
        text: String,
    },
    /// Arguments of a call as the model writes them, or its progress as it runs.
    CallDelta {
        /// The call.
        call: CallId,
        /// The tool as the model wrote it, with the first fragment.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// The fragment.
        text: String,
    },
    /// Drop what this turn has shown: another attempt takes over.
    Cleared {},
    /// Something of a tool server is waited for.
    Waiting {
        /// The call that waits; absent where the run itself does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<CallId>,
        /// What for.
        #[serde(flatten)]
        wait: Wait,
    },
}

/// Something of a tool server that is waited for, and how long at most.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// What is waited for.
    #[serde(rename = "for")]
    pub what: WaitFor,
    /// For how long at most, in milliseconds.
    pub limit_ms: u64,
}

/// What is waited for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitFor {
    /// These servers must be connected.
    Servers(Vec<String>),
    /// The server must answer a call of this tool.
    Answer(ToolName),
}
