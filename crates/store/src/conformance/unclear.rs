//! Writes whose outcome the caller does not learn.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use windlass_vocab::{CommandId, ControlOutcome, Envelope, Hash, SessionId, Timestamp};

use super::checked::{CheckResult, append, batch, holds, open, same, session};
use super::sample;
use crate::settle::at_once;
use crate::{
    AddressedCommand, Addressee, AllowedRule, AppendError, Blobs, BoxFuture, CommandState, ControlLane, ForgetOutcome,
    Head, Inbox, Inconsistency, KeepOutcome, KeptRule, Lease, Loss, Ownership, PutOutcome, SealedBatch, SentCommand,
    SessionHolder, SessionList, SessionLog, SessionQuery, SessionRow, Store, StoreError, StoredBatch, TRIES,
    TakenCommand, UserRuleId, UserRules, WaitingMessage, Writer, append_again, restore_for_certain, verify,
};

/// When the connection dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiesAt {
    /// Before the store receives the write.
    Before,
    /// After the write was stored.
    After,
}

/// A store whose connection dies during the next appends, so that their outcome is unknown.
pub struct UncertainStore {
    inner: Arc<dyn Store>,
    dies: DiesAt,
    left: AtomicU32,
}

impl UncertainStore {
    /// Wraps `inner`; the next `times` appends and restores return `Unknown`.
    #[must_use]
    pub fn new(inner: Arc<dyn Store>, dies: DiesAt, times: u32) -> Self {
        Self { inner, dies, left: AtomicU32::new(times) }
    }

    async fn around(&self, write: impl Future<Output = Result<(), AppendError>> + Send) -> Result<(), AppendError> {
        let dies = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok();
        match (dies, self.dies) {
            (true, DiesAt::Before) => {}
            (true, DiesAt::After) => write.await?,
            (false, _) => return write.await,
        }
        Err(AppendError::Unknown { why: "the connection died".into() })
    }
}

impl SessionLog for UncertainStore {
    fn append(&self, sealed: SealedBatch) -> BoxFuture<'_, Result<(), AppendError>> {
        Box::pin(self.around(async move { self.inner.append(sealed).await }))
    }
    fn restore(&self, batches: Vec<SealedBatch>) -> BoxFuture<'_, Result<(), AppendError>> {
        Box::pin(self.around(async move { self.inner.restore(batches).await }))
    }
    fn read(&self, session: SessionId, after_seq: u64) -> BoxFuture<'_, Result<Vec<Envelope>, StoreError>> {
        self.inner.read(session, after_seq)
    }
    fn read_some(
        &self,
        session: SessionId,
        after_seq: u64,
        most_bytes: usize,
    ) -> BoxFuture<'_, Result<Vec<Envelope>, StoreError>> {
        self.inner.read_some(session, after_seq, most_bytes)
    }
    fn read_before(
        &self,
        session: SessionId,
        before_seq: u64,
        most: u32,
    ) -> BoxFuture<'_, Result<Vec<Envelope>, StoreError>> {
        self.inner.read_before(session, before_seq, most)
    }
    fn last_records(&self, sessions: Vec<SessionId>) -> BoxFuture<'_, Result<Vec<u64>, StoreError>> {
        self.inner.last_records(sessions)
    }
    fn head(&self, session: SessionId) -> BoxFuture<'_, Result<Head, StoreError>> {
        self.inner.head(session)
    }
    fn find<'a>(&'a self, owner: &'a str, key: &'a str) -> BoxFuture<'a, Result<Option<SessionId>, StoreError>> {
        self.inner.find(owner, key)
    }
    fn row(&self, session: SessionId) -> BoxFuture<'_, Result<Option<SessionRow>, StoreError>> {
        self.inner.row(session)
    }
    fn sessions<'a>(&'a self, owner: &'a str) -> BoxFuture<'a, Result<Vec<SessionRow>, StoreError>> {
        self.inner.sessions(owner)
    }
    fn list<'a>(&'a self, owner: &'a str, query: SessionQuery) -> BoxFuture<'a, Result<SessionList, StoreError>> {
        self.inner.list(owner, query)
    }
    fn session_count<'a>(&'a self, owner: &'a str) -> BoxFuture<'a, Result<u64, StoreError>> {
        self.inner.session_count(owner)
    }
    fn batches(&self, session: SessionId) -> BoxFuture<'_, Result<Vec<StoredBatch>, StoreError>> {
        self.inner.batches(session)
    }
    fn check(&self) -> BoxFuture<'_, Result<Vec<Inconsistency>, StoreError>> {
        self.inner.check()
    }
    fn loss(&self) -> Option<Loss> {
        self.inner.loss()
    }
    fn accept_loss(&self) -> BoxFuture<'_, Result<Option<Loss>, StoreError>> {
        self.inner.accept_loss()
    }
    fn remove(&self, session: SessionId) -> BoxFuture<'_, Result<(), StoreError>> {
        self.inner.remove(session)
    }
}

impl Ownership for UncertainStore {
    fn claim(&self, session: SessionId) -> BoxFuture<'_, Result<Lease, StoreError>> {
        self.inner.claim(session)
    }
    fn is_claimed(&self, session: SessionId) -> BoxFuture<'_, Result<bool, StoreError>> {
        self.inner.is_claimed(session)
    }
    fn holder(&self, session: SessionId) -> BoxFuture<'_, Result<Option<SessionHolder>, StoreError>> {
        self.inner.holder(session)
    }
}

impl Inbox for UncertainStore {
    fn put(&self, session: SessionId, message: WaitingMessage) -> BoxFuture<'_, Result<PutOutcome, StoreError>> {
        self.inner.put(session, message)
    }
    fn waiting(&self, session: SessionId) -> BoxFuture<'_, Result<Vec<WaitingMessage>, StoreError>> {
        self.inner.waiting(session)
    }
    fn drop_waiting(&self, session: SessionId) -> BoxFuture<'_, Result<usize, StoreError>> {
        self.inner.drop_waiting(session)
    }
}

impl ControlLane for UncertainStore {
    fn send_command(&self, session: SessionId, command: SentCommand) -> BoxFuture<'_, Result<Addressee, StoreError>> {
        self.inner.send_command(session, command)
    }
    fn commands(&self, now: Timestamp) -> BoxFuture<'_, Result<Vec<AddressedCommand>, StoreError>> {
        self.inner.commands(now)
    }
    fn take_command<'a>(&'a self, id: &'a CommandId) -> BoxFuture<'a, Result<TakenCommand, StoreError>> {
        self.inner.take_command(id)
    }
    fn settle_command<'a>(
        &'a self,
        id: &'a CommandId,
        outcome: ControlOutcome,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.inner.settle_command(id, outcome)
    }
    fn command_state<'a>(&'a self, id: &'a CommandId) -> BoxFuture<'a, Result<CommandState, StoreError>> {
        self.inner.command_state(id)
    }
    fn withdraw_command<'a>(&'a self, id: &'a CommandId) -> BoxFuture<'a, Result<CommandState, StoreError>> {
        self.inner.withdraw_command(id)
    }
}

impl UserRules for UncertainStore {
    fn keep_rule(&self, allowed: AllowedRule) -> BoxFuture<'_, Result<KeepOutcome, StoreError>> {
        self.inner.keep_rule(allowed)
    }
    fn rules_of<'a>(&'a self, user: &'a str) -> BoxFuture<'a, Result<Vec<KeptRule>, StoreError>> {
        self.inner.rules_of(user)
    }
    fn forget_rule<'a>(&'a self, user: &'a str, id: UserRuleId) -> BoxFuture<'a, Result<ForgetOutcome, StoreError>> {
        self.inner.forget_rule(user, id)
    }
}

impl Blobs for UncertainStore {
    fn blob(&self, hash: Hash) -> BoxFuture<'_, Result<Option<Arc<[u8]>>, StoreError>> {
        self.inner.blob(hash)
    }
}

impl fmt::Debug for UncertainStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UncertainStore").field("dies", &self.dies).field("left", &self.left).finish_non_exhaustive()
    }
}

// proves J1, J9: a batch is stored exactly once, whatever outcome the caller got
pub(super) async fn an_append_of_unknown_outcome_is_settled_by_appending_again(store: &Arc<dyn Store>) -> CheckResult {
    let mut writer = open(store, 1, "notes").await?;
    for (dies, times) in [(DiesAt::Before, 1), (DiesAt::After, 1), (DiesAt::Before, 3), (DiesAt::After, 3)] {
        let unclear = UncertainStore::new(Arc::clone(store), dies, times);
        let sealed = writer.seal(batch([sample::accepted(&format!("{dies:?}{times}"), "hi")]))?;
        holds!(matches!(unclear.append(sealed.clone()).await, Err(AppendError::Unknown { .. })));
        append_again(&unclear, sealed, at_once).await?;
        same!(store.head(session(1)).await?, writer.head);
    }
    same!(verify(&**store, session(1)).await?.records, 6);
    Ok(())
}

// proves J5: it is not stored once another writer has appended
pub(super) async fn an_append_of_unknown_outcome_can_have_lost_its_place(
    one: &Arc<dyn Store>,
    other: &Arc<dyn Store>,
) -> CheckResult {
    let mut old = open(one, 1, "notes").await?;
    let unclear = UncertainStore::new(Arc::clone(one), DiesAt::Before, 1);
    let sealed = old.seal(batch([sample::accepted("m", "too late")]))?;
    holds!(unclear.append(sealed.clone()).await.is_err());
    let mut new = Writer::new(session(1), other.head(session(1)).await?, 99);
    append(other, &mut new, batch([sample::lease(2)])).await?;
    same!(append_again(&unclear, sealed, at_once).await, Err(StoreError::Conflict));
    same!(one.head(session(1)).await?, new.head);
    Ok(())
}

pub(super) async fn a_store_that_stays_out_of_reach_is_said_to_be_so(store: &Arc<dyn Store>) -> CheckResult {
    let mut writer = open(store, 1, "notes").await?;
    let unclear = UncertainStore::new(Arc::clone(store), DiesAt::Before, 2 * TRIES);
    let sealed = writer.seal(batch([sample::lease(1)]))?;
    let given_up = append_again(&unclear, sealed, at_once).await;
    holds!(matches!(given_up, Err(StoreError::Unavailable { .. })));
    Ok(())
}

pub(super) async fn a_journal_of_unknown_outcome_is_restored_once(store: &Arc<dyn Store>) -> CheckResult {
    for (n, dies) in [(1, DiesAt::Before), (2, DiesAt::After)] {
        let unclear = UncertainStore::new(Arc::clone(store), dies, 1);
        let mut writer = Writer::new(session(n), Head::default(), 1);
        let sealed = writer.seal(batch([sample::opened("ada", &format!("s{n}"))]))?;
        restore_for_certain(&unclear, vec![sealed.clone()], at_once).await?;
        same!(store.head(session(n)).await?, writer.head);
        let again = restore_for_certain(&unclear, vec![sealed], at_once).await;
        same!(again, Err(StoreError::Exists { session: session(n) }));
    }
    Ok(())
}
