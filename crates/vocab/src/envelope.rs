//! The envelope of a stored record:
//! `{v, id, session, seq, batch:[i,n], prev, epoch, run?, turn?, at, kind, body}`, one JSON line.
//!
//! A body over the store's limit stands elsewhere under its hash; the line then has `blob` in place
//! of `body`. Whoever reads lines puts bodies back before decoding.

use serde::{Deserialize, Serialize, Serializer};

use crate::record::RecordBody;
use crate::{At, Hash, Record, RecordId, RunId, SessionId, TurnId};

/// The version this binary writes.
pub const ENVELOPE_VERSION: u32 = 1;

/// A record's place in its batch: `[i, n]`, i from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchPosition(pub u32, pub u32);

/// A record with everything known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The version it was written under.
    pub v: u32,
    /// The writer's id for it.
    pub id: RecordId,
    /// Its session.
    pub session: SessionId,
    /// Its number in the session, from 1, without gaps.
    pub seq: u64,
    /// Its place among the records of one input.
    pub batch: BatchPosition,
    /// The hash of the batch before (all zero for the first).
    pub prev: Hash,
    /// The lease it was written under.
    pub epoch: u64,
    /// The run it belongs to.
    pub run: Option<RunId>,
    /// The turn it belongs to.
    pub turn: Option<TurnId>,
    /// When its input arrived.
    pub at: At,
    /// The fact.
    pub record: Record,
}

/// The form of a line on its way out.
#[derive(Serialize)]
struct Line<'a> {
    v: u32,
    id: &'a RecordId,
    session: SessionId,
    seq: u64,
    batch: BatchPosition,
    prev: Hash,
    epoch: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<RunId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<TurnId>,
    at: At,
    kind: &'a str,
    body: RecordBody<'a>,
}

impl Envelope {
    /// Adds one line to `bytes`, without the line break.
    pub fn encode_into(&self, bytes: &mut Vec<u8>) -> Result<(), serde_json::Error> {
        serde_json::to_writer(bytes, self)
    }
}

impl Serialize for Envelope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let line = Line {
            v: self.v,
            id: &self.id,
            session: self.session,
            seq: self.seq,
            batch: self.batch,
            prev: self.prev,
            epoch: self.epoch,
            run: self.run,
            turn: self.turn,
            at: self.at,
            kind: self.record.kind(),
            body: RecordBody(&self.record),
        };
        line.serialize(serializer)
    }
}
