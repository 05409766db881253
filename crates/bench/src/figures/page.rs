//! How long it takes to read the last page of a long session, without reading the rest of it.

use std::time::Instant;

use anyhow::{Result, ensure};
use windlass_store::Durability;

use super::setup::Setup;
use crate::child::alone;
use crate::ours;
use crate::pace::median;
use crate::simulated_journal::SimulatedJournal;
use crate::table::Measurement;

const RECORDS: u64 = 100_000;
/// Batches of a page: a turn with one call is two, with five records.
const BATCHES: u32 = 40;
const PAGE: usize = 100;
const LIMIT_MS: f64 = 5.0;

pub(super) fn measure(setup: &Setup) -> Result<Vec<Measurement>> {
    let dir = tempfile::tempdir_in(&setup.programs.folder)?;
    let took = alone()?.block_on(async {
        let agent = ours::agent("http://127.0.0.1:9/v1", dir.path(), Durability::Normal)?;
        let store = agent.hub().store();
        let mut journal = SimulatedJournal::open(1)?;
        journal.ask()?;
        while journal.records() < RECORDS {
            journal.turn()?;
        }
        let session = journal.session();
        store.restore(journal.batches).await?;
        let mut times = Vec::new();
        for _ in 0..setup.rounds(100) {
            let begun = Instant::now();
            let page = store.read_before(session, u64::MAX, BATCHES).await?;
            times.push(begun.elapsed());
            ensure!(page.len() >= PAGE, "the page has {} records", page.len());
        }
        Ok(median(&mut times).as_secs_f64() * 1e3)
    })?;
    Ok(vec![Measurement::at_most("the last page of a session of 100,000 records", LIMIT_MS, took, "ms")])
}
