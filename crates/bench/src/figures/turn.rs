//! The cost of a turn on top of its request: zero model latency, 50 turns, one call in each, streaming,
//! every step journaled with NORMAL, compared with the bare requests.

use anyhow::Result;
use windlass_store::Durability;

use super::setup::Setup;
use crate::child::alone;
use crate::floor::{BatchTable, FloorWire, bare, committing};
use crate::pace::compare;
use crate::server::{BenchServer, BenchTool, ModelBehaviour};
use crate::table::Measurement;
use crate::{ours, trace};

const TURNS: usize = 50;
const LIMIT: f64 = 3.0;

pub(super) fn measure(setup: &Setup) -> Result<Vec<Measurement>> {
    let server = BenchServer::start(
        &setup.programs,
        ModelBehaviour { turns: TURNS, text_bytes: 0, latency_ms: 0, tool: BenchTool::Haul },
    )?;
    let dir = tempfile::tempdir_in(&setup.programs.folder)?;
    alone()?.block_on(async {
        let trace = trace::record(TURNS, 0, dir.path()).await?;
        let wire = FloorWire::new(server.base_url())?;
        let agent = ours::agent(server.base_url(), dir.path(), Durability::Normal)?;
        let compared = compare(
            setup.rounds(100),
            async |_| bare(&wire, &trace).await,
            async |round| ours::run(&agent, &format!("turn-{round}")).await,
        )
        .await?;
        let ledger = BatchTable::open(dir.path(), Durability::Normal)?;
        let sqlite = compare(
            setup.rounds(50),
            async |_| bare(&wire, &trace).await,
            async |round| committing(&wire, &trace, &ledger, round as u64).await,
        )
        .await?;
        Ok(vec![
            Measurement::compared("50 turns at zero latency, NORMAL, against bare requests", LIMIT, &compared),
            Measurement::beside("the same requests with bare SQLite commits", &sqlite),
        ])
    })
}
