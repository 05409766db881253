//! In which folders sessions may work (W3).

use std::process::Stdio;

use serde_json::json;
use windlass_testkit::{Script, ScriptStep};

use crate::support::Bench;
use crate::support::served::Served;

// proves W3: a session of a folder that the operator does not serve is seen and does no work here
#[test]
fn a_session_of_another_folder_is_followed_and_not_worked_with() {
    let bench = Bench::new(Script::of([ScriptStep::say("One."), ScriptStep::say("Two.")]));
    let other = bench.dir.path().join("other");
    std::fs::create_dir(&other).expect("a folder");
    let mut elsewhere = bench.command(&["run", "hello", "--session", "s"]);
    assert!(elsewhere.current_dir(&other).stdout(Stdio::null()).status().expect("it runs").success());
    let served = Served::start(&bench, &[]);
    let session = served.get("/api/sessions").json()["sessions"][0]["id"].as_str().expect("an id").to_owned();
    served.follow(&session, 0).records_to("RunEnded");
    for (rest, body) in [("/messages", "{\"text\": \"go on\"}"), ("/undo", "{}"), ("/compact", "")] {
        let refused = served.send("POST", &format!("/api/sessions/{session}{rest}"), body);
        assert_eq!((refused.status, refused.error().as_str()), (403, "forbidden"), "{rest}");
        assert!(!refused.body.contains(&other.display().to_string()), "{refused:?}");
        assert!(refused.body.contains("--folder"), "{refused:?}");
    }
    let refused = served.post("/api/sessions", &json!({"folder": other}));
    assert_eq!((refused.status, refused.error().as_str()), (403, "forbidden"));
    let exported = served.get(&format!("/api/sessions/{session}/export")).body;
    assert_eq!(served.send("DELETE", &format!("/api/sessions/{session}"), "").status, 204);
    let arrived = served.send("POST", "/api/sessions/import", &exported);
    let workspace = bench.workspace().canonicalize().expect("a folder");
    assert_eq!(arrived.json()["folder"], json!(workspace), "{arrived:?}");
    drop(served);
    let served = Served::start(&bench, &["--folder", &other.display().to_string()]);
    let made = served.post("/api/sessions", &json!({"folder": other}));
    assert_eq!(made.json()["folder"], json!(other.canonicalize().expect("a folder")), "{made:?}");
    let session = made.json()["id"].as_str().expect("an id").to_owned();
    served.say(&session, "go on");
    served.follow(&session, 0).records_to("RunEnded");
}
