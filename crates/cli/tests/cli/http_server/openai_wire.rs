//! The OpenAI wire (`/v1`), byte by byte; `openai_clients.rs` has real clients of it.

use std::io::Read as _;

use serde_json::{Value, json};
use windlass_testkit::{BodyPoint, FaultKind, ReplyPace, Scene, Script, ScriptStep, WriteSplit};

use crate::support::Bench;
use crate::support::served::{Answered, Served};

/// A text that is sent while it comes: longer than what is held back.
fn long(beginning: &str) -> String {
    format!("{beginning}{}", " haul away".repeat(60))
}

pub(super) fn chat(messages: &Value) -> Value {
    json!({"model": "windlass", "messages": messages})
}

pub(super) fn asked(text: &str) -> Value {
    chat(&json!([{"role": "user", "content": text}]))
}

fn complete(served: &Served, body: &Value) -> Answered {
    let answered = served.post("/v1/chat/completions", body);
    assert_eq!(answered.status, 200, "{answered:?}");
    answered
}

pub(super) fn text(answered: &Answered) -> String {
    answered.json()["choices"][0]["message"]["content"].as_str().expect("a text").to_owned()
}

pub(super) fn header(answered: &Answered, name: &str) -> String {
    let line = answered.headers.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
    line.unwrap_or_else(|| panic!("no {name}: {answered:?}")).to_owned()
}

pub(super) fn session(answered: &Answered) -> String {
    header(answered, "x-windlass-session")
}

/// The error of an answer in OpenAI's shape.
pub(super) fn error(answered: &Answered) -> Value {
    let json = answered.json();
    let fields: Vec<&String> = json["error"].as_object().expect("an error").keys().collect();
    assert_eq!(fields, ["code", "message", "param", "type"], "{answered:?}");
    json["error"].clone()
}

/// The data of a stream's events, without the last `[DONE]`.
fn events(answered: &Answered) -> Vec<Value> {
    let data = answered.body.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]");
    data.map(|data| serde_json::from_str(data).expect("JSON")).collect()
}

fn joined(events: &[Value], field: &str) -> String {
    events.iter().filter_map(|event| event["choices"][0]["delta"][field].as_str()).collect()
}

fn streaming(mut body: Value) -> Value {
    body["stream"] = true.into();
    body
}

fn records(served: &Served, session: &str) -> Vec<Value> {
    served.get(&format!("/api/sessions/{session}/records")).json()["records"].as_array().expect("records").clone()
}

fn of_kind<'a>(records: &'a [Value], kind: &str) -> Vec<&'a Value> {
    records.iter().filter(|record| record["kind"] == kind).collect()
}

// proves W3: agents are models, and an unknown one is an error that names those there are
#[test]
fn agents_are_listed_as_models() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    let folder = bench.dir.path().join(".config/windlass");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("windlass.toml"), "[agents.reviewer]\nsystem = 'Review; change nothing.'\n")
        .expect("ok");
    let served = Served::start(&bench, &[]);
    let listed = served.get("/v1/models").json();
    let ids: Vec<&str> = listed["data"].as_array().expect("models").iter().filter_map(|m| m["id"].as_str()).collect();
    assert_eq!((&listed["object"], ids), (&json!("list"), vec!["windlass", "windlass/reviewer"]));
    assert_eq!(served.get("/v1/models/windlass/reviewer").json()["id"], "windlass/reviewer");
    assert_eq!(served.get("/v1/models/windlass%2Freviewer").json()["object"], "model");
    let unknown = served.get("/v1/models/gpt-5");
    assert_eq!((unknown.status, &error(&unknown)["code"]), (404, &json!("model_not_found")));
    assert!(unknown.body.contains("windlass, windlass/reviewer"), "{unknown:?}");
    let body = json!({"model": "windlass/reviewer", "messages": [{"role": "user", "content": "Look."}]});
    let answered = complete(&served, &body);
    assert_eq!(answered.json()["model"], "windlass/reviewer");
    assert!(bench.last_request("system").concat().contains("Review; change nothing."));
    let records = records(&served, &session(&answered));
    assert_eq!(of_kind(&records, "RunStarted")[0]["body"]["agent"], "reviewer");
}

// proves W3, T8: a request is a run with tools in a session of the caller; nobody is asked
#[test]
fn a_completion_is_an_unattended_run_with_tools() {
    let bench = Bench::new(Script::of([
        ScriptStep::say("I write it.").and_call("write_file", json!({"path": "a.txt", "content": "x"})),
        ScriptStep::call("run_command", json!({"command": "touch b.txt"})),
        ScriptStep::say("I wrote a.txt.").usage(30, 5),
    ]));
    let served = Served::start(&bench, &[]);
    let answered = complete(
        &served,
        &chat(&json!([{"role": "system", "content": "You are a clerk."}, {"role": "user", "content": "write a.txt"}])),
    );
    let json = answered.json();
    assert_eq!(text(&answered), "I wrote a.txt.");
    assert_eq!((&json["object"], &json["model"]), (&json!("chat.completion"), &json!("windlass")));
    assert_eq!(json["choices"][0]["finish_reason"], "stop");
    assert_eq!((&json["usage"]["prompt_tokens"], &json["usage"]["total_tokens"]), (&json!(50), &json!(75)));
    assert_eq!((bench.read("a.txt").as_deref(), bench.read("b.txt")), (Some("x"), None));
    assert!(bench.last_request("system").concat().contains("You are a clerk."));
    let records = records(&served, &session(&answered));
    assert_eq!(header(&answered, "x-windlass-run"), "1");
    assert_eq!(of_kind(&records, "RunStarted")[0]["body"]["attendance"], "unattended");
    let outcomes: Vec<&Value> =
        of_kind(&records, "CallFinished").into_iter().map(|record| &record["body"]["outcome"]).collect();
    assert_eq!(outcomes, ["ok", "denied"]);
    assert_eq!(of_kind(&records, "MessageAccepted")[0]["body"]["text"], "write a.txt");
}

// proves W3: a stream has the answer as it comes, what the run does beside it, its end and its usage
#[test]
fn a_stream_has_the_answer_and_progress_apart() {
    let answer = long("Done:");
    let bench = Bench::new(Script::of([
        ScriptStep::say("I look.").and_call("list_directory", json!({"path": "."})).thinking("Where?"),
        ScriptStep::say(answer.clone()),
    ]));
    let served = Served::start(&bench, &[]);
    let mut body = streaming(asked("look"));
    body["stream_options"] = json!({"include_usage": true});
    let answered = served.post("/v1/chat/completions", &body);
    assert_eq!((answered.status, header(&answered, "content-type").as_str()), (200, "text/event-stream"));
    assert!(answered.body.ends_with("data: [DONE]\n\n"), "{}", answered.body);
    let events = events(&answered);
    assert_eq!(events[0]["choices"][0]["delta"]["role"], "assistant");
    assert_eq!(joined(&events, "content"), answer);
    let progress = joined(&events, "reasoning_content");
    assert!(progress.starts_with("Where?\n") && progress.contains("list_directory ."), "{progress:?}");
    let last = events.last().expect("usage");
    assert_eq!((&last["choices"], &last["usage"]["total_tokens"]), (&json!([]), &json!(40)));
    assert_eq!(events[events.len() - 2]["choices"][0]["finish_reason"], "stop");
    assert!(served.get(&format!("/api/sessions/{}", session(&answered))).status == 200);
}

// proves W3, E1: a reply that breaks off after a part of it was sent, and is made again, does not come twice
#[test]
fn a_reply_that_is_made_again_does_not_come_twice() {
    let answer = long("Done:");
    let pace = ReplyPace { writes: WriteSplit::Events, pause_ms: 1, ..ReplyPace::default() };
    let step = ScriptStep::say(answer.clone()).pace(pace).fault(FaultKind::Cut { after: BodyPoint::Pieces(20) });
    let bench = Bench::new(Script::of([step]));
    let served = Served::start(&bench, &[]);
    let answered = served.post("/v1/chat/completions", &streaming(asked("haul")));
    let events = events(&answered);
    assert_eq!(joined(&events, "content"), answer);
    let pieces = events.iter().filter_map(|event| event["choices"][0]["delta"]["content"].as_str());
    assert!(pieces.filter(|piece| !piece.is_empty()).count() >= 2, "a part came before the reply broke off");
    assert!(bench.server.requests().len() > 1, "it was made again");
}

// proves W3, J8: a conversation that goes on is a fork of its session, which stays as it is; others are not known
#[test]
fn a_conversation_that_goes_on_keeps_its_calls_in_a_fork() {
    let bench = Bench::new(Script::of([
        ScriptStep::call("write_file", json!({"path": "a.txt", "content": "secret word"})),
        ScriptStep::say("Written."),
        ScriptStep::say("Again."),
    ]));
    let served = Served::start(&bench, &[]);
    let first = complete(&served, &asked("write a.txt"));
    let before = records(&served, &session(&first));
    let messages = |answer: &str| {
        chat(&json!([{"role": "user", "content": "write a.txt"}, {"role": "assistant", "content": answer},
            {"role": "user", "content": "what did you write?"}]))
    };
    let second = complete(&served, &messages("Written."));
    assert_ne!(session(&second), session(&first));
    assert_eq!(header(&second, "x-windlass-run"), "2");
    let sent = bench.server.requests().last().expect("a request").body.to_string();
    assert!(sent.contains("secret word") && !sent.contains("earlier-conversation"), "{sent}");
    assert_eq!(records(&served, &session(&first))[..before.len()], before, "the first session is as it was");
    // The list has the conversation once; the session before is in the archive.
    let listed = |archived: &str| {
        let page = served.get(&format!("/api/sessions?archived={archived}")).json();
        let ids: Vec<String> = page["sessions"]
            .as_array()
            .expect("sessions")
            .iter()
            .map(|row| row["id"].as_str().expect("an id").to_owned())
            .collect();
        ids
    };
    while listed("true").is_empty() {}
    assert_eq!((listed("false"), listed("true")), (vec![session(&second)], vec![session(&first)]));
    // After a restart, too.
    drop(served);
    let served = Served::start(&bench, &[]);
    let again = complete(&served, &messages("Written."));
    assert_eq!(header(&again, "x-windlass-run"), "2");
}

// proves W3: what was said elsewhere is attached as it was sent, and no record is made up for it
#[test]
fn a_conversation_from_elsewhere_is_attached_to_the_message() {
    let bench = Bench::new(Script::default().scene(Scene::when("what did you", [ScriptStep::say("A poem.")])));
    let served = Served::start(&bench, &[]);
    let answered = complete(
        &served,
        &chat(&json!([{"role": "user", "content": "write a poem"}, {"role": "assistant", "content": "Roses are red."},
            {"role": "user", "content": "what did you write?"}])),
    );
    let sent = bench.last_request("user").concat();
    assert!(sent.contains("earlier-conversation.txt") && sent.contains("Roses are red."), "{sent}");
    let records = records(&served, &session(&answered));
    let accepted = of_kind(&records, "MessageAccepted");
    assert_eq!(accepted.len(), 1);
    assert_eq!(accepted[0]["body"]["text"], "what did you write?");
    assert_eq!(of_kind(&records, "ModelReplied").len(), 1);
}

// proves W3: a header names the session to go on with; there the message is sent alone
#[test]
fn a_header_names_the_session_to_go_on_with() {
    let bench = Bench::new(Script::of([ScriptStep::say("One."), ScriptStep::say("Two."), ScriptStep::say("Three.")]));
    let served = Served::start(&bench, &[]);
    let bearer = format!("Bearer {}", served.token);
    let send = |name: &str, body: &Value| {
        let headers = [("authorization", bearer.as_str()), ("x-windlass-session", name)];
        served.send_with("POST", "/v1/chat/completions", &headers, &body.to_string())
    };
    let first = send("notes", &asked("first"));
    assert_eq!((first.status, text(&first).as_str()), (200, "One."), "{first:?}");
    let id = session(&first);
    let longer = chat(&json!([{"role": "user", "content": "never said"}, {"role": "assistant", "content": "nor this"},
        {"role": "user", "content": "second"}]));
    for (name, words, run) in [("notes", "Two.", "2"), (id.as_str(), "Three.", "3")] {
        let next = send(name, &longer);
        assert_eq!((next.status, text(&next).as_str()), (200, words), "{next:?}");
        assert_eq!((session(&next), header(&next, "x-windlass-run").as_str()), (id.clone(), run));
    }
    assert!(!bench.server.requests().last().expect("one").body.to_string().contains("never said"));
    let unknown = send("0198f3a0-0000-7000-8000-000000000001", &asked("x"));
    assert_eq!(unknown.status, 404, "{unknown:?}");
    for wrong in ["two words", "sk-proj-aBcD1234efGh5678ijKl9012mnOp3456"] {
        let refused = send(wrong, &asked("x"));
        assert_eq!(refused.status, 400, "{refused:?}");
        error(&refused);
    }
}

// proves W3: responses, whole and streamed, and the one that goes on from another
#[test]
fn a_response_goes_on_from_the_one_before() {
    let bench = Bench::new(Script::of([
        ScriptStep::call("write_file", json!({"path": "a.txt", "content": "secret word"})),
        ScriptStep::say("Written."),
        ScriptStep::say("The secret word."),
    ]));
    let served = Served::start(&bench, &[]);
    let first = served.post("/v1/responses", &json!({"model": "windlass", "input": "write a.txt"}));
    assert_eq!(first.status, 200, "{first:?}");
    let json = first.json();
    assert_eq!((&json["status"], &json["output"][0]["content"][0]["text"]), (&json!("completed"), &json!("Written.")));
    let next = json!({"model": "windlass", "input": "which?", "previous_response_id": json["id"], "stream": true});
    let second = served.post("/v1/responses", &next);
    let events = events(&second);
    let last = &events.last().expect("an end")["response"];
    assert_eq!(last["output"][0]["content"][0]["text"], "The secret word.");
    assert_eq!(last["previous_response_id"], json["id"]);
    assert!(second.body.contains("event: response.completed\n"), "{}", second.body);
    assert!(bench.server.requests().last().expect("one").body.to_string().contains("\\\"secret word\\\""));
    assert_eq!(header(&second, "x-windlass-run"), "2");
    for wrong in ["resp_1", "resp_0198f3a0000070008000000000000001_1"] {
        let body = json!({"model": "windlass", "input": "x", "previous_response_id": wrong});
        let refused = served.post("/v1/responses", &body);
        assert_eq!((refused.status, &error(&refused)["code"]), (400, &json!("previous_response_not_found")));
    }
}

// proves W3: every error of this wire has OpenAI's shape, whoever refuses the request
#[test]
fn errors_have_openais_shape() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    let served = Served::start(&bench, &[]);
    let without_token = served.send_with("GET", "/v1/models", &[], "");
    assert_eq!((without_token.status, &error(&without_token)["code"]), (401, &json!("invalid_api_key")));
    assert!(without_token.headers.contains("www-authenticate: bearer"));
    let elsewhere = served.send_with("GET", "/v1/models", &[("host", "evil.example")], "");
    assert_eq!((elsewhere.status, &error(&elsewhere)["type"]), (403, &json!("permission_error")));
    let (completions, responses) = ("/v1/chat/completions", "/v1/responses");
    let user = json!([{"role": "user", "content": "x"}]);
    let huge = asked(&"x".repeat(33 * 1024 * 1024)).to_string();
    for (method, path, body, status, param) in [
        ("GET", "/v1/nothing", String::new(), 404, Value::Null),
        ("GET", "/v1", String::new(), 404, Value::Null),
        ("DELETE", "/v1/models", String::new(), 405, Value::Null),
        ("GET", completions, String::new(), 405, Value::Null),
        ("POST", completions, "{".into(), 400, Value::Null),
        ("POST", completions, "[]".into(), 400, Value::Null),
        ("POST", completions, huge, 413, Value::Null),
        ("POST", completions, json!({"messages": user}).to_string(), 400, Value::Null),
        ("POST", completions, json!({"model": "gpt-5", "messages": user}).to_string(), 404, "model".into()),
        ("POST", completions, json!({"model": "windlass", "messages": []}).to_string(), 400, "messages".into()),
        ("POST", completions, json!({"model": "windlass", "messages": user, "n": 2}).to_string(), 400, "n".into()),
        (
            "POST",
            completions,
            json!({"model": "windlass", "messages": user, "tools": [{"type": "function"}]}).to_string(),
            400,
            "tools".into(),
        ),
        ("POST", responses, json!({"model": "windlass"}).to_string(), 400, "input".into()),
    ] {
        let answered = served.send(method, path, &body);
        assert_eq!((answered.status, error(&answered)["param"].clone()), (status, param), "{method} {path}");
    }
    assert_eq!(bench.server.requests().len(), 0, "no model was called");
    assert_eq!(served.get("/api/nothing").error(), "not_found", "elsewhere errors are as they were");
}

// proves W3: images come as data, and nothing is loaded from an address
#[test]
fn an_image_is_attached_from_its_data() {
    const DOT: &str =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let bench = Bench::new(Script::of([ScriptStep::say("A dot.")]));
    let served = Served::start(&bench, &[]);
    let with = |url: &str| {
        chat(&json!([{"role": "user", "content": [{"type": "text", "text": "What is this?"},
            {"type": "image_url", "image_url": {"url": url}}]}]))
    };
    let answered = complete(&served, &with(&format!("data:image/png;base64,{DOT}")));
    let records = records(&served, &session(&answered));
    let attachments = &of_kind(&records, "MessageAccepted")[0]["body"]["attachments"];
    assert_eq!((&attachments[0]["name"], &attachments[0]["kind"]), (&json!("image-1.png"), &json!("image")));
    for url in ["http://127.0.0.1:1/a.png", "https://example.org/a.png", "file:///etc/passwd", "data:image/png,x"] {
        let refused = served.post("/v1/chat/completions", &with(url));
        assert_eq!((refused.status, &error(&refused)["param"]), (400, &json!("messages[0].content[1]")), "{url}");
    }
}

// proves W3, S5: without a model nothing is made up
#[test]
fn without_a_model_the_answer_is_what_to_set() {
    let bench = Bench::new(Script::default());
    let mut command = bench.command(&["serve", "--address", "127.0.0.1:0"]);
    let nowhere = [("OPENAI_BASE_URL", ""), ("OPENAI_MODEL", ""), ("WINDLASS_TEST_OLLAMA", "http://127.0.0.1:1/v1")];
    let served = Served::started(command.envs(nowhere));
    for path in ["/v1/chat/completions", "/v1/responses"] {
        let mut body = asked("hello");
        body["input"] = "hello".into();
        let refused = served.post(path, &body);
        assert_eq!((refused.status, &error(&refused)["code"]), (503, &json!("no_model_configured")), "{refused:?}");
        assert!(refused.body.contains("OPENAI_API_KEY"), "{refused:?}");
    }
    assert_eq!(served.get("/v1/models").status, 200);
    assert_eq!(served.get("/api/sessions").json()["sessions"], json!([]), "no session was begun");
}

// proves W3, M3: a failed run is an error that clients don't repeat by themselves
#[test]
fn a_failed_run_is_an_error_of_a_fitting_kind() {
    let refuse = |code: u16| ScriptStep::say("").fault(FaultKind::status(code).times(100));
    let script = Script::when("key", [refuse(401)]).scene(Scene::when("down", [refuse(400)]));
    let served_bench = Bench::new(script);
    let served = Served::start(&served_bench, &[]);
    for (words, code) in [("key", "model_refused_key"), ("down", "model_failed")] {
        let failed = served.post("/v1/chat/completions", &asked(words));
        assert_eq!((failed.status, &error(&failed)["code"]), (502, &json!(code)), "{failed:?}");
        assert_eq!(header(&failed, "x-should-retry"), "false");
        let streamed = served.post("/v1/chat/completions", &streaming(asked(words)));
        let last = events(&streamed).pop().expect("an event");
        assert_eq!((streamed.status, &last["error"]["code"]), (200, &json!(code)), "{streamed:?}");
        assert!(!streamed.body.contains("[DONE]"));
    }
}

// proves W3, L8: a client that goes away has its run stopped, while it waits and while it reads
#[test]
fn a_client_that_goes_away_stops_its_run() {
    let bench = Bench::new(Script::of([ScriptStep::call("run_command", json!({"command": "touch begun; sleep 600"}))]));
    for body in [asked("wait"), streaming(asked("wait"))] {
        let mut served = Served::start(&bench, &["--sandbox", "off", "--allow", "run_command"]);
        let bearer = format!("Bearer {}", served.token);
        let headers = [("authorization", bearer.as_str())];
        let mut client = served.begin("POST", "/v1/chat/completions", &headers, &body.to_string());
        bench.wait_for_file("begun", &mut served.child);
        if body["stream"] == true {
            client.read_exact(&mut [0; 12]).expect("the answer begins");
        }
        let listed = served.get("/api/sessions").json();
        let session = listed["sessions"][0]["id"].as_str().expect("a session").to_owned();
        let mut events = served.follow(&session, 0);
        drop(client);
        let end = events.records_to("RunEnded").pop().expect("an end");
        assert_eq!(end["body"]["reason"], "cancelled");
        std::fs::remove_file(bench.workspace().join("begun")).expect("removed");
        drop(served);
        bench.assert_nothing_survives("the client is gone");
    }
}
