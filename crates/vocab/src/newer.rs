//! Records of a newer version: this version keeps and displays them, and appends nothing after them (J7).

use crate::{Envelope, Record};

/// A record of a kind that this version does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewerRecord {
    /// Its `seq`.
    pub seq: u64,
    /// Its kind.
    pub kind: String,
    /// The `seq` of the last record of the previous batch.
    pub before: u64,
}

impl NewerRecord {
    /// Returns the first of these records that this version does not know.
    pub fn first<'a>(envelopes: impl IntoIterator<Item = &'a Envelope>) -> Option<Self> {
        envelopes.into_iter().find_map(|envelope| {
            let Record::Unknown(unknown) = &envelope.record else { return None };
            let before = envelope.seq.saturating_sub(u64::from(envelope.batch.0) + 1);
            Some(Self { seq: envelope.seq, kind: unknown.kind.clone(), before })
        })
    }
}
