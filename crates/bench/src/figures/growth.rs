//! How the cost of a turn grows with the run: the mean over a run of 200 turns compared with that over a run
//! of 10, from the message to the end, in a session that is already open.

use anyhow::Result;
use windlass_provider::WireKind;
use windlass_store::Durability;

use super::setup::Setup;
use crate::child::alone;
use crate::floor::{FloorWire, bare};
use crate::pace::{FloorComparison, compare};
use crate::server::{BenchServer, BenchTool, ModelBehaviour};
use crate::table::Measurement;
use crate::{ours, trace};

const SHORT: usize = 10;
const LONG: usize = 200;
const LIMIT: f64 = 1.5;

pub(super) fn measure(setup: &Setup) -> Result<Vec<Measurement>> {
    let mut rows = Vec::new();
    for wire in [WireKind::Chat, WireKind::Messages, WireKind::Responses] {
        rows.extend(over(setup, wire)?);
    }
    Ok(rows)
}

/// The figure over one wire.
fn over(setup: &Setup, wire: WireKind) -> Result<Vec<Measurement>> {
    let short = per_turn(setup, wire, SHORT, setup.rounds(200))?;
    let long = per_turn(setup, wire, LONG, setup.rounds(25))?;
    let ours = FloorComparison { floor: short.ours, ours: long.ours };
    let floor = FloorComparison { floor: short.floor, ours: long.floor };
    Ok(vec![
        Measurement {
            target: format!("≤ {LIMIT} ×"),
            ..Measurement::compared(&format!("a turn of 200 against a turn of 10, {wire:?}"), LIMIT, &ours)
        },
        Measurement::beside("the same of the bare requests", &floor),
    ])
}

/// The time per turn, the floor's and ours, in a run of this many turns.
fn per_turn(setup: &Setup, wire: WireKind, turns: usize, rounds: usize) -> Result<FloorComparison> {
    let server = BenchServer::start(
        &setup.programs,
        ModelBehaviour { turns, text_bytes: 0, latency_ms: 0, tool: BenchTool::Haul },
    )?;
    let dir = tempfile::tempdir_in(&setup.programs.folder)?;
    let compared = alone()?.block_on(async {
        let trace = trace::record_over(wire, turns, 0, dir.path()).await?;
        let floor_wire = FloorWire::over(wire, server.base_url())?;
        let agent = ours::agent_over(wire, server.base_url(), dir.path(), Durability::Normal)?;
        let mut sessions = Vec::new();
        for round in 0..=rounds {
            sessions.push(agent.open(&format!("growth-{round}")).await?);
        }
        let floor = async |_| bare(&floor_wire, &trace).await;
        compare(rounds, floor, async |round: usize| ours::run_in(&agent, &sessions[round]).await).await
    })?;
    let each = |whole: std::time::Duration| whole / u32::try_from(turns).unwrap_or(u32::MAX);
    Ok(FloorComparison { floor: each(compared.floor), ours: each(compared.ours) })
}
