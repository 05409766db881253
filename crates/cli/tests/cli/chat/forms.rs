//! Tools that ask the person a question during a call.

use serde_json::json;
use windlass_testkit::mcp::{FakeTool, McpHttpServer, McpScript, PersonRequest, ToolAction};
use windlass_testkit::{Script, ScriptStep};

use crate::support::Bench;
use crate::support::glass::Glass;

const OFFER: &str = "[y] answer  [n] no  [d] dismiss\n";

fn server(script: impl FnOnce(McpScript) -> McpScript) -> McpHttpServer {
    let schema = json!({
        "type": "object",
        "properties": {"age": {"type": "integer"}, "name": {"type": "string", "title": "Your name"}},
        "required": ["age", "name"]
    });
    let wish = PersonRequest::Form { message: "Who are you?".into(), schema };
    let script = script(McpScript::with([FakeTool::new("greet", ToolAction::Elicits(wish))]));
    McpHttpServer::start(script).expect("a server")
}

fn bench(server: &McpHttpServer) -> Bench {
    let bench = Bench::new(Script::of([ScriptStep::call("hub__greet", json!({})), ScriptStep::say("Aye.")]));
    let file = bench.dir.path().join("servers.json");
    std::fs::write(&file, json!({"hub": {"url": server.url()}}).to_string()).expect("written");
    bench
}

fn chat(bench: &Bench) -> Glass {
    let file = bench.dir.path().join("servers.json").display().to_string();
    Glass::chat(bench, &["--session", "k", "--mcp-config", &file, "--allow", "hub.greet"])
}

fn answer(glass: &mut Glass, question: &str, line: &str) {
    glass.wait_for(question);
    glass.wait("room for an answer", |screen| screen.lines().last() == Some("?"));
    glass.say(line);
}

// proves P4
#[test]
fn a_form_is_filled_in_line_by_line_in_both_worlds() {
    for revision in [McpScript::legacy, McpScript::modern] {
        let server = server(revision);
        let bench = bench(&server);
        let mut glass = chat(&bench);
        glass.wait_for_prompt();
        glass.say("go");
        glass.wait_for("hub asks: Who are you?");
        answer(&mut glass, OFFER, "y");
        answer(&mut glass, "age (a whole number):", "old");
        answer(&mut glass, "write a whole number", "36");
        answer(&mut glass, "Your name:", "Ada");
        glass.wait_for("Aye.");
        let told = bench.last_request("tool").concat();
        assert!(told.contains("36") && told.contains("Ada"), "{told}");
        bench.assert_whole("filled in");
    }
}

// proves P4, J3: a question that the protocol can carry survives the end of the process
#[test]
fn a_form_is_asked_for_again_after_a_kill() {
    let server = server(McpScript::modern);
    let bench = bench(&server);
    let mut glass = chat(&bench);
    glass.wait_for_prompt();
    glass.say("go");
    glass.wait_for(OFFER);
    drop(glass);
    let mut glass = chat(&bench);
    answer(&mut glass, OFFER, "y");
    answer(&mut glass, "age (a whole number):", "36");
    answer(&mut glass, "Your name:", "Ada");
    glass.wait_for("Aye.");
    assert!(bench.last_request("tool").concat().contains("Ada"));
    bench.assert_whole("killed while it asked");
}
