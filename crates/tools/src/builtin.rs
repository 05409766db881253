//! The tools that are built in, each a file with its description beside it (T10).

#[cfg(feature = "commands")]
mod command_output;
#[cfg(feature = "commands")]
mod command_sandbox;
mod edit_file;
mod ending;
#[cfg(feature = "fetch")]
mod fetch_url;
mod file_kind;
mod list_directory;
mod move_file;
mod read_file;
#[cfg(feature = "commands")]
mod run_command;
mod search_files;
mod shown;
mod todo;
pub(crate) mod walk;
mod write_file;

use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;
use windlass_vocab::{EffectClass, Json, Outcome, OutcomeKind, ToolName, ToolSpec};

#[cfg(feature = "commands")]
pub use command_sandbox::sandbox_notes;
pub use ending::ending_tools;
#[cfg(feature = "fetch")]
pub use fetch_url::{Fetching, fetch_url};
#[cfg(feature = "commands")]
pub use run_command::{Commands, GuardProgram};

use crate::refusal::Refusal;
use crate::{BoxFuture, Tool, Workspace, contains_placeholder};

/// The names of all tools that are part of the program, for whoever wants to know whether a name is
/// one of them.
pub const TOOL_NAMES: &[&str] = &[
    "ask_question",
    "converse",
    "edit_file",
    "fetch_url",
    "list_directory",
    "move_file",
    "read_file",
    "run_command",
    "search_files",
    "task_completion",
    "todo",
    "wait_for_servers",
    "write_file",
];

/// How long a file that is being written is waited for after a stop, rather than left to finish
/// unseen.
const WRITE_GRACE: Duration = Duration::from_secs(2);

/// The tools that work with the files of `workspace`, and the plan.
#[must_use]
pub fn file_tools(workspace: Arc<Workspace>) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(list_directory::ListDirectory::new(Arc::clone(&workspace))),
        Arc::new(read_file::ReadFile::new(Arc::clone(&workspace))),
        Arc::new(write_file::WriteFile::new(Arc::clone(&workspace))),
        Arc::new(edit_file::EditFile::new(Arc::clone(&workspace))),
        Arc::new(move_file::MoveFile::new(Arc::clone(&workspace))),
        Arc::new(search_files::SearchFiles::new(workspace)),
        Arc::new(todo::Todo::new()),
    ]
}

/// The same, and the tool that runs commands there.
#[cfg(feature = "commands")]
#[must_use]
pub fn builtins(workspace: Arc<Workspace>, commands: Commands) -> Vec<Arc<dyn Tool>> {
    let mut tools = file_tools(Arc::clone(&workspace));
    tools.push(Arc::new(run_command::RunCommand::new(workspace, commands)));
    tools
}

fn spec(name: &str, description: &str, effect: EffectClass, schema: &Value) -> ToolSpec {
    ToolSpec {
        name: ToolName(format!("local.{name}")),
        wire_name: name.to_owned(),
        description: description.trim().to_owned(),
        schema: Json::from(schema),
        effect,
        ending: None,
        repeatable: false,
        reads_files: false,
        tags: std::collections::BTreeSet::new(),
    }
}

/// The spec of a tool that does nothing but show what is in the workspace.
fn file_read(name: &str, description: &str, schema: &Value) -> ToolSpec {
    ToolSpec { reads_files: true, ..spec(name, description, EffectClass::ReadOnly, schema) }
}

/// The arguments as the tool's own type. The schema has been checked; this is for what it can't say.
fn read<T: DeserializeOwned>(arguments: Value) -> Result<T, String> {
    serde_json::from_value(arguments).map_err(|error| format!("The arguments don't fit: {error}."))
}

/// Runs what waits for the disk where it holds up nobody.
fn on_disk(work: impl FnOnce() -> Result<String, Refusal> + Send + 'static) -> BoxFuture<'static, Outcome> {
    Box::pin(async move { disk(work).await.map_or_else(Outcome::from, Outcome::ok) })
}

async fn disk<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(answer) => answer,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // Only a runtime that is shutting down drops blocking work; nobody waits for an answer then.
            Err(_) => std::future::pending().await,
        },
    }
}

/// An answer that is known at once.
fn at_once(outcome: Outcome) -> BoxFuture<'static, Outcome> {
    Box::pin(std::future::ready(outcome))
}

fn invalid(problem: String) -> BoxFuture<'static, Outcome> {
    at_once(Outcome::new(OutcomeKind::InvalidArguments, problem))
}

/// Refuses to write a placeholder where a secret was meant (X1).
fn refuse_placeholder(text: &str) -> Result<(), String> {
    if !contains_placeholder(text) {
        return Ok(());
    }
    Err("The text has a placeholder `⟦secret:…⟧` in it. The secret behind it is not shown to you and would not be \
         written. Leave it out: change only the lines around it, or let a program read the secret where it is kept."
        .into())
}
