//! The interface of a store, as object-safe traits.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use windlass_vocab::{CommandId, ControlOutcome, Envelope, Hash, SessionId, Timestamp};

use crate::control::{AddressedCommand, Addressee, CommandState, SentCommand, TakenCommand};
use crate::{
    AllowedRule, AppendError, ForgetOutcome, Head, Inconsistency, KeepOutcome, KeptRule, Lease, Loss, SealedBatch,
    SessionHolder, SessionList, SessionQuery, SessionRow, StoreError, StoredBatch, UserRuleId, WaitingMessage,
};

/// A boxed future, so that the traits are object-safe.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The journals: append-only, one per session.
pub trait SessionLog {
    /// Stores a batch if it follows the session's head, in one transaction. Returns `Ok` also when this very batch
    /// is stored already. A caller that stops waiting does not stop the write. On a conflict, the lease that this
    /// handle has on the session is lost.
    fn append(&self, sealed: SealedBatch) -> BoxFuture<'_, Result<(), AppendError>>;

    /// Stores the whole journal of a session that does not exist here yet, in one transaction: an imported session
    /// or a new one. The key is checked as it is after the last batch. After an unknown outcome, `Exists` together
    /// with this very head means that the journal was stored.
    fn restore(&self, batches: Vec<SealedBatch>) -> BoxFuture<'_, Result<(), AppendError>>;

    /// The records numbered above `after_seq`; empty when there is no such session.
    fn read(&self, session: SessionId, after_seq: u64) -> BoxFuture<'_, Result<Vec<Envelope>, StoreError>>;

    /// Like [`Self::read`], but ends with the batch that makes it more than `most_bytes` as stored: what a reader who
    /// may stop holds at a time.
    fn read_some(
        &self,
        session: SessionId,
        after_seq: u64,
        most_bytes: usize,
    ) -> BoxFuture<'_, Result<Vec<Envelope>, StoreError>>;

    /// The records of the last `most` batches that end before the record `before_seq`, in order; empty when there
    /// is no such batch.
    fn read_before(
        &self,
        session: SessionId,
        before_seq: u64,
        most: u32,
    ) -> BoxFuture<'_, Result<Vec<Envelope>, StoreError>>;

    /// The numbers of the last records of these sessions, in their order; 0 for one that is not there. One read for all.
    fn last_records(&self, sessions: Vec<SessionId>) -> BoxFuture<'_, Result<Vec<u64>, StoreError>>;

    /// The end of the journal; the zero head when there is no such session.
    fn head(&self, session: SessionId) -> BoxFuture<'_, Result<Head, StoreError>>;

    /// The owner's session with this key.
    fn find<'a>(&'a self, owner: &'a str, key: &'a str) -> BoxFuture<'a, Result<Option<SessionId>, StoreError>>;

    /// The list entry of one session.
    fn row(&self, session: SessionId) -> BoxFuture<'_, Result<Option<SessionRow>, StoreError>>;

    /// An owner's sessions, the most recently changed first.
    fn sessions<'a>(&'a self, owner: &'a str) -> BoxFuture<'a, Result<Vec<SessionRow>, StoreError>>;

    /// One page of an owner's sessions, pinned ones first, then the most recently changed. Reads no journal. A page
    /// costs what its rows cost, however many sessions there are; a search reads rows until the page is full.
    fn list<'a>(&'a self, owner: &'a str, query: SessionQuery) -> BoxFuture<'a, Result<SessionList, StoreError>>;

    /// How many sessions an owner has, archived ones and children included.
    fn session_count<'a>(&'a self, owner: &'a str) -> BoxFuture<'a, Result<u64, StoreError>>;

    /// The batches as stored, in order; for `verify` and `export`.
    fn batches(&self, session: SessionId) -> BoxFuture<'_, Result<Vec<StoredBatch>, StoreError>>;

    /// Finds inconsistencies within the store without trusting its indexes: batches that a read would not find,
    /// sessions missing from the list. Reads all data; `verify` then follows the journal of one session.
    fn check(&self) -> BoxFuture<'_, Result<Vec<Inconsistency>, StoreError>>;

    /// The stored data that is missing, as far as the store can detect. While there is such a loss nothing is
    /// written: appends, claims and messages return [`StoreError::Lost`].
    fn loss(&self) -> Option<Loss>;

    /// Continues with the data that is left. Returns the loss; `None` if there was none.
    fn accept_loss(&self) -> BoxFuture<'_, Result<Option<Loss>, StoreError>>;

    /// Removes a session, its waiting messages and the blobs that no other session refers to. `Busy` while
    /// anybody, the caller included, holds its lease.
    fn remove(&self, session: SessionId) -> BoxFuture<'_, Result<(), StoreError>>;
}

/// The right to write to a session.
pub trait Ownership {
    /// Claims the session for as long as the lease lives; `Busy` when it is already claimed.
    fn claim(&self, session: SessionId) -> BoxFuture<'_, Result<Lease, StoreError>>;

    /// Whether anybody, the caller included, holds the session. Checking blocks other claims only briefly, if at all.
    fn is_claimed(&self, session: SessionId) -> BoxFuture<'_, Result<bool, StoreError>>;

    /// Who holds the session, the caller included; `None` if nobody does.
    fn holder(&self, session: SessionId) -> BoxFuture<'_, Result<Option<SessionHolder>, StoreError>>;
}

/// Whether a message was new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutOutcome {
    /// It is in the inbox now.
    Added,
    /// The session already has a message with this id, waiting or accepted (J6).
    AlreadyThere,
}

/// Messages that no run has accepted yet.
pub trait Inbox {
    /// Adds a message to the inbox, once per id.
    fn put(&self, session: SessionId, message: WaitingMessage) -> BoxFuture<'_, Result<PutOutcome, StoreError>>;

    /// The messages in the inbox, in order of arrival.
    fn waiting(&self, session: SessionId) -> BoxFuture<'_, Result<Vec<WaitingMessage>, StoreError>>;

    /// Empties the inbox and returns how many messages it held.
    fn drop_waiting(&self, session: SessionId) -> BoxFuture<'_, Result<usize, StoreError>>;
}

/// Commands for sessions that another process may own, to control a live run from outside. They overtake the inbox.
///
/// The protocol: the sender stores a command, addressed by lease epoch to the session's holder at that moment. The
/// owner polls `commands`, takes one (of all that try, one succeeds), executes it, and stores the outcome. The sender
/// reads the outcome from `command_state`, and finally withdraws the command. Only the addressed owner takes it, and
/// nobody takes it after it expired; so no command reaches a run that its sender did not mean.
pub trait ControlLane {
    /// Stores a command for the session's holder; nothing if nobody holds it. Sending an id again changes nothing.
    fn send_command(&self, session: SessionId, command: SentCommand) -> BoxFuture<'_, Result<Addressee, StoreError>>;

    /// The commands that nobody has taken and that have not expired by `now`, in order of arrival, for any owner. Cheap
    /// if nothing was written since the last call.
    fn commands(&self, now: Timestamp) -> BoxFuture<'_, Result<Vec<AddressedCommand>, StoreError>>;

    /// Takes a command in order to execute it.
    fn take_command<'a>(&'a self, id: &'a CommandId) -> BoxFuture<'a, Result<TakenCommand, StoreError>>;

    /// Records the outcome of a command that was taken. The first outcome counts.
    fn settle_command<'a>(
        &'a self,
        id: &'a CommandId,
        outcome: ControlOutcome,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// The state of a command.
    fn command_state<'a>(&'a self, id: &'a CommandId) -> BoxFuture<'a, Result<CommandState, StoreError>>;

    /// Removes a command, unless its owner is executing it, and returns its state before that.
    fn withdraw_command<'a>(&'a self, id: &'a CommandId) -> BoxFuture<'a, Result<CommandState, StoreError>>;
}

/// Blobs by hash.
pub trait Blobs {
    /// The blob with this hash, if it is stored here.
    fn blob(&self, hash: Hash) -> BoxFuture<'_, Result<Option<Arc<[u8]>>, StoreError>>;
}

/// What users allowed for good. It says nothing about the operator's own settings, which stand in files.
pub trait UserRules {
    /// Keeps a rule. A rule that the user has in this folder already stays as it is.
    fn keep_rule(&self, allowed: AllowedRule) -> BoxFuture<'_, Result<KeepOutcome, StoreError>>;

    /// The rules of a user in all folders, the oldest first.
    fn rules_of<'a>(&'a self, user: &'a str) -> BoxFuture<'a, Result<Vec<KeptRule>, StoreError>>;

    /// Removes a rule of a user.
    fn forget_rule<'a>(&'a self, user: &'a str, id: UserRuleId) -> BoxFuture<'a, Result<ForgetOutcome, StoreError>>;
}

/// A complete store.
pub trait Store: SessionLog + Ownership + Inbox + ControlLane + Blobs + UserRules + Send + Sync {}

impl<T: SessionLog + Ownership + Inbox + ControlLane + Blobs + UserRules + Send + Sync + ?Sized> Store for T {}
