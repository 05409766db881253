//! The cost of the turns of [`super::turn`] in other agent frameworks that are installed here, compared with the same
//! floor. They store nothing.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use super::setup::Setup;
use crate::child::alone;
use crate::floor::{FloorWire, bare};
use crate::pace::compare;
use crate::server::{BenchServer, BenchTool, ModelBehaviour};
use crate::table::{Measurement, readable};
use crate::trace;

const TURNS: usize = 50;

/// A peer: its name, the Python modules it needs, and its script in this crate.
const PEERS: &[(&str, &str, &str)] = &[("LangGraph", "langchain.agents, langchain_openai", "langgraph_turns.py")];

/// The variable that names a Python interpreter with peers installed.
const PYTHON: &str = "WINDLASS_BENCH_PYTHON";

pub(super) fn measure(setup: &Setup) -> Result<Vec<Measurement>> {
    PEERS.iter().map(|peer| line(setup, *peer)).collect()
}

fn line(setup: &Setup, (name, modules, program): (&str, &str, &str)) -> Result<Measurement> {
    let figure = format!("50 turns in {name}, which stores nothing, against bare requests");
    let python = std::env::var_os(PYTHON).unwrap_or_else(|| "python3".into());
    let knows = Command::new(&python).args(["-c", &format!("import {modules}")]).output();
    if !knows.is_ok_and(|output| output.status.success()) {
        return Ok(Measurement::noted(&figure, format!("not measured: not installed ({PYTHON} names another Python)")));
    }
    let server = BenchServer::start(
        &setup.programs,
        ModelBehaviour { turns: TURNS, text_bytes: 0, latency_ms: 0, tool: BenchTool::Haul },
    )?;
    let dir = tempfile::tempdir_in(&setup.programs.folder)?;
    let floor = alone()?.block_on(async {
        let trace = trace::record(TURNS, 0, dir.path()).await?;
        let wire = FloorWire::new(server.base_url())?;
        let same = async |_| bare(&wire, &trace).await;
        compare(setup.rounds(50), same, same).await
    })?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(program);
    let runs = setup.rounds(5).to_string();
    let output = Command::new(&python).arg(script).args([server.base_url(), &TURNS.to_string(), &runs]).output()?;
    ensure!(output.status.success(), "{name} failed: {}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8_lossy(&output.stdout);
    let took = Duration::from_secs_f64(said.trim().parse().with_context(|| format!("{name} said `{}`", said.trim()))?);
    let ratio = took.as_secs_f64() / floor.floor.as_secs_f64();
    Ok(Measurement::noted(&figure, format!("{ratio:.0} × ({} / {})", readable(took), readable(floor.floor))))
}
