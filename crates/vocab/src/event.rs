//! Events for subscribers. Every record is an event; deltas are events that are only sent live, never stored.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{CallId, Envelope, RunId, ToolName, TurnId};

/// An event for subscribers.
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
    /// The run it belongs to.
    pub run: RunId,
    /// The turn it belongs to.
    pub turn: TurnId,
    /// The attempt it belongs to, from 1.
    pub attempt: u32,
    /// Bytes of the same kind that came before this fragment in the attempt.
    pub offset: u64,
    /// The content of the fragment.
    #[serde(flatten)]
    pub body: DeltaBody,
}

/// What a delta carries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "body")]
pub enum DeltaBody {
    /// Text of the answer.
    TextDelta {
        /// The text.
        text: String,
    },
    /// The model starts to think, for the first time in the attempt or again; `offset` counts the thinking so far.
    ThinkingStarted {},
    /// The model stops thinking; text or calls follow. Sent at the end of the attempt at the latest.
    ThinkingEnded {},
    /// Text of the reasoning, between a start and an end.
    ThinkingDelta {
        /// The text.
        text: String,
    },
    /// Arguments of a call while the model writes them, or output of a call while it runs.
    CallDelta {
        /// The call.
        call: CallId,
        /// The tool's name as the model wrote it; only in the first fragment.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// The fragment.
        text: String,
    },
    /// Discard what this turn has displayed so far: another attempt replaces it.
    Cleared {},
    /// The run or a call waits for a tool server.
    Waiting {
        /// The call that waits; absent where the run itself waits.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<CallId>,
        /// What it waits for.
        #[serde(flatten)]
        wait: Wait,
    },
    /// A source of passages failed or took too long and is left out of this turn; said once in a run.
    SourceLeftOut {
        /// The source.
        source: String,
        /// Why.
        why: String,
    },
}

/// A wait for a tool server, with its limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// What is awaited.
    #[serde(rename = "for")]
    pub what: WaitFor,
    /// The longest wait, in milliseconds.
    pub limit_ms: u64,
}

/// What a wait is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitFor {
    /// These servers to be connected.
    Servers(Vec<String>),
    /// The server's answer to a call of this tool.
    Answer(ToolName),
}
