//! How long it takes to read the last page of a long session, without reading the rest of it.

use std::time::Instant;

use anyhow::{Result, ensure};
use windlass_machine::{Fact, State, apply};
use windlass_store::{Batch, Durability, Entry, Head, SealedBatch, Writer};
use windlass_vocab::Timestamp;

use super::setup::Setup;
use crate::child::alone;
use crate::conversation::{beginning, new_session, records, reply, result};
use crate::ours;
use crate::pace::median;
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
        let mut journal = SimulatedJournal::begin()?;
        while journal.writer.head.seq < RECORDS {
            journal.turn()?;
        }
        let session = journal.writer.session;
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

/// The journal of a simulated run.
struct SimulatedJournal {
    state: State,
    writer: Writer,
    batches: Vec<SealedBatch>,
}

impl SimulatedJournal {
    fn begin() -> Result<Self> {
        let state = new_session()?;
        let writer = Writer::new(state.session, Head::default(), 1);
        let mut journal = Self { state, writer, batches: Vec::new() };
        for fact in beginning(None)? {
            journal.take(fact)?;
        }
        Ok(journal)
    }

    fn turn(&mut self) -> Result<()> {
        self.take(reply(&self.state)?)?;
        self.take(result(&self.state)?)
    }

    fn take(&mut self, fact: Fact) -> Result<()> {
        let records = records(&self.state, fact);
        records.iter().for_each(|record| apply(&mut self.state, record));
        let entries = records.into_iter().map(Entry::new).collect();
        let sealed = self.writer.seal(Batch { at: Timestamp(1_000), entries, ..Batch::default() })?;
        self.batches.push(sealed);
        Ok(())
    }
}
