//! Databases that lost their latest commits, sessions that do not verify, and backups.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use windlass_testkit::{Script, ScriptStep};

use crate::support::{Bench, Ran, ran};

fn run_on(bench: &Bench, data: &Path, arguments: &[&str]) -> Ran {
    ran(bench.command_on(data, arguments).spawn().expect("the binary starts"))
}

fn copied(from: &Path, to: PathBuf) -> PathBuf {
    fs::create_dir(&to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").flatten().filter(|entry| entry.path().is_file()) {
        fs::copy(entry.path(), to.join(entry.file_name())).expect("copied");
    }
    to
}

// proves J9: lost commits are reported, and nothing is appended after them
#[test]
fn an_older_database_that_was_put_back_is_read_and_not_written() {
    let bench = Bench::new(Script::of([ScriptStep::say("One."), ScriptStep::say("Two.")]));
    assert_eq!(bench.run(&["run", "go", "--session", "s"]).code, 0);
    let old = fs::read(bench.data().join("windlass.db")).expect("read");
    assert_eq!(bench.run(&["run", "go on", "--session", "s"]).code, 0);
    let asked = bench.server.count();
    fs::write(bench.data().join("windlass.db"), old).expect("put back");
    for line in
        [&["run", "more", "--session", "s"][..], &["run", "x"], &["resume", "s"], &["retry", "s"], &["fork", "s"]]
    {
        let ran = bench.run(line);
        assert_eq!(ran.code, 5, "{line:?}: {}{}", ran.stdout, ran.stderr);
        for said in ["commits are missing", "restore the data folder from a backup", "windlass sessions accept-loss"] {
            assert!(ran.stderr.contains(said), "{line:?}: {said:?} is not in {}", ran.stderr);
        }
    }
    assert_eq!(bench.server.count(), asked, "nothing is asked of a model");
    let verified = bench.run(&["sessions", "verify"]);
    assert!(verified.code == 5 && verified.stdout.contains("commits are missing"), "{}", verified.stdout);
    for line in [&["sessions", "list"][..], &["sessions", "show", "s"], &["sessions", "export", "s"], &["replay", "s"]]
    {
        let read = bench.run(line);
        assert!(read.code == 0 && read.stderr.contains("commits are missing"), "{line:?}: {}", read.stderr);
    }
    let doctor = bench.run(&["doctor"]);
    let advice = "restore a backup, or go on from what is there with `windlass sessions accept-loss`";
    assert!(doctor.stdout.contains(advice) && !doctor.stdout.contains("give another data folder"), "{}", doctor.stdout);
    let accepted = bench.run(&["sessions", "accept-loss"]);
    assert!(accepted.code == 0 && accepted.stdout.contains("commits are missing"), "{}", accepted.stderr);
    let again = bench.run(&["run", "more", "--session", "s"]);
    assert_eq!((again.code, again.stdout.as_str()), (0, "Two.\n"), "{}", again.stderr);
    assert_eq!(bench.run(&["sessions", "accept-loss"]).stdout, "nothing is missing\n");
    bench.assert_whole("after the loss");
}

// proves J11, J8: a session that does not verify is refused everywhere, and its intact part can be salvaged
#[test]
fn a_session_that_does_not_verify_is_refused_and_can_be_salvaged() {
    let bench = Bench::new(Script::of([
        ScriptStep::call("write_file", json!({"path": "a", "content": "x"})),
        ScriptStep::say("Done."),
        ScriptStep::say("More."),
    ]));
    assert_eq!(bench.run(&["run", "go", "--session", "s"]).code, 0);
    assert_eq!(bench.run(&["run", "go", "--session", "other"]).code, 0);
    let asked = bench.server.count();
    let database = rusqlite::Connection::open(bench.data().join("windlass.db")).expect("a database");
    let changed = "UPDATE batches SET bytes = CAST(replace(CAST(bytes AS TEXT), 'Done.', 'Gone.') AS BLOB) \
                   WHERE session = (SELECT session FROM sessions WHERE key = 's')";
    assert!(database.execute(changed, ()).expect("changed") > 0);
    drop(database);
    for line in [
        &["run", "more", "--session", "s"][..],
        &["sessions", "export", "s"],
        &["fork", "s"],
        &["replay", "s", "--check"],
    ] {
        let ran = bench.run(line);
        assert_eq!((ran.code, ran.stdout.as_str()), (5, ""), "{line:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("breaks at record") && ran.stderr.contains("salvage"), "{line:?}: {}", ran.stderr);
    }
    assert_eq!(bench.server.count(), asked);
    let shown = bench.run(&["sessions", "show", "s"]);
    assert!(shown.code == 5 && shown.stdout.contains("go") && !shown.stdout.contains("Gone."), "{}", shown.stdout);
    let folder = bench.dir.path().join("backup");
    let backup = bench.run(&["backup", folder.to_str().expect("a path")]);
    assert!(backup.code == 5 && backup.stdout.ends_with("bytes, 1 session does not verify\n"), "{}", backup.stdout);
    assert!(bench.run(&["sessions", "show", "other"]).stdout.contains("Done."));
    assert_eq!(bench.run(&["sessions", "salvage", "other"]).code, 2, "a whole one needs no saving");
    let saved = bench.run(&["sessions", "salvage", "s"]);
    assert_eq!((saved.code, saved.stdout.as_str()), (0, "s-salvaged\n"), "{}", saved.stderr);
    assert!(saved.stderr.contains("saved ") && saved.stderr.contains("breaks at record"), "{}", saved.stderr);
    assert!(bench.run(&["sessions", "verify", "s-salvaged"]).stdout.contains("whole"));
    let again = bench.run(&["run", "more", "--session", "s-salvaged"]);
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert_eq!(bench.run(&["sessions", "salvage", "s", "--as", "mine"]).stdout, "mine\n");
    assert_eq!(bench.run(&["sessions", "rm", "s"]).code, 0);
    bench.assert_whole("what is left");
}

// proves J11: blobs are part of the session whose records refer to them
#[test]
fn a_session_that_lost_what_undo_would_put_back_is_refused() {
    let write = ScriptStep::call("write_file", json!({"path": "a", "content": "after"}));
    let bench = Bench::new(Script::of([write, ScriptStep::say("Done.")]));
    fs::write(bench.workspace().join("a"), "before").expect("written");
    assert_eq!(bench.run(&["run", "go", "--session", "s"]).code, 0);
    let asked = bench.server.count();
    let database = rusqlite::Connection::open(bench.data().join("windlass.db")).expect("a database");
    assert_eq!(database.execute("DELETE FROM blobs WHERE bytes = CAST('before' AS BLOB)", ()).expect("changed"), 1);
    drop(database);
    for line in [
        &["run", "more", "--session", "s"][..],
        &["resume", "s"],
        &["undo", "s"],
        &["fork", "s"],
        &["sessions", "export", "s"],
        &["sessions", "verify", "s"],
    ] {
        let ran = bench.run(line);
        assert_eq!(ran.code, 5, "{line:?}: {}{}", ran.stdout, ran.stderr);
        let told = ran.stdout + &ran.stderr;
        assert!(told.contains("breaks at record") && told.contains("stored with it, is missing"), "{line:?}: {told}");
    }
    assert_eq!(bench.server.count(), asked, "nothing is asked of a model");
    assert_eq!(bench.run(&["sessions", "salvage", "s"]).code, 0);
}

// proves J11: checks of the whole store name a session that is missing from the session list
#[test]
fn a_session_that_is_stored_and_not_in_the_list_is_told() {
    let bench = Bench::new(Script::of([ScriptStep::say("One."), ScriptStep::say("Two.")]));
    assert_eq!(bench.run(&["run", "go", "--session", "s"]).code, 0);
    assert_eq!(bench.run(&["run", "go", "--session", "other"]).code, 0);
    let database = rusqlite::Connection::open(bench.data().join("windlass.db")).expect("a database");
    assert_eq!(database.execute("DELETE FROM sessions WHERE key = 's'", ()).expect("changed"), 1);
    drop(database);
    let verified = bench.run(&["sessions", "verify"]);
    assert!(verified.code == 5 && verified.stdout.contains("it is not in the list"), "{}", verified.stdout);
    assert!(verified.stdout.contains("other: whole"), "{}", verified.stdout);
    let folder = bench.dir.path().join("backup");
    let backup = bench.run(&["backup", folder.to_str().expect("a path")]);
    assert!(backup.code == 5 && !backup.stdout.contains("verified"), "{}", backup.stdout);
    assert!(backup.stderr.contains("it is not in the list"), "{}", backup.stderr);
    let doctor = bench.run(&["doctor"]);
    assert!(doctor.stdout.contains("it is not in the list"), "{}", doctor.stdout);
}

// proves J9: a backup made while others write is complete, and usable as a data folder
#[test]
fn a_backup_made_while_a_run_goes_on_is_whole_and_can_be_used() {
    let wait =
        ScriptStep::call("run_command", json!({"command": "touch began; while [ ! -e go ]; do sleep 0.02; done"}));
    let bench = Bench::new(Script::of([wait, ScriptStep::say("Done."), ScriptStep::say("Again.")]));
    let mut child = bench.spawn(&["run", "go", "--session", "s", "--mode", "bypass"]);
    bench.wait_for_file("began", &mut child);
    let folder = bench.dir.path().join("backup");
    let name = folder.to_str().expect("a path");
    let made = bench.run(&["backup", name]);
    assert!(
        made.code == 0 && made.stdout.contains("1 sessions") && made.stdout.contains("verified"),
        "{}",
        made.stderr
    );
    let twice = bench.run(&["backup", name]);
    assert!(twice.code == 2 && twice.stderr.contains("is not empty"), "{}", twice.stderr);
    fs::write(bench.workspace().join("go"), "").expect("written");
    assert_eq!(ran(child).code, 0);
    // The backup can be used in place.
    assert!(run_on(&bench, &folder, &["sessions", "verify"]).stdout.starts_with("s: whole"));
    assert!(run_on(&bench, &folder, &["sessions", "list"]).stdout.contains("cut short"));
    // The backup can be copied back to replace the data folder.
    let lost = bench.dir.path().join("lost");
    fs::rename(bench.data(), lost).expect("moved away");
    copied(&folder, bench.data());
    let resumed = bench.run(&["resume", "s", "--mode", "bypass"]);
    assert_eq!(resumed.code, 0, "{}", resumed.stderr);
    bench.assert_whole("restored");
}
