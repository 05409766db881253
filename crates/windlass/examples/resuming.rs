//! Resuming after a crash. This program starts itself as a second process, which aborts in the middle of a job, as if
//! the power failed. The first process then resumes the job: no finished call runs twice.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use schemars::JsonSchema;
use windlass::{Agent, Builder, Function, ToolError};

/// The folder of the journal and the log, and the load at which the process aborts.
struct Dock {
    dir: PathBuf,
    dies_at: Option<u32>,
}

#[derive(serde::Deserialize, JsonSchema)]
struct Load {
    number: u32,
}

/// Builds the same agent in both processes; the journal is in `dir`.
fn agent(dir: &Path, dies_at: Option<u32>) -> anyhow::Result<Agent<Dock>> {
    let haul = Function::new("haul", "Hauls one load up.", |dock: Arc<Dock>, load: Load| async move {
        if dock.dies_at == Some(load.number) {
            std::process::abort();
        }
        let mut log = OpenOptions::new().append(true).create(true).open(dock.dir.join("log"))?;
        writeln!(log, "load {}", load.number)?;
        Ok::<_, ToolError>(format!("load {} is up", load.number))
    });
    let dock = Dock { dir: dir.to_owned(), dies_at };
    // Hauling a load twice does no harm, so an interrupted call may run again.
    Ok(Builder::from_env()?.data_dir(dir.join("journal")).deps(dock).tool(haul.idempotent()).build()?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    if let Some(dir) = std::env::args_os().nth(1) {
        let prompt = "Haul loads 1, 2 and 3, one after the other, then say that all are up.";
        println!("{}", agent(Path::new(&dir), Some(2))?.session("cargo").run(prompt).await?);
        return Ok(());
    }
    let dir = tempfile::tempdir()?;
    let status = Command::new(std::env::current_exe()?).arg(dir.path()).status()?;
    println!("the first process ended with {status}");
    print!("{}", std::fs::read_to_string(dir.path().join("log"))?);
    if let Some(running) = agent(dir.path(), None)?.session("cargo").resume().await? {
        println!("taking it up where it was");
        println!("{}", running.answer().await?);
    }
    print!("{}", std::fs::read_to_string(dir.path().join("log"))?);
    Ok(())
}
