//! `ask`, `resume` and `stop`: the agent works for a client.

use serde_json::{Value, json};
use windlass_testkit::{FaultKind, Scene, Script, ScriptStep};

use super::client::{Client, text};
use crate::support::Bench;

fn wait() -> FaultKind {
    FaultKind::Delay { ms: 120_000 }
}

// proves P5: a job with tools reports progress, and is answered with text and with data
#[test]
fn a_job_is_done_told_and_answered() {
    let bench = Bench::new(Script::of([
        ScriptStep::call("write_file", json!({"path": "a", "content": "x"})),
        ScriptStep::say("Written.").usage(20, 5),
    ]));
    let mut client = Client::shaken(&bench, &[], json!({}));
    let id = client.send_call("ask", json!({"prompt": "write it", "session": "s"}));
    let result = client.result(id);
    assert_eq!((text(&result).as_str(), &result["isError"]), ("Written.", &json!(false)));
    let data = &result["structuredContent"];
    assert_eq!(
        (&data["session"], &data["run"], &data["reason"], &data["answer"], &data["usage"]["calls"]),
        (&json!("s"), &json!(1), &json!("completed"), &json!("Written."), &json!(2))
    );
    assert_eq!(bench.read("a").as_deref(), Some("x"));
    let told = client.progress(id);
    assert_eq!(told[0], "session s", "{told:?}");
    for line in ["turn 1: waiting for the model", "running write_file a (1 line)", "turn 2: waiting for the model"] {
        assert!(told.iter().any(|told| told == line), "{line}: {told:?}");
    }
    let counts: Vec<&Value> = client.aside.iter().map(|message| &message["params"]["progress"]).collect();
    assert!(counts.windows(2).all(|pair| pair[0].as_f64() < pair[1].as_f64()), "{counts:?}");
    // A request without a progress token gets no progress.
    client.aside.clear();
    let id = client.send("tools/call", json!({"name": "ask", "arguments": {"prompt": "and now?"}}));
    assert_eq!(client.result(id)["isError"], false);
    assert_eq!(client.aside, Vec::<Value>::new());
    assert_eq!(client.hang_up(), (Some(0), vec![]));
    bench.assert_whole("served");
}

// proves P5, J6: the same message is processed once, in this process and in the next
#[test]
fn the_same_message_id_is_answered_again_without_a_second_run() {
    let bench = Bench::new(Script::of([ScriptStep::say("Once.")]));
    for session in [json!("s"), Value::Null] {
        let arguments = json!({"prompt": "go", "session": session, "message_id": "m"});
        let mut client = Client::shaken(&bench, &[], json!({}));
        let first = client.call("ask", arguments.clone());
        assert_eq!(text(&first), "Once.");
        let asked = bench.server.count();
        assert_eq!(client.call("ask", arguments.clone()), first);
        client.hang_up();
        let mut another = Client::shaken(&bench, &[], json!({}));
        assert_eq!(another.call("ask", arguments), first);
        assert_eq!(bench.server.count(), asked, "{session}");
    }
    for key in ["s", "message:m"] {
        assert_eq!((bench.records(key, "MessageAccepted"), bench.records(key, "RunStarted")), (1, 1), "{key}");
    }
}

// proves P5, J4: a call with an effect id is done once, however often it is repeated
#[test]
fn a_call_tried_again_with_its_effect_id_is_answered_again() {
    let bench = Bench::new(Script::of([ScriptStep::say("Once.")]));
    let mut client = Client::shaken(&bench, &[], json!({}));
    let params = json!({"name": "ask", "arguments": {"prompt": "go"}, "_meta": {"windlass/effect-id": "e1"}});
    let results = [(); 2].map(|()| {
        let id = client.send("tools/call", params.clone());
        client.result(id)
    });
    assert_eq!(results[0], results[1]);
    assert_eq!((text(&results[0]).as_str(), bench.server.count()), ("Once.", 1));
}

// proves P5, L8: cancelling a call stops its run, recorded as a stop by a person
#[test]
fn a_cancelled_call_stops_its_run() {
    let bench = Bench::new(
        Script::when("slow", [ScriptStep::say("Late.").fault(wait())])
            .scene(Scene::when("quick", [ScriptStep::say("Now.")])),
    );
    let mut client = Client::shaken(&bench, &[], json!({}));
    let id = client.send_call("ask", json!({"prompt": "slow", "session": "s"}));
    bench.wait_for_requests(1, &mut client.child);
    client.write(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id, "reason": "enough"}}));
    // The stop is recorded once the session is no longer busy.
    let result = loop {
        let result = client.call("ask", json!({"prompt": "quick", "session": "s"}));
        if !text(&result).contains("busy") {
            break result;
        }
    };
    assert_eq!(text(&result), "Now.");
    assert!(client.aside.iter().all(|message| message["id"] != id), "a cancelled call is not answered");
    let journal = bench.journal("s");
    let stops: Vec<&Value> = journal.iter().filter(|record| record["kind"] == "CancelAsked").collect();
    assert_eq!(stops.len(), 1);
    assert_eq!(stops[0]["body"]["by"], "person");
    let ends = journal.iter().filter(|record| record["kind"] == "RunEnded");
    assert_eq!(ends.map(|record| record["body"]["reason"].clone()).collect::<Vec<_>>(), ["cancelled", "completed"]);
    bench.assert_whole("cancelled");
}

// proves P5: sessions run concurrently, and a busy one is reported as busy
#[test]
fn sessions_work_in_parallel_and_a_busy_one_refuses() {
    let bench = Bench::new(
        Script::when("slow", [ScriptStep::say("Late.").fault(wait())])
            .scene(Scene::when("quick", [ScriptStep::say("Now.")])),
    );
    let mut client = Client::shaken(&bench, &[], json!({}));
    let slow = client.send_call("ask", json!({"prompt": "slow", "session": "s"}));
    bench.wait_for_requests(1, &mut client.child);
    assert_eq!(text(&client.call("ask", json!({"prompt": "quick", "session": "other"}))), "Now.");
    for (tool, arguments) in [("ask", json!({"prompt": "quick", "session": "s"})), ("resume", json!({"session": "s"}))]
    {
        let refused = client.call(tool, arguments);
        assert_eq!(refused["isError"], true, "{refused}");
        assert!(text(&refused).starts_with("session `s` is busy with another request"), "{refused}");
    }
    // Another process gets the same reply.
    let mut another = Client::shaken(&bench, &[], json!({}));
    let refused = another.call("ask", json!({"prompt": "quick", "session": "s"}));
    assert!(text(&refused).starts_with("session `s` is busy with another request"), "{refused}");
    let stopped = client.call("stop", json!({"session": "s"}));
    assert_eq!(stopped["structuredContent"], json!({"session": "s", "stopped": 1, "dropped": 0}));
    let ended = client.result(slow);
    assert_eq!(
        (&ended["isError"], &ended["structuredContent"]["reason"]),
        (&json!(true), &json!("cancelled")),
        "{ended}"
    );
    let none = client.call("stop", json!({"session": "s"}));
    assert_eq!(
        (&none["structuredContent"]["stopped"], text(&none).as_str()),
        (&json!(0), "no run of session `s` was open")
    );
    assert_eq!(bench.records("s", "MessageAccepted"), 1, "what was refused left nothing");
}

// proves P5: an impossible request is answered with a sentence, and the server stays up
#[test]
fn what_goes_wrong_is_told_with_what_to_do() {
    let bench = Bench::new(
        Script::when("go", [ScriptStep::say("Never.").fault(FaultKind::status(401))])
            .scene(Scene::when("again", [ScriptStep::say("Aye.")])),
    );
    let nowhere = [("OPENAI_BASE_URL", ""), ("OPENAI_MODEL", ""), ("WINDLASS_TEST_OLLAMA", "http://127.0.0.1:1/v1")];
    let mut without = Client::start_with(&bench, &[], &nowhere);
    without.initialize("2025-11-25", json!({}));
    for (tool, arguments, said) in [
        ("ask", json!({"prompt": "go"}), "OPENAI_API_KEY"),
        ("ask", json!({"prompt": " "}), "the prompt is empty"),
        ("ask", json!({"words": "go"}), "unknown field `words`"),
        ("ask", json!({"prompt": "go", "session": "a\nb"}), "control character"),
        ("resume", json!({"session": "none"}), "there is no session `none`; the tool `list_sessions` shows them"),
        ("stop", json!({"session": "none"}), "there is no session `none`"),
        ("read_session", json!({}), "missing field `session`"),
        ("list_sessions", json!({"limit": -1}), "limit"),
        ("list_sessions", json!({"limit": 0}), "limit"),
        ("read_session", json!({"session": "s", "limit": 0}), "integer `0`, expected a nonzero"),
    ] {
        let refused = without.call(tool, arguments.clone());
        assert_eq!(refused["isError"], true, "{tool} {arguments}: {refused}");
        if tool != "list_sessions" {
            assert!(text(&refused).contains(said), "{tool} {arguments}: {refused}");
        }
    }
    assert_eq!(without.hang_up(), (Some(0), vec![]));
    let mut client = Client::shaken(&bench, &[], json!({}));
    let failed = client.call("ask", json!({"prompt": "go", "session": "s"}));
    assert_eq!((&failed["isError"], &failed["structuredContent"]["reason"]), (&json!(true), &json!("failed")));
    assert!(text(&failed).contains("401"), "{failed}");
    let data = &failed["structuredContent"];
    assert_eq!(data["answer"], json!(null), "an error is no answer: {data}");
    assert!(data["error"].as_str().is_some_and(|error| error.contains("401")), "{data}");
    assert_eq!(
        text(&client.call("resume", json!({"session": "s"}))),
        "nothing to resume: no run of session `s` is open"
    );
    assert_eq!(text(&client.call("ask", json!({"prompt": "again", "session": "s"}))), "Aye.");
}
