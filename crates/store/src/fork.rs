//! Forking (J8): copies the beginning of a journal into a new session. Numbers, times and runs stay the same; record
//! ids, hash chain and session id are the fork's own, so it is a journal like any other. Blobs are shared: each
//! session refers to them, and they are kept while any session does.
//!
//! The protocol: [`Fork::begin`] reads and seals the copied records → `add` closes what was open in them (the store
//! does not know how) → `finish` stores everything in one transaction.

use std::collections::HashSet;

use windlass_vocab::{
    Envelope, Hash, ImportDetails, NewerRecord, Origin, Record, SessionChanged, SessionId, Timestamp,
};

use crate::line::{self, BlobMap};
use crate::settle::{at_once, restore_for_certain};
use crate::verify::{BatchNote, Chain, is_gone};
use crate::{Batch, Entry, Head, SealedBatch, Store, StoreError, StoredBatch, Writer};

/// Why a session was not forked. Nothing was stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForkError {
    /// The store returned an error.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The session has no record with the requested number.
    #[error("there is no record {at} to fork at; the session has records 1 to {last}")]
    NoRecord {
        /// The requested record.
        at: u64,
        /// The last existing record.
        last: u64,
    },
    /// A record to be copied was written by a newer version.
    #[error(
        "record {seq} was written by a newer version of Windlass (a `{kind}` record); fork with that version, \
         or before it, at record {before} at the latest"
    )]
    Newer {
        /// The record's number.
        seq: u64,
        /// The record's kind.
        kind: String,
        /// The last record that can be copied.
        before: u64,
    },
}

/// The identity of a fork.
#[derive(Clone, Debug)]
pub struct ForkTarget {
    /// The fork's session id.
    pub session: SessionId,
    /// The fork's session key.
    pub key: String,
    /// The version of Windlass that creates the fork.
    pub version: String,
    /// When it is created.
    pub at: Timestamp,
    /// A number that no other writer has, as for [`Writer::new`].
    pub nonce: u64,
}

/// A fork that is not stored yet.
#[derive(Debug)]
pub struct Fork {
    writer: Writer,
    sealed: Vec<SealedBatch>,
    imported: Option<ImportDetails>,
}

impl Fork {
    /// Copies the records of `origin` up to the end of the batch that holds the record `through`, or all of them
    /// if that is `None`.
    pub async fn begin(
        store: &dyn Store,
        origin: SessionId,
        through: Option<u64>,
        branch: ForkTarget,
    ) -> Result<Self, ForkError> {
        match Self::copied(store, origin, through, branch).await {
            // Batches and blobs are read at different moments: the session may have been removed in between.
            Err(ForkError::Store(StoreError::Broken { .. })) if is_gone(store, origin).await? => {
                Err(StoreError::Missing.into())
            }
            begun => begun,
        }
    }

    async fn copied(
        store: &dyn Store,
        origin: SessionId,
        through: Option<u64>,
        branch: ForkTarget,
    ) -> Result<Self, ForkError> {
        let mut batches = store.batches(origin).await?;
        let last = batches.last().map(|batch| batch.head.seq).ok_or(StoreError::Missing)?;
        let mut imported = None;
        if let Some(at) = through {
            if !(1..=last).contains(&at) {
                return Err(ForkError::NoRecord { at, last });
            }
            let later = batches.split_off(batches.partition_point(|batch| batch.seq <= at));
            imported = imported_by(store, origin, &later).await?;
        }
        let seq = batches.last().map_or(last, |batch| batch.head.seq);
        let writer = Writer::new(branch.session, Head::default(), branch.nonce);
        let mut fork = Self { writer, sealed: Vec::new(), imported };
        let mut chain = Chain::new(origin);
        for stored in batches {
            let blobs = contents(store, origin, &stored).await?;
            let mut envelopes = Vec::new();
            chain.read_stored(
                BatchNote { seq: stored.seq, head: stored.head },
                &stored.bytes,
                &blobs,
                &mut envelopes,
            )?;
            if let Some(NewerRecord { seq, kind, before }) = NewerRecord::first(&envelopes) {
                return Err(ForkError::Newer { seq, kind, before });
            }
            let batch = taken_over(&branch, Origin { session: origin, seq }, &stored, envelopes, &blobs);
            fork.add(batch)?;
        }
        Ok(fork)
    }

    /// How `origin` was imported, if a record behind the copied ones says so: the copied records have no more
    /// authority in the fork than in `origin` (X6).
    #[must_use]
    pub fn imported(&self) -> Option<&ImportDetails> {
        self.imported.as_ref()
    }

    /// The records of all batches so far, copied and added.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.sealed.iter().flat_map(|sealed| &sealed.envelopes).map(|envelope| &envelope.record)
    }

    /// Adds a batch of the fork itself.
    pub fn add(&mut self, batch: Batch) -> Result<(), StoreError> {
        self.sealed.push(self.writer.seal(batch)?);
        Ok(())
    }

    /// Stores the fork in one transaction.
    pub async fn finish(self, store: &dyn Store) -> Result<(), StoreError> {
        restore_for_certain(store, self.sealed, at_once).await
    }
}

/// The import that these batches record, if any. A batch that can't be read counts as recording one.
async fn imported_by(
    store: &dyn Store,
    session: SessionId,
    batches: &[StoredBatch],
) -> Result<Option<ImportDetails>, StoreError> {
    let mut imported = None;
    for batch in batches {
        let read = match contents(store, session, batch).await {
            Ok(blobs) => line::lines(&batch.bytes).map(|line| line::read(line, &blobs).ok()).collect(),
            Err(StoreError::Broken { .. }) => None,
            Err(error) => return Err(error),
        };
        let Some(envelopes): Option<Vec<Envelope>> = read else {
            let (workspace, owner) =
                store.row(session).await?.map_or((None, None), |row| (row.workspace, Some(row.owner)));
            imported = Some(ImportDetails { workspace, owner });
            continue;
        };
        let says = envelopes.into_iter().rev().find_map(|envelope| match envelope.record {
            Record::SessionChanged(changed) => changed.imported,
            _ => None,
        });
        imported = says.or(imported);
    }
    Ok(imported)
}

/// Reads all blobs of a batch.
async fn contents(store: &dyn Store, session: SessionId, batch: &StoredBatch) -> Result<BlobMap, StoreError> {
    let mut blobs = BlobMap::new();
    for hash in &batch.blobs {
        let broken = |what| StoreError::Broken { session, seq: batch.seq, what };
        let content = match store.blob(*hash).await {
            Err(StoreError::Damaged { what }) => return Err(broken(what)),
            content => content?,
        };
        blobs.insert(*hash, content.ok_or_else(|| broken(format!("blob {hash}, stored with it, is missing")))?);
    }
    Ok(blobs)
}

/// Rewrites a batch of the origin for the fork.
fn taken_over(
    branch: &ForkTarget,
    origin: Origin,
    stored: &StoredBatch,
    envelopes: Vec<Envelope>,
    blobs: &BlobMap,
) -> Batch {
    // The first batch opens the session, and the fork is opened only now.
    let at = if stored.seq == 1 { branch.at } else { envelopes.first().map_or(branch.at, |first| first.at) };
    // Sealing moves long bodies out of their lines again, so don't pass them on as blobs.
    let bodies: HashSet<Hash> = line::bodies_elsewhere(&stored.bytes).collect();
    let beside = stored.blobs.iter().filter(|hash| !bodies.contains(hash));
    Batch {
        at,
        blobs: beside.filter_map(|hash| blobs.get(hash).cloned()).collect(),
        entries: envelopes.into_iter().map(|envelope| entry(branch, origin, envelope)).collect(),
        takes: Vec::new(),
    }
}

fn entry(branch: &ForkTarget, origin: Origin, envelope: Envelope) -> Entry {
    let Envelope { run, turn, mut record, .. } = envelope;
    match &mut record {
        Record::SessionOpened(opened) => {
            opened.key.clone_from(&branch.key);
            opened.version.clone_from(&branch.version);
            // The parent session awaits the origin, not the fork.
            opened.parent = None;
            opened.forked_from.iter_mut().for_each(|earlier| earlier.seq = earlier.seq.min(origin.seq));
            opened.forked_from.push(origin);
        }
        // The key stays with the origin, and so does its place in the list.
        Record::SessionChanged(SessionChanged { key, pinned, archived, .. }) => {
            (*key, *pinned, *archived) = (None, None, None);
        }
        _ => {}
    }
    Entry { run, turn, record }
}
