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

// proves J3, W3: SIGTERM puts open runs down, ends those who follow, and the next start goes on
#[test]
fn a_terminated_server_goes_on_at_its_next_start() {
    let bench = Bench::new(Script::of([
        ScriptStep::call("run_command", json!({"command": "touch begun; test -e go || sleep 600"})),
        ScriptStep::say("Done."),
    ]));
    let arguments = ["--sandbox", "off", "--allow", "run_command"];
    let mut served = Served::start(&bench, &arguments);
    let session = served.new_session();
    let mut events = served.follow(&session, 0);
    served.say(&session, "wait");
    bench.wait_for_file("begun", &mut served.child);
    std::fs::write(bench.workspace().join("go"), "").expect("written");
    let pid = rustix::process::Pid::from_child(&served.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("sent");
    assert_eq!(served.child.wait().expect("ended").code(), Some(0));
    while events.next().is_some() {}
    let served = Served::start(&bench, &arguments);
    // What becomes of a command that was cut short is for a person to say, who attends this run.
    let asked = served.follow(&session, 0).records_to("QuestionAsked").pop().expect("a question");
    let path = format!("/api/sessions/{session}/questions/{}/answer", asked["body"]["question"]);
    assert_eq!(served.post(&path, &json!({"option": "run_again"})).json(), json!({"outcome": "answered"}));
    let end = served.follow(&session, 0).records_to("RunEnded").pop().expect("an end");
    assert_eq!(end["body"]["reason"], json!("completed"), "{end}");
}
