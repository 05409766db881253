//! Records: the durable facts, named in the past tense. Fields are only ever added, each with a default that means the
//! old behaviour. A kind that this binary does not know is kept raw and makes the journal read-only to it.

mod asking;
mod call;
mod context;
mod milestone;
mod overview;
mod plan;
mod run;
mod session;
mod turn;

use serde::Serialize;

pub use self::asking::{Grant, QuestionAnswered, QuestionAsked};
pub use self::call::{
    CallFinished, CallPaused, CallRequested, CallSettled, CallStarted, Settlement, ToolWithheld, WithheldFor,
};
pub use self::context::{ContextPinned, PinnedContext, TextCalls};
pub use self::milestone::RunMilestone;
pub use self::overview::{OverviewFile, WorkspaceOverview};
pub use self::plan::{ChildReported, ChildSpawned, PlanChanged, PlanItem, PlanStatus};
pub use self::run::{
    CancelAsked, Compacted, CompactionMethod, EndReason, NudgeCause, Nudged, RunEnded, RunResumed, RunStarted, StopBy,
};
pub use self::session::{ImportDetails, LeaseTaken, MessageAccepted, Origin, SessionChanged, SessionOpened};
pub use self::turn::{AttemptFailed, ModelReplied, NextAttempt, SummaryTask, TurnStarted};
use crate::Json;
use crate::undo::{FilesChanged, SnapshotTaken, UndoStarted, Undone};

macro_rules! records {
    ($($kind:ident,)*) => {
        /// A durable fact.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub enum Record {
            $($kind($kind),)*
            /// A record of a kind this binary does not know.
            Unknown(Unknown),
        }

        $(impl From<$kind> for Record {
            fn from(body: $kind) -> Self {
                Self::$kind(body)
            }
        })*

        /// Writes the body alone; the envelope holds the kind.
        impl Serialize for RecordBody<'_> {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self.0 {
                    $(Record::$kind(body) => body.serialize(serializer),)*
                    Record::Unknown(unknown) => unknown.body.serialize(serializer),
                }
            }
        }

        impl Record {
            /// Every kind this binary knows.
            pub const KINDS: &'static [&'static str] = &[$(stringify!($kind),)*];

            /// Returns the name of the kind, as stored.
            #[must_use]
            pub fn kind(&self) -> &str {
                match self {
                    $(Self::$kind(_) => stringify!($kind),)*
                    Self::Unknown(unknown) => &unknown.kind,
                }
            }

            /// Decodes a record from its kind and body. An unknown kind is not an error.
            pub(crate) fn from_parts(kind: &str, body: &str) -> Result<Self, serde_json::Error> {
                match kind {
                    $(stringify!($kind) => serde_json::from_str(body).map(Self::$kind),)*
                    _ => Ok(Self::Unknown(Unknown { kind: kind.to_owned(), body: serde_json::from_str(body)? })),
                }
            }
        }
    };
}

records! {
    SessionOpened,
    SessionChanged,
    LeaseTaken,
    MessageAccepted,
    RunStarted,
    RunResumed,
    ContextPinned,
    TurnStarted,
    AttemptFailed,
    ModelReplied,
    CallRequested,
    CallStarted,
    CallPaused,
    CallSettled,
    CallFinished,
    QuestionAsked,
    QuestionAnswered,
    Nudged,
    ToolWithheld,
    PlanChanged,
    ChildSpawned,
    ChildReported,
    Compacted,
    CancelAsked,
    RunEnded,
    SnapshotTaken,
    FilesChanged,
    UndoStarted,
    Undone,
}

impl Record {
    /// Returns the body as it is stored, without its kind.
    pub fn body(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(&RecordBody(self))
    }
}

/// A record's body, for serialization.
pub(crate) struct RecordBody<'a>(pub(crate) &'a Record);

/// A record of a kind that a newer version writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// Its kind.
    pub kind: String,
    /// Its body, untouched.
    pub body: Json,
}
