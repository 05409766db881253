//! Verifies the hash chain (J11): every batch carries the hash of the previous one, numbers are dense, every line
//! decodes, every blob matches its hash. The first break is reported.

use std::fmt;

use windlass_vocab::{BatchPosition, Envelope, Hash, SessionId};

use crate::line::{self, BlobMap, LineFault, hash_of};
use crate::{Head, Store, StoreError, StoredBatch};

/// The size of a journal, or of the part of it, that passed verification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerifiedJournal {
    /// Number of records.
    pub records: u64,
    /// Number of batches.
    pub batches: u64,
}

/// The first place where a journal fails verification.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the journal breaks at record {seq}: {what}")]
pub struct Break {
    /// The record, by the number it has or should have.
    pub seq: u64,
    /// What is wrong there.
    pub what: String,
}

/// Data in a store that contradicts other data in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inconsistency {
    /// The session concerned, if it is one.
    pub session: Option<SessionId>,
    /// The contradiction.
    pub what: String,
}

impl fmt::Display for Inconsistency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { session, what } = self;
        if let Some(session) = session {
            write!(f, "session {session}: ")?;
        }
        f.write_str(what)
    }
}

/// Why a journal could not be verified.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// It is broken.
    #[error(transparent)]
    Break(#[from] Break),
    /// It could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Break {
    /// The store error for this break in the journal of `session`.
    pub(crate) fn of(self, session: SessionId) -> StoreError {
        StoreError::Broken { session, seq: self.seq, what: self.what }
    }
}

impl VerifyError {
    /// The store error for this failure to verify the journal of `session`.
    #[must_use]
    pub fn of(self, session: SessionId) -> StoreError {
        match self {
            Self::Break(found) => found.of(session),
            Self::Store(error) => error,
        }
    }
}

/// The part of a journal before its first break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// The verified part.
    pub whole: VerifiedJournal,
    /// The first break; `None` if the whole journal is verified.
    pub broken: Option<Break>,
}

/// Verifies a session's stored journal.
pub async fn verify(store: &dyn Store, session: SessionId) -> Result<VerifiedJournal, VerifyError> {
    let Prefix { whole, broken } = whole_prefix(store, session).await?;
    match broken {
        None => Ok(whole),
        Some(broken) => Err(broken.into()),
    }
}

/// Verifies a session's journal up to the first break.
pub async fn whole_prefix(store: &dyn Store, session: SessionId) -> Result<Prefix, StoreError> {
    let batches = store.batches(session).await?;
    if batches.is_empty() {
        return Err(StoreError::Missing);
    }
    let mut chain = Chain::new(session);
    for batch in &batches {
        let passed = match contents(store, batch).await? {
            Ok(blobs) => chain.follow_stored(batch, &blobs),
            Err(broken) => Err(broken),
        };
        if let Err(broken) = passed {
            // Batches and blobs are read at different moments: the session may have been removed in between.
            if is_gone(store, session).await? {
                return Err(StoreError::Missing);
            }
            return Ok(Prefix { whole: chain.verified(), broken: Some(broken) });
        }
    }
    Ok(Prefix { whole: chain.verified(), broken: None })
}

/// Whether a session no longer exists.
pub(crate) async fn is_gone(store: &dyn Store, session: SessionId) -> Result<bool, StoreError> {
    Ok(store.head(session).await? == Head::default() && store.row(session).await?.is_none())
}

/// The blobs of a batch, as far as they exist.
async fn contents(store: &dyn Store, batch: &StoredBatch) -> Result<Result<BlobMap, Break>, StoreError> {
    let mut blobs = BlobMap::new();
    for hash in line::bodies_elsewhere(&batch.bytes).chain(batch.blobs.iter().copied()) {
        match store.blob(hash).await {
            Ok(blob) => blobs.extend(blob.map(|blob| (hash, blob))),
            Err(StoreError::Damaged { what }) => return Ok(Err(Break { seq: batch.seq, what })),
            Err(error) => return Err(error),
        }
    }
    Ok(Ok(blobs))
}

/// The break for a batch, with `seq` as first record, whose blob `hash` is missing or changed.
pub(crate) fn blob_is_gone(seq: u64, hash: Hash) -> Break {
    Break { seq, what: format!("blob {hash}, stored with it, is missing or changed") }
}

/// Verifies one session's batches in order.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    session: SessionId,
    head: Head,
    batches: u64,
}

impl Chain {
    /// Starts before the first batch.
    pub(crate) fn new(session: SessionId) -> Self {
        Self { session, head: Head::default(), batches: 0 }
    }

    /// Starts after the batch that ends in `head`.
    pub(crate) fn behind(session: SessionId, head: Head) -> Self {
        Self { session, head, batches: 0 }
    }

    /// The head of the last verified batch.
    pub(crate) fn head(&self) -> Head {
        self.head
    }

    /// The number of records and batches verified so far.
    pub(crate) fn verified(&self) -> VerifiedJournal {
        VerifiedJournal { records: self.head.seq, batches: self.batches }
    }

    /// Verifies the next batch: `bytes` as stored, decoded to `envelopes`.
    pub(crate) fn follow(&mut self, bytes: &[u8], envelopes: &[Envelope]) -> Result<(), Break> {
        let broken = |seq, what: String| Err(Break { seq, what });
        let next = self.head.seq + 1;
        let epoch = envelopes.first().map_or(0, |first| first.epoch);
        if !bytes.ends_with(b"\n") {
            return broken(next, "its batch does not end in a line break".into());
        }
        for ((seq, index), envelope) in (next..).zip(0u32..).zip(envelopes) {
            let place = BatchPosition(index, u32::try_from(envelopes.len()).unwrap_or(u32::MAX));
            if envelope.session != self.session {
                return broken(seq, format!("it belongs to session {}", envelope.session));
            }
            if envelope.seq != seq {
                return broken(seq, format!("the record there is numbered {}", envelope.seq));
            }
            if envelope.batch != place {
                return broken(seq, format!("it says it is {:?} of its batch and is {place:?}", envelope.batch));
            }
            if envelope.prev != self.head.hash {
                return broken(seq, "the batch before it is not the one it was written after".into());
            }
            if envelope.epoch != epoch || epoch < self.head.epoch {
                return broken(seq, format!("its epoch {} is out of order", envelope.epoch));
            }
        }
        self.head = Head { seq: self.head.seq + envelopes.len() as u64, hash: hash_of(bytes), epoch };
        self.batches += 1;
        Ok(())
    }

    fn follow_stored(&mut self, batch: &StoredBatch, blobs: &BlobMap) -> Result<(), Break> {
        let StoredBatch { seq, head, bytes, blobs: beside } = batch;
        let missing = beside.iter().find(|hash| blobs.get(hash).is_none_or(|blob| hash_of(blob) != **hash));
        if let Some(hash) = missing {
            return Err(blob_is_gone(self.head.seq + 1, *hash));
        }
        self.read(BatchNote { seq: *seq, head: *head }, bytes, blobs, &mut Vec::new()).map_err(|(seq, fault)| {
            match fault {
                BatchFault::Line(fault) => Break { seq, what: fault.to_string() },
                BatchFault::Chain(what) => Break { seq, what },
            }
        })
    }

    /// Decodes and verifies the next batch and adds its records to `records`.
    fn read(
        &mut self,
        noted: BatchNote,
        bytes: &[u8],
        blobs: &BlobMap,
        records: &mut Vec<Envelope>,
    ) -> Result<(), (u64, BatchFault)> {
        let (next, begins) = (self.head.seq + 1, records.len());
        decode(bytes, next, blobs, records).map_err(|(seq, fault)| (seq, BatchFault::Line(fault)))?;
        let (head, batches) = (self.head, self.batches);
        self.follow(bytes, &records[begins..]).map_err(|broken| (broken.seq, BatchFault::Chain(broken.what)))?;
        if noted != (BatchNote { seq: next, head: self.head }) {
            (self.head, self.batches) = (head, batches);
            return Err((next, BatchFault::Chain("its batch is not the one that was stored".into())));
        }
        Ok(())
    }

    /// Like `read`, for callers that need only a [`StoreError`].
    pub(crate) fn read_stored(
        &mut self,
        noted: BatchNote,
        bytes: &[u8],
        blobs: &BlobMap,
        records: &mut Vec<Envelope>,
    ) -> Result<(), StoreError> {
        let session = self.session;
        self.read(noted, bytes, blobs, records).map_err(|(seq, fault)| match fault {
            BatchFault::Line(LineFault::Newer(found)) => StoreError::Newer { found },
            BatchFault::Line(fault) => StoreError::Broken { session, seq, what: fault.to_string() },
            BatchFault::Chain(what) => StoreError::Broken { session, seq, what },
        })
    }
}

/// The data that the store keeps about a batch beside its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BatchNote {
    /// Number of the first record.
    pub(crate) seq: u64,
    /// The head after the batch.
    pub(crate) head: Head,
}

/// What is wrong with a batch.
enum BatchFault {
    /// A line can't be read.
    Line(LineFault),
    /// It does not follow the batches before it.
    Chain(String),
}

/// Decodes the lines of a batch whose first record is `first_seq`; an error names the first line that can't be decoded.
fn decode(
    bytes: &[u8],
    first_seq: u64,
    blobs: &BlobMap,
    envelopes: &mut Vec<Envelope>,
) -> Result<(), (u64, LineFault)> {
    for (line, seq) in line::lines(bytes).zip(first_seq..) {
        envelopes.push(line::read(line, blobs).map_err(|fault| (seq, fault))?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use windlass_vocab::SessionId;

    use super::{Break, Chain, VerifiedJournal};
    use crate::conformance::sample;
    use crate::line::{BlobMap, hash_of};
    use crate::{Head, StoredBatch, Writer};

    fn session() -> SessionId {
        "0198f3a0-0000-7000-8000-000000000001".parse().unwrap()
    }

    fn journal() -> Vec<StoredBatch> {
        let mut writer = Writer::new(session(), Head::default(), 1);
        let sealed = sample::every_kind(session()).into_iter().map(|batch| writer.seal(batch).unwrap());
        let stored = sealed.map(|s| StoredBatch {
            seq: s.expected.seq + 1,
            head: s.head,
            bytes: s.bytes,
            blobs: s.blobs.iter().map(|(hash, _)| *hash).collect(),
        });
        stored.collect()
    }

    fn check(journal: &[StoredBatch]) -> Result<VerifiedJournal, Break> {
        let mut chain = Chain::new(session());
        journal.iter().try_for_each(|batch| chain.follow_stored(batch, &BlobMap::new()))?;
        Ok(chain.verified())
    }

    #[test]
    fn a_whole_journal_holds() {
        let journal = journal();
        let records = journal.last().unwrap().head.seq;
        assert_eq!(check(&journal), Ok(VerifiedJournal { records, batches: journal.len() as u64 }));
    }

    #[test]
    fn a_changed_byte_breaks_the_chain_in_its_batch() {
        // proves J11
        let mut chain = Chain::new(session());
        for batch in journal() {
            for at in 0..batch.bytes.len() {
                let mut changed = batch.clone();
                changed.bytes[at] ^= 1;
                let broken = chain.clone().follow_stored(&changed, &BlobMap::new()).unwrap_err();
                assert!((batch.seq..=batch.head.seq).contains(&broken.seq), "byte {at}: {broken}");
            }
            chain.follow_stored(&batch, &BlobMap::new()).unwrap();
        }
    }

    #[test]
    fn a_batch_changed_together_with_its_hash_breaks_the_next() {
        // proves J11
        let mut journal = journal();
        let text = String::from_utf8(journal[1].bytes.clone()).unwrap().replace("Tidy my notes", "Burn my notes");
        journal[1].head.hash = hash_of(text.as_bytes());
        journal[1].bytes = text.into_bytes();
        assert_eq!(check(&journal).unwrap_err().seq, journal[2].seq);
    }

    #[test]
    fn a_missing_or_moved_batch_is_named() {
        let whole = journal();
        let mut gap = whole.clone();
        gap.remove(3);
        assert_eq!(check(&gap).unwrap_err().seq, whole[3].seq);
        let mut swapped = whole.clone();
        swapped.swap(2, 4);
        assert_eq!(check(&swapped).unwrap_err().seq, whole[2].seq);
    }

    #[test]
    fn a_missing_content_is_named() {
        let mut journal = journal();
        journal[2].blobs.push(hash_of(b"gone"));
        assert_eq!(check(&journal).unwrap_err().seq, journal[2].seq);
    }
}
