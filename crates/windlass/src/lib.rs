//! Windlass runs agents and loses nothing: every step is written down before the next, so a crash,
//! a rate limit or a tired model costs no work.
//!
//! The protocol: a [`Builder`] gathers a model, a workspace and rules into an [`Agent`]; the agent
//! opens sessions; a session takes messages and answers with how the run ended. Asking the same
//! session again with the same message id after a crash goes on where it was.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let agent = windlass::Agent::builder()
//!     .base_url("http://127.0.0.1:11434/v1")
//!     .model("qwen3")
//!     .workspace(".")
//!     .data_dir("windlass-data")
//!     .build()?;
//! let ended = agent.run("notes", "Summarise README.md in three lines.").await?;
//! println!("{}", ended.answer);
//! # Ok(())
//! # }
//! ```
//!
//! A program whose agent may run commands calls [`init`] first thing in `main`, so that it can serve
//! as its own guard process (commands and all their children die with the program that started them).

#![deny(missing_docs)]

mod agent;
mod answer;
mod builder;
mod declaration;
mod function;
mod output;
mod pursuit;
mod running;
mod schema;
mod typed;

pub use agent::{Agent, RunError};
pub use answer::{Answer, Data, ToolError};
pub use builder::{BuildError, Builder};
pub use declaration::Declaration;
pub use function::Function;
pub use output::{Output, OutputError};
pub use pursuit::{Awaited, end_awaited};
pub use running::Running;
pub use typed::{BoundTool, IntoTool, ToolArgs, Typed, TypedTool, typed};
/// Declares a tool by the type of its arguments; see the trait of the same name.
pub use windlass_derive::ToolArgs;

pub use schemars;
pub use windlass_machine as machine;
pub use windlass_provider as provider;
pub use windlass_runtime as runtime;
pub use windlass_store as store;
pub use windlass_tools as tools;
pub use windlass_vocab as vocab;

pub use windlass_provider::openai::ResponseFormat;
pub use windlass_runtime::{Sent, Session, Standing, Subscription};
pub use windlass_tools::{CallContext, Tool, Verification};
pub use windlass_vocab::{EffectClass, EndReason, Event, Policy, PolicyPatch, Record, RunEnded};

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// The first argument that makes this program a guard process.
pub const GUARD_ARGUMENT: &str = "__guard";

static INITIALISED: AtomicBool = AtomicBool::new(false);

/// Call this first thing in `main`, and return the code if there is one: the program was started as a
/// guard process and its work is done.
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     if let Some(code) = windlass::init() {
///         return code;
///     }
///     // the program
///     std::process::ExitCode::SUCCESS
/// }
/// ```
#[must_use]
pub fn init() -> Option<ExitCode> {
    if std::env::args_os().nth(1).is_some_and(|argument| argument == GUARD_ARGUMENT) {
        return Some(windlass_tools::guard::run());
    }
    INITIALISED.store(true, Ordering::Relaxed);
    None
}

/// This program as its own guard, if `init` was called.
fn own_guard() -> Option<windlass_tools::GuardProgram> {
    let program = INITIALISED.load(Ordering::Relaxed).then(std::env::current_exe)?.ok()?;
    Some(windlass_tools::GuardProgram { program, args: vec![GUARD_ARGUMENT.to_owned()] })
}
