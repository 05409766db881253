//! A session that another process drives: listed, followed, stopped (J5, W3).

use serde_json::json;
use windlass_testkit::{Script, ScriptStep};

use crate::support::Bench;
use crate::support::served::Served;

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
