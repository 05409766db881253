//! What goes in and what lies there: batches before they are numbered, after, and as stored.

use std::sync::Arc;

use windlass_vocab::{Envelope, Hash, MessageId, Record, RunId, SessionId, Timestamp, TurnId};

/// The end of a journal: what the next batch is appended to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The last record's number; 0 when there is none.
    pub seq: u64,
    /// The hash of the last batch; zero when there is none.
    pub hash: Hash,
    /// The epoch of the last lease; 0 when there was none.
    pub epoch: u64,
}

/// A record and where it belongs, ready to be numbered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The run it belongs to.
    pub run: Option<RunId>,
    /// The turn it belongs to.
    pub turn: Option<TurnId>,
    /// The fact.
    pub record: Record,
}

impl Entry {
    /// A fact that belongs to no run.
    #[must_use]
    pub fn new(record: impl Into<Record>) -> Self {
        Self { run: None, turn: None, record: record.into() }
    }
}

/// All that one input caused.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// When the input arrived.
    pub at: Timestamp,
    /// The records, the first being the input's own fact.
    pub entries: Vec<Entry>,
    /// Contents the records refer to by hash (spilled results), stored in the same transaction.
    pub blobs: Vec<Arc<[u8]>>,
    /// Messages that leave the inbox with this batch. A message that is accepted leaves it in any case.
    pub takes: Vec<MessageId>,
}

/// A batch numbered, chained and written out; what `append` stores.
#[derive(Clone, Debug)]
pub struct SealedBatch {
    /// The session.
    pub session: SessionId,
    /// The head it follows.
    pub expected: Head,
    /// The head after it.
    pub head: Head,
    /// The records as events.
    pub envelopes: Vec<Arc<Envelope>>,
    /// The stored bytes: one JSON line per record, line breaks included. `head.hash` is their hash.
    pub bytes: Vec<u8>,
    /// Contents stored beside it, by hash.
    pub blobs: Vec<(Hash, Arc<[u8]>)>,
    /// Messages that leave the inbox.
    pub takes: Vec<MessageId>,
}

/// A batch as it lies in the store, byte for byte; what `verify` and `export` look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredBatch {
    /// The number of its first record.
    pub seq: u64,
    /// The head after it, as noted when it was stored.
    pub head: Head,
    /// The lines.
    pub bytes: Vec<u8>,
    /// The contents stored with it.
    pub blobs: Vec<Hash>,
}

/// A message that waits to be taken up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingMessage {
    /// The sender's id for it.
    pub message_id: MessageId,
    /// What it says.
    pub text: String,
    /// When it came.
    pub at: Timestamp,
}
