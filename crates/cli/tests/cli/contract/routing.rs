//! The intent router and the pre-filter on the binary (T2, S4).

use serde_json::{Value, json};
use windlass_testkit::mcp::{FakeTool, McpHttpServer, McpScript, ToolAction};
use windlass_testkit::{FaultKind, Scene, Script, ScriptStep};

use crate::support::Bench;

/// The words by which the scenes know what a model is asked for.
const ROUTER: &str = "Reply with one word";
const REQUEST: &str = "What is a windlass?";

fn configure(bench: &Bench, settings: &str) {
    let folder = bench.dir.path().join(".config/windlass");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("windlass.toml"), settings).expect("written");
}

fn routed(verdict: ScriptStep) -> Bench {
    let answer = Scene::when(REQUEST, [ScriptStep::say("A machine.")]);
    let bench = Bench::new(Script::when(ROUTER, [verdict]).scene(answer));
    configure(&bench, "[policy]\nrouter = 'model'\n");
    bench
}

const LINE: [&str; 4] = ["run", REQUEST, "--session", "s"];

/// The verdicts in the journal, and how many tools each request had.
fn verdicts_and_tools(bench: &Bench) -> (Vec<Value>, Vec<usize>) {
    let journal = bench.journal("s");
    let verdicts = journal.iter().map(|record| record["body"]["intent"].clone()).filter(|verdict| !verdict.is_null());
    let tools = |body: &Value| body["tools"].as_array().map_or(0, Vec::len);
    (verdicts.collect(), bench.server.requests().iter().map(|request| tools(&request.body)).collect())
}

// proves T2: the verdict is recorded; DIRECT sends no definitions, anything else does
#[test]
fn a_router_decides_whether_a_request_is_sent_with_tools() {
    let direct = routed(ScriptStep::say("DIRECT"));
    let ran = direct.run(&LINE);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "A machine.\n"), "{}", ran.stderr);
    assert_eq!(verdicts_and_tools(&direct), (vec![json!("direct")], vec![0, 0]));
    assert!(ran.stderr.contains("no tools are needed"), "{}", ran.stderr);
    direct.assert_whole("a request without tools");

    for verdict in [ScriptStep::say("AGENT"), ScriptStep::say("never").fault(FaultKind::status(401).times(99))] {
        let agent = routed(verdict);
        let ran = agent.run(&LINE);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "A machine.\n"), "{}", ran.stderr);
        let (_, tools) = verdicts_and_tools(&agent);
        assert!(tools[0] == 0 && *tools.last().expect("a request") > 0, "{tools:?}");
        agent.assert_whole("a request with tools");
    }
}

// proves T2, J3: a kill between the verdict and the answer asks no second time
#[cfg(target_os = "linux")]
#[test]
fn a_run_that_is_killed_after_the_verdict_keeps_it() {
    let slow = ScriptStep::say("A machine.").fault(FaultKind::Delay { ms: 600_000 }.times(1));
    let bench = Bench::new(Script::when(ROUTER, [ScriptStep::say("DIRECT")]).scene(Scene::when(REQUEST, [slow])));
    configure(&bench, "[policy]\nrouter = 'model'\n");
    let mut child = bench.spawn(&LINE);
    bench.wait_for_requests(2, &mut child);
    child.kill().expect("killed");
    child.wait().expect("waited");
    let ran = bench.run(&["resume", "s"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "A machine.\n"), "{}", ran.stderr);
    assert_eq!(verdicts_and_tools(&bench), (vec![json!("direct")], vec![0, 0, 0]));
    bench.assert_whole("a killed run with a verdict");
}

/// A server with forty tools.
fn large_server() -> McpHttpServer {
    let things = ["anchor", "basket", "candle", "diamond", "engine", "feather", "garden", "hammer", "island", "jungle"];
    let tools = things.iter().flat_map(|thing| {
        ["paint", "weigh", "polish", "rent"].map(|verb| {
            let tool = FakeTool::new(&format!("{verb}_{thing}"), ToolAction::Echo);
            FakeTool { description: format!("Can {verb} the {thing}."), ..tool }
        })
    });
    McpHttpServer::start(McpScript::with(tools)).expect("a server")
}

// proves S4, T2: a model reaches what it was not offered in two steps
#[test]
fn a_tool_that_is_left_out_is_looked_for_and_called() {
    let server = large_server();
    let steps = [
        ScriptStep::call("find_tools", json!({"query": "weigh a feather"})),
        ScriptStep::call("hub__weigh_feather", json!({"grams": 1})),
        ScriptStep::say("It weighs nothing."),
    ];
    let bench = Bench::new(Script::of(steps));
    let servers = format!("[mcpServers.hub]\nurl = '{}'\n", server.url());
    // The server was never listed before: the first turn waits until it is.
    let policy = "[policy]\ntools_offered = 4\nserver_wait_ms = 3000000\n";
    configure(&bench, &format!("{policy}[permissions]\nallow = ['hub.*']\n{servers}"));
    let ran = bench.run(&["run", "Polish the anchor.", "--session", "s"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "It weighs nothing.\n"), "{}", ran.stderr);
    let offered: Vec<Vec<String>> = bench.server.requests().iter().map(|request| offer(&request.body)).collect();
    let [first, second, third] = &offered[..] else { panic!("three requests: {offered:?}") };
    let of_server = |offer: &[String]| offer.iter().filter(|name| name.starts_with("hub__")).count();
    assert!(first.contains(&"hub__polish_anchor".to_owned()) && of_server(first) <= 4, "{first:?}");
    assert!(first.contains(&"read_file".to_owned()) && first.contains(&"find_tools".to_owned()), "{first:?}");
    assert!(!first.contains(&"hub__weigh_feather".to_owned()) && second.contains(&"hub__weigh_feather".to_owned()));
    assert_eq!(second, third, "it joined once");
    let journal = bench.journal("s");
    let pinned = journal.iter().find(|record| record["kind"] == "ContextPinned").expect("a context");
    assert!(pinned["body"]["context"]["left_out"].as_u64().is_some_and(|count| count >= 36), "{pinned}");
    bench.assert_whole("a large catalogue");
}

fn offer(body: &Value) -> Vec<String> {
    let name = |tool: &Value| tool["function"]["name"].as_str().unwrap_or_default().to_owned();
    body["tools"].as_array().map(|tools| tools.iter().map(name).collect()).unwrap_or_default()
}
