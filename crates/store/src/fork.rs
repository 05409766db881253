//! Forking (J8): the beginning of a journal is written down again as another session's. Numbers, times
//! and runs stay as they were; ids, chain and session are the fork's own, so it is a journal like any
//! other. Contents are shared: each session refers to them, and they stay while anybody does.
//!
//! The protocol: [`Fork::begin`] reads and seals what is taken over → `add` closes what was open there
//! (the store does not know how) → `finish` stores all of it in one transaction.

use std::collections::HashSet;

use windlass_vocab::{
    Envelope, Hash, ImportDetails, NewerRecord, Origin, Record, SessionChanged, SessionId, Timestamp,
};

use crate::line::{self, BlobMap};
use crate::settle::{at_once, restore_for_certain};
use crate::verify::{BatchNote, Chain, is_gone};
use crate::{Batch, Entry, Head, SealedBatch, Store, StoreError, StoredBatch, Writer};

/// Why there is no fork. Nothing was stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForkError {
    /// The store says no.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It can't be forked there.
    #[error("there is no record {at} to fork at; the session has records 1 to {last}")]
    NoRecord {
        /// The record asked for.
        at: u64,
        /// The last there is.
        last: u64,
    },
    /// A record to be taken over is of a newer version.
    #[error(
        "record {seq} was written by a newer version of Windlass (a `{kind}` record); fork with that version, \
         or before it, at record {before} at the latest"
    )]
    Newer {
        /// Its number.
        seq: u64,
        /// Its kind.
        kind: String,
        /// The last record that can be taken over.
        before: u64,
    },
}

/// What a fork is called.
#[derive(Clone, Debug)]
pub struct ForkTarget {
    /// Its id.
    pub session: SessionId,
    /// Its key.
    pub key: String,
    /// The version of Windlass that makes it.
    pub version: String,
    /// When it is made.
    pub at: Timestamp,
    /// As for [`Writer::new`].
    pub nonce: u64,
}

/// A fork in the making.
#[derive(Debug)]
pub struct Fork {
    writer: Writer,
    sealed: Vec<SealedBatch>,
    imported: Option<ImportDetails>,
}

impl Fork {
    /// Takes the records of `origin` over up to the end of the batch that holds the record `through`, or
    /// all of them.
    pub async fn begin(
        store: &dyn Store,
        origin: SessionId,
        through: Option<u64>,
        branch: ForkTarget,
    ) -> Result<Self, ForkError> {
        match Self::copied(store, origin, through, branch).await {
            // Batches and contents are read at different moments: it may have been removed in between.
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

    /// How the origin was brought in, where that is recorded behind what was taken over: what was taken over has no
    /// more authority in the fork than it has there (X6).
    #[must_use]
    pub fn imported(&self) -> Option<&ImportDetails> {
        self.imported.as_ref()
    }

    /// The records so far.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.sealed.iter().flat_map(|sealed| &sealed.envelopes).map(|envelope| &envelope.record)
    }

    /// Adds a batch of the fork's own.
    pub fn add(&mut self, batch: Batch) -> Result<(), StoreError> {
        self.sealed.push(self.writer.seal(batch)?);
        Ok(())
    }

    /// Stores it, all or nothing.
    pub async fn finish(self, store: &dyn Store) -> Result<(), StoreError> {
        restore_for_certain(store, self.sealed, at_once).await
    }
}

/// How these batches say that their session was brought in, if they do. One that can't be read may say so too.
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
            let workspace = store.row(session).await?.and_then(|row| row.workspace);
            imported = Some(ImportDetails { workspace });
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

/// Everything a batch refers to.
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

/// A batch as the fork has it.
fn taken_over(
    branch: &ForkTarget,
    origin: Origin,
    stored: &StoredBatch,
    envelopes: Vec<Envelope>,
    blobs: &BlobMap,
) -> Batch {
    // The first one is about the session itself, which was not there before.
    let at = if stored.seq == 1 { branch.at } else { envelopes.first().map_or(branch.at, |first| first.at) };
    // Long bodies leave their lines again by themselves.
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
            // Whoever spawned the origin awaits the origin.
            opened.parent = None;
            opened.forked_from.iter_mut().for_each(|earlier| earlier.seq = earlier.seq.min(origin.seq));
            opened.forked_from.push(origin);
        }
        // A key that the origin took on is the origin's.
        Record::SessionChanged(SessionChanged { key, .. }) => *key = None,
        _ => {}
    }
    Entry { run, turn, record }
}
