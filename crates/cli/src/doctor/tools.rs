//! Checks whether commands can be run, by running one under the guard process (T7).

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use serde_json::json;
use uuid::Uuid;
use windlass::GUARD_ARGUMENT;
use windlass_tools::{CallContext, Commands, GuardProgram, Tool, Workspace, builtins};
use windlass_vocab::{OutcomeKind, SessionId};

use super::check::Check;

const WORD: &str = "windlass-doctor";

/// Runs a command in `workspace`; the guard's lock file is in `locks`.
pub(crate) async fn check(workspace: &Path, locks: &Path) -> Check {
    let begun = Instant::now();
    match run(workspace, locks).await {
        Ok(()) => {
            Check::ok("tools", format!("a command ran under the guard process ({} ms)", begun.elapsed().as_millis()))
        }
        Err(why) => Check::fail("tools", format!("no command can be run: {why}"))
            .advise("check that sh is installed, and that the workspace and the data folder can be used"),
    }
}

async fn run(folder: &Path, locks: &Path) -> Result<(), String> {
    let workspace = Workspace::open(folder).map_err(|error| error.to_string())?;
    let program = std::env::current_exe().map_err(|error| format!("this program is not found again: {error}"))?;
    let guard = GuardProgram { program, args: vec![GUARD_ARGUMENT.to_owned()] };
    let tools = builtins(Arc::new(workspace), Commands::new(Some(guard), locks.to_owned()));
    let is_it = |tool: &Arc<dyn Tool>| tool.spec().wire_name == "run_command";
    let tool = tools.into_iter().find(is_it).ok_or("run_command is not built in")?;
    let context = CallContext::detached(SessionId(Uuid::now_v7()));
    let outcome = tool.run(context, json!({"command": format!("echo {WORD}"), "timeout_seconds": 10})).await;
    match outcome.kind {
        OutcomeKind::Ok if outcome.text.contains(WORD) => Ok(()),
        _ => Err(outcome.text),
    }
}
