//! The kill matrix in process with calls of an MCP server: for every way in which a preset settles interrupted calls,
//! stopped around every append, inside every model call and around every call of the server's tools; the last call
//! pauses for a person. The server outlives every process and counts its effects.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::support::fates::{Left, requested};
use crate::support::{Bomb, End, Point, Side, World};
use serde_json::json;
use windlass_machine::preset;
use windlass_mcp::{EFFECT_ID, McpOptions, ServerConfig, Servers};
use windlass_testkit::mcp::{FakeTool, McpDiary, McpHttpServer, McpScript, PersonRequest, ToolAction};
use windlass_testkit::{KillTarget, Script, ScriptStep, ScriptedModel, count_ways_to_die};
use windlass_vocab::{Attendance, EffectId, Nudge, Policy, RunEnded};

/// A process that takes longer than this hangs.
const LONG: Duration = Duration::from_secs(60);

/// A server, its diary of effects, and the processes' memory of its tools.
struct House {
    dir: tempfile::TempDir,
    server: McpHttpServer,
}

impl House {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
        let wish = PersonRequest::Form { message: "Who are you?".to_owned(), schema };
        let tool = |name: &str, does, hints| FakeTool::new(name, does).annotated(hints);
        let script = McpScript::with([
            tool("read", ToolAction::Echo, json!({"readOnlyHint": true})),
            tool("set", ToolAction::Echo, json!({"idempotentHint": true})),
            tool("pay", ToolAction::Echo, json!({"idempotentHint": false})),
            tool("ask", ToolAction::Elicits(wish), json!({"idempotentHint": true})),
        ]);
        let diary = Some(dir.path().join("diary"));
        let server = McpHttpServer::start(McpScript { diary, ..script.modern() }).expect("a server");
        Self { dir, server }
    }

    fn servers(memory: &Path, url: &str) -> Servers {
        let configs = BTreeMap::from([("fake".parse().expect("a name"), ServerConfig::http(url))]);
        Servers::new(configs, McpOptions { memory: Some(memory.to_owned()), ..McpOptions::default() })
    }

    /// Returns a world whose processes all use this server, and either remember its tools or don't.
    fn world(&self, policy: &Policy, attendance: Attendance, met: Met) -> World {
        let policy = Policy { approval_wait_ms: u64::from(u32::MAX), server_wait_ms: 0, ..policy.clone() };
        let mut world = World::new(policy.clone(), ScriptedModel::new(script(&policy, met)), attendance);
        let memory = match met {
            Met::Before => self.dir.path().join("memory"),
            Met::Never => world.dir.path().join("memory"),
        };
        let url = self.server.url();
        let serve = move || Arc::new(Self::servers(&memory, &url)) as Arc<dyn windlass_tools::ToolServers>;
        world.served = Some((Arc::new(serve), vec!["fake.read", "fake.set", "fake.pay", "fake.ask"]));
        world
    }

    /// Returns how often the server was asked for each effect; a call that paused is requested twice.
    fn executed(&self) -> BTreeMap<EffectId, usize> {
        let mut executed = BTreeMap::new();
        for call in McpDiary::at(&self.dir.path().join("diary")).calls() {
            let key = call.meta[EFFECT_ID].as_str().unwrap_or_else(|| panic!("a call without its key: {call:?}"));
            *executed.entry(EffectId::from(key)).or_default() += 1;
        }
        executed
    }
}

/// Whether the server's tools were listed before the first process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Met {
    Before,
    Never,
}

fn script(policy: &Policy, met: Met) -> Script {
    let last = if policy.nudges.contains(&Nudge::NoToolCall) {
        ScriptStep::call("task_completion", json!({"result": "All done."}))
    } else {
        ScriptStep::say("All done.")
    };
    let wait = (met == Met::Never).then(|| ScriptStep::call("wait_for_servers", json!({})));
    Script::of(wait.into_iter().chain([
        ScriptStep::call("fake__read", json!({"n": 1})).and_call("fake__set", json!({"n": 2})),
        ScriptStep::call("fake__pay", json!({"n": 3})),
        ScriptStep::call("fake__ask", json!({"n": 4})),
        last,
    ]))
}

/// Dies at a point, then runs to the end, and checks everything.
async fn check(
    house: &House,
    (policy, attendance, met): (&Policy, Attendance, Met),
    expected: &RunEnded,
    death: Point,
) {
    let world = house.world(policy, attendance, met);
    let context = format!("{}, met {met:?}, dying at {death:?}", policy.preset);
    let process = async |bomb: &Arc<Bomb>| tokio::time::timeout(LONG, world.process(bomb)).await;
    let bomb = Bomb::at(Some(death));
    let died = process(&bomb).await.unwrap_or_else(|_| panic!("{context}: hangs before"));
    assert!(matches!(died, End::Crashed), "{context}: ended before it died");
    assert!(bomb.has_gone_off(), "{context}: crashed by itself");
    let left = Left::by(&world.records(), house.executed());
    let end = process(&Bomb::at(None)).await.unwrap_or_else(|_| panic!("{context}: hangs after"));
    let End::Ended(end) = end else { panic!("{context}: never ended") };
    assert_eq!((end.reason, &end.answer), (expected.reason, &expected.answer), "{context}");
    assert_eq!(world.model.refused(), Vec::<String>::new(), "{context}");
    left.assert_fates(&world, &house.executed(), &context);
}

async fn matrix(house: &House, name: &str, attendance: Attendance, met: Met) -> usize {
    let policy = preset(name).expect("a preset");
    let (world, bomb) = (house.world(&policy, attendance, met), Bomb::at(None));
    let End::Ended(end) = world.process(&bomb).await else { panic!("{name}: the undisturbed run must end") };
    assert_eq!(end.answer, "All done.", "{name}");
    assert_eq!(requested(&world.records()).len(), 4, "{name}: every tool of the server");
    Left::default().assert_fates(&world, &house.executed(), name);
    let mut points = Vec::new();
    for n in 1..=bomb.appends.load(Ordering::SeqCst) {
        points.extend([Point::Append(Side::Before, n), Point::Append(Side::After, n)]);
    }
    points.extend((1..=bomb.models.load(Ordering::SeqCst)).map(Point::Model));
    for n in 1..=bomb.tools.load(Ordering::SeqCst) {
        points.extend([Point::Tool(Side::Before, n), Point::Tool(Side::After, n)]);
    }
    for point in &points {
        check(house, (&policy, attendance, met), &end, *point).await;
    }
    points.len()
}

// proves J3, J4, J2, P3, P4
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_kill_matrix_in_process_with_an_mcp_server() {
    let house = House::new();
    let first = House::servers(&house.dir.path().join("memory"), &house.server.url());
    first.connect(&"fake".parse().expect("a name")).await.expect("it is there");
    first.shutdown().await;
    for (name, attendance, met) in [
        ("durable-chat", Attendance::Unattended, Met::Before),
        ("durable-chat", Attendance::Unattended, Met::Never),
        ("assistant", Attendance::Unattended, Met::Before),
        ("operator", Attendance::Attended, Met::Before),
        ("default", Attendance::Attended, Met::Before),
        ("default", Attendance::Unattended, Met::Before),
        ("default", Attendance::Unattended, Met::Never),
    ] {
        let checked = matrix(&house, name, attendance, met).await;
        let person = match attendance {
            Attendance::Attended => ", with a person",
            Attendance::Unattended => "",
        };
        let server = match met {
            Met::Before => "with an MCP server",
            Met::Never => "with an MCP server never listed before",
        };
        let row = format!("{name}, {server}{person}");
        count_ways_to_die(KillTarget::InProcess, &row, checked).expect("as stated");
    }
}
