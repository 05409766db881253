//! Ids. A session's id is generated once at random; every id below it derives from position, so that replaying the same
//! journal twice gives the same ids.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

use crate::digits::Digits;

/// The text that could not be parsed as an id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {expected}")]
pub struct ParseIdError {
    text: String,
    expected: &'static str,
}

impl ParseIdError {
    pub(crate) fn new(text: &str, expected: &'static str) -> Self {
        Self { text: text.to_owned(), expected }
    }
}

/// A conversation, named by a UUIDv7.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(pub Uuid);

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for SessionId {
    type Err = ParseIdError;
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        Uuid::try_parse(text).map(Self).map_err(|_| ParseIdError { text: text.into(), expected: "a session id" })
    }
}

macro_rules! ordinal_id {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl $name {
            /// Returns the next id.
            #[must_use]
            pub const fn next(self) -> Self {
                Self(self.0 + 1)
            }
        }
    )*};
}

ordinal_id! {
    /// The n-th run of a session, from 1.
    RunId;
    /// The n-th turn of a run, from 1; 0 before the first.
    TurnId;
    /// The n-th question of a session, from 1.
    QuestionId;
}

macro_rules! text_id {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text)
            }
        }

        impl $name {
            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
    )*};
}

text_id! {
    /// The id that the sender gave a message; a session accepts the same id only once.
    MessageId;
    /// The id that the sender gave a command for a session; a command is executed once, however often it is sent.
    CommandId;
    /// A model's name in the configuration.
    ModelName;
    /// A tool's name for people: `server.tool`, e.g. `local.read_file`.
    ToolName;
    /// The id that the writer gave a record before it was stored.
    RecordId;
    /// The idempotency key of a call's effect for external systems: the same for every try of the call.
    EffectId;
}

impl ToolName {
    /// The server name of the built-in tools.
    pub const LOCAL: &str = "local";

    /// Whether the tool is built in, not from a server.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.server() == Self::LOCAL
    }

    /// Returns the name for people: without the server for built-in tools.
    #[must_use]
    pub fn display_name(&self) -> &str {
        if self.is_local() { self.bare() } else { self.as_str() }
    }

    /// Returns the name without its server.
    #[must_use]
    pub fn bare(&self) -> &str {
        self.0.split_once('.').map_or(self.as_str(), |(_, tool)| tool)
    }

    /// Returns the server of the tool; `local` for the built-in ones.
    #[must_use]
    pub fn server(&self) -> &str {
        self.0.split_once('.').map_or(Self::LOCAL, |(server, _)| server)
    }
}

/// One tool call: the `index`-th of its turn, from 0. Written `run.turn.index`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId {
    /// The run the call belongs to.
    pub run: RunId,
    /// The turn whose reply asked for it.
    pub turn: TurnId,
    /// Its place among the calls of that reply.
    pub index: u32,
}

impl CallId {
    fn digits(&self) -> Digits {
        Digits::dotted([self.run.0, self.turn.0, self.index])
    }

    /// Returns the key under which external systems know this call's effect.
    #[must_use]
    pub fn effect_id(&self, session: SessionId) -> EffectId {
        let (call, mut room) = (self.digits(), [0; 36]);
        EffectId([session.0.hyphenated().encode_lower(&mut room), ":", call.as_str()].concat())
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.digits().fmt(f)
    }
}

impl FromStr for CallId {
    type Err = ParseIdError;
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        let mut numbers = text.split('.').map(|part| part.parse::<u32>().ok());
        match (numbers.next().flatten(), numbers.next().flatten(), numbers.next().flatten(), numbers.next()) {
            (Some(run), Some(turn), Some(index), None) => Ok(Self { run: RunId(run), turn: TurnId(turn), index }),
            _ => Err(ParseIdError { text: text.into(), expected: "a call id (run.turn.index)" }),
        }
    }
}

impl Serialize for CallId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.digits().as_str())
    }
}

impl<'de> Deserialize<'de> for CallId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        crate::text::parsed(deserializer)
    }
}
