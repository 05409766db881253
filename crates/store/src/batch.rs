//! Batches before they are numbered, after, and as stored; and messages in the inbox.

use std::sync::Arc;

use windlass_vocab::{AttachedFile, Envelope, Hash, MessageId, Record, RunId, SessionId, Timestamp, TurnId};

/// The end of a journal, to which the next batch is appended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The last record's number; 0 when there is none.
    pub seq: u64,
    /// The hash of the last batch; zero when there is none.
    pub hash: Hash,
    /// The epoch of the last lease; 0 when there was none.
    pub epoch: u64,
}

/// A record with its run and turn, not yet numbered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The run the record belongs to.
    pub run: Option<RunId>,
    /// The turn the record belongs to.
    pub turn: Option<TurnId>,
    /// The record.
    pub record: Record,
}

impl Entry {
    /// A record that belongs to no run.
    #[must_use]
    pub fn new(record: impl Into<Record>) -> Self {
        Self { run: None, turn: None, record: record.into() }
    }
}

/// All records that one input caused.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// When the input arrived.
    pub at: Timestamp,
    /// The records; the first one records the input itself.
    pub entries: Vec<Entry>,
    /// Blobs that the records refer to by hash (spilled results), stored in the same transaction.
    pub blobs: Vec<Arc<[u8]>>,
    /// Messages to remove from the inbox with this batch. An accepted message is removed in any case.
    pub takes: Vec<MessageId>,
}

/// A batch with numbers, hash chain and serialized lines, ready for `append`.
#[derive(Clone, Debug)]
pub struct SealedBatch {
    /// The session it belongs to.
    pub session: SessionId,
    /// The head that must be current when this batch is stored.
    pub expected: Head,
    /// The head after this batch.
    pub head: Head,
    /// The records in their envelopes.
    pub envelopes: Vec<Arc<Envelope>>,
    /// The stored bytes: one JSON line per record, line breaks included. `head.hash` is their hash.
    pub bytes: Vec<u8>,
    /// Blobs stored with it, by hash.
    pub blobs: Vec<(Hash, Arc<[u8]>)>,
    /// Messages to remove from the inbox.
    pub takes: Vec<MessageId>,
}

/// A batch exactly as stored, for `verify` and `export`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredBatch {
    /// Number of the first record.
    pub seq: u64,
    /// The head after this batch, as recorded when it was stored.
    pub head: Head,
    /// The stored JSON lines.
    pub bytes: Vec<u8>,
    /// Hashes of the blobs stored with it.
    pub blobs: Vec<Hash>,
}

/// A message in the inbox that no run has accepted yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingMessage {
    /// The sender's id for the message.
    pub message_id: MessageId,
    /// The message text.
    pub text: String,
    /// When it arrived.
    pub at: Timestamp,
    /// The files attached to it.
    pub files: Vec<AttachedFile>,
}
