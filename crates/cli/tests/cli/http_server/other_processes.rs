//! A session that another process drives: listed, followed, stopped (J5, W3).

use serde_json::json;
use windlass_testkit::{Script, ScriptStep};

use crate::support::served::Served;
use crate::support::{Bench, count};

// proves W3, L8: what a terminal started is followed and stopped from here
#[test]
fn a_run_of_another_process_is_followed_and_stopped() {
    let bench = Bench::new(Script::of([ScriptStep::call("run_command", json!({"command": "touch begun; sleep 600"}))]));
    let served = Served::start(&bench, &[]);
    let mut other = bench.spawn(&["run", "wait", "--session", "s", "--sandbox", "off", "--allow", "run_command"]);
    bench.wait_for_file("begun", &mut other);
    let listed = served.get("/api/sessions").json();
    let row = &listed["sessions"][0];
    assert_eq!((&row["key"], &row["driver"]), (&json!("s"), &json!({"pid": other.id()})), "{listed}");
    let session = row["id"].as_str().expect("an id");
    let mut events = served.follow(session, 0);
    events.records_to("CallStarted");
    let refused = served.post(&format!("/api/sessions/{session}/messages"), &json!({"text": "hello"}));
    assert_eq!((refused.status, refused.error().as_str()), (409, "busy"));
    let stopped = served.post(&format!("/api/sessions/{session}/stop"), &json!({}));
    assert_eq!(stopped.json()["runs"], json!(1), "{stopped:?}");
    events.records_to("RunEnded");
    assert_eq!(other.wait().expect("ended").code(), Some(4));
}

// proves W3, L8: a run that a dead process left is ended in the journal: nothing of it is resumed to be stopped
#[test]
fn a_run_of_a_dead_process_is_stopped_without_going_on() {
    let bench = Bench::new(Script::of([ScriptStep::call("run_command", json!({"command": "touch begun; sleep 600"}))]));
    // By this clock the server looks for such runs once a minute, so the stop comes first.
    let served = Served::started(bench.command(&["serve", "--address", "127.0.0.1:0"]).env("WINDLASS_TEST_CLOCK", "1"));
    let mut other = bench.spawn(&["run", "wait", "--session", "s", "--sandbox", "off", "--allow", "run_command"]);
    bench.wait_for_file("begun", &mut other);
    other.kill().expect("killed");
    other.wait().expect("ended");
    let session = served.get("/api/sessions").json()["sessions"][0]["id"].as_str().expect("an id").to_owned();
    let stop = format!("/api/sessions/{session}/stop");
    assert_eq!(served.post(&stop, &json!({})).json(), json!({"runs": 1, "dropped": 0}));
    let records = served.follow(&session, 0).records_to("RunEnded");
    assert_eq!(records.last().expect("an end")["body"]["reason"], json!("cancelled"));
    assert_eq!((count(&records, "RunResumed"), bench.server.count()), (0, 1));
    assert_eq!(served.post(&stop, &json!({})).json(), json!({"runs": 0, "dropped": 0}));
}
