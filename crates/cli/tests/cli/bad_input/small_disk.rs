//! A full disk and a read-only disk, both real mounts.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;
use windlass_store::{SqliteOptions, SqliteStore};
use windlass_testkit::{Script, ScriptStep, small_disk};

use crate::support::{Bench, Ran, ran};

fn run_on(bench: &Bench, data: &Path, arguments: &[&str]) -> Ran {
    ran(bench.command_on(data, arguments).spawn().expect("the binary starts"))
}

/// Fills the disk with the file `ballast`, then frees `room` bytes.
fn fill(ballast: &Path, room: u64) {
    use std::io::Write as _;
    let mut file = fs::File::create(ballast).expect("a file");
    while file.write_all(&[0; 4096]).is_ok() {}
    let length = file.metadata().expect("a length").len();
    file.set_len(length.saturating_sub(room)).expect("shorter");
}

// proves J9: a write that did not fit leaves nothing behind, and the same command line continues once there is space
#[test]
fn a_full_disk_is_said_and_the_same_line_goes_on_when_there_is_room() {
    let Some(mount) = small_disk(8, module_path!(), "a_full_disk_is_said_and_the_same_line_goes_on_when_there_is_room")
    else {
        return;
    };
    let (data, ballast) = (mount.join("data"), mount.join("ballast"));
    let bench = Bench::new(Script::of([
        ScriptStep {
            text: "heave ".repeat(200_000),
            ..ScriptStep::call("write_file", json!({"path": "a", "content": "x"}))
        },
        ScriptStep::say("Done."),
        ScriptStep::say("Again."),
    ]));
    let line = ["run", "go", "--session", "s", "--message-id", "m"];
    // First there is space to start the run but not to store the reply; then there is no space at all.
    assert_eq!(run_on(&bench, &data, &["sessions", "list"]).code, 0);
    fill(&ballast, 500_000);
    for room in ["some", "none"] {
        let full = run_on(&bench, &data, &line);
        assert_eq!((full.code, full.stdout.as_str()), (5, ""), "{room}: {}", full.stderr);
        assert!(full.stderr.contains("the disk is full") && full.stderr.contains("free some space"), "{}", full.stderr);
        assert_eq!(bench.read("a"), None, "{room}: what is not written down is not done");
        fill(&ballast, 0);
    }
    // An open store keeps the files that SQLite needs for reading, so other processes can still read on a full disk.
    fs::remove_file(&ballast).expect("removed");
    let held = SqliteStore::open(&data, SqliteOptions::default()).expect("opened");
    fill(&ballast, 0);
    let copy = mount.join("copy.jsonl");
    let export = ["sessions", "export", "s", "-o", copy.to_str().expect("a path")];
    let exported = run_on(&bench, &data, &export);
    assert!(exported.code != 0 && exported.stderr.contains("copy.jsonl"), "{}", exported.stderr);
    assert!(!copy.exists(), "half a copy is none");
    drop(held);
    fs::remove_file(&ballast).expect("removed");
    let ran = run_on(&bench, &data, &line);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Done.\n"), "{}", ran.stderr);
    let verified = run_on(&bench, &data, &["sessions", "verify"]);
    assert!(verified.code == 0 && verified.stdout.starts_with("s: whole"), "{}{}", verified.stdout, verified.stderr);
    let next = run_on(&bench, &data, &["run", "once more", "--session", "s"]);
    assert_eq!((next.code, next.stdout.as_str()), (0, "Again.\n"), "{}", next.stderr);
    assert_eq!(bench.last_request("user"), ["go", "once more"]);
    assert_eq!(bench.server.refused(), Vec::<String>::new());
}

// proves J9: stored sessions can be read and exported from a full disk
#[test]
fn what_is_on_a_full_disk_can_be_read() {
    let Some(mount) = small_disk(8, module_path!(), "what_is_on_a_full_disk_can_be_read") else {
        return;
    };
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    let data = mount.join("data");
    assert_eq!(run_on(&bench, &data, &["run", "go", "--session", "s"]).code, 0);
    fill(&mount.join("ballast"), 0);
    for (line, shown) in [
        (&["sessions", "list"][..], "s  "),
        (&["sessions", "show", "s"], "Aye."),
        (&["sessions", "verify"], "s: whole"),
        (&["sessions", "export", "s"], "\"key\":\"s\""),
    ] {
        let ran = run_on(&bench, &data, line);
        assert!(ran.code == 0 && ran.stdout.contains(shown), "{line:?}: {}{}", ran.stdout, ran.stderr);
    }
    let full = run_on(&bench, &data, &["run", "go", "--session", "s"]);
    assert!(full.code == 5 && full.stderr.contains("the disk is full"), "{}", full.stderr);
}

// proves J9
#[test]
fn a_data_folder_that_can_not_be_written_is_said_to_be_so() {
    let Some(mount) = small_disk(8, module_path!(), "a_data_folder_that_can_not_be_written_is_said_to_be_so") else {
        return;
    };
    let bench = Bench::new(Script::of([ScriptStep::say("Aye."), ScriptStep::say("Aye.")]));
    let used = mount.join("used");
    assert_eq!(run_on(&bench, &used, &["run", "go", "--session", "s"]).code, 0);
    let remounted = Command::new("mount").args(["-o", "remount,ro"]).arg(&mount).status().expect("mount");
    assert!(remounted.success());
    for (data, line) in [
        (&used, &["run", "go"][..]),
        (&used, &["resume"]),
        (&used, &["sessions", "rm", "s"]),
        (&mount.join("new"), &["run", "go"]),
        (&mount.join("new"), &["sessions", "list"]),
    ] {
        let ran = run_on(&bench, data, line);
        assert_eq!((ran.code, ran.stdout.as_str()), (5, ""), "{line:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("--data-dir"), "{line:?}: {}", ran.stderr);
    }
    assert_eq!(bench.server.count(), 1);
    // Stored sessions can be read and exported.
    for (line, shown) in [
        (&["sessions", "list"][..], "s  "),
        (&["sessions", "show", "s"], "Aye."),
        (&["sessions", "verify"], "s: whole"),
        (&["sessions", "export", "s"], "\"key\":\"s\""),
        (&["replay", "s"], "Aye."),
        (&["replay", "s", "--check"], "the same"),
        (&["audit"], ""),
    ] {
        let ran = run_on(&bench, &used, line);
        assert!(ran.code == 0 && ran.stdout.contains(shown), "{line:?}: {}{}", ran.stdout, ran.stderr);
    }
    let backup = bench.dir.path().join("backup");
    let ran = run_on(&bench, &used, &["backup", backup.to_str().expect("a path")]);
    assert!(ran.code == 0 && ran.stdout.contains("1 sessions"), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(run_on(&bench, &backup, &["run", "go", "--session", "s"]).code, 0);
}
