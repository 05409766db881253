//! The records of a session as a whole: opened, changed, taken by a writer, message accepted.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::attachment::with_attached_texts;
use crate::{Attachment, CallId, ImageRef, MessageId, SessionId};

/// The first record of every session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionOpened {
    /// The user it belongs to.
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
    /// The sessions whose records a fork starts with, oldest first; the last one is the session it was forked from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forked_from: Vec<Origin>,
}

/// A session from which a fork copied records: those up to `seq`, after the `seq` of the previous origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The session.
    pub session: SessionId,
    /// The last copied record.
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
    /// The session was imported: the records before this one grant no authority here (X6).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<ImportDetails>,
    /// Whether it is listed before the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<bool>,
    /// Whether it is left out of the list, until the next message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
    /// Whether the conversation so far is summarised before the next run answers. The run that does so fulfils it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compact: Option<bool>,
}

/// How a session was imported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportDetails {
    /// The folder its tools work in from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The user it belongs to from now on. Absent in records of versions that left it with the owner its file names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
}

/// A writer took ownership of the session. Every later write of an earlier writer conflicts (J5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseTaken {
    /// Counts the lease takings, from 1.
    pub epoch: u64,
    /// The holder's name, for people.
    pub holder: String,
}

/// A message was accepted from the inbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageAccepted {
    /// The sender's id for it.
    pub message_id: MessageId,
    /// The text of the message.
    pub text: String,
    /// The files attached to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
}

impl MessageAccepted {
    /// Returns a message that is only text.
    #[must_use]
    pub fn new(message_id: impl Into<MessageId>, text: impl Into<String>) -> Self {
        Self { message_id: message_id.into(), text: text.into(), attachments: Vec::new() }
    }

    /// Returns its text as a model is sent it: with the texts of its attachments.
    #[must_use]
    pub fn sent_text(&self) -> Cow<'_, str> {
        with_attached_texts(&self.text, &self.attachments)
    }

    /// Returns the images attached to it.
    pub fn images(&self) -> impl Iterator<Item = &ImageRef> {
        self.attachments.iter().filter_map(|attachment| match attachment {
            Attachment::Image(image) => Some(image),
            Attachment::Text(_) => None,
        })
    }
}
