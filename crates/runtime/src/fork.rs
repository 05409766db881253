//! Forking a session (J8): what it said up to some record is taken over by another, which goes its own
//! way from there. A run that was open at that record goes on in the origin alone; in the fork its open
//! calls are interrupted and it ends, so that one can say something else there, or try it again. Nobody
//! needs the origin's lease: only what is stored is read.

use uuid::Uuid;
use windlass_machine::{Fact, Input, State, decide};
use windlass_store::{Batch, Break, Fork, ForkError, ForkTarget, Prefix, Store, StoreError, whole_prefix};
use windlass_vocab::{SessionChanged, SessionId, Timestamp};

use crate::opening::nonce;
use crate::place::placed;

/// Forks `origin` at the end of the batch that holds the record `at`, or at its end, as a session with
/// this key.
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

/// A copy of what is whole of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SalvagedSession {
    /// The new session.
    pub session: SessionId,
    /// The records that were saved.
    pub records: u64,
    /// Where the old session breaks.
    pub broken: Break,
}

/// Why nothing was salvaged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SalvageError {
    /// There is no need to.
    #[error("the session is whole, and nothing of it needs to be salvaged")]
    Whole,
    /// Its first record is broken already.
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

/// Copies a session that does not verify, up to the last batch that does, into one with this key. What was open there
/// ends, as in a fork. The old session is left as it is.
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
