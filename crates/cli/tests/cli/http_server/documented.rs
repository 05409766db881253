//! The OpenAPI document and what the server really does (W3).

use std::process::{Command, Stdio};

use serde_json::{Value, json};
use windlass_testkit::mcp::{McpHttpServer, McpScript};
use windlass_testkit::{AfterSteps, Packages, Scene, Script, ScriptStep};

use crate::support::Bench;
use crate::support::served::Served;

const NOBODY: &str = "0198f3a0-0000-7000-8000-000000000001";
const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

// proves W3: every documented request is answered by its route, and no other method at its address is
#[test]
fn the_document_and_the_routes_are_the_same() {
    let bench = Bench::new(Script::default());
    let served = Served::start(&bench, &[]);
    let document = served.send_with("GET", "/api/openapi.json", &[], "").json();
    let paths = document["paths"].as_object().expect("paths");
    assert!(paths.len() > 20, "{}", paths.len());
    for (path, item) in paths {
        let address = path.replace("{session}", NOBODY).replace("{question}", "1").replace("{rule}", "1");
        let address = address.replace("{name}", "none").replace("{id}", "none").replace("{record}", "1");
        for method in METHODS {
            let answered = served.send(&method.to_uppercase(), &address, "");
            let is_routed = !answered.body.contains("there is nothing at this address") && answered.status != 405;
            assert_eq!(is_routed, item.get(method).is_some(), "{method} {path}: {answered:?}");
            if !is_routed {
                assert_eq!(answered.status, 405, "{method} {path}: {answered:?}");
                assert!(answered.headers.contains("\r\nallow: "), "{method} {path}: {answered:?}");
            }
            let documented = item
                .get(method)
                .is_none_or(|operation| operation["responses"].get(answered.status.to_string()).is_some());
            assert!(documented, "{method} {path}: {answered:?}");
        }
    }
}

// proves W3: the page of the document needs nothing from elsewhere
#[test]
fn the_documents_page_is_served_whole() {
    let bench = Bench::new(Script::default());
    let served = Served::start(&bench, &[]);
    let page = served.send_with("GET", "/api/docs", &[], "");
    assert_eq!(page.status, 200, "{page:?}");
    assert!(page.headers.contains("content-security-policy: default-src 'none'; script-src 'self'"), "{page:?}");
    assert!(!page.body.contains("http:") && !page.body.contains("https:"), "{}", page.body);
    let needed = page.body.split('"').filter(|part| part.starts_with("/assets/"));
    for file in needed.chain(["/assets/js/api_types.js", "/assets/js/dom.js"]) {
        assert_eq!(served.send_with("GET", file, &[], "").status, 200, "{file}");
    }
}

/// Sends a message and waits for the end of its run.
fn run(served: &Served, session: &str, text: &str) {
    served.say(session, text);
    served.follow(session, 0).records_to("RunEnded");
}

/// The judge's settings: things that are there where an address names one, so that more than their absence is tested.
/// Where it depends on the session or on a file's content whether a request is good, the document can't say so, and a
/// refusal is right.
fn judge_settings(served: &Served) -> String {
    let [kept, deleted] = [0, 1].map(|_| served.new_session());
    run(served, &kept, "hello");
    let may_refuse = "checks.positive_data_acceptance.expected-statuses = [\"2xx\", \"3xx\", 400, 404, 409]";
    let depending = ["GET /api/sessions", "POST /api/sessions/import", FORK, MESSAGES, CHAT, RESPONSES]
        .map(|name| format!("[[operations]]\ninclude-name = \"{name}\"\n{may_refuse}\n"));
    format!(
        r#"
seed = 7
continue-on-failure = true
max-stream-events = 3
request-timeout = 20
[auth.openapi.bearer]
bearer = "{token}"
[generation]
max-examples = 12
no-shrink = true
database = "none"
[parameters]
"path.session" = "{kept}"
"path.question" = 1
[[operations]]
include-name = "DELETE /api/sessions/{{session}}"
parameters = {{ "path.session" = "{deleted}" }}
[[operations]]
include-name = "POST /api/servers/{{name}}/retry"
parameters = {{ "path.name" = "hub" }}
[[operations]]
include-name = "GET /api/sessions/{{session}}/events"
parameters = {{ "query.after" = 0, "header.last-event-id" = "1" }}
# Its only negative case left is an unknown header, and those are welcome. `bad_requests` forges the others.
checks.negative_data_rejection.enabled = false
{depending}
"#,
        token = served.token,
        depending = depending.concat()
    )
}

const CHAT: &str = "POST /v1/chat/completions";
const RESPONSES: &str = "POST /v1/responses";
const FORK: &str = "POST /api/sessions/{session}/fork";
const MESSAGES: &str = "POST /api/sessions/{session}/messages";

// proves W3: whatever the document allows or forbids is answered as the document says, and nothing makes the server fail
#[test]
fn a_judge_that_sends_what_it_likes_finds_no_fault() {
    let Some(folder) = Packages::ApiJudge.folder(env!("CARGO_TARGET_TMPDIR")) else { return };
    let scene = Scene { steps: vec![ScriptStep::say("Aye.")], ..Scene::default() };
    let bench = Bench::new(Script::default().scene(scene.then(AfterSteps::RepeatLast)));
    let hub = McpHttpServer::start(McpScript::echo()).expect("a server");
    assert_eq!(bench.run(&["mcp", "add", "hub", "--url", &hub.url()]).code, 0);
    // It sends more requests, and more wrong tokens, than a person would.
    let served = Served::start(&bench, &["--max-stranger-requests", "1000000"]);
    let settings = bench.dir.path().join("judge.toml");
    std::fs::write(&settings, judge_settings(&served)).expect("written");
    let mut judge = Command::new(folder.join("bin/schemathesis"));
    judge.arg("--config-file").arg(&settings).args(["run", "--phases", "examples,coverage,fuzzing"]);
    judge.arg(format!("http://{}/api/openapi.json", served.host));
    let judged = judge.current_dir(bench.dir.path()).stdin(Stdio::null()).output().expect("the judge runs");
    let said = String::from_utf8_lossy(&judged.stdout);
    assert!(judged.status.success(), "{said}\n{}", String::from_utf8_lossy(&judged.stderr));
    // The server is as it was.
    let session = served.new_session();
    run(&served, &session, "still there?");
}

// proves W3, P2: a tool server that failed says why, and is tried again when a person asks for it
#[test]
fn tool_servers_say_their_state_and_are_tried_again() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    let hub = McpHttpServer::start(McpScript::echo()).expect("a server");
    assert_eq!(bench.run(&["mcp", "add", "hub", "--url", &hub.url()]).code, 0);
    assert_eq!(bench.run(&["mcp", "add", "dead", "--", "sh", "-c", "echo no oil >&2; exit 3"]).code, 0);
    let served = Served::start(&bench, &[]);
    let servers = served.get("/api/servers").json();
    assert_eq!(servers["servers"][1]["state"], "idle", "{servers}");
    let dead = served.send("POST", "/api/servers/dead/retry", "").json();
    assert_eq!(dead["state"], "failed", "{dead}");
    let reason = dead["reason"].as_str().expect("a reason");
    assert!(reason.contains("exit code 3") && reason.contains("no oil"), "{reason}");
    let connected = served.send("POST", "/api/servers/hub/retry", "").json();
    assert_eq!((&connected["state"], &connected["tools"]), (&json!("connected"), &json!(1)), "{connected}");
    assert_eq!(served.send("POST", "/api/servers/none/retry", "").error(), "not_found");
}

// proves W3, M2: a model says whether its server answers and how its calls went, in all sessions together
#[test]
fn models_say_whether_they_answer() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    let served = Served::start(&bench, &[]);
    let fine = served.get("/api/models").json();
    assert_eq!(
        (&fine["models"][0]["health"], &fine["models"][0]["reachable"]),
        (&json!("fine"), &json!(true)),
        "{fine}"
    );
    let mut nobody = bench.command(&["serve", "--address", "127.0.0.1:0", "--preset", "local-model"]);
    // A minute of rest takes six seconds, the waits between tries a tenth of one.
    nobody.env("OPENAI_BASE_URL", "http://127.0.0.1:1/v1").env("WINDLASS_TEST_CLOCK", "10");
    let served = Served::started(&mut nobody);
    let silent = served.get("/api/models").json();
    assert_eq!(silent["models"][0]["reachable"], json!(false), "{silent}");
    for turn in ["failing", "failing", "resting"] {
        let session = served.new_session();
        served.say(&session, "hello");
        let end = served.follow(&session, 0).records_to("RunEnded").pop().expect("an end");
        assert_eq!(end["body"]["reason"], json!("failed"), "{end}");
        let now = served.get("/api/models").json();
        assert_eq!(now["models"][0]["health"], json!(turn), "{now}");
    }
}

// proves W3, M7: usage is summed over the days that are asked for
#[test]
fn usage_is_summed_over_a_range_of_days() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.").usage(100, 5)]));
    let served = Served::start(&bench, &[]);
    let session = served.new_session();
    run(&served, &session, "hello");
    let all = served.get("/api/usage").json();
    assert_eq!((&all["rows"][0]["calls"], &all["rows"][0]["tokens_in"]), (&json!(1), &json!(100)), "{all}");
    let day = all["rows"][0]["name"].as_str().expect("a day").to_owned();
    let calls = |query: &str| served.get(&format!("/api/usage?{query}")).json()["rows"].as_array().map(Vec::len);
    assert_eq!(calls(&format!("from={day}&to={day}&by=session")), Some(1));
    assert_eq!(calls("to=2001-01-01"), Some(0));
    assert_eq!(calls("from=2999-01-01"), Some(0));
    for wrong in ["from=yesterday", "to=2026-02-30", "from=2026-1-1"] {
        assert_eq!(served.get(&format!("/api/usage?{wrong}")).error(), "bad_request", "{wrong}");
    }
}

// proves W3: an address is compared as it stands, and odd input is answered, not dropped
#[test]
fn odd_input_is_answered_as_every_other() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    let served = Served::start(&bench, &[]);
    let session = served.new_session();
    let at = |rest: &str| format!("/api/sessions/{session}{rest}");
    let numbers = "{\"at\": 99999999999999999999999}";
    for (method, path, body, status) in [
        ("POST", at("/messages"), "{\"text\": \"\\u0000\"}", 202),
        ("POST", at("/messages"), "{\"text\": \"\\ud800\"}", 400),
        ("POST", at("/fork"), numbers, 400),
        ("POST", at("/undo"), "{\"call\": {\"call\": \"1.1.99999999999\"}}", 400),
        ("POST", at("/questions/99999999999/answer"), "{\"option\": \"once\"}", 404),
        ("PATCH", at(""), "{\"title\": \"a\\u0000b\"}", 400),
        ("GET", "/api/sessions?search=%00".to_owned(), "", 200),
        ("GET", "/api/sessions?search=%ff".to_owned(), "", 200),
        ("GET", "/api/sessions?after=%00".to_owned(), "", 400),
        ("GET", at("/records?before=9007199254740991"), "", 200),
        ("GET", at("/records?before=9007199254740992"), "", 400),
        ("GET", at("/events?after=18446744073709551615"), "", 400),
        ("GET", "/api/sessions/%00".to_owned(), "", 404),
        ("GET", "/assets/%ff".to_owned(), "", 404),
        ("GET", "/?token=a&token=b".to_owned(), "", 400),
        ("POST", "/api/sessions".to_owned(), "[null, null]", 400),
        ("POST", "/api/sessions".to_owned(), "null", 400),
        ("TRACE", "/api/me".to_owned(), "", 405),
        ("HEAD", "/api/health".to_owned(), "", 200),
    ] {
        let answered = served.send(method, &path, body);
        assert_eq!(answered.status, status, "{method} {path} {body}: {answered:?}");
        if status >= 400 {
            let kind: Value = answered.json();
            assert!(kind["error"]["kind"].is_string(), "{method} {path}: {answered:?}");
        }
    }
}
