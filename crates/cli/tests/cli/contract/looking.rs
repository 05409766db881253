//! What `windlass mcp` prints while it waits, about tools it leaves out, and about typing errors.

use serde_json::{Value, json};
use windlass_testkit::mcp::{FakeTool, ListingStyle, McpHttpServer, McpScript, ToolAction};
use windlass_testkit::{Script, ScriptStep};

use crate::support::Bench;
#[cfg(target_os = "linux")]
use crate::support::glass::Glass;

/// Returns a bench and the path of a file with these servers.
fn bench(servers: &Value) -> (Bench, String) {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    let file = bench.dir.path().join("servers.json");
    std::fs::write(&file, json!({ "mcpServers": servers }).to_string()).expect("written");
    (bench, file.to_str().expect("a path").to_owned())
}

// proves P4: the list names each tool that can't be offered, with the reason
#[test]
fn a_list_names_the_tools_that_are_left_out_and_why() {
    let object = json!({"type": "object"});
    let mut tools = vec![
        json!({"name": "fine", "inputSchema": object}),
        json!({"name": "two words", "inputSchema": object}),
        json!({"name": "fine", "inputSchema": object}),
        json!({"name": "odd", "inputSchema": "text"}),
    ];
    let listed = |tools: &[Value]| {
        let script = McpScript { listing: ListingStyle::Raw(tools.to_vec()), ..McpScript::default() };
        let server = McpHttpServer::start(script).expect("a server");
        let (bench, file) = bench(&json!({"hub": {"url": server.url()}}));
        let run = |arguments: &[&str]| bench.run(&[&["mcp", "list", "--mcp-config", &file], arguments].concat());
        let (text, json) = (run(&[]), run(&["--json"]));
        assert_eq!((text.code, json.code), (0, 0), "{}{}", text.stderr, json.stderr);
        (text.stdout, serde_json::from_str::<Value>(&json.stdout).expect("an object"))
    };
    let (text, json) = listed(&tools);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].contains("1 tool"), "{text}");
    for (line, tool, reason) in
        [(lines[1], "two words", "spaces"), (lines[2], "fine", "same name"), (lines[3], "odd", "no object")]
    {
        assert!(line.starts_with(&format!("  left out: `{tool}`: ")) && line.contains(reason), "{line}");
    }
    assert_eq!(json["left_out"][2]["tool"], "odd", "{json}");
    tools.extend((0..4).map(|n| json!({"name": format!("a {n}"), "inputSchema": object})));
    let (text, _) = listed(&tools);
    assert!(text.ends_with("  left out: 2 more; `windlass mcp test hub` names them\n"), "{text}");
}

// proves P2, W2: while it waits, the list names the servers it waits for
#[cfg(target_os = "linux")]
#[test]
fn a_list_says_whom_it_waits_for_and_shows_who_is_there_meanwhile() {
    let server = McpHttpServer::start(McpScript::echo()).expect("a server");
    let hung = json!({"command": "sleep", "args": ["600"], "startup_timeout": 3});
    let (bench, file) = bench(&json!({"hub": {"url": server.url()}, "hung": hung}));
    let mut command = bench.command(&["mcp", "list", "--mcp-config", &file]);
    command.env("TERM", "xterm");
    let mut glass = Glass::start(command);
    glass.wait("who is there, and who is not yet", |screen| {
        let lines: Vec<&str> = screen.lines().collect();
        matches!(lines[..], [first, .., last] if first.starts_with("hub ") && last == "waiting for 1 of 2: hung")
    });
    glass.wait("how it went", |screen| screen.contains("hung  failed") && !screen.contains("waiting for"));
    bench.assert_nothing_survives("a list");
}

// proves P4: many progress notifications are printed as a few lines
#[test]
fn a_call_by_hand_shows_a_flood_of_progress_as_a_few_lines() {
    let flood = McpScript::with([FakeTool::new("flood", ToolAction::Progresses(5_000))]);
    let server = McpHttpServer::start(flood).expect("a server");
    let (bench, file) = bench(&json!({"hub": {"url": server.url()}}));
    let begun = std::time::Instant::now();
    let ran = bench.run(&["mcp", "call", "hub", "flood", "--mcp-config", &file]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "flood heard {}\n"), "{}", ran.stderr);
    let most = 2 + begun.elapsed().as_millis() / 300;
    assert!((1..=most).contains(&(ran.stderr.lines().count() as u128)), "{}", ran.stderr);
    assert!(ran.stderr.lines().last().is_some_and(|last| last.contains("5000")), "the last is shown: {}", ran.stderr);
}

// proves W2: the error for a typing error names the correction
#[test]
fn a_wrong_word_is_answered_with_the_right_one() {
    let server = McpHttpServer::start(McpScript::echo()).expect("a server");
    let servers = json!({
        "hub": {"url": server.url()}, "child": {"command": "false"}, "unset": {"command": "${NO_SUCH_VARIABLE}"}
    });
    let (bench, file) = bench(&servers);
    let nearest = "there is no MCP server `hib`; did you mean \"hub\"?";
    for (arguments, code, said) in [
        (&["logout", "hib"][..], 2, nearest),
        (&["login", "hib"], 2, nearest),
        (&["test", "hib"], 2, nearest),
        (&["tools", "hib"], 2, nearest),
        (&["call", "hib", "echo"], 2, nearest),
        (&["accept", "hib"], 2, nearest),
        (&["logout", "child"], 2, "not reached over HTTP"),
        (&["call", "hub", "echo", "{a: 1}"], 2, "line 1, column 2, at `a: 1}`: a name must stand in double quotes"),
        (&["call", "hub", "echo", "tree"], 2, "at `tree`: this is no value"),
        (&["call", "hub", "echo", "{}", "--timeout", "0s"], 2, "nothing can be done in no time"),
        (&["test", "unset"], 1, "MCP server `unset` is not configured rightly: `command` can't be used"),
    ] {
        let ran = bench.run(&[&["mcp"], arguments, &["--mcp-config", &file]].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{arguments:?}: {}", ran.stderr);
    }
    let ran = bench.run(&["mcp", "logout", "hub", "--mcp-config", &file]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "There was no login to hub.\n"), "{}", ran.stderr);
}
