//! The time that the sandbox adds to a command: `true` run by the tool, under the guard, with and without the sandbox.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use windlass::GUARD_ARGUMENT;
use windlass_sandbox::Surroundings;
use windlass_tools::{CallContext, Commands, GuardProgram, Sandbox, Tool, Workspace, builtins};
use windlass_vocab::{CommandExit, SessionId};

use super::setup::Setup;
use crate::pace::compare;
use crate::table::Measurement;

/// An arbitrary session id.
const SESSION: &str = "00000000-0000-7000-8000-000000000000";

pub(super) fn measure(setup: &Setup) -> Result<Vec<Measurement>> {
    let room = tempfile::tempdir_in(&setup.programs.folder)?;
    let workspace = room.path().join("workspace");
    std::fs::create_dir(&workspace)?;
    let guard = GuardProgram { program: setup.programs.windlass.clone(), args: vec![GUARD_ARGUMENT.to_owned()] };
    let surroundings = Surroundings { workspace: workspace.canonicalize()?, ..Surroundings::default() };
    let sandbox = Sandbox::new(surroundings, Arc::default());
    let means = sandbox.support(&guard).description();
    let commands = Commands::new(Some(guard), room.path().join("guards"));
    let plain = tool(&workspace, commands.clone())?;
    let held = tool(&workspace, Commands { sandbox: Some(sandbox), ..commands })?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let compared = runtime.block_on(compare(
        setup.rounds(200),
        async |_| started(plain.as_ref()).await,
        async |_| started(held.as_ref()).await,
    ))?;
    let more = compared.ours.saturating_sub(compared.floor);
    let figure = format!("starting a command in the sandbox ({means}), more than without");
    Ok(vec![
        Measurement::at_most(&figure, 3.0, more.as_secs_f64() * 1e3, "ms"),
        Measurement::beside("the whole of it", &compared),
    ])
}

fn tool(workspace: &Path, commands: Commands) -> Result<Arc<dyn Tool>> {
    let tools = builtins(Arc::new(Workspace::open(workspace)?), commands);
    tools.into_iter().find(|tool| tool.spec().wire_name == "run_command").context("run_command is not built in")
}

async fn started(tool: &dyn Tool) -> Result<()> {
    let context = CallContext::detached(SESSION.parse::<SessionId>()?);
    let outcome = tokio::time::timeout(Duration::from_secs(10), tool.run(context, json!({"command": "true"}))).await?;
    ensure!(outcome.exit == Some(CommandExit::Code(0)), "{}", outcome.text);
    Ok(())
}
