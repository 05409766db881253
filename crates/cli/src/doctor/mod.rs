//! What `windlass doctor` looks at. Each check really does the thing it is about, in a file of its own,
//! and comes out as a [`Check`]: how it stands, what was seen, and what to do. Nothing here calls a
//! model or costs money.

mod disk;
mod model;
mod sandbox;
mod settings;
mod store;
mod terminal;
mod tools;

use serde::Serialize;

pub(crate) use self::disk::check as disk;
pub(crate) use self::model::check as model;
pub(crate) use self::sandbox::check as sandbox;
pub(crate) use self::settings::check as settings;
pub(crate) use self::store::check as store;
pub(crate) use self::terminal::check as terminal;
pub(crate) use self::tools::check as tools;

/// How a thing stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    /// It works.
    Ok,
    /// It works, but not as it could.
    Warn,
    /// It does not work.
    Fail,
}

impl State {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Check {
    /// What it is about, in a word.
    pub(crate) name: &'static str,
    pub(crate) state: State,
    /// What was seen.
    pub(crate) said: String,
    /// More of it, a line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) details: Vec<String>,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) advice: Option<String>,
}

impl Check {
    fn new(name: &'static str, state: State, said: impl Into<String>) -> Self {
        Self { name, state, said: said.into(), details: Vec::new(), advice: None }
    }

    pub(crate) fn ok(name: &'static str, said: impl Into<String>) -> Self {
        Self::new(name, State::Ok, said)
    }

    pub(crate) fn warn(name: &'static str, said: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { advice: Some(advice.into()), ..Self::new(name, State::Warn, said) }
    }

    /// A failure whose sentence says what to do already.
    pub(crate) fn fail(name: &'static str, said: impl Into<String>) -> Self {
        Self::new(name, State::Fail, said)
    }

    pub(crate) fn advise(self, advice: impl Into<String>) -> Self {
        Self { advice: Some(advice.into()), ..self }
    }

    fn with(self, details: Vec<String>) -> Self {
        Self { details, ..self }
    }
}
