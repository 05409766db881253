//! Old sessions are archived and deleted while the server serves (W3).

use serde_json::json;
use windlass_testkit::{Script, ScriptStep};

use crate::support::Bench;
use crate::support::served::Served;

/// Starts a server whose days pass in a blink, and which keeps sessions for these many of them.
fn start(bench: &Bench, arguments: &[&str]) -> Served {
    let line = [&["serve", "--address", "127.0.0.1:0"], arguments].concat();
    Served::started(bench.command(&line).env("WINDLASS_TEST_CLOCK", "1000000"))
}

// proves W3, T11: an idle session is archived, then deleted; its audit lines stay, and a pinned session stays as it is
#[test]
fn old_sessions_are_archived_and_deleted_and_pinned_ones_are_not() {
    let bench = Bench::new(Script::of([
        ScriptStep::call("write_file", json!({"path": "a.txt", "content": "x"})),
        ScriptStep::say("Done."),
    ]));
    let served = Served::start(&bench, &[]);
    let (old, pinned) = (served.new_session(), served.new_session());
    served.say(&old, "write");
    served.follow(&old, 0).records_to("RunEnded");
    served.send("PATCH", &format!("/api/sessions/{pinned}"), &json!({"pinned": true}).to_string());
    drop(served);
    // A second of the test is eleven days: what is archived is still there when it is looked at.
    let served = start(&bench, &["--archive-after", "1d", "--delete-after", "never"]);
    while served.get(&format!("/api/sessions/{old}")).json()["archived"] != json!(true) {}
    assert_eq!(served.get("/api/sessions").json()["sessions"][0]["id"], json!(pinned));
    let counted = served.get("/metrics").body;
    assert!(counted.contains("windlass_sessions_archived_total 1"), "{counted}");
    drop(served);
    let served = start(&bench, &["--archive-after", "never", "--delete-after", "1d"]);
    while served.get(&format!("/api/sessions/{old}")).status != 404 {}
    assert_eq!(served.get(&format!("/api/sessions/{pinned}")).json()["archived"], json!(false));
    let audit = bench.run(&["audit"]);
    assert!(audit.stdout.contains("write_file"), "{}{}", audit.stdout, audit.stderr);
}
