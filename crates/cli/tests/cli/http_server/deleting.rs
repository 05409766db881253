//! Sessions that are deleted (W3): with all that belongs to them, whatever state they are in, and whoever follows them.

use serde_json::json;
use windlass_testkit::{Scene, Script, ScriptStep};

use crate::support::Bench;
use crate::support::served::Served;

/// Plans a step for each of two files, and changes them.
fn planned() -> Script {
    let script = Script::default()
        .scene(Scene::when("Write the plan for this request", [ScriptStep::say("FOR EACH FILE *.txt: double it")]))
        .scene(Scene::when("Write the answer to the request", [ScriptStep::say("Both are doubled.")]));
    [("This step (1 of 2)", "a.txt"), ("This step (2 of 2)", "b.txt")].into_iter().fold(
        script,
        |script, (step, file)| {
            let edit = ScriptStep::call("edit_file", json!({"path": file, "old_text": "1", "new_text": "2"}));
            script.scene(Scene::when(step, [edit, ScriptStep::say(format!("Changed {file}."))]))
        },
    )
}

fn session_of(served: &Served) -> String {
    served.get("/api/sessions").json()["sessions"][0]["id"].as_str().expect("an id").to_owned()
}

// proves S3, T11, W3: the sessions of a plan's steps are deleted with it, and the audit keeps what they called
#[test]
fn the_steps_of_a_plan_are_deleted_with_its_session() {
    let bench = Bench::new(planned());
    for name in ["a.txt", "b.txt"] {
        std::fs::write(bench.workspace().join(name), "1\n").expect("written");
    }
    let ran = bench.run(&["run", "Double all numbers.", "--plan", "--session", "s"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(bench.run(&["sessions", "list", "--all"]).stdout.lines().count(), 3);
    let served = Served::start(&bench, &[]);
    assert_eq!(served.send("DELETE", &format!("/api/sessions/{}", session_of(&served)), "").status, 204);
    assert_eq!(bench.run(&["sessions", "list", "--all"]).stdout, "");
    let audit = bench.run(&["audit"]).stdout;
    assert_eq!(audit.matches("edit_file").count(), 2, "{audit}");
}

// proves J9, W3: a session whose journal can't be read can be deleted
#[test]
fn a_damaged_session_is_deleted() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    assert_eq!(bench.run(&["run", "go", "--session", "s"]).code, 0);
    let database = rusqlite::Connection::open(bench.data().join("windlass.db")).expect("a database");
    assert!(database.execute("UPDATE batches SET bytes = zeroblob(length(bytes))", ()).expect("damaged") > 0);
    drop(database);
    let served = Served::start(&bench, &[]);
    let path = format!("/api/sessions/{}", session_of(&served));
    assert_eq!(served.get(&format!("{path}/export")).status, 503, "it can't be read");
    assert_eq!(served.send("DELETE", &path, "").status, 204);
    assert_eq!(served.get(&path).status, 404);
}

// proves E1, W3: a stream of a session that is deleted says so and ends
#[test]
fn the_stream_of_a_deleted_session_ends() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    let served = Served::start(&bench, &[]);
    let session = served.new_session();
    served.say(&session, "hello");
    let mut events = served.follow(&session, 0);
    events.records_to("RunEnded");
    // The session is closed right after its run.
    while served.send("DELETE", &format!("/api/sessions/{session}"), "").status == 409 {}
    let (id, last) = std::iter::from_fn(|| events.next()).last().expect("an end");
    assert_eq!((id, &last["kind"]), (None, &json!("not_found")), "{last}");
}
