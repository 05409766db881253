//! A server that is told to end: what is under way is finished, nothing new starts, and the next start goes on (J3).

use serde_json::{Value, json};
use windlass_testkit::{Script, ScriptStep};

use crate::support::served::Served;
use crate::support::{Bench, count, ends_unread, send_signal};

const ARGUMENTS: [&str; 4] = ["--sandbox", "off", "--allow", "run_command"];

/// Tells the server to end, and waits until it says so.
fn terminate(served: &Served) {
    send_signal(&served.child, "TERM");
    while served.send_with("GET", "/api/ready", &[], "").status != 503 {}
}

/// A call that goes on until the file `go` appears.
fn waiting_call() -> ScriptStep {
    let command = "echo x >> ran; touch begun; while ! test -e go; do sleep 0.02; done";
    ScriptStep::call("run_command", json!({"command": command}))
}

// proves J3, W3, E1: a call under way is finished and recorded once, messages are refused and not stored, followers get the
// rest, and the next start makes the next model call
#[test]
fn a_call_under_way_is_finished_and_the_run_goes_on_at_the_next_start() {
    let bench = Bench::new(Script::of([waiting_call(), ScriptStep::say("Done.")]));
    let mut served = Served::start(&bench, &ARGUMENTS);
    let (session, other) = (served.new_session(), served.new_session());
    let mut events = served.follow(&session, 0);
    served.say(&session, "wait");
    bench.wait_for_file("begun", &mut served.child);
    terminate(&served);
    for (method, rest, body) in [("POST", "/fork", "{}"), ("PATCH", "", "{\"pinned\": true}"), ("POST", "/compact", "")]
    {
        let refused = served.send(method, &format!("/api/sessions/{session}{rest}"), body);
        assert_eq!((refused.status, refused.error().as_str()), (503, "draining"), "{rest}");
    }
    for session in [&session, &other] {
        let refused = served.post(&format!("/api/sessions/{session}/messages"), &json!({"text": "more"}));
        assert_eq!((refused.status, refused.error().as_str()), (503, "draining"));
        assert!(refused.headers.contains("retry-after: "), "{refused:?}");
    }
    for path in ["/api/sessions", "/api/me", "/api/settings", "/api/models", "/api/servers"] {
        assert_eq!(served.get(path).status, 200, "{path}: what needs no session is still answered");
    }
    std::fs::write(bench.workspace().join("go"), "").expect("written");
    let mut seen: Vec<Value> = events.records_to("CallFinished");
    while let Some((id, event)) = events.next() {
        seen.extend(id.map(|_| event));
    }
    assert_eq!(ends_unread(&mut served.child), 0);
    assert_eq!((bench.server.count(), count(&seen, "RunEnded")), (1, 0), "{seen:?}");
    let served = Served::start(&bench, &ARGUMENTS);
    let all = served.follow(&session, 0).records_to("RunEnded");
    assert_eq!(all[..seen.len()], seen, "those who followed had every record of the first process");
    assert_eq!(all.last().expect("an end")["body"]["reason"], json!("completed"));
    assert_eq!((count(&all, "CallFinished"), count(&all, "CancelAsked"), count(&all, "QuestionAsked")), (1, 0, 0));
    assert_eq!(count(&all, "MessageAccepted"), 1, "a refused message is not stored");
    assert_eq!(bench.read("ran").as_deref(), Some("x\n"));
    assert_eq!(served.get(&format!("/api/sessions/{other}")).json()["runs"], json!(0));
}

// proves J3, J4: what outlasts the drain is cut short; what becomes of it is for a person to say, who attends this run
#[test]
fn a_call_that_outlasts_the_drain_is_settled_at_the_next_start() {
    let bench = Bench::new(Script::of([waiting_call(), ScriptStep::say("Done.")]));
    let mut served = Served::start(&bench, &[&ARGUMENTS[..], &["--drain-wait", "200ms"]].concat());
    let session = served.new_session();
    served.say(&session, "wait");
    bench.wait_for_file("begun", &mut served.child);
    send_signal(&served.child, "TERM");
    assert_eq!(ends_unread(&mut served.child), 0);
    std::fs::write(bench.workspace().join("go"), "").expect("written");
    let served = Served::start(&bench, &ARGUMENTS);
    let asked = served.follow(&session, 0).records_to("QuestionAsked").pop().expect("a question");
    let path = format!("/api/sessions/{session}/questions/{}/answer", asked["body"]["question"]);
    assert_eq!(served.post(&path, &json!({"option": "run_again"})).json(), json!({"outcome": "answered"}));
    let end = served.follow(&session, 0).records_to("RunEnded").pop().expect("an end");
    assert_eq!(end["body"]["reason"], json!("completed"), "{end}");
    assert_eq!(bench.read("ran").as_deref(), Some("x\nx\n"));
}

// proves J3: a second signal waits for nothing
#[test]
fn a_second_signal_ends_the_server_at_once() {
    let bench = Bench::new(Script::of([waiting_call()]));
    let mut served = Served::start(&bench, &[&ARGUMENTS[..], &["--drain-wait", "1h"]].concat());
    let session = served.new_session();
    served.say(&session, "wait");
    bench.wait_for_file("begun", &mut served.child);
    terminate(&served);
    assert!(served.child.try_wait().expect("asked").is_none(), "it waits for the call");
    send_signal(&served.child, "TERM");
    assert_eq!(ends_unread(&mut served.child), 0);
    bench.assert_nothing_survives("after the second signal");
    let journal = bench.run(&["sessions", "verify"]);
    assert_eq!(journal.code, 0, "{}", journal.stderr);
}

// proves J3, T8: a run that waits for a person holds up no end, and asks again under the same id
#[test]
fn a_waiting_approval_survives_the_end_of_the_server() {
    let bench = Bench::new(Script::of([
        ScriptStep::call("run_command", json!({"command": "echo once >> made.txt"})),
        ScriptStep::say("Made."),
    ]));
    let mut served = Served::start(&bench, &["--sandbox", "off", "--drain-wait", "1h"]);
    let session = served.new_session();
    served.say(&session, "make it");
    let asked = served.follow(&session, 0).records_to("QuestionAsked").pop().expect("a question");
    send_signal(&served.child, "TERM");
    assert_eq!(ends_unread(&mut served.child), 0);
    let served = Served::start(&bench, &["--sandbox", "off"]);
    let path = format!("/api/sessions/{session}/questions/{}/answer", asked["body"]["question"]);
    assert_eq!(served.post(&path, &json!({"option": "once"})).json(), json!({"outcome": "answered"}));
    let all = served.follow(&session, 0).records_to("RunEnded");
    assert_eq!((count(&all, "QuestionAsked"), count(&all, "QuestionAnswered")), (1, 1));
    assert_eq!(bench.read("made.txt").as_deref(), Some("once\n"));
}
