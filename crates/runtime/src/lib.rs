//! The runtime: the only async part of Windlass.
//!
//! The protocol: a [`Hub`] holds what sessions share (store, models, tools, clock) and the sessions that are live in
//! this process. `open` claims a session, folds its journal and returns a [`Session`], a handle to its one live driver;
//! opening it again joins that driver. The driver repeats: start effects that are outstanding and not running, abort
//! those that run and are no longer outstanding, wait for the first of {effect finished, command, timer}, decide,
//! append, apply, publish. A run that another process left unfinished is resumed as soon as its session is opened.
//!
//! Nothing is published and no effect starts before its records are stored.

#![deny(missing_docs)]

mod attaching;
mod attempt;
mod attempt_channel;
mod breaker;
mod call;
mod changed_texts;
mod child_slot;
mod claimed_journal;
mod clock;
mod closed;
mod closing;
mod commands;
mod constrained;
mod control;
mod cut_call;
mod draining;
mod driver;
mod earlier;
mod edit_live;
mod edit_session;
mod elicit;
mod estimated_usage;
mod feed;
mod file_text_call;
mod files;
mod first_records;
mod follow;
mod fork;
mod hub;
mod import;
mod interrupted_scripts;
mod key_files;
mod known_names;
mod live;
mod membership;
mod model_calls;
mod offering;
mod opening;
mod output;
mod overview;
mod perform_control;
mod permission_check;
mod place;
mod plan_reply;
mod plan_steps;
mod planner_files;
mod prefix;
mod record_observer;
mod restore_files;
mod retrieval;
mod retrieve;
mod role_call;
mod run_offer;
mod running_effects;
mod script_guard;
mod script_run;
mod scrub;
mod send_control;
mod services;
mod session;
mod session_writer;
mod shared_limits;
mod small_offer;
mod snapshot;
mod spans;
mod spilled;
mod stop_abandoned;
mod stored_sessions;
mod streamed;
mod streaming;
mod subscription;
mod tail;
mod textual;
mod unasked_look;
mod undo;
mod undo_compaction;
mod undo_report;

pub use breaker::{Breakers, ModelHealth};
#[cfg(debug_assertions)]
pub use clock::ScaledClock;
pub use clock::{Clock, SystemClock};
pub use edit_session::edit_session;
pub use feed::{Interest, PublishedEvent};
pub use follow::Follow;
pub use fork::{SalvageError, SalvagedSession, fork, salvage};
pub use hub::Hub;
pub use import::{ImportOptions, ImportedSession, import};
pub use live::{LiveActivity, LiveSessions};
pub use opening::{OpenError, SessionChoice};
pub use output::{ExpectedOutput, OutputCheck};
pub use prefix::{InstructionFile, Instructions, ProjectInstructions};
pub use record_observer::RecordObserver;
pub use retrieval::{ContextSource, Passage, SourceError};
#[cfg(feature = "sqlite")]
pub use retrieval::{FileSource, IndexedFolder};
pub use services::{AgentSettings, Models, Services};

pub use closed::SessionClosed;
pub use send_control::{ControlDelivery, send_control};
pub use session::{CompactionUndo, FirstMessage, SendOutcome, SentMessage, Session, SessionActivity, StopOutcome};
pub use stop_abandoned::stop_abandoned;
pub use subscription::{EventOr, FollowedEvent, Subscription};
pub use undo::{UndoFiles, undo};
pub use undo_report::{UndoConflict, UndoError, UndoMode, UndoReport, UndoRequest};
pub use windlass_machine::OpenApprovals;
