//! Tools: their interface, which are offered, whether they may run, and the outcome of a call.
//!
//! The protocol: a [`Registry`] is filled once; a run takes an [`Offer`] of it, an immutable
//! snapshot. For each call of a reply the offer `prepare`s it (name resolved, arguments parsed and
//! validated, permission looked up) into a `PreparedCall` for the machine; when the machine says so
//! the offer `run`s it. A tool never fails the run: every result or error is an `Outcome` (T5).
//!
//! ```
//! use windlass_tools::{Permissions, Registry, ending_tools};
//! use windlass_vocab::{ReplyCall, ToolSource, Verdict};
//!
//! let mut registry = Registry::new();
//! for tool in ending_tools() {
//!     registry.add(tool)?;
//! }
//! let offer = registry.offer(&[ToolSource::Ending].into_iter().collect());
//! let call = ReplyCall {
//!     name: "converse".into(),
//!     arguments: r#"{"message": "Good morning."}"#.into(),
//!     ..ReplyCall::default()
//! };
//! let prepared = offer.prepare(&call, &Permissions::default(), &[]);
//! assert_eq!(prepared.verdict, Verdict::Allow);
//! # Ok::<(), windlass_tools::RegistryError>(())
//! ```

#![deny(missing_docs)]
// Rules about commands and pages are parsed in every build, so that they mean the same in each.
#![cfg_attr(not(all(feature = "commands", feature = "fetch")), allow(dead_code, unused_imports, reason = "see above"))]

mod about;
mod about_files;
mod access;
#[cfg_attr(not(feature = "fetch"), path = "no_address.rs")]
mod address;
mod alias;
mod argument_keys;
mod arguments;
mod ask_policy;
mod attach;
mod builtin;
mod call_permission;
mod certain_failure;
#[cfg(feature = "commands")]
mod closed_paths;
mod coerce;
mod command_line;
mod command_rules;
mod cut;
pub mod dialect;
pub mod diff;
mod file_accesses;
mod file_beginning;
mod file_rules;
mod find_tools;
mod flat_path;
mod git_directory;
#[cfg(feature = "commands")]
pub mod guard;
#[cfg(feature = "commands")]
mod guard_program;
mod mode;
mod names;
mod nearest;
mod new_folders;
mod no_follow;
mod offer;
mod other_names;
mod output;
mod path_glob;
mod path_pattern;
#[cfg(feature = "pdf")]
mod pdf;
mod permission;
mod pinned;
mod place;
mod prefilter;
mod programs;
mod protected;
mod protected_list;
mod quoted;
mod real_path;
mod refusal;
mod registry;
mod relevance;
mod repair;
mod rule;
mod ruling;
mod running_commands;
#[cfg(feature = "commands")]
mod sandbox;
#[cfg(feature = "commands")]
mod sandbox_untried;
mod sandbox_use;
mod schema_check;
mod secret_env;
mod secrets;
mod selection;
mod servers;
mod shorten;
mod skill;
mod suspects;
mod text_pattern;
mod tool;
mod tracked;
mod unasked_change;
mod uncertain_command;
mod unconfined_script;
mod undo;
mod unusable_path;
mod whole_file;
mod word;
mod workspace;

pub use about::About;
pub use access::AccessKind;
pub use address::AddressPattern;
#[cfg(feature = "fetch")]
pub use address::{HostPattern, ParseHostError};
pub use ask_policy::AskPolicy;
pub use attach::image::{LARGEST_IMAGE, image, image_in_base64};
pub use attach::{AttachError, PdfProgram, attached_file, has_image_ending};
pub use builtin::{
    CHANGING_TOOLS, ContentStamp, RECALL, RUN_COMMAND, TOOL_NAMES, WalkExtent, end_of_exit_line, ending_tools,
    file_tools, near_paths, read_skill, readable_files, reads_unasked, sandbox_notes,
};
#[cfg(feature = "commands")]
pub use builtin::{Commands, builtins};
#[cfg(feature = "fetch")]
pub use builtin::{FetchSettings, fetch_url};
pub use call_permission::CallPermission;
pub use cut::{CutInfo, cut, cut_text};
pub use file_beginning::{FileBeginning, FileBeginningError};
pub use file_rules::{CheckedPaths, FileRules};
#[cfg(feature = "commands")]
pub use guard_program::GuardProgram;
pub use mode::Mode;
pub use names::{is_of_server, wire_name};
pub use offer::Offer;
pub use output::OutputSchema;
pub use path_pattern::PathFault;
#[cfg(feature = "pdf")]
pub use pdf::child::read_pdf_from_stdin;
pub use permission::Permissions;
pub use prefilter::Relevance;
pub use protected::Protected;
pub use quoted::{LEAST_QUOTED, quoted};
pub use refusal::{CertainFailure, FailureSource};
pub use registry::{Registry, RegistryError};
pub use relevance::{RankedTool, RequestWordCounts, ToolIndex};
pub use rule::{NetworkTarget, ParseRuleError, Rule};
pub use ruling::Ruling;
#[cfg(feature = "commands")]
pub use sandbox::Sandbox;
#[cfg(feature = "commands")]
pub use sandbox_untried::SandboxUntried;
pub use secret_env::{is_ordinary, is_secret_name, looks_like_key, passwords_in};
pub use secrets::{SHORTEST_SECRET, Secrets, StreamScrubber, contains_placeholder};
pub use selection::{CORE, RecallOffer, Selection};
pub use servers::{ServerStage, ToolServers, wait_for, with_wait_notice};
pub use skill::{Skill, SkillOwner};
pub use tool::{
    Ask, BoxFuture, CallContext, EarlierConversation, FoundText, SpilledResult, SpilledResults, Tool, Verification,
    WorkspaceUse, nobody_to_ask,
};
pub use unasked_change::ChangedFiles;
pub use undo::{Checkpoint, Checkpoints, FileSnapshot, PlannedChange, SnapshotBounds, UnkeptFiles};
pub use whole_file::{ReadableBy, write_whole};
pub use windlass_vocab::shown_path;
pub use workspace::{Workspace, WorkspaceError};
