//! Many MCP servers, each slow to start: how much their start delays a run's first request, which does not wait for
//! them, and how long it takes until all are connected (as long as the slowest).

use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::{Map, Value, json};
use windlass_mcp::{ConnectionState, Servers};
use windlass_testkit::mcp::{FakeTool, McpScript, ToolAction};
use windlass_tools::ToolServers as _;

use super::cold::{FirstRequest as _, windlass_run};
use super::setup::Setup;
use crate::child::alone;
use crate::fake_servers::{configured, options};
use crate::pace::{FloorComparison, median};
use crate::table::Measurement;

const SERVERS: usize = 13;
const TOOLS: usize = 67;
/// Start time of the slowest server; those of the others are spread evenly below it.
const SLOWEST_MS: u64 = 1_000;

/// Far below the time to wait for the first server, above the time to start thirteen processes.
const FIRST_LIMIT: f64 = 1.5;
const ALL_LIMIT: f64 = 1.5;

pub(super) fn measure(setup: &Setup) -> Result<Vec<Measurement>> {
    let mut lines = first_requests(setup)?;
    lines.push(Measurement::compared(
        "13 servers of 67 tools connected, against the slowest",
        ALL_LIMIT,
        &connected(setup)?,
    ));
    Ok(lines)
}

/// Half of the servers support the newest revision, half the previous one.
fn script(index: usize) -> (String, McpScript) {
    let tools = TOOLS / SERVERS + usize::from(index < TOOLS % SERVERS);
    let tools = (0..tools).map(|number| FakeTool::new(&format!("tool_{number}"), ToolAction::Echo));
    let script = McpScript::with(tools);
    let script = if index.is_multiple_of(2) { script.modern() } else { script.legacy() };
    let starts_after_ms = SLOWEST_MS * (index as u64 + 1) / SERVERS as u64;
    (format!("server-{index}"), McpScript { starts_after_ms, ..script })
}

/// The first request of a run: without servers, with new servers, and with servers whose tools are remembered.
fn first_requests(setup: &Setup) -> Result<Vec<Measurement>> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    let base_url = format!("http://{}/v1", listener.local_addr()?);
    let known = tempfile::tempdir_in(&setup.programs.folder)?;
    let file = known.path().join("servers.json");
    std::fs::write(&file, file_of_servers(setup).to_string())?;
    let settings = known.path().join("config");
    std::fs::create_dir_all(settings.join("windlass"))?;
    std::fs::write(settings.join("windlass/windlass.toml"), "[policy]\nserver_wait_ms = 0\n")?;
    let with_servers = |dir: &Path| {
        let mut command = windlass_run(setup, &base_url, dir);
        command.arg("--mcp-config").arg(&file).env("XDG_CONFIG_HOME", &settings);
        command
    };
    let (mut without, mut unseen, mut remembered) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..=setup.rounds(15) {
        let dir = tempfile::tempdir_in(&setup.programs.folder)?;
        let bare = windlass_run(setup, &base_url, dir.path()).wait_for(&listener)?;
        let dir = tempfile::tempdir_in(&setup.programs.folder)?;
        let first = with_servers(dir.path()).wait_for(&listener)?;
        let again = with_servers(known.path()).wait_for(&listener)?;
        if round > 0 {
            without.push(bare);
            unseen.push(first);
            remembered.push(again);
        }
    }
    let floor = median(&mut without);
    let line = |which: &str, times: &mut [Duration]| {
        let figure = format!("the first request with 13 servers {which}, against none");
        Measurement::compared(&figure, FIRST_LIMIT, &FloorComparison { floor, ours: median(times) })
    };
    Ok(vec![line("never seen and not waited for", &mut unseen), line("seen before", &mut remembered)])
}

fn file_of_servers(setup: &Setup) -> Value {
    let entry = |(name, script): (String, McpScript)| {
        (name, json!({"command": setup.programs.mcp_fake, "args": [script.to_json()]}))
    };
    json!({"mcpServers": (0..SERVERS).map(script).map(entry).collect::<Map<_, _>>()})
}

/// The time from the start until all are connected: of the slowest server alone, and of all.
fn connected(setup: &Setup) -> Result<FloorComparison> {
    let (mut floors, mut ours) = (Vec::new(), Vec::new());
    alone()?.block_on(async {
        for round in 0..=setup.rounds(5) {
            let (slowest, all) = (all_there(setup, SERVERS - 1..SERVERS).await?, all_there(setup, 0..SERVERS).await?);
            if round > 0 {
                floors.push(slowest);
                ours.push(all);
            }
        }
        Ok(FloorComparison { floor: median(&mut floors), ours: median(&mut ours) })
    })
}

/// The time until these servers are connected. Shutting them down is not measured.
async fn all_there(setup: &Setup, which: Range<usize>) -> Result<Duration> {
    let servers = Servers::new(configured(setup, which.clone().map(script))?, options(setup));
    let begun = Instant::now();
    servers.wake();
    servers.settled(servers.awaited()).await;
    let took = begun.elapsed();
    let states = servers.states();
    servers.shutdown().await;
    ensure!(states.iter().all(|state| state.state == ConnectionState::Connected), "not all are there: {states:?}");
    let tools: usize = states.iter().map(|state| state.tools.len()).sum();
    ensure!(which.len() < SERVERS || tools == TOOLS, "there are {tools} tools, not {TOOLS}");
    Ok(took)
}
