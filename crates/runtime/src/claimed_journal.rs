//! The journal of a session that no process has open, claimed to append to it: nothing of the session is resumed.
//!
//! The protocol: [`ClaimedJournal::claim`], then [`begin`](ClaimedJournal::begin) before the first
//! [`record`](ClaimedJournal::record). The session is released when this is dropped.

use windlass_machine::{Fact, State};
use windlass_store::{Batch, Lease, Store, StoreError, Writer};
use windlass_tools::Secrets;
use windlass_vocab::{NewerRecord, SessionId};

use crate::clock::Clock;
use crate::opening::{OpenError, lease_taken, nonce};
use crate::session_writer::SessionWriter;

/// A claimed journal, and the state that its records lead to.
pub(crate) struct ClaimedJournal<'a> {
    store: &'a dyn Store,
    secrets: &'a Secrets,
    clock: &'a dyn Clock,
    lease: Lease,
    writer: Writer,
    pub(crate) state: State,
}

impl<'a> ClaimedJournal<'a> {
    /// Claims the session. Fails with [`StoreError::Busy`] where a process has it open.
    pub(crate) async fn claim(
        store: &'a dyn Store,
        secrets: &'a Secrets,
        clock: &'a dyn Clock,
        session: SessionId,
    ) -> Result<Self, OpenError> {
        let lease = store.claim(session).await?;
        let records = store.read(session, 0).await?;
        if let Some(NewerRecord { seq, kind, before }) = NewerRecord::first(&records) {
            return Err(OpenError::Newer { seq, kind, before });
        }
        let state = State::fold(session, records.iter().map(|envelope| &envelope.record));
        let writer = Writer::new(session, lease.head(), nonce());
        Ok(Self { store, secrets, clock, lease, writer, state })
    }

    /// Records that this process writes from here on.
    pub(crate) async fn begin(&mut self) -> Result<(), StoreError> {
        self.record(Fact::LeaseTaken(lease_taken(self.lease.epoch()))).await
    }

    /// Whether nothing was recorded since the session was claimed.
    pub(crate) fn is_untouched(&self) -> bool {
        self.writer.head == self.lease.head()
    }

    /// Records what a fact means.
    pub(crate) async fn record(&mut self, fact: Fact) -> Result<(), StoreError> {
        self.record_with(fact, Batch::default()).await
    }

    /// Records what a fact means, in one transaction with what else the batch holds.
    pub(crate) async fn record_with(&mut self, fact: Fact, batch: Batch) -> Result<(), StoreError> {
        let Self { store, secrets, clock, writer, state, .. } = self;
        SessionWriter { store: *store, secrets, clock: *clock, state, writer }.step(fact, batch).await.map(drop)
    }
}
