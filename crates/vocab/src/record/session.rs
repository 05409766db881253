//! A session as a whole: opened, changed, taken by a writer, spoken to.

use serde::{Deserialize, Serialize};

use crate::{CallId, MessageId, SessionId};

/// The first record of every session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionOpened {
    /// Who it belongs to.
    pub owner: String,
    /// What a person types after `--session`; unique per owner.
    pub key: String,
    /// The folder its tools work in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The session and call that spawned it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<(SessionId, CallId)>,
    /// The version of Windlass that opened it.
    #[serde(default)]
    pub version: String,
    /// Where a fork's first records were written, the oldest session first; the last is the one it was
    /// forked from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forked_from: Vec<Origin>,
}

/// A session that a fork took records over from: those up to `seq`, above the `seq` of the origin before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Which.
    pub session: SessionId,
    /// The last record that was taken over.
    pub seq: u64,
}

/// Something about the session as a whole changed. Absent means unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionChanged {
    /// A title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A new key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// It was brought in from elsewhere: nothing that stands before this has any authority here (X6).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<ImportDetails>,
}

/// How a session was brought in from elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportDetails {
    /// The folder its tools work in from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
}

/// A writer took the session. Every later write of an earlier writer conflicts (J5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseTaken {
    /// Counts the takings, from 1.
    pub epoch: u64,
    /// Who, for people.
    pub holder: String,
}

/// A message was taken up from the inbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageAccepted {
    /// The sender's id for it.
    pub message_id: MessageId,
    /// What it says.
    pub text: String,
}
