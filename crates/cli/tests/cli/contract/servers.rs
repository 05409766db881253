//! MCP servers on the command line: where they are configured, what a person approves, what each reports.

use serde_json::{Value, json};
use windlass_testkit::mcp::{FakeTool, McpHttpServer, McpScript, ToolAction};
use windlass_testkit::{Script, ScriptStep};

use crate::support::{Bench, Ran};

fn calling(tool: &str) -> Bench {
    Bench::new(Script::of([ScriptStep::call(tool, json!({"word": "heave"})), ScriptStep::say("Aye.")]))
}

fn echo() -> McpHttpServer {
    McpHttpServer::start(McpScript::echo()).expect("a server")
}

fn block(servers: &Value) -> String {
    json!({ "mcpServers": servers }).to_string()
}

fn ok(ran: &Ran) -> &str {
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    &ran.stdout
}

// proves P1
#[test]
fn a_server_is_added_looked_at_called_and_removed() {
    let (bench, server) = (calling("hub__echo"), echo());
    let file = bench.dir.path().join(".config/windlass/windlass.toml");
    let added = bench.run(&["mcp", "add", "hub", "--url", &server.url(), "--trust", "--tag", "web"]);
    assert!(ok(&added).starts_with("Added hub in "), "{}", added.stdout);
    assert_eq!(bench.run(&["mcp", "add", "hub", "--url", &server.url()]).code, 2, "it is there already");
    ok(&bench.run(&["mcp", "add", "dead", "--", "false"]));

    let listed = bench.run(&["mcp", "list", "--json"]);
    let states: Vec<Value> =
        ok(&listed).lines().map(|line| serde_json::from_str(line).expect("a JSON object")).collect();
    assert_eq!(states[0]["name"], "dead");
    assert_eq!(states[0]["state"], "failed");
    assert!(states[0]["last_error"].as_str().is_some_and(|error| error.contains("exit code 1")), "{}", states[0]);
    assert_eq!((&states[1]["state"], &states[1]["tools"]), (&json!("connected"), &json!(["echo"])));
    assert_eq!(states[1]["revision"], "2026-07-28");

    assert!(ok(&bench.run(&["mcp", "test", "hub"])).contains("protocol 2026-07-28"));
    assert!(ok(&bench.run(&["mcp", "tools", "hub"])).contains("hub.echo"));
    assert_eq!(ok(&bench.run(&["mcp", "call", "hub", "echo", r#"{"a": 1}"#])), "echo heard {\"a\":1}\n");
    let wrong = bench.run(&["mcp", "call", "hub", "ecko"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("did you mean \"echo\"?"), "{}", wrong.stderr);
    let dead = bench.run(&["mcp", "test", "dead"]);
    assert!(dead.code == 1 && dead.stderr.contains("exit code 1"), "{}", dead.stderr);

    ok(&bench.run(&["mcp", "remove", "dead"]));
    assert!(!std::fs::read_to_string(file).expect("read").contains("dead"));
    assert_eq!(bench.run(&["mcp", "remove", "dead"]).code, 2);
}

// proves P1, X2
#[test]
fn a_projects_servers_are_used_once_a_person_agrees_to_exactly_them() {
    let (bench, server) = (calling("hub__echo"), echo());
    let file = bench.workspace().join(".mcp.json");
    let write = |servers: &Value| std::fs::write(&file, block(servers)).expect("written");
    let run = |key: &str| {
        let ran = bench.run(&["run", "go", "--session", key, "--allow", "hub.echo"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "Aye.\n"), "{}", ran.stderr);
        (bench.last_request("tool").concat(), ran.stderr)
    };
    write(&json!({"hub": {"url": server.url()}}));
    let (told, said) = run("before");
    assert!(told.contains("There is no tool `hub__echo`") && said.contains("windlass mcp approve"), "{told} {said}");
    assert_eq!(server.requests().len(), 0, "nothing was reached");

    assert!(ok(&bench.run(&["mcp", "approve"])).contains(&server.url()));
    let (told, _) = run("agreed");
    assert!(told.contains("echo heard"), "{told}");

    write(&json!({"hub": {"url": server.url(), "headers": {"X": "y"}}}));
    let (_, said) = run("changed");
    assert!(said.contains("windlass mcp approve"), "another content is another question: {said}");
}

// proves T3: no other server replaces one that died or that nobody approved
#[test]
fn a_call_that_names_one_server_runs_on_no_other() {
    for tool in ["prod__echo", "pj__echo", "off.echo"] {
        let (bench, server) = (calling(tool), echo());
        let file = bench.dir.path().join("servers.json");
        let off = json!({"command": "false", "disabled": true});
        let servers = json!({"env1": {"url": server.url()}, "prod": {"command": "false"}, "off": off});
        std::fs::write(&file, block(&servers)).expect("written");
        let project = json!({"pj": {"command": "false"}});
        std::fs::write(bench.workspace().join(".mcp.json"), block(&project)).expect("written");
        // Connects once, so that the server's tools are known when the run starts.
        let file = file.to_str().expect("a path");
        ok(&bench.run(&["mcp", "test", "env1", "--mcp-config", file]));
        ok(&bench.run(&["run", "go", "--mcp-config", file, "--allow", "*"]));
        let told = bench.last_request("tool").concat();
        let server = tool.split(['_', '.']).next().unwrap_or_default();
        assert!(told.contains(&format!("the server `{server}` is not available")), "{told}");
        assert!(told.contains("`env1__echo`") && !told.contains("echo heard"), "{told}");
    }
}

// proves P2: a server that hangs or dies never delays a prompt
#[test]
fn servers_that_hang_or_die_hold_up_nobody() {
    let (bench, server) = (calling("hub__echo"), echo());
    let file = bench.dir.path().join("servers.json");
    let servers = json!({
        "hub": {"url": server.url()},
        "dead": {"command": "false"},
        "gone": {"command": "/no/such/program"},
        "hung": {"command": "sleep", "args": ["600"], "startup_timeout": 300},
        "unset": {"command": "${NO_SUCH_VARIABLE}"}
    });
    std::fs::write(&file, block(&servers)).expect("written");
    let begun = std::time::Instant::now();
    let ran = bench.run(&["run", "go", "--mcp-config", file.to_str().expect("a path"), "--allow", "hub.*"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Aye.\n"), "{}", ran.stderr);
    assert!(bench.last_request("tool").concat().contains("echo heard"));
    assert!(begun.elapsed().as_secs() < 200, "nobody waited for the one that hangs");
    assert!(ran.stderr.contains("NO_SUCH_VARIABLE"), "{}", ran.stderr);
    for (server, told) in [("dead", "exit code 1"), ("gone", "/no/such/program")] {
        let tested = bench.run(&["mcp", "test", server, "--mcp-config", file.to_str().expect("a path")]);
        assert!(tested.code == 1 && tested.stderr.contains(told), "{server}: {}", tested.stderr);
    }
    bench.assert_nothing_survives("servers that hang");
}

// proves T2
#[test]
fn tags_and_hidden_tools_are_chosen_on_the_command_line_and_in_the_file() {
    let bench = calling("hub__echo");
    let tools = [FakeTool::new("echo", ToolAction::Echo), FakeTool::new("shout", ToolAction::Echo)];
    let server = McpHttpServer::start(McpScript::with(tools)).expect("a server");
    let file = bench.dir.path().join("servers.json");
    std::fs::write(&file, block(&json!({"hub": {"url": server.url(), "tags": ["web"]}}))).expect("written");
    std::fs::write(bench.workspace().join("windlass.toml"), "[hidden]\nalways = ['hub.shout', 'run_command']\n")
        .expect("written");
    let config = file.to_str().expect("a path");
    ok(&bench.run(&["mcp", "test", "hub", "--mcp-config", config]));
    let offered = |flags: &[&str]| {
        let ran = bench.run(&[&["run", "go", "--mcp-config", config], flags].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        bench.offered()
    };
    let all = offered(&[]);
    assert!(all.contains(&"hub__echo".to_owned()) && all.contains(&"read_file".to_owned()), "{all:?}");
    assert!(!all.contains(&"hub__shout".to_owned()) && !all.contains(&"run_command".to_owned()), "{all:?}");
    let other = offered(&["--tag", "database"]);
    assert!(!other.contains(&"hub__echo".to_owned()) && other.contains(&"read_file".to_owned()), "{other:?}");
}

// proves P1: an empty list is no error
#[test]
fn without_a_server_the_list_is_empty_and_no_error() {
    let bench = Bench::new(Script::of([]));
    assert!(ok(&bench.run(&["mcp", "list"])).starts_with("no MCP server is configured"));
    assert_eq!(ok(&bench.run(&["mcp", "list", "--json"])), "", "a line for each");
    assert_eq!(bench.run(&["mcp", "test", "hub"]).code, 2);
}

// proves P1: an invalid header is refused at once, an unknown key is reported
#[test]
fn a_header_that_is_none_is_refused_and_a_key_that_is_none_is_told() {
    let bench = Bench::new(Script::of([]));
    let refused = bench.run(&["mcp", "add", "hub", "--url", "http://127.0.0.1:9", "--header", "bad header=1"]);
    assert!(refused.code == 2 && refused.stderr.contains("`bad header` is no name"), "{}", refused.stderr);
    assert!(!bench.dir.path().join(".config/windlass/windlass.toml").exists());
    let file = bench.dir.path().join("servers.json");
    std::fs::write(&file, block(&json!({"hub": {"command": "false", "agrs": []}}))).expect("written");
    for command in [&["mcp", "list"][..], &["mcp", "test", "hub"]] {
        let told = bench.run(&[command, &["--mcp-config", file.to_str().expect("a path")]].concat()).stderr;
        assert_eq!(told.matches("`agrs` means nothing here; did you mean `args`?").count(), 1, "{command:?}: {told}");
    }
}

// proves X4: a server's text is printed without its control codes, at a terminal and through a pipe
#[cfg(target_os = "linux")]
#[test]
fn a_servers_answer_can_not_steer_the_terminal() {
    let bench = Bench::new(Script::of([]));
    let red = json!({"content": [{"type": "text", "text": "pic \u{1b}[31mred"}]});
    let server =
        McpHttpServer::start(McpScript::with([FakeTool::new("paint", ToolAction::Result(red))])).expect("a server");
    ok(&bench.run(&["mcp", "add", "hub", "--url", &server.url()]));
    let call = ["mcp", "call", "hub", "paint"];
    assert_eq!(ok(&bench.run(&call)), "pic \u{fffd}[31mred\n");
    let mut glass = crate::support::glass::Glass::start(bench.command(&call));
    assert_eq!(glass.end(), 0);
    assert!(glass.written().contains("pic \u{fffd}[31mred"), "{}", glass.written());
}
