//! What a tool asks of the person in the middle of a call (P4).
//!
//! A tool that can wait asks while it runs. A tool that can't wait suspends its call with a [`Pause`], which is stored
//! and so survives the process, and is run again with a [`Resumption`].

use serde::{Deserialize, Serialize};

use crate::{Answer, Json};

/// A request that only the person can answer or carry out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Elicitation {
    /// The tool's own id for the request.
    pub key: String,
    /// The server that asks.
    pub from: String,
    /// The text of the request.
    pub message: String,
    /// What kind of answer it wants.
    pub wants: ElicitationKind,
}

/// What an elicitation wants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ElicitationKind {
    /// The person fills in a form; its content comes back with the answer.
    Form {
        /// JSON Schema of a flat object.
        schema: Json,
    },
    /// The person visits a page, outside of Windlass.
    Visit {
        /// The address of the page.
        url: String,
    },
}

/// A call that can't continue before the person has answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pause {
    /// State that must be handed back to the tool; opaque to everything else.
    pub state: Json,
    /// The requests to the person.
    pub asks: Vec<Elicitation>,
}

/// The input with which a paused call is run again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resumption {
    /// The state of the pause.
    pub state: Json,
    /// The answers, by the keys of the requests.
    pub answers: Vec<(String, Answer)>,
}
