//! A session that is removed while it is being read is reported as missing, not broken.

use std::sync::Arc;

use windlass_store::conformance::sample;
use windlass_store::{
    AddressedCommand, Addressee, AllowedRule, AppendError, Batch, Blobs, BoxFuture, CommandState, ControlLane, Entry,
    ForgetOutcome, Fork, ForkError, ForkTarget, Head, Inbox, Inconsistency, KeepOutcome, KeptRule, Lease, Loss,
    MemoryStore, Ownership, PutOutcome, SealedBatch, SentCommand, SessionHolder, SessionList, SessionLog, SessionQuery,
    SessionRow, StoreError, StoredBatch, TakenCommand, UserRuleId, UserRules, VerifyError, WaitingMessage, Writer,
    verify,
};
use windlass_vocab::{CommandId, ControlOutcome, Envelope, Hash, SessionId, Timestamp};

fn session() -> SessionId {
    SessionId(uuid::Uuid::from_u128(1))
}

/// A store that removes the session when the first blob is read: after its batches were read.
struct Removing(MemoryStore);

impl ControlLane for Removing {
    fn send_command(&self, session: SessionId, command: SentCommand) -> BoxFuture<'_, Result<Addressee, StoreError>> {
        self.0.send_command(session, command)
    }
    fn commands(&self, now: Timestamp) -> BoxFuture<'_, Result<Vec<AddressedCommand>, StoreError>> {
        self.0.commands(now)
    }
    fn take_command<'a>(&'a self, id: &'a CommandId) -> BoxFuture<'a, Result<TakenCommand, StoreError>> {
        self.0.take_command(id)
    }
    fn settle_command<'a>(
        &'a self,
        id: &'a CommandId,
        outcome: ControlOutcome,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.0.settle_command(id, outcome)
    }
    fn command_state<'a>(&'a self, id: &'a CommandId) -> BoxFuture<'a, Result<CommandState, StoreError>> {
        self.0.command_state(id)
    }
    fn withdraw_command<'a>(&'a self, id: &'a CommandId) -> BoxFuture<'a, Result<CommandState, StoreError>> {
        self.0.withdraw_command(id)
    }
}

impl UserRules for Removing {
    fn keep_rule(&self, allowed: AllowedRule) -> BoxFuture<'_, Result<KeepOutcome, StoreError>> {
        self.0.keep_rule(allowed)
    }
    fn rules_of<'a>(&'a self, user: &'a str) -> BoxFuture<'a, Result<Vec<KeptRule>, StoreError>> {
        self.0.rules_of(user)
    }
    fn forget_rule<'a>(&'a self, user: &'a str, id: UserRuleId) -> BoxFuture<'a, Result<ForgetOutcome, StoreError>> {
        self.0.forget_rule(user, id)
    }
}

impl Blobs for Removing {
    fn blob(&self, hash: Hash) -> BoxFuture<'_, Result<Option<Arc<[u8]>>, StoreError>> {
        Box::pin(async move {
            self.0.remove(session()).await?;
            self.0.blob(hash).await
        })
    }
}

impl SessionLog for Removing {
    fn append(&self, sealed: SealedBatch) -> BoxFuture<'_, Result<(), AppendError>> {
        self.0.append(sealed)
    }
    fn restore(&self, batches: Vec<SealedBatch>) -> BoxFuture<'_, Result<(), AppendError>> {
        self.0.restore(batches)
    }
    fn read(&self, session: SessionId, after: u64) -> BoxFuture<'_, Result<Vec<Envelope>, StoreError>> {
        self.0.read(session, after)
    }
    fn read_some(
        &self,
        session: SessionId,
        after_seq: u64,
        most_bytes: usize,
    ) -> BoxFuture<'_, Result<Vec<Envelope>, StoreError>> {
        self.0.read_some(session, after_seq, most_bytes)
    }
    fn read_before(
        &self,
        session: SessionId,
        before: u64,
        most: u32,
    ) -> BoxFuture<'_, Result<Vec<Envelope>, StoreError>> {
        self.0.read_before(session, before, most)
    }
    fn last_records(&self, sessions: Vec<SessionId>) -> BoxFuture<'_, Result<Vec<u64>, StoreError>> {
        self.0.last_records(sessions)
    }
    fn head(&self, session: SessionId) -> BoxFuture<'_, Result<Head, StoreError>> {
        self.0.head(session)
    }
    fn find<'a>(&'a self, owner: &'a str, key: &'a str) -> BoxFuture<'a, Result<Option<SessionId>, StoreError>> {
        self.0.find(owner, key)
    }
    fn row(&self, session: SessionId) -> BoxFuture<'_, Result<Option<SessionRow>, StoreError>> {
        self.0.row(session)
    }
    fn sessions<'a>(&'a self, owner: &'a str) -> BoxFuture<'a, Result<Vec<SessionRow>, StoreError>> {
        self.0.sessions(owner)
    }
    fn list<'a>(&'a self, owner: &'a str, query: SessionQuery) -> BoxFuture<'a, Result<SessionList, StoreError>> {
        self.0.list(owner, query)
    }
    fn session_count<'a>(&'a self, owner: &'a str) -> BoxFuture<'a, Result<u64, StoreError>> {
        self.0.session_count(owner)
    }
    fn batches(&self, session: SessionId) -> BoxFuture<'_, Result<Vec<StoredBatch>, StoreError>> {
        self.0.batches(session)
    }
    fn check(&self) -> BoxFuture<'_, Result<Vec<Inconsistency>, StoreError>> {
        self.0.check()
    }
    fn loss(&self) -> Option<Loss> {
        self.0.loss()
    }
    fn accept_loss(&self) -> BoxFuture<'_, Result<Option<Loss>, StoreError>> {
        self.0.accept_loss()
    }
    fn remove(&self, session: SessionId) -> BoxFuture<'_, Result<(), StoreError>> {
        self.0.remove(session)
    }
}

impl Ownership for Removing {
    fn claim(&self, session: SessionId) -> BoxFuture<'_, Result<Lease, StoreError>> {
        self.0.claim(session)
    }
    fn is_claimed(&self, session: SessionId) -> BoxFuture<'_, Result<bool, StoreError>> {
        self.0.is_claimed(session)
    }
    fn holder(&self, session: SessionId) -> BoxFuture<'_, Result<Option<SessionHolder>, StoreError>> {
        self.0.holder(session)
    }
}

impl Inbox for Removing {
    fn put(&self, session: SessionId, message: WaitingMessage) -> BoxFuture<'_, Result<PutOutcome, StoreError>> {
        self.0.put(session, message)
    }
    fn waiting(&self, session: SessionId) -> BoxFuture<'_, Result<Vec<WaitingMessage>, StoreError>> {
        self.0.waiting(session)
    }
    fn drop_waiting(&self, session: SessionId) -> BoxFuture<'_, Result<usize, StoreError>> {
        self.0.drop_waiting(session)
    }
}

async fn store() -> Removing {
    let store = MemoryStore::new();
    let entries = vec![Entry::new(sample::opened("ada", "notes"))];
    let batch = Batch { entries, blobs: vec![b"beside"[..].into()], ..Batch::default() };
    store.append(Writer::new(session(), Head::default(), 1).seal(batch).unwrap()).await.unwrap();
    Removing(store)
}

#[tokio::test]
async fn a_session_that_is_removed_while_it_is_verified_or_forked_is_missing_and_not_broken() {
    // proves J11
    assert_eq!(verify(&store().await, session()).await, Err(VerifyError::Store(StoreError::Missing)));
    let branch = ForkTarget {
        session: SessionId(uuid::Uuid::from_u128(2)),
        key: "copy".into(),
        version: "0".into(),
        at: Timestamp(0),
        nonce: 1,
    };
    let forked = Fork::begin(&store().await, session(), None, branch).await;
    assert!(matches!(forked, Err(ForkError::Store(StoreError::Missing))), "{forked:?}");
}
