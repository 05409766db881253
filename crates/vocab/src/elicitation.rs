//! What a tool needs of the person in the middle of a call (P4).
//!
//! A tool that can wait asks while it runs; one that can't gives its call up for now with a [`Pause`],
//! which outlives the process, and is run again with a [`Resumption`].

use serde::{Deserialize, Serialize};

use crate::{Answer, Json};

/// Something only the person can say or do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Elicitation {
    /// The tool's own name for it.
    pub key: String,
    /// The server that asks.
    pub from: String,
    /// What it says.
    pub message: String,
    /// What it wants.
    pub wants: ElicitationKind,
}

/// What an elicitation wants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ElicitationKind {
    /// A form filled in; its content comes back with the answer.
    Form {
        /// JSON Schema of a flat object.
        schema: Json,
    },
    /// A page visited, outside of Windlass.
    Visit {
        /// Where.
        url: String,
    },
}

/// A call that can't go on before the person has answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pause {
    /// What the tool must be given back; opaque to everybody else.
    pub state: Json,
    /// What it asks.
    pub asks: Vec<Elicitation>,
}

/// What a paused call is run again with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resumption {
    /// The state of its pause.
    pub state: Json,
    /// The answers, by the keys of what was asked.
    pub answers: Vec<(String, Answer)>,
}
