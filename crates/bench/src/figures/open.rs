//! How long it takes to open a long session: claim, read, fold and take the lease, compared with a bare read of
//! its bytes.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use rusqlite::{Connection, OpenFlags};
use windlass::Agent;
use windlass_store::Durability;

use super::setup::Setup;
use crate::child::alone;
use crate::ours;
use crate::pace::{FloorComparison, median};
use crate::server::{BenchServer, BenchTool, ModelBehaviour};
use crate::table::Measurement;

const RECORDS: u64 = 10_000;
/// A turn with one call is five records.
const TURNS: usize = 2_000;
const TEXT_BYTES: usize = 200;
const LIMIT_MS: f64 = 50.0;
const KEY: &str = "long";

pub(super) fn measure(setup: &Setup) -> Result<Vec<Measurement>> {
    let server = BenchServer::start(
        &setup.programs,
        ModelBehaviour { turns: TURNS, text_bytes: TEXT_BYTES, latency_ms: 0, tool: BenchTool::Haul },
    )?;
    let dir = tempfile::tempdir_in(&setup.programs.folder)?;
    let compared = alone()?.block_on(async {
        ours::run(&ours::agent(server.base_url(), dir.path(), Durability::Normal)?, KEY).await?;
        let agent = ours::agent(server.base_url(), dir.path(), Durability::Normal)?;
        compared(&agent, dir.path(), setup.rounds(50)).await
    })?;
    let took = compared.ours.as_secs_f64() * 1e3;
    Ok(vec![
        Measurement::at_most("opening a session of 10,000 records", LIMIT_MS, took, "ms"),
        Measurement::beside("the same against a bare read of its bytes", &compared),
    ])
}

async fn compared(agent: &Agent, dir: &Path, rounds: usize) -> Result<FloorComparison> {
    let store = agent.hub().store();
    let session = store.find("local", KEY).await?.context("the session that was just run is gone")?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let bare = Connection::open_with_flags(dir.join("windlass.db"), flags)?;
    let (mut floors, mut all_ours) = (Vec::new(), Vec::new());
    for round in 0..=rounds {
        let begun = Instant::now();
        let lines = read(&bare, session.0.as_bytes())?;
        let floor = begun.elapsed();
        ensure!(lines >= RECORDS, "the session has {lines} records, not {RECORDS}");
        let (own, opened) = open(agent).await?;
        opened.close().await;
        if round > 0 {
            floors.push(floor);
            all_ours.push(own);
        }
    }
    Ok(FloorComparison { floor: median(&mut floors), ours: median(&mut all_ours) })
}

/// Opens the session and returns the time it took. The caller closes it, so that closing is not measured.
async fn open(agent: &Agent) -> Result<(Duration, windlass::Session)> {
    let begun = Instant::now();
    let session = agent.open(KEY).await?;
    Ok((begun.elapsed(), session))
}

/// The floor: reads every stored byte once, and counts the records.
fn read(bare: &Connection, session: &[u8]) -> Result<u64> {
    let mut statement = bare.prepare_cached("SELECT bytes FROM batches WHERE session = ?1 ORDER BY seq")?;
    let mut rows = statement.query([session])?;
    let mut lines = 0;
    while let Some(row) = rows.next()? {
        lines += memchr::memchr_iter(b'\n', row.get_ref(0)?.as_blob()?).count() as u64;
    }
    Ok(lines)
}
