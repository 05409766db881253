//! Reading sessions, through tools and through resources.

use serde_json::json;
use windlass_testkit::{FaultKind, Scene, Script, ScriptStep};

use super::client::{Client, text};
use crate::support::Bench;

// proves P5: messages and calls can be read, in pages, also during a run
#[test]
fn a_session_can_be_listed_and_read() {
    let wait = FaultKind::Delay { ms: 120_000 };
    let bench = Bench::new(Script::of([
        ScriptStep::call("write_file", json!({"path": "a", "content": "x"})),
        ScriptStep::say("Written.").fault(wait.times(1)),
    ]));
    let mut client = Client::shaken(&bench, &[], json!({}));
    let empty = client.call("list_sessions", json!({}));
    assert_eq!((&empty["structuredContent"]["sessions"], &empty["isError"]), (&json!([]), &json!(false)));
    client.send_call("ask", json!({"prompt": "write it", "session": "a b"}));
    bench.wait_for_requests(2, &mut client.child);

    let listed = client.call("list_sessions", json!({}));
    let session = &listed["structuredContent"]["sessions"][0];
    assert_eq!(
        (&session["session"], &session["status"], &session["last_prompt"]),
        (&json!("a b"), &json!("tool_loop"), &json!("write it"))
    );
    let page = client.call("read_session", json!({"session": "a b", "limit": 1}));
    let data = &page["structuredContent"];
    assert_eq!((&data["entries"][0]["who"], &data["entries"][0]["text"]), (&json!("person"), &json!("write it")));
    let rest = client.call("read_session", json!({"session": "a b", "after": data["next"]}));
    assert_eq!(rest["structuredContent"]["next"], json!(null));
    let (said, entries) = (text(&rest), rest["structuredContent"]["entries"].as_array().expect("entries").clone());
    assert!(said.contains("write_file a (1 line)") && said.contains("tool: result of"), "{said}");
    assert!(entries.iter().all(|entry| entry["text"] != "write it"), "{said}");

    let resources = client.request("resources/list", json!({}));
    let uri = &resources["result"]["resources"][0]["uri"];
    assert_eq!(uri, "windlass://session/a%20b");
    let read = client.request("resources/read", json!({"uri": uri}));
    assert!(read["result"]["contents"][0]["text"].as_str().expect("text").contains("person: write it"), "{read}");
    let templates = client.request("resources/templates/list", json!({}));
    assert_eq!(templates["result"]["resourceTemplates"][0]["uriTemplate"], "windlass://session/{key}");
}

// proves P5: many sessions are listed in pages
#[test]
fn resources_come_in_pages() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    let mut client = Client::shaken(&bench, &[], json!({}));
    let ids: Vec<u64> = (0..101)
        .map(|n| {
            client.send("tools/call", json!({"name": "ask", "arguments": {"prompt": "go", "session": format!("s{n}")}}))
        })
        .collect();
    for _ in &ids {
        assert_eq!(client.next()["result"]["isError"], false);
    }
    let first = client.request("resources/list", json!({}));
    assert_eq!(first["result"]["resources"].as_array().map(Vec::len), Some(100));
    let second = client.request("resources/list", json!({"cursor": first["result"]["nextCursor"]}));
    assert_eq!(second["result"]["resources"].as_array().map(Vec::len), Some(1));
    assert_eq!(second["result"].get("nextCursor"), None);
    let listed = client.call("list_sessions", json!({"limit": 3}));
    assert!(text(&listed).contains("(98 more; give a larger limit)"), "{listed}");
}

// proves P5, S3: the sessions of a plan's steps are shown with the session that made the plan
#[test]
fn the_sessions_of_a_plans_steps_are_not_listed() {
    let scene = |when: &str, said: &str| Scene::when(when, [ScriptStep::say(said)]);
    let script = Script::default()
        .scene(scene("Write the plan for this request", "1. Look.\n2. Tell."))
        .scene(scene("Write the answer to the request", "Both are done."))
        .scene(scene("This step (1 of 2)", "Seen."))
        .scene(scene("This step (2 of 2)", "Told."));
    let bench = Bench::new(script);
    let ran = bench.run(&["run", "go", "--plan", "--session", "s"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let mut client = Client::shaken(&bench, &[], json!({}));
    let listed = client.call("list_sessions", json!({}));
    let sessions = listed["structuredContent"]["sessions"].as_array().expect("sessions").clone();
    let resources = client.request("resources/list", json!({}));
    let resources = resources["result"]["resources"].as_array().expect("resources").clone();
    assert_eq!((sessions.len(), &sessions[0]["session"], resources.len()), (1, &json!("s"), 1));
}
