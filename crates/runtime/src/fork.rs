//! Forks a session (J8): the records up to some point are copied to a new session, which continues separately. A run
//! that was open at that point continues only in the origin; in the fork its open calls are interrupted and it ends, so
//! that a person can send another message there, or retry it. The origin's lease is not needed, because a fork only
//! reads stored records.

use uuid::Uuid;
use windlass_machine::{Fact, Input, State, decide};
use windlass_store::{Batch, Break, Fork, ForkError, ForkTarget, Prefix, Store, StoreError, whole_prefix};
use windlass_vocab::{SessionChanged, SessionId, Timestamp};

use crate::opening::nonce;
use crate::place::placed;

/// Forks `origin` at the end of the batch that holds the record `at`, or at its end, as a session with this key.
pub async fn fork(
    store: &dyn Store,
    origin: SessionId,
    at: Option<u64>,
    key: &str,
    now: Timestamp,
) -> Result<SessionId, ForkError> {
    let session = SessionId(Uuid::now_v7());
    let branch = ForkTarget {
        session,
        key: key.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        at: now,
        nonce: nonce(),
    };
    let mut fork = Fork::begin(store, origin, at, branch).await?;
    let state = State::fold(session, fork.records());
    let fact = match fork.imported().cloned() {
        Some(imported) => Fact::Changed(SessionChanged { imported: Some(imported), ..SessionChanged::default() }),
        None => Fact::Forked,
    };
    let records = decide(&state, Input { at: now, fact });
    if !records.is_empty() {
        fork.add(Batch { at: now, entries: placed(&state, records), ..Batch::default() })?;
    }
    fork.finish(store).await?;
    Ok(session)
}

/// A copy of the intact part of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SalvagedSession {
    /// The new session.
    pub session: SessionId,
    /// The number of records copied.
    pub records: u64,
    /// Where the old session is damaged.
    pub broken: Break,
}

/// Why nothing was salvaged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SalvageError {
    /// The session is intact.
    #[error("the session is whole, and nothing of it needs to be salvaged")]
    Whole,
    /// Already its first record is damaged.
    #[error("nothing can be saved: {0}")]
    Nothing(Break),
    /// It could not be copied.
    #[error(transparent)]
    Fork(#[from] ForkError),
}

impl From<StoreError> for SalvageError {
    fn from(error: StoreError) -> Self {
        Self::Fork(error.into())
    }
}

/// Copies a session that does not verify, up to its last valid batch, to a session with this key. Open work ends, as in
/// a fork. The old session stays as it is.
pub async fn salvage(
    store: &dyn Store,
    origin: SessionId,
    key: &str,
    now: Timestamp,
) -> Result<SalvagedSession, SalvageError> {
    let Prefix { whole, broken } = whole_prefix(store, origin).await?;
    let broken = broken.ok_or(SalvageError::Whole)?;
    if whole.records == 0 {
        return Err(SalvageError::Nothing(broken));
    }
    let session = fork(store, origin, Some(whole.records), key, now).await?;
    Ok(SalvagedSession { session, records: whole.records, broken })
}
