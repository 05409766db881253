//! Numbers, chains and serializes a batch: the part of an append that needs no store.

use std::sync::Arc;

use windlass_vocab::{BatchPosition, ENVELOPE_VERSION, Envelope, Record, RecordId, SessionId};

use crate::line::{self, hash_of};
use crate::{Batch, Head, SealedBatch, StoreError};

/// Seals the batches of one writer of one session. Plain data.
///
/// `seal` advances `head` before anything is stored. When the append then fails, either append the
/// same [`SealedBatch`] again or set `head` back to its `expected` and seal again.
#[derive(Clone, Debug)]
pub struct Writer {
    /// The session written to.
    pub session: SessionId,
    /// The head that the next batch follows.
    pub head: Head,
    /// Start of all record ids: 16 hex digits.
    nonce: String,
    counter: u64,
}

impl Writer {
    /// A writer that continues from `head`. `nonce` is a number that no other writer has, so that record ids
    /// differ between writers.
    #[must_use]
    pub fn new(session: SessionId, head: Head, nonce: u64) -> Self {
        Self { session, head, nonce: format!("{nonce:016x}"), counter: 0 }
    }

    /// Assigns numbers, ids and hash chain to the records, and serializes them. A `LeaseTaken` sets the
    /// epoch of its batch and of all that follow.
    pub fn seal(&mut self, batch: Batch) -> Result<SealedBatch, StoreError> {
        let Batch { at, entries, blobs, takes } = batch;
        let count = match u32::try_from(entries.len()) {
            Ok(0) | Err(_) => return Err(StoreError::Unwritable { why: format!("it has {} records", entries.len()) }),
            Ok(count) => count,
        };
        let expected = self.head;
        let epoch = entries.iter().rev().find_map(|entry| new_epoch(&entry.record)).unwrap_or(expected.epoch);
        let mut blobs: Vec<_> = blobs.into_iter().map(|blob| (hash_of(&blob), blob)).collect();
        let mut envelopes = Vec::with_capacity(entries.len());
        let mut bytes = Vec::with_capacity(entries.len() * 512);
        for ((index, seq), entry) in (0..count).zip(expected.seq + 1..).zip(entries) {
            let envelope = Envelope {
                v: ENVELOPE_VERSION,
                id: self.next_id(),
                session: self.session,
                seq,
                batch: BatchPosition(index, count),
                prev: expected.hash,
                epoch,
                run: entry.run,
                turn: entry.turn,
                at,
                record: entry.record,
            };
            let unwritable = |error: serde_json::Error| StoreError::Unwritable { why: error.to_string() };
            blobs.extend(line::write(&envelope, &mut bytes).map_err(unwritable)?);
            envelopes.push(Arc::new(envelope));
        }
        self.head = Head { seq: expected.seq + u64::from(count), hash: hash_of(&bytes), epoch };
        Ok(SealedBatch { session: self.session, expected, head: self.head, envelopes, bytes, blobs, takes })
    }

    fn next_id(&mut self) -> RecordId {
        let places = u64::BITS.saturating_sub(self.counter.leading_zeros()).div_ceil(4).max(1);
        let mut id = String::with_capacity(self.nonce.len() + 1 + usize::try_from(places).unwrap_or(0));
        id.push_str(&self.nonce);
        id.push('.');
        for place in (0..places).rev() {
            let digit = u32::try_from(self.counter >> (4 * place) & 15).unwrap_or_default();
            id.extend(char::from_digit(digit, 16));
        }
        self.counter += 1;
        RecordId(id)
    }
}

fn new_epoch(record: &Record) -> Option<u64> {
    if let Record::LeaseTaken(lease) = record { Some(lease.epoch) } else { None }
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{CancelAsked, LeaseTaken, RunId, StopBy, Timestamp, TurnId};

    use super::Writer;
    use crate::{Batch, Entry, Head, StoreError, hash_of};

    fn writer() -> Writer {
        Writer::new("0198f3a0-0000-7000-8000-000000000001".parse().unwrap(), Head::default(), 0xabc)
    }

    fn lease(epoch: u64) -> Entry {
        Entry::new(LeaseTaken { epoch, holder: "host:1".into() })
    }

    fn batch(entries: Vec<Entry>) -> Batch {
        Batch { at: Timestamp(0), entries, ..Batch::default() }
    }

    #[test]
    fn a_batch_is_written_as_lines_that_never_change() {
        // proves J7: the stored form
        let stop =
            Entry { run: Some(RunId(1)), turn: Some(TurnId(2)), record: CancelAsked { by: StopBy::Person }.into() };
        let sealed = writer().seal(batch(vec![lease(1), stop])).unwrap();
        let zeros = "0".repeat(64);
        let head = r#""session":"0198f3a0-0000-7000-8000-000000000001","seq""#;
        let expected = [
            format!(r#"{{"v":1,"id":"0000000000000abc.0",{head}:1,"batch":[0,2],"prev":"{zeros}","epoch":1,"#),
            r#""at":"1970-01-01T00:00:00.000Z","kind":"LeaseTaken","body":{"epoch":1,"holder":"host:1"}}"#.into(),
            "\n".into(),
            format!(r#"{{"v":1,"id":"0000000000000abc.1",{head}:2,"batch":[1,2],"prev":"{zeros}","epoch":1,"#),
            r#""run":1,"turn":2,"at":"1970-01-01T00:00:00.000Z","kind":"CancelAsked","body":{"by":"person"}}"#.into(),
            "\n".into(),
        ];
        assert_eq!(String::from_utf8(sealed.bytes).unwrap(), expected.concat());
    }

    #[test]
    fn batches_are_chained_numbered_and_fenced() {
        // proves J5, J11
        let mut writer = writer();
        let first = writer.seal(batch(vec![lease(1)])).unwrap();
        let second = writer.seal(batch(vec![lease(4), lease(7)])).unwrap();
        let third = writer.seal(batch(vec![Entry::new(CancelAsked { by: StopBy::Person })])).unwrap();
        assert_eq!(first.head, Head { seq: 1, hash: hash_of(&first.bytes), epoch: 1 });
        assert_eq!(second.expected, first.head);
        assert!(second.envelopes.iter().all(|envelope| envelope.prev == first.head.hash && envelope.epoch == 7));
        assert_eq!((third.head.seq, third.head.epoch), (4, 7));
        assert_eq!(writer.head, third.head);
    }

    #[test]
    fn ids_count_in_hex_behind_the_nonce() {
        for counter in [0, 1, 9, 10, 15, 16, 0xff, 0x100, 0xfedc_ba98_7654_3210, u64::MAX - 1] {
            let mut writer = Writer { counter, ..writer() };
            assert_eq!(writer.next_id().0, format!("0000000000000abc.{counter:x}"));
        }
    }

    #[test]
    fn a_batch_without_records_is_refused_and_moves_nothing() {
        let mut writer = writer();
        assert!(matches!(writer.seal(Batch::default()), Err(StoreError::Unwritable { .. })));
        assert_eq!(writer.head, Head::default());
    }
}
