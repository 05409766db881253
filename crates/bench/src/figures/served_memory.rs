//! What sessions and followers weigh in a server's process.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde_json::Value;
use tokio::time::sleep;

use super::crowd::{TEXT_BYTES, TURNS};
use super::setup::Setup;
use crate::followers::Followers;
use crate::memory;
use crate::served::ServedWindlass;
use crate::server::{BenchServer, BenchTool, ModelBehaviour};
use crate::table::Measurement;

const FEW: usize = 50;
const MANY: usize = 450;
const FOLLOWERS: usize = 1_000;
/// After so many sessions a server has all the memory that it keeps.
const WARMING: usize = 400;
/// So long that all runs are under way at once.
const LATENCY_MS: u64 = 1_000;
/// Over how many connections sessions are made: an idle one weighs as much as a follower's.
const CONNECTIONS: usize = 8;
const WORKING: &str = "windlass_live_sessions{activity=\"working\"}";
const LIVE_LIMIT_KIB: f64 = 120.0;
const FOLLOWER_LIMIT_KIB: f64 = 20.0;

pub(super) fn measure(setup: &Setup) -> Result<Vec<Measurement>> {
    tokio::runtime::Runtime::new()?.block_on(async {
        let live = per_live_session(setup).await?;
        let (idle, follower) = idle(setup).await?;
        Ok(vec![
            Measurement::at_most(
                "memory per live session of a server, 2 KiB of text per turn",
                LIVE_LIMIT_KIB,
                live,
                "KiB",
            ),
            Measurement::noted("memory per idle session of a server", format!("{idle:.2} KiB")),
            Measurement::at_most("memory per idle follower", FOLLOWER_LIMIT_KIB, follower, "KiB"),
        ])
    })
}

/// The memory of one more session whose run is under way, in KiB.
async fn per_live_session(setup: &Setup) -> Result<f64> {
    let (few, many) = (peak(setup, FEW).await?, peak(setup, MANY).await?);
    Ok(many.saturating_sub(few) as f64 / (MANY - FEW) as f64)
}

async fn peak(setup: &Setup, sessions: usize) -> Result<u64> {
    let behaviour =
        ModelBehaviour { turns: TURNS, text_bytes: TEXT_BYTES, latency_ms: LATENCY_MS, tool: BenchTool::ReadFile };
    let model = BenchServer::start(&setup.programs, behaviour)?;
    let dir = tempfile::tempdir_in(&setup.programs.folder)?;
    let server = ServedWindlass::start(&setup.programs, model.base_url(), dir.path())?;
    let begin = async |_| {
        let session = server.new_session().await?;
        server.say(&session, "Haul.").await
    };
    stream::iter(0..sessions).map(begin).buffer_unordered(CONNECTIONS).try_collect::<()>().await?;
    ensure!(working(&server).await? == sessions, "a run ended before the last one began");
    while working(&server).await? > 0 {
        sleep(Duration::from_millis(50)).await;
    }
    Ok(memory::of_process(server.process())?.peak)
}

/// Returns how many runs are under way.
async fn working(server: &ServedWindlass) -> Result<usize> {
    let metrics = server.get("/metrics").await?;
    let count = metrics.lines().find_map(|line| line.strip_prefix(WORKING)).context("no count of live sessions")?;
    Ok(count.trim().parse()?)
}

/// The memory of one more idle session, and of one more follower of an idle session, in KiB.
async fn idle(setup: &Setup) -> Result<(f64, f64)> {
    let behaviour = ModelBehaviour { turns: 1, text_bytes: TEXT_BYTES, latency_ms: 0, tool: BenchTool::ReadFile };
    let model = BenchServer::start(&setup.programs, behaviour)?;
    let dir = tempfile::tempdir_in(&setup.programs.folder)?;
    let server = ServedWindlass::start(&setup.programs, model.base_url(), dir.path())?;
    let resident = || Ok::<u64, anyhow::Error>(memory::of_process(server.process())?.resident);
    let some_run = async || {
        let session = server.new_session().await?;
        let follower = Followers::connect(&server.events(&session, 0), 1).await?;
        server.say(&session, "Haul.").await?;
        follower.all_have_the_last().await?;
        Ok::<String, anyhow::Error>(session)
    };
    for _ in 0..WARMING {
        some_run().await?;
    }
    let before = resident()?;
    let mut last = String::new();
    for _ in 0..MANY {
        last = some_run().await?;
    }
    let with_sessions = resident()?;
    let row: Value = serde_json::from_str(&server.get(&format!("/api/sessions/{last}")).await?)?;
    ensure!(row["status"] == "idle", "the last session is {row}");
    let followers = Followers::connect(&server.events(&last, 4), FOLLOWERS).await?;
    let with_followers = resident()?;
    followers.leave().await?;
    let per = |more: u64, less: u64, count: usize| more.saturating_sub(less) as f64 / count as f64;
    Ok((per(with_sessions, before, MANY), per(with_followers, with_sessions, FOLLOWERS)))
}
