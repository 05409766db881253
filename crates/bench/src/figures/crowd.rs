//! 1,000 sessions at once, 10 turns each, 50 ms model latency, FULL with group commit: the wall time compared
//! with 1,000 floor loops with one committing thread, and the memory of each session.

use std::sync::Arc;

use anyhow::Result;
use tokio::task::JoinSet;
use windlass_store::Durability;

use super::setup::{Effort, Setup};
use crate::child::Child;
use crate::floor::{BatchTable, FloorCommitter, FloorWire, committing_together};
use crate::pace::compare;
use crate::server::{BenchServer, BenchTool, ModelBehaviour};
use crate::table::Measurement;
use crate::{ours, trace};

pub(crate) const TURNS: usize = 10;
pub(crate) const TEXT_BYTES: usize = 2048;
const LATENCY_MS: u64 = 50;
const FEW: usize = 100;
const MANY: usize = 1000;
const LIMIT: f64 = 1.5;
const LIMIT_KIB: f64 = 120.0;

pub(super) fn measure(setup: &Setup) -> Result<Vec<Measurement>> {
    let behaviour =
        ModelBehaviour { turns: TURNS, text_bytes: TEXT_BYTES, latency_ms: LATENCY_MS, tool: BenchTool::Haul };
    let server = BenchServer::start(&setup.programs, behaviour)?;
    let ours = per_session(setup, &server, Child::Crowd)?;
    let bare = per_session(setup, &server, Child::Bare)?;
    Ok(vec![
        wall(setup, &server)?,
        Measurement::at_most("memory per live session at its peak, 2 KiB of text per turn", LIMIT_KIB, ours, "KiB"),
        Measurement::noted("the same of the bare requests", format!("{bare:.2} KiB")),
    ])
}

fn wall(setup: &Setup, server: &BenchServer) -> Result<Measurement> {
    let rounds = match setup.effort {
        Effort::Whole => 7,
        Effort::Quick => 1,
    };
    let dir = tempfile::tempdir_in(&setup.programs.folder)?;
    let base_url = server.base_url();
    let compared = tokio::runtime::Runtime::new()?.block_on(async {
        let trace = Arc::new(trace::record(TURNS, TEXT_BYTES, dir.path()).await?);
        let wire = FloorWire::new(base_url)?;
        let committer = Arc::new(FloorCommitter::start(BatchTable::open(dir.path(), Durability::Full)?));
        let agent = Arc::new(ours::agent(base_url, dir.path(), Durability::Full)?);
        let floor = async |round: usize| {
            together(|number| {
                let (wire, trace, committer) = (wire.clone(), Arc::clone(&trace), Arc::clone(&committer));
                async move { committing_together(&wire, &trace, &committer, (round * MANY + number) as u64).await }
            })
            .await
        };
        let ours = async |round: usize| {
            together(|number| {
                let agent = Arc::clone(&agent);
                async move { ours::run(&agent, &format!("crowd-{round}-{number}")).await }
            })
            .await
        };
        compare(rounds, floor, ours).await
    })?;
    Ok(Measurement::compared(
        "1,000 sessions of 10 turns at 50 ms, FULL, none failed, against the committing floor",
        LIMIT,
        &compared,
    ))
}

/// Runs `one` [`MANY`] times at once; fails if one of them fails.
async fn together<F: Future<Output = Result<()>> + Send + 'static>(one: impl Fn(usize) -> F) -> Result<()> {
    (0..MANY).map(one).collect::<JoinSet<_>>().join_all().await.into_iter().collect()
}

/// The memory of one more session, in KiB.
fn per_session(setup: &Setup, server: &BenchServer, child: fn(usize) -> Child) -> Result<f64> {
    let of = |sessions| {
        let dir = tempfile::tempdir_in(&setup.programs.folder)?;
        child(sessions).ask(&setup.programs.own, server.base_url(), dir.path())
    };
    let (few, many) = (of(FEW)?, of(MANY)?);
    Ok(many.saturating_sub(few) as f64 / (MANY - FEW) as f64)
}
