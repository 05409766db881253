//! The agent loop, as three pure functions.
//!
//! ```text
//! decide(&State, Input{at, fact}) -> Vec<Record>   what an input means
//! apply(&mut State, &Record)                       the fold; the only writer of State
//! outstanding(&State) -> Vec<Effect>               what is now owed to the outside
//! ```
//!
//! Data flows one way: input → decide → batch of records → journal → apply → outstanding → effects → input. The first
//! record of a batch is the input's own fact; the others are its consequences. The policy of an open run is part of its
//! state, because `RunStarted` holds it.
//!
//! Resuming needs no special code: fold the journal, then compute what is outstanding. The crate uses no clock, no
//! randomness and no environment; time comes with the input and ids derive from position.
//!
//! ```
//! use windlass_machine::{Effect, Fact, Input, State, apply, decide, outstanding};
//! use windlass_vocab::{Timestamp, LeaseTaken, SessionId, SessionOpened};
//!
//! let mut state = State::new("01890000-0000-7000-8000-000000000000".parse::<SessionId>()?);
//! let opened = SessionOpened { owner: "me".into(), key: "k".into(), workspace: None, parent: None, version: "".into(), forked_from: vec![] };
//! let taken = LeaseTaken { epoch: 1, holder: "here:1".into() };
//! for record in decide(&state, Input { at: Timestamp(0), fact: Fact::Opened(opened, taken) }) {
//!     apply(&mut state, &record);
//! }
//! assert_eq!(outstanding(&state), vec![Effect::Receive]);
//! # Ok::<(), windlass_vocab::ParseIdError>(())
//! ```

#![deny(missing_docs)]

mod attempts;
mod blank;
mod breach;
mod budget;
mod cache_watch;
mod call;
mod calls;
mod causing_fact;
mod child_run;
mod compacting;
mod context;
mod control;
mod counting;
mod cut_input;
mod dialect;
mod draft;
mod effect;
mod elicit;
mod evict;
mod fact;
mod file_names;
mod fork;
mod found_window;
mod guard;
mod import;
mod judge;
mod ledger;
mod loop_fold;
mod machine;
mod missing_calls;
mod mistakes;
mod notes;
mod output;
mod overview;
mod plain_summary;
mod plan;
mod plan_texts;
mod planning;
mod presets;
mod prune;
mod purse;
mod reads;
mod repeated_read;
mod repeated_script;
mod replay;
mod retry;
mod role_reply;
mod routing;
mod run_offer;
mod script_result;
mod scripts_run;
mod settle;
mod snapshot_state;
mod starting;
mod state;
mod step;
mod stop;
mod text_reply;
mod texts;
mod title;
mod transcript;
mod unasked_files;
mod undo;
mod undo_plan;
mod windows;
mod wording;

pub use cache_watch::CacheWatch;
pub use causing_fact::causing_fact;
pub use child_run::{child_policy, child_report, report_without_child};
pub use context::legal;
pub use control::{
    AskedBy, Call, CallApproval, CallState, LoopState, PausedCall, Phase, PlanProgress, Run, RunningStep,
};
pub use counting::{ContextMeter, passage_tokens, prompt_tokens};
pub use cut_input::least_tokens;
pub use dialect::TextModels;
pub use effect::{AttemptKey, Effect, EffectKey, outstanding};
pub use fact::{CallResult, Fact, Input, OpenApprovals, RunSettings, VerifiedCall};
pub use file_names::names_file;
pub use found_window::{FoundWindow, FoundWindows};
pub use judge::{ChangeStage, FileChangeKind, FileNeed, NameFault, RequestProgress, is_by_product};
pub use ledger::{FileEffect, KnownChanges, Ledger, files_before};
pub use machine::{decide, decide_for};
pub use notes::WorkNotes;
pub use output::read_output;
pub use plan::{ListedFiles, PlannedStep, plan_steps};
pub use plan_texts::{StepMessage, plan_request, step_message, synthesis_request};
pub use presets::{PRESETS, preset};
pub use purse::{SharedRoom, shared_room};
pub use replay::{Difference, ReplayOutcome, decide_again, replay};
pub use routing::intent_request;
pub use snapshot_state::SnapshotState;
pub use state::{DecidedState, State, apply, apply_decided};
pub use step::{StepReport, question_of_child};
pub use texts::SUMMARY_REQUEST;
pub use title::title_request;
pub use undo::CheckedUndo;
pub use undo_plan::{Conflict, Force, Obstacle, UndoPlan};
