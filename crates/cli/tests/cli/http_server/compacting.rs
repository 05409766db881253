//! A summary that is asked for over HTTP (C5, W3).

use serde_json::{Value, json};
use windlass_testkit::{AfterSteps, Scene, Script, ScriptStep};

use crate::support::served::Served;
use crate::support::{Bench, count};

fn records(served: &Served, session: &str) -> Vec<Value> {
    served.get(&format!("/api/sessions/{session}/records")).json()["records"].as_array().expect("records").clone()
}

/// Says something, and returns the records of the run that answers it.
fn talk(served: &Served, session: &str, text: &str) -> Vec<Value> {
    let known = records(served, session).last().and_then(|record| record["seq"].as_u64()).expect("a record");
    served.say(session, text);
    served.follow(session, known).records_to("RunEnded")
}

// proves C5, W3: a summary of an idle session is made by its next run, once, also after a restart, and the answer says so
#[test]
fn an_idle_session_is_summarised_before_its_next_answer() {
    let aye = Scene::when("", [ScriptStep::say("Aye.")]).then(AfterSteps::RepeatLast);
    let bench = Bench::new(Script::default().scene(aye));
    let served = Served::start(&bench, &[]);
    let session = served.new_session();
    let path = format!("/api/sessions/{session}/compact");
    assert_eq!(served.post(&path, &json!({})).error(), "nothing");
    for number in 1..=4 {
        assert_eq!(count(&talk(&served, &session, &format!("message {number}")), "Compacted"), 0);
    }
    for _ in 0..2 {
        let asked = served.post(&path, &json!({}));
        assert_eq!((asked.status, asked.json()), (202, json!({"when": "next_run"})));
    }
    drop(served);
    let served = Served::start(&bench, &[]);
    assert_eq!(count(&talk(&served, &session, "the next"), "Compacted"), 1);
    assert_eq!(count(&talk(&served, &session, "one more"), "Compacted"), 0);
    let all = records(&served, &session);
    let asked: Vec<&Value> = all.iter().filter(|record| record["body"]["compact"] == json!(true)).collect();
    let kinds: Vec<&Value> = asked.iter().map(|record| &record["kind"]).collect();
    assert_eq!(kinds, ["SessionChanged", "RunStarted"], "the wish is stored once, and one run fulfils it");
}
