//! Journals in SQLite: one file for many processes.
//!
//! The protocol: there is one writer at a time (`writer`). It takes all waiting jobs, waits in the queue of processes
//! (`queue`), and commits once (`commit`). SQLite's own lock prevents concurrent writes; the queue before it makes the
//! order fair. Readers (`readers`) have their own connections and never block a write. A session is claimed through an
//! OS lock (`claims`), which is released when its process dies and has no file name that could be removed.
//!
//! ```text
//! windlass.db   batches, session rows, inbox, commands, contents up to 8 MiB; its -wal and -shm are SQLite's
//! commits       how many commits the database has, to tell when it lost some
//! blobs/        contents above 8 MiB
//! locks/        a file for each session, locked by its owner (on Linux: a range of windlass.db)
//! ```

mod append;
mod backup;
mod blobs;
mod blocking_limit;
mod check;
mod claims;
mod commit;
mod control;
mod counter;
mod database_file;
mod db;
mod fault;
mod folder;
mod inbox;
mod job;
mod legacy;
mod list_page;
mod options;
mod passages;
mod presence;
mod private;
mod queue;
mod read_only;
mod readers;
mod remove;
mod rows;
mod schema;
#[cfg(test)]
mod several_tests;
mod tails;
#[cfg(test)]
#[cfg(debug_assertions)]
mod tests;
mod user_rules;
mod writer;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use windlass_vocab::{CommandId, ControlOutcome, Envelope, Hash, SessionId, Timestamp};

pub use self::backup::{BackupError, BackupReport};
use self::folder::DataFolder;
#[cfg(debug_assertions)]
pub use self::options::{AppendPoint, OnAppend};
pub use self::options::{Durability, SqliteOptions};
pub use self::passages::{IndexedFile, IndexedPassage, IndexedStamp, PassageIndex, PassagePlace, SearchWords};
use self::read_only::Source;
use self::readers::LogOnClose;
use crate::error::place;
use crate::{
    AddressedCommand, Addressee, AllowedRule, AppendError, Blobs, BoxFuture, CommandState, ControlLane, ForgetOutcome,
    Head, Inbox, Inconsistency, KeepOutcome, KeptRule, Lease, Loss, Ownership, PutOutcome, SealedBatch, SentCommand,
    SessionHolder, SessionList, SessionLog, SessionQuery, SessionRow, StoreError, StoredBatch, TakenCommand,
    UserRuleId, UserRules, WaitingMessage,
};

/// Journals in a data folder. Dropping it finishes all submitted writes and closes the file.
#[derive(Debug)]
pub struct SqliteStore {
    readers: readers::ReadConnections,
    access: FolderAccess,
    loss: Mutex<Option<Loss>>,
}

/// Whether a folder is open for writing or only for reading.
#[derive(Debug)]
enum FolderAccess {
    Write(claims::Claims, writer::WriterThread),
    Read(DataFolder),
}

impl FolderAccess {
    fn writer(&self) -> Result<&writer::WriterThread, StoreError> {
        match self {
            Self::Write(_, writer) => Ok(writer),
            Self::Read(folder) => Err(StoreError::ReadOnly { place: place(&folder.0) }),
        }
    }

    fn claims(&self) -> Result<&claims::Claims, StoreError> {
        match self {
            Self::Write(claims, _) => Ok(claims),
            Self::Read(folder) => Err(StoreError::ReadOnly { place: place(&folder.0) }),
        }
    }
}

impl SqliteStore {
    /// Opens the data folder `dir`, and creates it if it does not exist.
    pub fn open(dir: &Path, options: SqliteOptions) -> Result<Self, StoreError> {
        let folder = DataFolder(dir.to_owned());
        let opened = schema::open(&folder, options.durability)?;
        let owned = claims::OwnedCount::default();
        let loss = opened.counting.loss().cloned();
        let writer = writer::WriterThread::start(&folder, opened, options, owned.clone())?;
        let source = Source::Live(folder.database());
        Ok(Self {
            readers: readers::ReadConnections::new(&folder, source, log(loss.as_ref()), owned.clone()),
            access: FolderAccess::Write(claims::Claims::open(folder, owned)?, writer),
            loss: Mutex::new(loss),
        })
    }

    /// Opens a data folder that can't be written. All methods that write return [`StoreError::ReadOnly`]. Files that
    /// must be copied for this go into the folder `scratch`, and are removed when the store is dropped.
    pub fn open_read_only(dir: &Path, scratch: &Path) -> Result<Self, StoreError> {
        let folder = DataFolder(dir.to_owned());
        let (source, loss) = read_only::open(&folder, scratch)?;
        let readers = readers::ReadConnections::new(&folder, source, log(loss.as_ref()), claims::OwnedCount::default());
        Ok(Self { readers, access: FolderAccess::Read(folder), loss: Mutex::new(loss) })
    }

    fn known_loss(&self) -> MutexGuard<'_, Option<Loss>> {
        self.loss.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What to do with the write-ahead log on closing.
fn log(loss: Option<&Loss>) -> LogOnClose {
    if loss.is_some() { LogOnClose::Kept } else { LogOnClose::Moved }
}

impl SessionLog for SqliteStore {
    fn append(&self, sealed: SealedBatch) -> BoxFuture<'_, Result<(), AppendError>> {
        let session = sealed.session;
        Box::pin(async move {
            let appended = self.access.writer()?.submit(append::AppendBatch(sealed)).await;
            if appended == Err(AppendError::Conflict) {
                self.access.claims()?.lose(session);
            }
            appended
        })
    }

    fn restore(&self, batches: Vec<SealedBatch>) -> BoxFuture<'_, Result<(), AppendError>> {
        Box::pin(async move { self.access.writer()?.submit(append::RestoreJournal(batches)).await })
    }

    fn read(&self, session: SessionId, after_seq: u64) -> BoxFuture<'_, Result<Vec<Envelope>, StoreError>> {
        self.readers.with(move |reading| reading.records(session, after_seq))
    }

    fn read_some(
        &self,
        session: SessionId,
        after_seq: u64,
        most_bytes: usize,
    ) -> BoxFuture<'_, Result<Vec<Envelope>, StoreError>> {
        self.readers.with(move |reading| reading.some_records(session, after_seq, most_bytes))
    }

    fn read_before(
        &self,
        session: SessionId,
        before_seq: u64,
        most: u32,
    ) -> BoxFuture<'_, Result<Vec<Envelope>, StoreError>> {
        self.readers.with(move |reading| reading.records_before(session, before_seq, most))
    }

    fn last_records(&self, sessions: Vec<SessionId>) -> BoxFuture<'_, Result<Vec<u64>, StoreError>> {
        let last = move |reading: &readers::ReadSnapshot<'_>| -> Result<Vec<u64>, StoreError> {
            sessions.iter().map(|session| Ok(reading.head(*session)?.seq)).collect()
        };
        self.readers.with(last)
    }

    fn head(&self, session: SessionId) -> BoxFuture<'_, Result<Head, StoreError>> {
        self.readers.look_up(move |reading| reading.head(session))
    }

    fn find<'a>(&'a self, owner: &'a str, key: &'a str) -> BoxFuture<'a, Result<Option<SessionId>, StoreError>> {
        let (owner, key) = (owner.to_owned(), key.to_owned());
        self.readers.look_up(move |reading| reading.find(&owner, &key))
    }

    fn row(&self, session: SessionId) -> BoxFuture<'_, Result<Option<SessionRow>, StoreError>> {
        self.readers.look_up(move |reading| reading.row(session))
    }

    fn sessions<'a>(&'a self, owner: &'a str) -> BoxFuture<'a, Result<Vec<SessionRow>, StoreError>> {
        let owner = owner.to_owned();
        self.readers.with(move |reading| reading.rows(&owner))
    }

    fn list<'a>(&'a self, owner: &'a str, query: SessionQuery) -> BoxFuture<'a, Result<SessionList, StoreError>> {
        let owner = owner.to_owned();
        self.readers.with(move |reading| reading.list(&owner, &query))
    }

    fn session_count<'a>(&'a self, owner: &'a str) -> BoxFuture<'a, Result<u64, StoreError>> {
        let owner = owner.to_owned();
        self.readers.with(move |reading| reading.session_count(&owner))
    }

    fn batches(&self, session: SessionId) -> BoxFuture<'_, Result<Vec<StoredBatch>, StoreError>> {
        self.readers.with(move |reading| reading.batches(session))
    }

    fn check(&self) -> BoxFuture<'_, Result<Vec<Inconsistency>, StoreError>> {
        self.readers.with(|reading| reading.inconsistencies())
    }

    fn loss(&self) -> Option<Loss> {
        self.known_loss().clone()
    }

    fn accept_loss(&self) -> BoxFuture<'_, Result<Option<Loss>, StoreError>> {
        Box::pin(async move {
            let accepted = self.access.writer()?.accept_loss()?;
            *self.known_loss() = None;
            Ok(accepted)
        })
    }

    fn remove(&self, session: SessionId) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let lease = self.claim(session).await?;
            let removed = self.access.writer()?.submit(remove::RemoveSession(session)).await;
            drop(lease);
            Ok(removed.map(drop)?)
        })
    }
}

impl Ownership for SqliteStore {
    fn claim(&self, session: SessionId) -> BoxFuture<'_, Result<Lease, StoreError>> {
        Box::pin(async move {
            match self.loss() {
                Some(loss) => Err(StoreError::Lost(loss)),
                None => {
                    let claims = self.access.claims()?;
                    let hold = claims.claim(session)?;
                    // Nobody else writes now that this process holds the claim.
                    let head = self.readers.look_up(move |reading| reading.head(session)).await?;
                    Ok(claims.lease(hold, head))
                }
            }
        })
    }

    fn is_claimed(&self, session: SessionId) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(async move { Ok(self.holder(session).await?.is_some()) })
    }

    fn holder(&self, session: SessionId) -> BoxFuture<'_, Result<Option<SessionHolder>, StoreError>> {
        Box::pin(async move {
            match &self.access {
                FolderAccess::Write(claims, _) => claims.holder(session),
                FolderAccess::Read(folder) => claims::holder(folder, session),
            }
        })
    }
}

impl Inbox for SqliteStore {
    fn put(&self, session: SessionId, message: WaitingMessage) -> BoxFuture<'_, Result<PutOutcome, StoreError>> {
        Box::pin(async move { Ok(self.access.writer()?.submit(inbox::PutMessage(session, message)).await?) })
    }

    fn waiting(&self, session: SessionId) -> BoxFuture<'_, Result<Vec<WaitingMessage>, StoreError>> {
        self.readers.look_up(move |reading| reading.waiting(session))
    }

    fn drop_waiting(&self, session: SessionId) -> BoxFuture<'_, Result<usize, StoreError>> {
        Box::pin(async move { Ok(self.access.writer()?.submit(inbox::DropWaiting(session)).await?) })
    }
}

impl ControlLane for SqliteStore {
    fn send_command(&self, session: SessionId, command: SentCommand) -> BoxFuture<'_, Result<Addressee, StoreError>> {
        Box::pin(async move {
            // If the owner dies after this check, the epoch keeps a later owner from taking the command.
            if !self.is_claimed(session).await? {
                return Ok(Addressee::Nobody);
            }
            Ok(self.access.writer()?.submit(control::SendCommand(session, command)).await?)
        })
    }

    fn commands(&self, now: Timestamp) -> BoxFuture<'_, Result<Vec<AddressedCommand>, StoreError>> {
        self.readers.look_up(move |reading| reading.commands(now))
    }

    fn take_command<'a>(&'a self, id: &'a CommandId) -> BoxFuture<'a, Result<TakenCommand, StoreError>> {
        Box::pin(async move { Ok(self.access.writer()?.submit(control::TakeCommand(id.clone())).await?) })
    }

    fn settle_command<'a>(
        &'a self,
        id: &'a CommandId,
        outcome: ControlOutcome,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { Ok(self.access.writer()?.submit(control::SettleCommand(id.clone(), outcome)).await?) })
    }

    fn command_state<'a>(&'a self, id: &'a CommandId) -> BoxFuture<'a, Result<CommandState, StoreError>> {
        let id = id.clone();
        self.readers.look_up(move |reading| reading.command_state(&id))
    }

    fn withdraw_command<'a>(&'a self, id: &'a CommandId) -> BoxFuture<'a, Result<CommandState, StoreError>> {
        Box::pin(async move { Ok(self.access.writer()?.submit(control::WithdrawCommand(id.clone())).await?) })
    }
}

impl Blobs for SqliteStore {
    fn blob(&self, hash: Hash) -> BoxFuture<'_, Result<Option<Arc<[u8]>>, StoreError>> {
        self.readers.with(move |reading| reading.blob(hash))
    }
}

impl UserRules for SqliteStore {
    fn keep_rule(&self, allowed: AllowedRule) -> BoxFuture<'_, Result<KeepOutcome, StoreError>> {
        Box::pin(async move { Ok(self.access.writer()?.submit(user_rules::KeepRule(allowed)).await?) })
    }

    fn rules_of<'a>(&'a self, user: &'a str) -> BoxFuture<'a, Result<Vec<KeptRule>, StoreError>> {
        let user = user.to_owned();
        self.readers.look_up(move |reading| reading.rules_of(&user))
    }

    fn forget_rule<'a>(&'a self, user: &'a str, id: UserRuleId) -> BoxFuture<'a, Result<ForgetOutcome, StoreError>> {
        Box::pin(async move { Ok(self.access.writer()?.submit(user_rules::ForgetRule(user.to_owned(), id)).await?) })
    }
}
