//! Data folders that can't be written, and databases that are foreign, truncated or removed.

use std::fs;
use std::path::Path;

use serde_json::json;
use windlass_testkit::{Script, ScriptStep};

use crate::support::{Bench, Ran, ran};

fn run_on(bench: &Bench, data: &Path, arguments: &[&str]) -> Ran {
    ran(bench.command_on(data, arguments).spawn().expect("the binary starts"))
}

const LINES: [&[&str]; 4] = [&["run", "go"], &["sessions", "list"], &["sessions", "verify"], &["resume"]];

/// Asserts that every command prints the same one-line error, exits with code 5 and sends the model nothing.
fn assert_refused(bench: &Bench, data: &Path, said: &[&str], context: &str) {
    for line in LINES {
        let ran = run_on(bench, data, line);
        assert_eq!((ran.code, ran.stdout.as_str()), (5, ""), "{context}, {line:?}: {}", ran.stderr);
        for part in said {
            assert!(ran.stderr.contains(part), "{context}, {line:?}: {part:?} is not in {}", ran.stderr);
        }
        assert_eq!(ran.stderr.lines().count(), 1, "{context}, {line:?}: {}", ran.stderr);
    }
    assert_eq!(bench.server.count(), 0, "{context}: nothing is asked of a model that can't be written down");
}

/// Creates a data folder that holds a session, and returns the path of its database.
fn used(bench: &Bench) -> std::path::PathBuf {
    let ran = bench.run(&["run", "go", "--session", "s"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let databases = fs::read_dir(bench.data()).expect("a folder").flatten().map(|entry| entry.path());
    let mut databases =
        databases.filter(|path| fs::read(path).is_ok_and(|bytes| bytes.starts_with(b"SQLite format 3")));
    databases.next().expect("a database")
}

fn bench() -> Bench {
    Bench::new(Script::of([ScriptStep::say("Aye."), ScriptStep::say("Aye.")]))
}

// proves J9
#[test]
fn a_data_folder_that_is_no_folder_is_refused() {
    let bench = bench();
    let file = bench.dir.path().join("file");
    fs::write(&file, "not a folder").expect("written");
    for data in [file.clone(), file.join("below")] {
        assert_refused(&bench, &data, &["--data-dir"], "no folder");
    }
    assert_eq!(fs::read_to_string(&file).ok().as_deref(), Some("not a folder"));
}

// proves J9: an unreadable session does not affect the others, and can be removed
#[test]
fn a_damaged_session_blocks_no_other_and_can_be_removed() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    assert_eq!(bench.run_with(&["run", "go", "--session", "s"], &[("WINDLASS_TEST_DIE", "after:2")]).code, -9);
    let database = rusqlite::Connection::open(bench.data().join("windlass.db")).expect("a database");
    let damaged = database.execute("UPDATE batches SET bytes = zeroblob(length(bytes))", ()).expect("damaged");
    assert!(damaged > 0);
    drop(database);
    let other = bench.run(&["run", "go"]);
    assert_eq!((other.code, other.stdout.as_str()), (0, "Aye.\n"), "{}", other.stderr);
    let removed = bench.run(&["sessions", "rm", "s"]);
    assert!(removed.code == 0 && removed.stderr.contains("is not kept"), "{}", removed.stderr);
    assert!(!bench.keys().contains(&"s".to_owned()));
}

// proves J9: a file that is not a Windlass database is left unchanged
#[test]
fn a_file_that_is_not_ours_is_refused_and_left_alone() {
    let name = used(&bench()).file_name().expect("a name").to_owned();
    let diary = |path: &Path| fs::write(path, "Dear diary, today I was taken for a database.\n").expect("written");
    let recipes = |path: &Path| {
        let database = rusqlite::Connection::open(path).expect("a database");
        database
            .execute_batch("CREATE TABLE recipes (name TEXT); INSERT INTO recipes VALUES ('pie')")
            .expect("a table");
    };
    for (what, make) in [("a text", &diary as &dyn Fn(&Path)), ("another program's database", &recipes)] {
        let bench = bench();
        let data = bench.dir.path().join("theirs");
        fs::create_dir(&data).expect("a folder");
        let path = data.join(&name);
        make(&path);
        let before = fs::read(&path).expect("read");
        assert_refused(&bench, &data, &["not a database that Windlass wrote", "move it away"], what);
        assert!(fs::read(&path).expect("read") == before, "{what} is left as it was");
    }
}

// proves J9: a truncated database is refused, however much of it is left
#[test]
fn a_database_that_was_cut_short_is_refused() {
    let bench = bench();
    let database = used(&bench);
    let name = database.file_name().expect("a name");
    let whole = fs::read(&database).expect("read");
    assert!(whole.len() > 8192, "the journal is in the database: {} bytes", whole.len());
    let asked = bench.server.count();
    for length in [whole.len() - 1000, whole.len() / 2, 4096, 1000, 50] {
        let data = bench.dir.path().join(format!("cut-{length}"));
        fs::create_dir(&data).expect("a folder");
        fs::write(data.join(name), &whole[..length]).expect("written");
        for line in [&["run", "go", "--session", "s"][..], &["sessions", "list"], &["sessions", "verify"]] {
            let ran = run_on(&bench, &data, line);
            assert_eq!((ran.code, ran.stdout.as_str()), (5, ""), "{length}, {line:?}: {}", ran.stderr);
            assert!(ran.stderr.contains("restore"), "{length}, {line:?}: {}", ran.stderr);
        }
        assert_eq!(fs::read(data.join(name)).expect("read"), whole[..length], "{length}: left as it is");
    }
    assert_eq!(bench.server.count(), asked);
    assert_eq!(bench.run(&["run", "go", "--session", "s"]).code, 0, "the whole one still works");
    bench.assert_whole("beside cut ones");
}

// proves J9: a write to a removed database file does not count as stored, even if SQLite reports success
#[test]
fn a_run_whose_data_folder_is_removed_by_a_command_ends_and_says_that_its_journal_is_lost() {
    let bench = Bench::new(Script::of([
        ScriptStep::call("run_command", json!({"command": "rm -rf ../data && echo gone"})),
        ScriptStep::call("write_file", json!({"path": "a", "content": "x"})),
        ScriptStep::say("All is well."),
    ]));
    // Inside the sandbox the command would not see the data folder.
    let ran = bench.run(&["run", "go", "--mode", "bypass", "--sandbox", "off"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (5, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("windlass.db is gone") && ran.stderr.contains("journal is lost"), "{}", ran.stderr);
    assert_eq!((bench.server.count(), bench.read("a")), (1, None), "nothing more is done");
}
