//! The envelope of a stored record: `{v, id, session, seq, batch:[i,n], prev, epoch, run?, turn?, at, kind, body}`, one
//! JSON line.
//!
//! A body over the store's size limit is stored separately under its hash; the line then has `blob` in place of `body`.
//! A reader of lines must put the bodies back before decoding.

use serde::{Deserialize, Serialize, Serializer};

use crate::compact::{CompactSerializer, put_name, put_number};
use crate::escape::put_text;
use crate::record::RecordBody;
use crate::{Hash, Record, RecordId, RunId, SessionId, Timestamp, TurnId};

/// The envelope version this binary writes.
pub const ENVELOPE_VERSION: u32 = 1;

/// A record's place in its batch: `[i, n]`, i from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchPosition(pub u32, pub u32);

/// A record with its metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The envelope version it was written with.
    pub v: u32,
    /// The id the writer gave the record.
    pub id: RecordId,
    /// The session the record belongs to.
    pub session: SessionId,
    /// The record's number in the session, from 1, without gaps.
    pub seq: u64,
    /// The record's place among the records of one input.
    pub batch: BatchPosition,
    /// The hash of the previous batch (all zero for the first).
    pub prev: Hash,
    /// The epoch of the lease it was written under.
    pub epoch: u64,
    /// The run it belongs to.
    pub run: Option<RunId>,
    /// The turn it belongs to.
    pub turn: Option<TurnId>,
    /// When the input that caused the record arrived.
    pub at: Timestamp,
    /// The recorded fact.
    pub record: Record,
}

/// The JSON fields of a line, for serialization.
#[derive(Serialize)]
struct EnvelopeLine<'a> {
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
    at: Timestamp,
    kind: &'a str,
    body: RecordBody<'a>,
}

impl Envelope {
    /// Appends one line to `bytes`, without the line break: the same text as `Serialize` gives. The part before the
    /// body is most of a short line, so it is written directly, without a serializer.
    pub fn encode_into(&self, bytes: &mut Vec<u8>) -> Result<(), serde_json::Error> {
        bytes.extend_from_slice(br#"{"v":"#);
        put_number(bytes, self.v.into());
        bytes.extend_from_slice(br#","id":"#);
        put_text(bytes, &self.id.0);
        bytes.extend_from_slice(br#","session":""#);
        bytes.extend_from_slice(self.session.0.hyphenated().encode_lower(&mut [0; 36]).as_bytes());
        bytes.extend_from_slice(br#"","seq":"#);
        put_number(bytes, self.seq);
        bytes.extend_from_slice(br#","batch":["#);
        put_number(bytes, self.batch.0.into());
        bytes.push(b',');
        put_number(bytes, self.batch.1.into());
        bytes.extend_from_slice(br#"],"prev":""#);
        bytes.extend_from_slice(&self.prev.digits());
        bytes.extend_from_slice(br#"","epoch":"#);
        put_number(bytes, self.epoch);
        if let Some(run) = self.run {
            bytes.extend_from_slice(br#","run":"#);
            put_number(bytes, run.0.into());
        }
        if let Some(turn) = self.turn {
            bytes.extend_from_slice(br#","turn":"#);
            put_number(bytes, turn.0.into());
        }
        bytes.extend_from_slice(br#","at":"#);
        self.put_at(bytes);
        bytes.extend_from_slice(br#","kind":"#);
        self.put_kind(bytes);
        bytes.extend_from_slice(br#","body":"#);
        RecordBody(&self.record).serialize(CompactSerializer(bytes))?;
        bytes.push(b'}');
        Ok(())
    }

    fn put_at(&self, bytes: &mut Vec<u8>) {
        put_name(bytes, &self.at.digits());
    }

    fn put_kind(&self, bytes: &mut Vec<u8>) {
        // A newer version may name its kinds with characters that need escapes.
        if let Record::Unknown(unknown) = &self.record {
            put_text(bytes, &unknown.kind);
        } else {
            put_name(bytes, self.record.kind().as_bytes());
        }
    }
}

impl Serialize for Envelope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let line = EnvelopeLine {
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
