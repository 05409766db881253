//! Counts, before each model call, what all other runs have spent today (M7). Limits that several runs share hold across
//! processes by this alone: the journals are the only account, so there is nothing to reserve, to release, or to free
//! after a crash.
//!
//! Of a journal that has grown, only the new records are read.

use std::collections::HashMap;

use tokio::sync::Mutex;
use windlass_vocab::{RunId, SessionId, Spending, SpentElsewhere, Timestamp};

use crate::charges::{Charge, SessionCharges, add_new, is_open, of_session};
use crate::{Store, StoreError};

/// The run that counts: what it has spent itself it knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountingRun {
    /// Its session.
    pub session: SessionId,
    /// The run.
    pub run: RunId,
    /// The owner of the sessions that are counted.
    pub owner: String,
    /// The agent.
    pub agent: String,
}

/// What is known of the sessions of a process's store.
#[derive(Debug, Default)]
pub struct SpendingCounter(Mutex<KnownCharges>);

#[derive(Debug, Default)]
struct KnownCharges {
    since: Timestamp,
    sessions: HashMap<SessionId, KnownSession>,
}

#[derive(Debug, Default)]
struct KnownSession {
    /// The end of the journal when it was read.
    seq: u64,
    /// The last run that read the journal of its own session: earlier runs of it spend no more.
    read_by: Option<RunId>,
    found: SessionCharges,
}

impl SpendingCounter {
    /// Returns what all runs but this one were charged from `since` on. Journals that can't be read are left out.
    pub async fn count(
        &self,
        store: &dyn Store,
        counting: &CountingRun,
        since: Timestamp,
    ) -> Result<SpentElsewhere, StoreError> {
        let mut known = self.0.lock().await;
        if known.since != since {
            *known = KnownCharges { since, sessions: HashMap::new() };
        }
        let mut spent = SpentElsewhere::default();
        for row in store.sessions(&counting.owner).await? {
            if !is_open(row.status) && row.updated < since {
                continue;
            }
            known.read(store, row.session, counting).await?;
            let Some(KnownSession { found, .. }) = known.sessions.get(&row.session) else { continue };
            let is_own = |charge: &Charge| charge.session == counting.session && charge.run == Some(counting.run);
            for charge in found.charges.iter().filter(|charge| !is_own(charge)) {
                let spending = Spending::of_call(&charge.usage, charge.cost);
                spent.day += spending;
                if charge.agent == counting.agent {
                    spent.agent += spending;
                }
            }
        }
        Ok(spent)
    }
}

impl KnownCharges {
    /// Reads a journal, unless it is known as it is.
    async fn read(&mut self, store: &dyn Store, session: SessionId, counting: &CountingRun) -> Result<(), StoreError> {
        let read_by = (session == counting.session).then_some(counting.run);
        let before = self.sessions.get(&session);
        if read_by.is_some() && before.is_some_and(|known| known.read_by == read_by) {
            return Ok(());
        }
        let seq = store.head(session).await?.seq;
        let is_read = before.is_some();
        let known = self.sessions.entry(session).or_default();
        if is_read && known.seq == seq {
            known.read_by = read_by.or(known.read_by);
            return Ok(());
        }
        let read = if known.found.seq > 0 {
            add_new(&mut known.found, store, session, self.since).await
        } else {
            of_session(store, session, self.since).await.map(|found| known.found = found)
        };
        match read {
            // What can't be read is tried again when it has grown.
            Ok(()) | Err(StoreError::Damaged { .. } | StoreError::Broken { .. }) => {
                (known.seq, known.read_by) = (seq, read_by.or(known.read_by));
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}
