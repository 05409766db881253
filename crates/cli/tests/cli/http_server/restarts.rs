//! What a restart finds: open runs go on, and pending questions are asked again under their ids (J3).

use serde_json::json;
use windlass_testkit::{Script, ScriptStep};

use crate::support::Bench;
use crate::support::served::Served;

// proves J3, T8: a killed server asks again, under the same id, and an answer finishes the run
#[test]
fn a_question_survives_a_killed_server_under_its_id() {
    let bench = Bench::new(Script::of([
        ScriptStep::call("run_command", json!({"command": "echo once >> made.txt"})),
        ScriptStep::say("Made."),
    ]));
    let served = Served::start(&bench, &["--sandbox", "off"]);
    let session = served.new_session();
    served.say(&session, "make it");
    let asked = served.follow(&session, 0).records_to("QuestionAsked").pop().expect("a question");
    drop(served);
    let served = Served::start(&bench, &["--sandbox", "off"]);
    let row = served.get(&format!("/api/sessions/{session}")).json();
    assert_eq!((&row["status"], &row["driver"]), (&json!("waiting"), &json!("here")));
    let path = format!("/api/sessions/{session}/questions/{}/answer", asked["body"]["question"]);
    assert_eq!(served.post(&path, &json!({"option": "once"})).json(), json!({"outcome": "answered"}));
    let end = served.follow(&session, 0).records_to("RunEnded").pop().expect("an end");
    assert_eq!(end["body"]["reason"], json!("completed"));
    assert_eq!(bench.read("made.txt").as_deref(), Some("once\n"));
}
