//! Which clients the server accepts, and how it describes itself.

use serde_json::{Value, json};
use windlass_testkit::{Script, ScriptStep};

use super::client::Client;
use crate::support::Bench;

fn names(listed: &Value) -> Vec<&str> {
    let tools = listed["result"]["tools"].as_array().expect("tools");
    tools.iter().map(|tool| tool["name"].as_str().expect("a name")).collect()
}

const TOOLS: [&str; 5] = ["ask", "resume", "stop", "list_sessions", "read_session"];

// proves P5: every revision with a handshake is accepted; an unknown one is answered with the newest of them
#[test]
fn clients_of_every_revision_shake_hands() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    for (asked, given) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
    ] {
        let mut client = Client::start(&bench, &[]);
        let greeted = client.initialize(asked, json!({}));
        assert_eq!(greeted["result"]["protocolVersion"], given, "{asked}: {greeted}");
        assert_eq!(greeted["result"]["serverInfo"]["name"], "windlass", "{asked}: {greeted}");
        let listed = client.request("tools/list", json!({}));
        assert_eq!(names(&listed), TOOLS, "{asked}");
        assert!(client.request("ping", json!({}))["result"].is_object(), "{asked}");
        assert_eq!(client.hang_up(), (Some(0), vec![]), "{asked}");
    }
}

// proves P5: 2026-07-28 has no handshake
#[test]
fn a_client_without_a_handshake_discovers_and_calls() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    let mut client = Client::inline(&bench, &[], json!({}));
    let discovered = client.request("server/discover", json!({}));
    let versions = discovered["result"]["supportedVersions"].as_array().expect("versions");
    assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2024-11-05")), "{discovered}");
    assert_eq!(names(&client.request("tools/list", json!({}))), TOOLS);
    let result = client.call("ask", json!({"prompt": "go"}));
    assert_eq!((&result["resultType"], &result["structuredContent"]["answer"]), (&json!("complete"), &json!("Aye.")));
    assert_eq!(client.hang_up(), (Some(0), vec![]));
}

// proves P5: the descriptions of the tools are true
#[test]
fn the_tools_say_what_they_take_give_and_do() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    let mut client = Client::shaken(&bench, &[], json!({}));
    let listed = client.request("tools/list", json!({}));
    for tool in listed["result"]["tools"].as_array().expect("tools") {
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
        let reads = ["list_sessions", "read_session"].contains(&tool["name"].as_str().expect("a name"));
        assert_eq!(tool["annotations"]["readOnlyHint"], reads, "{tool}");
        assert_eq!(tool["annotations"]["destructiveHint"], if reads { Value::Null } else { json!(true) }, "{tool}");
    }
}

// proves P5: invalid messages are refused, before and after the handshake, and the server stays up
#[test]
fn garbage_is_refused_and_stops_nothing() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    let mut client = Client::start(&bench, &[]);
    let nested = "[".repeat(5_000);
    let long = format!("\"{}\"", "x".repeat(17 << 20));
    let refused =
        [("hello", -32700), ("{", -32700), ("\u{0}", -32700), (&nested, -32700), ("[]", -32600), (&long, -32600)];
    let unanswered = ["", "\u{feff}", r#"{"jsonrpc":"2.0","method":"notifications/odd"}"#, r#"{"id":1,"error":2}"#];
    let throw = |client: &mut Client| {
        unanswered.iter().for_each(|line| client.write_line(line));
        client.write(&json!({"jsonrpc": "2.0", "id": 77, "result": {}}));
        for (line, code) in refused {
            client.write_line(line);
            let answer = client.next();
            assert_eq!((&answer["error"]["code"], answer.get("id")), (&json!(code), Some(&Value::Null)), "{answer}");
        }
    };
    throw(&mut client);
    client.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let greeted = client.initialize("2025-11-25", json!({}));
    assert_eq!(greeted["result"]["protocolVersion"], "2025-11-25", "{greeted}");
    throw(&mut client);
    client.write(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}}));
    assert_eq!(names(&client.request("tools/list", json!({}))), TOOLS);
    assert_eq!(client.aside, Vec::<Value>::new(), "nobody is answered who asked nothing");
    client.write(&json!({"jsonrpc": "1.0", "id": 78, "method": "tools/list"}));
    let answer = client.next();
    assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32600), &json!(78)), "{answer}");
    assert_eq!(client.hang_up(), (Some(0), vec![]));
}

// proves P5: a wrong request gets an error reply, and the server stays up
#[test]
fn a_wrong_request_is_refused_by_its_id() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    let mut client = Client::shaken(&bench, &[], json!({}));
    for (method, params, code, said) in [
        ("tools/call", json!({"name": "ask", "arguments": "go"}), -32602, "make no sense"),
        ("tools/call", json!({"name": "aks", "arguments": {}}), -32602, "there is no tool `aks`; there are: ask"),
        ("tools/call", json!({}), -32602, "make no sense"),
        ("resources/read", json!({"uri": "windlass://session/none"}), -32002, "no resource"),
        ("resources/list", json!({"cursor": "x"}), -32602, "cursor"),
        ("what/ever", json!({}), -32601, "what/ever"),
    ] {
        let refused = client.request(method, params.clone());
        assert_eq!(refused["error"]["code"], code, "{method} {params}: {refused}");
        assert!(refused["error"]["message"].as_str().expect("words").contains(said), "{method} {params}: {refused}");
    }
    assert_eq!(client.call("ask", json!({"prompt": "go"}))["structuredContent"]["answer"], "Aye.");
}

// proves W2: the help explains it, with the configuration block to paste
#[test]
fn the_help_shows_how_another_program_names_it() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    let help = bench.run(&["mcp-serve", "--help"]);
    assert_eq!(help.code, 0, "{}", help.stderr);
    for said in ["\"mcpServers\"", "\"args\": [\"mcp-serve\"", "--allow", "--preset"] {
        assert!(help.stdout.contains(said), "{said}: {}", help.stdout);
    }
    assert!(!help.stdout.contains("--json"), "{}", help.stdout);
    let refused = bench.run(&["mcp-serve", "--json"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{}", refused.stderr);
}
