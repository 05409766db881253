//! The envelope of a stored record:
//! `{v, id, session, seq, batch:[i,n], prev, epoch, run?, turn?, at, kind, body}`, one JSON line.
//!
//! A body over the store's limit stands elsewhere under its hash; the line then has `blob` in place
//! of `body`. Whoever reads lines puts bodies back before decoding.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::compact::{Compact, put_name, put_number};
use crate::escape::put_text;
use crate::record::RecordBody;
use crate::{At, Record, RecordId, RunId, SessionId, TurnId};

/// The version this binary writes.
pub const ENVELOPE_VERSION: u32 = 1;

/// A BLAKE3 hash. Written as 64 hex digits.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    fn digits(&self) -> [u8; 64] {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0u8; 64];
        for (pair, byte) in text.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        text
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.digits()).unwrap_or_default())
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text was not 64 hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a hash is 64 hex digits")]
pub struct ParseHashError;

impl FromStr for Hash {
    type Err = ParseHashError;
    fn from_str(text: &str) -> Result<Self, ParseHashError> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return Err(ParseHashError);
        }
        let mut hash = [0u8; 32];
        let mut all = 0;
        for (byte, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
            let (high, low) = (NIBBLES[usize::from(pair[0])], NIBBLES[usize::from(pair[1])]);
            all |= high | low;
            *byte = high << 4 | low & 15;
        }
        if all > 15 { Err(ParseHashError) } else { Ok(Self(hash)) }
    }
}

/// What each byte is worth as a hex digit; more than 15 for one that is none. Every record has a hash.
const NIBBLES: [u8; 256] = {
    let mut nibbles = [0xff; 256];
    let mut value = 0;
    while value < 16 {
        nibbles[b"0123456789abcdef"[value] as usize] = value as u8;
        nibbles[b"0123456789ABCDEF"[value] as usize] = value as u8;
        value += 1;
    }
    nibbles
};

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(std::str::from_utf8(&self.digits()).unwrap_or_default())
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        crate::text::parsed(deserializer)
    }
}

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
    /// Adds one line to `bytes`, without the line break: the same text as `Serialize` gives. What stands
    /// before the body is most of a short line, and is written without the serialiser's machinery.
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
        RecordBody(&self.record).serialize(Compact(bytes))?;
        bytes.push(b'}');
        Ok(())
    }

    fn put_at(&self, bytes: &mut Vec<u8>) {
        put_name(bytes, &self.at.digits());
    }

    fn put_kind(&self, bytes: &mut Vec<u8>) {
        // A newer version may call its records what it likes.
        if let Record::Unknown(unknown) = &self.record {
            put_text(bytes, &unknown.kind);
        } else {
            put_name(bytes, self.record.kind().as_bytes());
        }
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
