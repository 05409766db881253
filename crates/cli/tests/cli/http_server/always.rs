//! What a person allows for good at the page is kept for them in the store (T8, W3).

use serde_json::{Value, json};
use windlass_testkit::{Script, ScriptStep};

use crate::support::Bench;
use crate::support::served::Served;

/// A script in which every run makes the same call.
fn touching(runs: usize) -> Script {
    let run = || [ScriptStep::call("run_command", json!({"command": "touch made.txt"})), ScriptStep::say("Made.")];
    Script::of((0..runs).flat_map(|_| run()))
}

/// Sends a message to a new session; returns the session and the question, if one is asked before the run ends.
fn asked(served: &Served, token: &str) -> (String, Option<Value>) {
    let session = served.new_session_as(token);
    served.say_as(token, &session, "make it");
    let mut events = served.follow_as(token, &session, 0);
    while let Some((_, event)) = events.next() {
        if event["kind"] == "QuestionAsked" {
            return (session, Some(event));
        }
        if event["kind"] == "RunEnded" {
            return (session, None);
        }
    }
    panic!("the stream ended");
}

fn answer(served: &Served, token: &str, session: &str, question: &Value, option: &str) -> Value {
    let path = format!("/api/sessions/{session}/questions/{}/answer", question["body"]["question"]);
    let answered = served.send_as(token, "POST", &path, &json!({"option": option}).to_string());
    assert_eq!(answered.status, 200, "{answered:?}");
    served.follow_as(token, session, 0).records_to("RunEnded");
    answered.json()
}

// proves T8, W3: "always" is a rule of that user in that folder, survives a restart, can be taken back, and is in no file
#[test]
fn always_is_kept_for_the_user_who_said_so() {
    let bench = Bench::new(touching(6));
    let (ann, bob) = (bench.add_user("ann", &[]), bench.add_user("bob", &[]));
    let served = Served::start(&bench, &["--sandbox", "off"]);
    let (session, question) = asked(&served, &ann);
    let question = question.expect("a question");
    let rule = question["body"]["preview"]["rule"].clone();
    assert_eq!(answer(&served, &ann, &session, &question, "always"), json!({"outcome": "answered", "always": "kept"}));
    let kept = served.send_as(&ann, "GET", "/api/rules", "").json();
    let workspace = bench.workspace().canonicalize().expect("a folder").display().to_string();
    assert_eq!((&kept["rules"][0]["rule"], &kept["rules"][0]["folder"]), (&rule, &json!(workspace)));
    assert_eq!(asked(&served, &ann).1, None, "it is not asked again");
    drop(served);
    let served = Served::start(&bench, &["--sandbox", "off"]);
    assert_eq!(asked(&served, &ann).1, None, "nor after a restart");
    assert_eq!(served.send_as(&bob, "GET", "/api/rules", "").json()["rules"], json!([]));
    let (session, question) = asked(&served, &bob);
    answer(&served, &bob, &session, &question.expect("bob is asked"), "no");
    let path = format!("/api/rules/{}", kept["rules"][0]["id"]);
    assert_eq!(served.send_as(&bob, "DELETE", &path, "").error(), "not_found");
    assert_eq!(served.send_as(&ann, "DELETE", &path, "").status, 204);
    assert!(asked(&served, &ann).1.is_some(), "it is asked about again");
    let settings = bench.dir.path().join(".config");
    assert!(!settings.exists(), "the operator's settings were written");
}

// proves T8, W3: what the operator denies stays denied, and an admin's "always" widens nobody else's sessions
#[test]
fn a_kept_rule_is_under_the_operators_rules_and_of_its_user_alone() {
    let bench = Bench::new(touching(4));
    let ann = bench.add_user("ann", &[]);
    let served = Served::start(&bench, &["--sandbox", "off"]);
    let (session, question) = asked(&served, &ann);
    let admin = served.token.clone();
    let answered = answer(&served, &admin, &session, &question.expect("a question"), "always");
    assert_eq!(answered, json!({"outcome": "answered", "always": "session_only"}));
    assert_eq!(served.send_as(&ann, "GET", "/api/rules", "").json()["rules"], json!([]));
    assert_eq!(served.get("/api/rules").json()["rules"], json!([]));
    let (session, question) = asked(&served, &ann);
    answer(&served, &ann, &session, &question.expect("a question"), "always");
    drop(served);
    std::fs::remove_file(bench.workspace().join("made.txt")).expect("made");
    let served = Served::start(&bench, &["--sandbox", "off", "--deny", "run_command(touch *)"]);
    assert_eq!(asked(&served, &ann).1, None);
    assert_eq!(bench.read("made.txt"), None, "it was denied");
}
