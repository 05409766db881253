//! What a store can do, as object-safe traits.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use windlass_vocab::{CommandId, ControlOutcome, Envelope, Hash, SessionId, Timestamp};

use crate::control::{AddressedCommand, Addressee, CommandState, SentCommand, TakenCommand};
use crate::{
    AppendError, Head, Inconsistency, Lease, Loss, SealedBatch, SessionRow, StoreError, StoredBatch, WaitingMessage,
};

/// A boxed future, so that the traits can be objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The journals: append-only, one per session.
pub trait SessionLog {
    /// Stores a batch if it follows the session's head, whole or not at all. `Ok` also when this very
    /// batch is stored already. A caller that stops waiting does not stop the write. A conflict loses the lease that
    /// this handle has on the session.
    fn append(&self, sealed: SealedBatch) -> BoxFuture<'_, Result<(), AppendError>>;

    /// Stores the whole journal of one session that is not here yet, all of it or nothing: one that comes
    /// from elsewhere, or one that begins. The key is looked at as it stands after the last batch.
    /// Where the outcome is not known, a session that is there (`Exists`) with this very head was stored.
    fn restore(&self, batches: Vec<SealedBatch>) -> BoxFuture<'_, Result<(), AppendError>>;

    /// The records numbered above `after_seq`; none when there is no such session.
    fn read(&self, session: SessionId, after_seq: u64) -> BoxFuture<'_, Result<Vec<Envelope>, StoreError>>;

    /// The records of the last batches that end before the record `before_seq`, `most` batches at the most,
    /// in order; none when there is no such batch.
    fn read_before(
        &self,
        session: SessionId,
        before_seq: u64,
        most: u32,
    ) -> BoxFuture<'_, Result<Vec<Envelope>, StoreError>>;

    /// The end of the journal; the zero head when there is no such session.
    fn head(&self, session: SessionId) -> BoxFuture<'_, Result<Head, StoreError>>;

    /// The session an owner knows by this key.
    fn find<'a>(&'a self, owner: &'a str, key: &'a str) -> BoxFuture<'a, Result<Option<SessionId>, StoreError>>;

    /// What is known of one session.
    fn row(&self, session: SessionId) -> BoxFuture<'_, Result<Option<SessionRow>, StoreError>>;

    /// An owner's sessions, the one that changed last first.
    fn sessions<'a>(&'a self, owner: &'a str) -> BoxFuture<'a, Result<Vec<SessionRow>, StoreError>>;

    /// The batches as stored, in order; for `verify` and `export`.
    fn batches(&self, session: SessionId) -> BoxFuture<'_, Result<Vec<StoredBatch>, StoreError>>;

    /// What does not agree within the store, without trust in its indexes: batches that reading would not find, sessions
    /// that are not in the list. Reads everything there is; `verify` then follows the journal of one session.
    fn check(&self) -> BoxFuture<'_, Result<Vec<Inconsistency>, StoreError>>;

    /// What was stored and is not there any more, as far as the store can tell. While there is such a loss nothing is
    /// written: appends, claims and messages answer [`StoreError::Lost`].
    fn loss(&self) -> Option<Loss>;

    /// Goes on from what is there. Says what was lost; nothing where nothing was.
    fn accept_loss(&self) -> BoxFuture<'_, Result<Option<Loss>, StoreError>>;

    /// Removes a session, its waiting messages and the contents nobody else refers to. `Busy` while
    /// anybody, the caller included, holds its lease.
    fn remove(&self, session: SessionId) -> BoxFuture<'_, Result<(), StoreError>>;
}

/// Who may write.
pub trait Ownership {
    /// Takes the session for as long as the lease lives; `Busy` when somebody has it.
    fn claim(&self, session: SessionId) -> BoxFuture<'_, Result<Lease, StoreError>>;

    /// Whether somebody has the session, the caller included. To ask keeps nobody out, or only for as long as that takes.
    fn is_claimed(&self, session: SessionId) -> BoxFuture<'_, Result<bool, StoreError>>;
}

/// Whether a message was new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutOutcome {
    /// It waits now.
    Added,
    /// The session has had a message of this id, waiting or taken up (J6).
    AlreadyThere,
}

/// Messages not yet taken up.
pub trait Inbox {
    /// Lets a message wait, once per id.
    fn put(&self, session: SessionId, message: WaitingMessage) -> BoxFuture<'_, Result<PutOutcome, StoreError>>;

    /// The messages that wait, in the order they came.
    fn waiting(&self, session: SessionId) -> BoxFuture<'_, Result<Vec<WaitingMessage>, StoreError>>;

    /// Drops the messages that wait and says how many.
    fn drop_waiting(&self, session: SessionId) -> BoxFuture<'_, Result<usize, StoreError>>;
}

/// Commands for sessions that another process may own: the way to reach a live run from outside. They overtake the inbox.
///
/// The protocol: the sender leaves a command, which is addressed to whoever has the session at that moment, by the epoch
/// of their lease. The owner looks for `commands`, takes one (of all who try, one succeeds), does it, and says what became
/// of it. The sender reads that from `command_state`, and withdraws the command in the end. Nobody but the owner it was
/// addressed to takes it, and nobody after it has expired; so no command reaches a run its sender did not mean.
pub trait ControlLane {
    /// Leaves a command for whoever has the session. Where nobody has, nothing is left. The same id again changes
    /// nothing.
    fn send_command(&self, session: SessionId, command: SentCommand) -> BoxFuture<'_, Result<Addressee, StoreError>>;

    /// The commands that nobody has taken and that have not expired by `now`, in the order they came, whomever they are
    /// addressed to. Cheap where nothing was written since the last time.
    fn commands(&self, now: Timestamp) -> BoxFuture<'_, Result<Vec<AddressedCommand>, StoreError>>;

    /// Takes a command, to do it.
    fn take_command<'a>(&'a self, id: &'a CommandId) -> BoxFuture<'a, Result<TakenCommand, StoreError>>;

    /// Says what became of a command that was taken. The first word counts.
    fn settle_command<'a>(
        &'a self,
        id: &'a CommandId,
        outcome: ControlOutcome,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Where a command stands.
    fn command_state<'a>(&'a self, id: &'a CommandId) -> BoxFuture<'a, Result<CommandState, StoreError>>;

    /// Removes a command, unless its owner is at it, and says where it stood.
    fn withdraw_command<'a>(&'a self, id: &'a CommandId) -> BoxFuture<'a, Result<CommandState, StoreError>>;
}

/// Contents by hash.
pub trait Blobs {
    /// The content with this hash, if it is here.
    fn blob(&self, hash: Hash) -> BoxFuture<'_, Result<Option<Arc<[u8]>>, StoreError>>;
}

/// All of it.
pub trait Store: SessionLog + Ownership + Inbox + ControlLane + Blobs + Send + Sync {}

impl<T: SessionLog + Ownership + Inbox + ControlLane + Blobs + Send + Sync + ?Sized> Store for T {}
