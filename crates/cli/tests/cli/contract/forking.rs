//! `windlass fork`: a new session that continues from a record of another one.

use serde_json::json;
use windlass_testkit::{FaultKind, Scene, Script, ScriptStep};

use crate::support::{Bench, Ran};

fn done(ran: &Ran, stdout: &str) {
    assert_eq!((ran.code, ran.stdout.as_str()), (0, stdout), "{}", ran.stderr);
}

/// Returns the sequence number of the first record of a kind.
fn number(bench: &Bench, key: &str, kind: &str) -> String {
    let journal = bench.journal(key);
    let record = journal.iter().find(|record| record["kind"] == kind).expect("a record");
    record["seq"].to_string()
}

// proves J8
#[test]
fn a_fork_goes_its_own_way_and_the_origin_its_own() {
    let bench = Bench::new(
        Script::when(
            "make a",
            [ScriptStep::call("write_file", json!({"path": "a", "content": "x"})), ScriptStep::say("Made.")],
        )
        .scene(Scene::when("this way", [ScriptStep::say("This.")]))
        .scene(Scene::when("that way", [ScriptStep::say("That.")])),
    );
    done(&bench.run(&["run", "make a", "--session", "s"]), "Made.\n");
    let journal = bench.journal("s");
    let forked = bench.run(&["fork", "s"]);
    done(&forked, "s-fork\n");
    assert!(forked.stderr.contains("windlass run --session s-fork"), "{}", forked.stderr);
    assert_eq!((bench.journal("s"), bench.read("a").as_deref()), (journal, Some("x")), "nothing else is touched");
    done(&bench.run(&["run", "this way", "--session", "s"]), "This.\n");
    done(&bench.run(&["run", "that way", "--session", "s-fork"]), "That.\n");
    assert_eq!(bench.last_request("user"), ["make a", "that way"]);
    done(&bench.run(&["fork", "s-fork", "--at", "1", "--as", "new"]), "new\n");
    done(&bench.run(&["run", "this way", "--session", "new"]), "This.\n");
    assert_eq!(bench.last_request("user"), ["this way"], "nothing was said before the first record");
    for key in ["s", "s-fork", "new"] {
        assert_eq!(bench.run(&["replay", key, "--check"]).code, 0, "{key}");
    }
    bench.assert_whole("forked");
}

// proves J8: a fork in mid-run interrupts the open calls and ends the run
#[test]
fn a_fork_in_mid_run_can_be_told_something_else_or_tried_again() {
    let bench = Bench::new(Script::of([
        ScriptStep::call("run_command", json!({"command": "echo x >> log"})),
        ScriptStep::say("Did it."),
        ScriptStep::say("As you say."),
    ]));
    done(&bench.run(&["run", "go", "--session", "s", "--mode", "bypass"]), "Did it.\n");
    let at = number(&bench, "s", "CallStarted");
    let forked = bench.run(&["fork", "s", "--at", &at, "--as", "other"]);
    done(&forked, "other\n");
    assert!(forked.stderr.contains("where run 1 was open"), "{}", forked.stderr);
    assert!(bench.run(&["resume", "other"]).stderr.contains("nothing to resume"), "nothing is open");
    done(&bench.run(&["fork", "other", "--as", "again"]), "again\n");
    bench.run(&["run", "leave it", "--session", "other"]);
    assert_eq!(bench.last_request("user"), ["go", "leave it"]);
    let results = bench.last_request("tool");
    assert!(results.len() == 1 && results[0].contains("the conversation was forked here"), "{results:?}");
    done(&bench.run(&["retry", "again"]), "Did it.\n");
    assert_eq!(bench.read("log").as_deref(), Some("x\n"), "the command is not run again by itself");
    for key in ["other", "again"] {
        assert_eq!(bench.run(&["replay", key, "--check"]).code, 0, "{key}");
    }
    bench.assert_whole("forked in mid-run");
}

// proves J8: a fork needs only the stored records, so another process may have the session open
#[test]
fn a_session_at_work_can_be_forked() {
    let wait = FaultKind::Delay { ms: 120_000 };
    let bench = Bench::new(Script::of([ScriptStep::say("Done.").fault(wait.times(1))]));
    let mut child = bench.spawn(&["run", "go", "--session", "s"]);
    bench.wait_for_requests(1, &mut child);
    done(&bench.run(&["fork", "s"]), "s-fork\n");
    done(&bench.run(&["retry", "s-fork"]), "Done.\n");
    child.kill().expect("killed");
    child.wait().expect("waited");
    done(&bench.run(&["resume", "s"]), "Done.\n");
    bench.assert_whole("forked at work");
}

// proves J8, T6: stored contents outlive the session that created them
#[test]
fn a_fork_keeps_its_contents_when_the_origin_is_removed() {
    let bench = Bench::new(Script::of([
        ScriptStep::call("run_command", json!({"command": "seq 1 9000"})),
        ScriptStep::say("Read."),
        ScriptStep::call("read_file", json!({"path": "call:1.1.0", "offset": 4_500, "limit": 2})),
        ScriptStep::say("Read on."),
    ]));
    done(&bench.run(&["run", "read", "--session", "s", "--mode", "bypass"]), "Read.\n");
    done(&bench.run(&["fork", "s"]), "s-fork\n");
    assert_eq!(bench.run(&["sessions", "rm", "s"]).code, 0);
    done(&bench.run(&["run", "read on", "--session", "s-fork"]), "Read on.\n");
    let results = bench.last_request("tool");
    assert!(!results[0].contains("4500"), "the middle was left out");
    assert!(results[1].contains("4500\n4501\n"), "{}", results[1]);
    bench.assert_whole("the origin is gone");
}

#[test]
fn a_fork_that_can_not_be_made_is_refused_before_anything_is_stored() {
    let bench = Bench::new(Script::of([ScriptStep::say("Done.")]));
    done(&bench.run(&["run", "go", "--session", "s"]), "Done.\n");
    for (line, said) in [
        (&["fork", "s", "--at", "0"][..], "there is no record 0"),
        (&["fork", "s", "--at", "99"], "records 1 to 8"),
        (&["fork", "s", "--as", "s"], "the session key `s` is taken"),
        (&["fork", "nobody"], "there is no session `nobody`"),
        (&["fork", "s", "--at", "x"], "--at"),
    ] {
        let refused = bench.run(line);
        assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{line:?}: {}", refused.stderr);
        assert!(refused.stderr.contains(said), "{line:?}: {}", refused.stderr);
    }
    assert_eq!(bench.keys(), ["s"]);
}
