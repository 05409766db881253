//! Records of a newer version: they are kept and shown, and nothing is written behind them (J7).

use crate::{Envelope, Record};

/// A record that this version does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewerRecord {
    /// Its number.
    pub seq: u64,
    /// Its kind.
    pub kind: String,
    /// The last record of the batch before.
    pub before: u64,
}

impl NewerRecord {
    /// The first of these that this version does not know.
    pub fn first<'a>(envelopes: impl IntoIterator<Item = &'a Envelope>) -> Option<Self> {
        envelopes.into_iter().find_map(|envelope| {
            let Record::Unknown(unknown) = &envelope.record else { return None };
            let before = envelope.seq.saturating_sub(u64::from(envelope.batch.0) + 1);
            Some(Self { seq: envelope.seq, kind: unknown.kind.clone(), before })
        })
    }
}
