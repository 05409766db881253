//! Figures about a whole process are measured in a fresh one: this program, started again with
//! the arguments of a [`Child`]. It prints a number, which its parent reads.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail, ensure};
use tokio::task::JoinSet;
use windlass_store::Durability;

use crate::figures::crowd;
use crate::{floor, memory, ours, trace};

/// The first argument of a child.
pub const WORD: &str = "child";

/// The task of a child.
#[derive(Clone, Copy, Debug)]
pub enum Child {
    /// Runs this many sessions at once, keeps them open, and returns its peak memory.
    Crowd(usize),
    /// Makes the bare requests of this many sessions at once, and returns its peak memory.
    Bare(usize),
    /// Makes this many runs one after another, with FULL, and returns the number of committed batches.
    Lone(usize),
}

impl Child {
    /// The arguments that start it.
    #[must_use]
    pub fn words(self, base_url: &str, dir: &Path) -> Vec<String> {
        let (name, count) = match self {
            Self::Crowd(sessions) => ("crowd", sessions),
            Self::Bare(loops) => ("bare", loops),
            Self::Lone(runs) => ("lone", runs),
        };
        vec![WORD.into(), name.into(), count.to_string(), base_url.into(), dir.display().to_string()]
    }

    /// Starts it as `program` and reads the number it prints.
    pub fn ask(self, program: &Path, base_url: &str, dir: &Path) -> Result<u64> {
        answer(Command::new(program).args(self.words(base_url, dir)))
    }
}

/// Runs a command that prints one number.
pub fn answer(command: &mut Command) -> Result<u64> {
    let output = command.output().with_context(|| format!("{command:?} can't be started"))?;
    let said = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "{command:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    said.trim().parse().with_context(|| format!("{command:?} said `{}`", said.trim()))
}

/// Performs the task given by the arguments after [`WORD`], and returns its number.
pub fn act(words: &[String]) -> Result<u64> {
    let [name, count, base_url, dir] = words else { bail!("a child takes four words, not {words:?}") };
    let (count, dir) = (count.parse()?, Path::new(dir));
    match name.as_str() {
        "crowd" => tokio::runtime::Runtime::new()?.block_on(sessions_at_once(count, base_url, dir)),
        "bare" => tokio::runtime::Runtime::new()?.block_on(bare(count, base_url, dir)),
        "lone" => alone()?.block_on(lone(count, base_url, dir)),
        other => bail!("there is no child `{other}`"),
    }
}

/// The runtime of a process with one session.
pub fn alone() -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}

async fn sessions_at_once(sessions: usize, base_url: &str, dir: &Path) -> Result<u64> {
    let agent = Arc::new(ours::agent(base_url, dir, Durability::Full)?);
    let mut runs = JoinSet::new();
    for number in 0..sessions {
        let agent = Arc::clone(&agent);
        runs.spawn(async move { ours::run_open(&agent, &format!("crowd-{number}")).await });
    }
    let open = runs.join_all().await.into_iter().collect::<Result<Vec<_>>>()?;
    ensure!(open.len() == sessions, "{} sessions of {sessions} are open", open.len());
    Ok(memory::of_this_process()?.peak)
}

async fn bare(loops: usize, base_url: &str, dir: &Path) -> Result<u64> {
    let trace = Arc::new(trace::record(crowd::TURNS, crowd::TEXT_BYTES, dir).await?);
    let wire = floor::FloorWire::new(base_url)?;
    let mut runs = JoinSet::new();
    for _ in 0..loops {
        let (wire, trace) = (wire.clone(), Arc::clone(&trace));
        runs.spawn(async move { floor::bare(&wire, &trace).await });
    }
    runs.join_all().await.into_iter().collect::<Result<()>>()?;
    Ok(memory::of_this_process()?.peak)
}

/// Makes one run, keeps its session open, and returns the memory that the process uses.
pub async fn idle(base_url: &str, dir: &Path) -> Result<u64> {
    let agent = ours::agent(base_url, dir, Durability::Full)?;
    let session = ours::run_open(&agent, "idle").await?;
    let memory = memory::of_this_process()?;
    session.close().await;
    Ok(memory.resident)
}

async fn lone(runs: usize, base_url: &str, dir: &Path) -> Result<u64> {
    let agent = ours::agent(base_url, dir, Durability::Full)?;
    let store = agent.hub().store();
    let mut batches = 0;
    for number in 0..runs {
        let key = format!("lone-{number}");
        ours::run(&agent, &key).await?;
        let session = store.find("local", &key).await?.context("the session that was just run is gone")?;
        batches += store.batches(session).await?.len() as u64;
    }
    Ok(batches)
}
