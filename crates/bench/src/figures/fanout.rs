//! A run that many follow: how long until all have its last event, and how late each event comes, compared with a bare axum
//! server that sends the same bytes to as many.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use super::setup::Setup;
use crate::followers::{BareFanout, FollowTarget, Followers, SentTimes, recorded};
use crate::pace::{FloorComparison, median};
use crate::served::{RUN_ENDED, ServedWindlass};
use crate::server::{BenchServer, BenchTool, ModelBehaviour};
use crate::table::{Measurement, readable};

const FOLLOWERS: usize = 1_000;
/// Below the turn cap.
const TURNS: usize = 48;
const TEXT_BYTES: usize = 256;
const LIMIT: f64 = 2.0;
/// The model's latency where the delays are measured: all can keep up with what comes then.
const CALM_MS: u64 = 150;

pub(super) fn measure(setup: &Setup) -> Result<Vec<Measurement>> {
    tokio::runtime::Runtime::new()?.block_on(async {
        let mut lines = vec![throughput(setup).await?];
        lines.extend(delays(setup).await?);
        Ok(lines)
    })
}

/// When the bare server sends the events.
#[derive(Clone, Copy)]
enum FloorPace {
    /// One right after the other.
    AtOnce,
    /// When they came, counted from the first: a turn's records come together.
    AsRecorded,
}

impl FloorPace {
    /// Returns when an event is sent that came so long after the first, in microseconds.
    fn due_us(self, after: Duration) -> u64 {
        match self {
            Self::AtOnce => 0,
            Self::AsRecorded => u64::try_from(after.as_micros()).unwrap_or(u64::MAX),
        }
    }
}

/// A server with a model of this latency, and the files that its model reads.
struct FanoutScene {
    server: ServedWindlass,
    _model: BenchServer,
    dir: tempfile::TempDir,
}

impl FanoutScene {
    fn start(setup: &Setup, latency_ms: u64) -> Result<Self> {
        let behaviour = ModelBehaviour { turns: TURNS, text_bytes: TEXT_BYTES, latency_ms, tool: BenchTool::ReadFile };
        let model = BenchServer::start(&setup.programs, behaviour)?;
        let dir = tempfile::tempdir_in(&setup.programs.folder)?;
        for number in 1..=TURNS {
            std::fs::write(dir.path().join(format!("file-{number}.txt")), format!("the text of file {number}\n"))?;
        }
        let server = ServedWindlass::start(&setup.programs, model.base_url(), dir.path())?;
        Ok(Self { server, _model: model, dir })
    }

    /// Runs the job once before one follower, and writes down what it got, for the bare server to send at this pace; returns
    /// how many events, and for how long.
    async fn record(&self, pace: FloorPace) -> Result<(usize, Duration)> {
        let session = self.server.new_session().await?;
        let target = self.server.events(&session, 0);
        let events = recorded(&target, self.server.say(&session, "Haul.")).await?;
        let took = events.last().map(|(_, last)| *last - events[0].1).context("the run has events")?;
        let due = |at: Instant| pace.due_us(at.duration_since(events[0].1));
        let sent: Vec<(u64, &str)> = events.iter().map(|(text, at)| (due(*at), text.as_str())).collect();
        std::fs::write(self.events_file(), serde_json::to_vec(&sent)?)?;
        Ok((events.len(), took))
    }

    fn events_file(&self) -> std::path::PathBuf {
        self.dir.path().join("events.json")
    }

    /// Lets all follow a run; returns the time from its message until all have its end, and the delays of events.
    async fn ours(&self) -> Result<(Duration, Vec<Duration>)> {
        let session = self.server.new_session().await?;
        let followers = Followers::connect(&self.server.events(&session, 0), FOLLOWERS).await?;
        let begun = Instant::now();
        self.server.say(&session, "Haul.").await?;
        let delays = followers.all_have_the_last().await?;
        Ok((begun.elapsed(), delays))
    }
}

/// The same of the bare server.
async fn floor(program: &Path, events: &Path) -> Result<(Duration, Vec<Duration>)> {
    let server = BareFanout::start(program, events, FOLLOWERS)?;
    let (host, path, header) = (server.host.clone(), "/".to_owned(), String::new());
    let target = FollowTarget { host, path, header, last: RUN_ENDED, times: SentTimes::Comments };
    let followers = Followers::connect(&target, FOLLOWERS).await?;
    let begun = Instant::now();
    let delays = followers.all_have_the_last().await?;
    Ok((begun.elapsed(), delays))
}

async fn throughput(setup: &Setup) -> Result<Measurement> {
    let scene = FanoutScene::start(setup, 0)?;
    let (events, _) = scene.record(FloorPace::AtOnce).await?;
    let (mut floors, mut ours) = (Vec::new(), Vec::new());
    for round in 0..=setup.rounds(5) {
        let bare = floor(&setup.programs.fanout, &scene.events_file()).await?.0;
        let own = scene.ours().await?.0;
        if round > 0 {
            floors.push(bare);
            ours.push(own);
        }
    }
    let compared = FloorComparison { floor: median(&mut floors), ours: median(&mut ours) };
    let rate = (events * FOLLOWERS) as f64 / compared.ours.as_secs_f64();
    let figure =
        format!("a run of {events} events to {FOLLOWERS} followers, {rate:.0} events/s, against a bare server");
    Ok(Measurement::compared(&figure, LIMIT, &compared))
}

async fn delays(setup: &Setup) -> Result<Vec<Measurement>> {
    let scene = FanoutScene::start(setup, CALM_MS)?;
    let (events, took) = scene.record(FloorPace::AsRecorded).await?;
    let (_, bare) = floor(&setup.programs.fanout, &scene.events_file()).await?;
    let (_, own) = scene.ours().await?;
    let line = |which: &str, share: f64| {
        let compared = FloorComparison { floor: at(&bare, share), ours: at(&own, share) };
        let figure = format!("from a record's time to a follower of {FOLLOWERS}, its commit included, {which}");
        Measurement::beside(&figure, &compared)
    };
    let note = format!("{} events in {}", events, readable(took));
    Ok(vec![line("p50", 0.5), line("p99", 0.99), Measurement::noted("the run of these delays", note)])
}

/// Returns the value below which this share of the sorted delays lies.
fn at(delays: &[Duration], share: f64) -> Duration {
    let place = (delays.len() as f64 * share) as usize;
    delays.get(place.min(delays.len().saturating_sub(1))).copied().unwrap_or_default()
}
