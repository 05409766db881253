//! One session with FULL compared with the floor that commits as often, and the number of syncs per single batch.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use windlass_store::Durability;

use super::setup::Setup;
use crate::child::{Child, alone, answer};
use crate::floor::{BatchTable, FloorWire, committing};
use crate::pace::compare;
use crate::server::{BenchServer, BenchTool, ModelBehaviour};
use crate::table::Measurement;
use crate::{ours, trace};

const TURNS: usize = 50;
const LIMIT: f64 = 1.3;
/// Runs in the two processes whose syncs are counted: their difference cancels out the fixed part.
const RUNS: (usize, usize) = (1, 5);

pub(super) fn measure(setup: &Setup) -> Result<Vec<Measurement>> {
    let server = BenchServer::start(
        &setup.programs,
        ModelBehaviour { turns: TURNS, text_bytes: 0, latency_ms: 0, tool: BenchTool::Haul },
    )?;
    Ok(vec![wall(setup, &server)?, syncs(setup, &server)?])
}

fn wall(setup: &Setup, server: &BenchServer) -> Result<Measurement> {
    let dir = tempfile::tempdir_in(&setup.programs.folder)?;
    let compared = alone()?.block_on(async {
        let trace = trace::record(TURNS, 0, dir.path()).await?;
        let wire = FloorWire::new(server.base_url())?;
        let ledger = BatchTable::open(dir.path(), Durability::Full)?;
        let agent = ours::agent(server.base_url(), dir.path(), Durability::Full)?;
        compare(
            setup.rounds(30),
            async |round| committing(&wire, &trace, &ledger, round as u64).await,
            async |round| ours::run(&agent, &format!("full-{round}")).await,
        )
        .await
    })?;
    Ok(Measurement::compared("50 turns, FULL, one session, against the floor that commits as often", LIMIT, &compared))
}

fn syncs(setup: &Setup, server: &BenchServer) -> Result<Measurement> {
    let figure = "syncs per lone batch, checkpoints aside";
    if Command::new("strace").arg("--version").output().is_err() {
        return Ok(Measurement::noted(figure, "not measured: strace is missing"));
    }
    let (few, many) = (count(setup, server, RUNS.0)?, count(setup, server, RUNS.1)?);
    let each = (many.syncs - few.syncs) as f64 / (many.batches - few.batches) as f64;
    Ok(Measurement::at_most(figure, 1.0, each, "per batch"))
}

struct SyscallCounts {
    syncs: u64,
    batches: u64,
}

fn count(setup: &Setup, server: &BenchServer, runs: usize) -> Result<SyscallCounts> {
    let dir = tempfile::tempdir_in(&setup.programs.folder)?;
    let log = dir.path().join("syncs");
    let batches = answer(
        Command::new("strace")
            .args(["-f", "-qq", "-e", "trace=fsync,fdatasync", "-e", "signal=none", "-o"])
            .arg(&log)
            .arg(&setup.programs.own)
            .args(Child::Lone(runs).words(server.base_url(), dir.path())),
    )?;
    Ok(SyscallCounts { syncs: finished_calls(&log)?, batches })
}

/// Counts the completed calls; strace prints an interrupted call in two parts, and only the second has the result.
fn finished_calls(log: &Path) -> Result<u64> {
    let text = std::fs::read_to_string(log).context("strace left no log")?;
    Ok(text.lines().filter(|line| line.contains("sync") && line.contains("= 0")).count() as u64)
}
