//! The stores of session journals.
//!
//! The protocol: `claim` a session to get its lease, `read` the session and its `head` → [`Writer::seal`]
//! a batch of records against that head → `append` it. All records of one input are one batch, one
//! transaction (J2). [`AppendError::Conflict`] means that another batch has the same sequence number: another
//! writer took the lease (J5), and this one must drop its state in memory and read again.
//! [`AppendError::Unknown`] means that the outcome is unknown: append the same batch again. The store returns
//! `Ok` for a batch it already has.
//!
//! Everything is a trait, so that SQLite now and PostgreSQL later is a configuration; one
//! conformance suite (`conformance`) holds every implementation to the same rules.
//!
//! ```
//! use windlass_store::{Batch, Entry, MemoryStore, SessionLog, Writer};
//! use windlass_vocab::{Timestamp, SessionId, SessionOpened};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let store = MemoryStore::new();
//! let session: SessionId = "0198f3a0-0000-7000-8000-000000000001".parse().unwrap();
//! let mut writer = Writer::new(session, store.head(session).await?, 7);
//! let opened = SessionOpened {
//!     owner: "me".into(),
//!     key: "notes".into(),
//!     workspace: None,
//!     parent: None,
//!     version: "0.1.0".into(),
//!     forked_from: vec![],
//! };
//! let batch = Batch { at: Timestamp(0), entries: vec![Entry::new(opened)], ..Batch::default() };
//! store.append(writer.seal(batch)?).await?;
//! assert_eq!(store.find("me", "notes").await?, Some(session));
//! # Ok::<(), windlass_store::StoreError>(())
//! # }).unwrap();
//! ```

#![deny(missing_docs)]

mod audit;
mod backwards;
mod batch;
mod charges;
mod cleanup;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod control;
mod error;
mod export;
mod fork;
mod import;
mod lease;
mod line;
mod listing;
mod memory;
mod memory_rules;
pub mod projections;
mod remove_family;
mod seal;
mod settle;
mod shard;
mod spending_counter;
#[cfg(feature = "sqlite")]
mod sqlite;
mod traits;
mod user_rules;
mod verify;

pub use audit::{append_audit, audit_file, read_audit};
pub use backwards::ReverseRecords;
pub use batch::{Batch, Entry, Head, SealedBatch, StoredBatch, WaitingMessage};
pub use charges::{Charge, Charges, charges};
pub use cleanup::{SessionRetention, sessions_to_archive, sessions_to_delete};
pub use control::{AddressedCommand, Addressee, COMMAND_KEPT_MS, CommandState, SentCommand, TakenCommand};
pub use error::{AppendError, Loss, StoreError};
pub use export::{ExportError, export};
pub use fork::{Fork, ForkError, ForkTarget};
pub use import::{Import, ImportError};
pub use lease::{Lease, LeaseHolder, SessionHolder};
pub use line::{BODY_LIMIT, hash_of};
pub use listing::{ArchivedFilter, ChildFilter, ParseCursorError, SessionCursor, SessionList, SessionQuery};
pub use memory::MemoryStore;
pub use projections::{SessionRow, SessionStatus, repairs};
pub use remove_family::{RemovedSession, remove_family};
pub use seal::Writer;
pub use settle::{TRIES, append_again, restore_for_certain};
pub use shard::shard;
pub use spending_counter::{CountingRun, SpendingCounter};
#[cfg(all(debug_assertions, feature = "sqlite"))]
pub use sqlite::{AppendPoint, OnAppend};
#[cfg(feature = "sqlite")]
pub use sqlite::{
    BackupError, BackupReport, Durability, IndexedFile, IndexedPassage, IndexedStamp, PassageIndex, PassagePlace,
    SearchWords, SqliteOptions, SqliteStore,
};
pub use traits::{Blobs, BoxFuture, ControlLane, Inbox, Ownership, PutOutcome, SessionLog, Store, UserRules};
pub use user_rules::{AllowedRule, ForgetOutcome, KeepOutcome, KeptRule, MOST_USER_RULES, UserRuleId};
pub use verify::{Break, Inconsistency, Prefix, VerifiedJournal, VerifyError, verify, whole_prefix};
