//! The output and effect of `windlass undo` and `windlass audit`.

use serde_json::{Value, json};
use windlass_testkit::{Script, ScriptStep};

use crate::support::{Bench, interrupt, ran};

fn edit() -> ScriptStep {
    ScriptStep::call("edit_file", json!({"path": "a.txt", "old_text": "one", "new_text": "two"}))
}

/// A bench whose run edited a file and ran a command that made and removed files.
fn worked() -> Bench {
    let bench = Bench::new(Script::of([
        edit(),
        ScriptStep::call("run_command", json!({"command": "echo x > made; rm gone; mkdir -p dir; echo y > dir/y"})),
        ScriptStep::say("Done."),
    ]));
    std::fs::write(bench.workspace().join("a.txt"), "one\n").expect("a file");
    std::fs::write(bench.workspace().join("gone"), "here\n").expect("a file");
    let ran = bench.run(&["run", "go", "--session", "s", "--mode", "bypass"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Done.\n"), "{}", ran.stderr);
    bench
}

// proves T9
#[test]
fn undo_takes_back_call_after_call_and_says_how_to_have_it_back() {
    let bench = worked();
    let rehearsed = bench.run(&["undo", "s", "--dry-run"]);
    assert_eq!((rehearsed.code, bench.read("made").is_some()), (0, true), "{}", rehearsed.stderr);
    assert!(rehearsed.stdout.contains("would remove made\n") && rehearsed.stderr.contains("nothing was changed"));
    let undone = bench.run(&["undo"]);
    assert_eq!(undone.stdout, "removed dir/\nremoved dir/y\nrestored gone\nremoved made\n", "{}", undone.stderr);
    assert!(undone.stderr.contains("undid call 1.2.0, run_command"), "{}", undone.stderr);
    assert!(undone.stderr.contains("windlass undo s --call u1"), "{}", undone.stderr);
    assert_eq!((bench.read("gone").as_deref(), bench.read("made")), (Some("here\n"), None));
    let undone = bench.run(&["undo", "s"]);
    assert_eq!((undone.code, undone.stdout.as_str()), (0, "restored a.txt\n"), "{}", undone.stderr);
    assert_eq!(bench.run(&["undo", "s"]).code, 2, "there is nothing left");
    let again = bench.run(&["undo", "s", "--call", "1.1.0"]);
    assert!(again.code == 2 && again.stderr.contains("undone already, by u2"), "{}", again.stderr);
    let redone = bench.run(&["undo", "s", "--call", "u1"]);
    assert_eq!((redone.code, bench.read("made").as_deref()), (0, Some("x\n")), "{}", redone.stderr);
    assert!(redone.stderr.contains("brought back what undo u1 of run_command took back"), "{}", redone.stderr);
    bench.assert_whole("undone");
    assert_eq!(bench.run(&["replay", "s", "--check"]).code, 0);
}

// proves T9
#[test]
fn a_file_changed_since_is_shown_and_left_alone_unless_forced() {
    let bench = worked();
    std::fs::write(bench.workspace().join("made"), "mine\n").expect("a file");
    let refused = bench.run(&["undo", "s"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (1, ""), "{}", refused.stderr);
    assert!(refused.stderr.contains("nothing was undone") && refused.stderr.contains("-mine"), "{}", refused.stderr);
    assert_eq!((bench.read("gone"), bench.read("made").as_deref()), (None, Some("mine\n")), "nothing was touched");
    let forced = bench.run(&["undo", "s", "--force"]);
    assert_eq!((forced.code, bench.read("made")), (0, None), "{}", forced.stderr);
    assert_eq!(bench.run(&["undo", "s", "--call", "u1"]).code, 0);
    assert_eq!(bench.read("made").as_deref(), Some("mine\n"), "what was forced away is brought back");
}

// proves T9: the next message tells the model about the undo
#[test]
fn the_next_run_tells_the_model_what_was_undone() {
    let bench = worked();
    assert_eq!(bench.run(&["undo", "s"]).code, 0);
    bench.run(&["run", "what now?", "--session", "s", "--mode", "bypass"]);
    let said = bench.last_request("user").join("\n");
    assert!(said.contains("undid what call 1.2.0 (run_command) did to files"), "{said}");
}

// proves T9, L8
#[test]
fn what_a_stopped_command_did_can_be_undone() {
    let command = json!({"command": "echo x > made; touch started; sleep 300", "timeout_seconds": 200});
    let bench = Bench::new(Script::of([ScriptStep::call("run_command", command), ScriptStep::say("Never.")]));
    let mut child = bench.spawn(&["run", "go", "--session", "s", "--mode", "bypass"]);
    bench.wait_for_file("started", &mut child);
    interrupt(&child);
    assert_eq!(ran(child).code, 4);
    let undone = bench.run(&["undo", "s"]);
    assert_eq!(undone.stdout, "removed made\nremoved started\n", "{}", undone.stderr);
    assert_eq!(bench.read("made"), None);
}

// proves T9
#[test]
fn an_undo_is_refused_while_a_run_is_open_and_says_what_to_do() {
    let bench = Bench::new(Script::of([edit(), ScriptStep::say("Done.")]));
    std::fs::write(bench.workspace().join("a.txt"), "one\n").expect("a file");
    let died = bench.run_with(&["run", "go", "--session", "s"], &[("WINDLASS_TEST_DIE", "after:5")]);
    assert_eq!(died.code, -9, "{}", died.stderr);
    let refused = bench.run(&["undo", "s"]);
    assert!(refused.code == 2 && refused.stderr.contains("windlass resume s"), "{}", refused.stderr);
    assert_eq!(bench.run(&["resume", "s"]).code, 0);
    assert_eq!(bench.run(&["undo", "s"]).stdout, "restored a.txt\n");
}

// proves T9: an undo never changes Windlass's own data
#[test]
fn a_data_folder_inside_the_workspace_is_left_alone() {
    let bench = Bench::new(Script::of([
        ScriptStep::call("run_command", json!({"command": "echo x > made"})),
        ScriptStep::say("Done."),
    ]));
    let data = bench.workspace().join("data");
    let line = |arguments: &[&str]| ran(bench.command_on(&data, arguments).spawn().expect("the binary starts"));
    assert_eq!(line(&["run", "go", "--session", "s", "--mode", "bypass"]).code, 0);
    let undone = line(&["undo", "s"]);
    assert_eq!((undone.code, undone.stdout.as_str()), (0, "removed made\n"), "{}", undone.stderr);
    assert_eq!(line(&["sessions", "verify", "s"]).code, 0);
}

// proves T9: a command printed for repetition names the same folders
#[test]
fn how_to_have_it_back_is_told_with_the_folders_it_was_told_with() {
    let bench = worked();
    let undone = bench.run(&["undo", "s", "--workspace", "."]);
    let again = format!("windlass undo s --call u1 --data-dir {} --workspace .", bench.data().display());
    assert!(undone.code == 0 && undone.stderr.contains(&again), "{}", undone.stderr);
}

// proves T9: the use of a named pipe is no change to a file
#[test]
fn a_pipe_in_the_workspace_is_in_nobodys_way() {
    let command = "echo x > a.txt; mkfifo made; (echo y > pipe &); cat pipe > /dev/null";
    let bench = Bench::new(Script::of([
        ScriptStep::call("run_command", json!({"command": command})),
        ScriptStep::say("Done."),
    ]));
    std::fs::write(bench.workspace().join("a.txt"), "one\n").expect("a file");
    let made = std::process::Command::new("mkfifo").arg(bench.workspace().join("pipe")).status().expect("mkfifo");
    assert!(made.success());
    assert_eq!(bench.run(&["run", "go", "--session", "s", "--mode", "bypass"]).code, 0);
    let undone = bench.run(&["undo", "s"]);
    assert_eq!((undone.code, undone.stdout.as_str()), (0, "restored a.txt\n"), "{}", undone.stderr);
    assert!(undone.stderr.contains("not covered: pipe, socket or device: pipe\n"), "{}", undone.stderr);
    assert!(undone.stderr.contains("no file, folder or link, and stays: made\n"), "{}", undone.stderr);
}

// proves T9: a conflict names each difference, of permissions too
#[test]
fn a_file_whose_mode_was_changed_since_says_so() {
    let bench = worked();
    std::fs::set_permissions(bench.workspace().join("made"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("a mode");
    let refused = bench.run(&["undo", "s"]);
    assert!(refused.stderr.contains("made: mode 0644 -> 0755 since."), "{}", refused.stderr);
    let bench = worked();
    assert_eq!(bench.run(&["undo", "s"]).code, 0);
    std::fs::set_permissions(bench.workspace().join("a.txt"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("a mode");
    let refused = bench.run(&["undo", "s"]);
    assert!(refused.stderr.contains("a.txt: mode 0644 -> 0755 since."), "{}", refused.stderr);
    assert!(refused.stderr.contains("a.txt: mode 0755 would become 0644\n"), "{}", refused.stderr);
}

// proves T9: `--force` is advised only where it helps
#[test]
fn force_is_not_advised_where_it_can_not_help() {
    let bench = worked();
    assert_eq!(bench.run(&["undo", "s"]).code, 0);
    let path = bench.workspace().join("a.txt");
    std::fs::remove_file(&path).expect("removed");
    std::fs::create_dir_all(path.join("full")).expect("a folder");
    let refused = bench.run(&["undo", "s"]);
    assert!(refused.code == 1 && refused.stderr.contains("a folder stands in its place now"), "{}", refused.stderr);
    assert!(!refused.stderr.contains("--force"), "{}", refused.stderr);
    assert_eq!(bench.run(&["undo", "s", "--force"]).code, 1, "it can not, indeed");
}

// proves T9: for an unreachable path the possible obstacles are reported
#[test]
fn a_path_that_is_not_reached_any_more_says_what_may_be_on_the_way() {
    let bench = worked();
    std::fs::rename(bench.workspace().join("dir"), bench.workspace().join("moved")).expect("moved");
    std::os::unix::fs::symlink("moved", bench.workspace().join("dir")).expect("a link");
    let refused = bench.run(&["undo", "s"]);
    assert!(refused.stderr.contains("dir/y: can't be reached now: a link was put on the way"), "{}", refused.stderr);
    assert!(refused.stderr.contains("or a folder on the way can't be opened"), "{}", refused.stderr);
    assert_eq!(bench.read("moved/y").as_deref(), Some("y\n"));
}

// proves T9: undoing a move keeps the inode of the file
#[test]
fn a_moved_file_keeps_its_other_names_when_the_move_is_undone() {
    use std::os::unix::fs::MetadataExt as _;
    let bench = Bench::new(Script::of([
        ScriptStep::call("move_file", json!({"from": "a.txt", "to": "b/c.txt"})),
        ScriptStep::say("Done."),
    ]));
    let path = |name: &str| bench.workspace().join(name);
    std::fs::write(path("a.txt"), "one\n").expect("a file");
    std::fs::hard_link(path("a.txt"), path("same")).expect("a link");
    assert_eq!(bench.run(&["run", "go", "--session", "s"]).code, 0);
    let undone = bench.run(&["undo", "s"]);
    assert_eq!(undone.stdout, "moved back a.txt from b/c.txt\nremoved b/\n", "{}", undone.stderr);
    let inode = |name: &str| std::fs::metadata(path(name)).expect("a file").ino();
    assert_eq!(inode("a.txt"), inode("same"));
    let redone = bench.run(&["undo", "s", "--call", "u1"]);
    assert_eq!((redone.code, inode("b/c.txt")), (0, inode("same")), "{}", redone.stderr);
}

/// A bench whose run applied `command` to a large file.
fn moved_about(command: &str) -> Bench {
    let bench = Bench::new(Script::of([
        ScriptStep::call("run_command", json!({"command": command})),
        ScriptStep::say("Done."),
    ]));
    std::fs::write(bench.workspace().join("large"), vec![b'x'; LARGE]).expect("a file");
    let ran = bench.run(&["run", "go", "--session", "s", "--mode", "bypass"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    bench
}

/// Larger than the largest file that a checkpoint keeps.
const LARGE: usize = 2 << 20;

// proves T9: a file too large for a checkpoint can still be undone if it was only made or moved
#[test]
fn a_large_file_that_a_command_made_or_moved_is_undone() {
    let size = |bench: &Bench, name: &str| std::fs::metadata(bench.workspace().join(name)).ok().map(|file| file.len());
    let large = Some(LARGE as u64);
    let bench = moved_about("cp large made");
    let undone = bench.run(&["undo", "s"]);
    assert_eq!((undone.code, undone.stdout.as_str()), (0, "removed made\n"), "{}", undone.stderr);
    assert_eq!((size(&bench, "large"), size(&bench, "made")), (large, None));
    let redone = bench.run(&["undo", "s", "--call", "u1"]);
    assert_eq!((redone.code, size(&bench, "made")), (0, large), "{}", redone.stderr);
    let bench = moved_about("mv large other; echo small > large");
    let undone = bench.run(&["undo", "s"]);
    assert_eq!((undone.code, undone.stdout.as_str()), (0, "moved back large from other\n"), "{}", undone.stderr);
    assert_eq!((size(&bench, "large"), size(&bench, "other")), (large, None));
    let redone = bench.run(&["undo", "s", "--call", "u1"]);
    assert_eq!((redone.code, size(&bench, "other")), (0, large), "{}", redone.stderr);
    assert_eq!(bench.read("large").as_deref(), Some("small\n"));
}

// proves T9: a folder or symlink that replaced a file or a folder is removed to restore it
#[test]
fn what_was_moved_into_its_own_place_or_made_a_link_of_is_undone() {
    let bench = moved_about("mv large t; mkdir -p large/d; mv t large/d/large");
    let undone = bench.run(&["undo", "s"]);
    assert!(undone.stdout.contains("moved back large from large/d/large\n"), "{}{}", undone.stdout, undone.stderr);
    assert!(bench.workspace().join("large").is_file());
    assert_eq!(bench.run(&["undo", "s", "--call", "u1"]).code, 0);
    assert!(bench.workspace().join("large/d/large").is_file());
    let command = json!({"command": "cp -r dir other; rm -r dir; ln -s other dir"});
    let bench = Bench::new(Script::of([ScriptStep::call("run_command", command), ScriptStep::say("Done.")]));
    std::fs::create_dir(bench.workspace().join("dir")).expect("a folder");
    std::fs::write(bench.workspace().join("dir/a"), "a\n").expect("a file");
    assert_eq!(bench.run(&["run", "go", "--session", "s", "--mode", "bypass"]).code, 0);
    let undone = bench.run(&["undo", "s"]);
    assert_eq!(undone.code, 0, "{}", undone.stderr);
    assert!(!bench.workspace().join("dir").is_symlink() && !bench.workspace().join("other").exists());
    assert_eq!(bench.read("dir/a").as_deref(), Some("a\n"));
    let redone = bench.run(&["undo", "s", "--call", "u1"]);
    assert!(redone.code == 0 && bench.workspace().join("dir").is_symlink(), "{}", redone.stderr);
}

// proves T9
#[test]
fn an_id_that_means_nothing_says_what_is_wrong_with_it() {
    let bench = worked();
    for (id, said) in [
        ("u9", "there is no undo u9 in this session"),
        ("7.1.0", "there is no call 7.1.0 in this session"),
        ("nine", "a call (2.1.0) or an undo (u1)"),
        ("ux", "a call (2.1.0) or an undo (u1)"),
    ] {
        let refused = bench.run(&["undo", "s", "--call", id]);
        assert!(refused.code == 2 && refused.stderr.contains(said), "{id}: {}", refused.stderr);
    }
}

// proves T11: an unknown name is reported as a mistake, not as an empty result
#[test]
fn an_audit_of_an_unknown_session_or_tool_says_so() {
    let bench = worked();
    for (arguments, said) in [
        (&["--session", "sss"][..], "there is no session `sss`, nor was there one"),
        (&["--tool", "run_comand"], "did you mean `run_command`?"),
        (&["--tool", "run_command(echo *)"], "only the tool is looked for, not its arguments: --tool run_command"),
    ] {
        let refused = bench.run(&[&["audit"][..], arguments].concat());
        assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(refused.stderr.contains(said), "{arguments:?}: {}", refused.stderr);
    }
    for (tool, calls) in [("run_*", 1), ("local.*", 2), ("*_file", 1), ("fetch_url", 0)] {
        let told = bench.run(&["audit", "--session", "s", "--tool", tool]);
        assert_eq!((told.code, told.stdout.lines().count()), (0, calls), "{tool}: {}", told.stderr);
        assert_eq!(told.stderr.contains("no recorded call matches"), calls == 0, "{tool}: {}", told.stderr);
    }
}

// proves T11: a session that can't be read does not hide the others
#[test]
fn an_audit_leaves_a_broken_session_out_and_says_so() {
    let bench = worked();
    assert_eq!(bench.run(&["fork", "s"]).code, 0);
    let broken = std::fs::read_dir(bench.data()).expect("a folder").flatten().map(|entry| entry.path());
    let path = broken.into_iter().find(|path| path.extension().is_some_and(|end| end == "db")).expect("a database");
    let database = rusqlite::Connection::open(path).expect("a database");
    let junk = "UPDATE batches SET bytes = 'junk' WHERE session = (SELECT session FROM sessions WHERE key = 's-fork')";
    assert!(database.execute(junk, []).expect("broken") > 0);
    drop(database);
    let audited = bench.run(&["audit", "--json"]);
    assert_eq!((audited.code, audited.stdout.lines().count()), (5, 2), "{}", audited.stderr);
    assert!(audited.stderr.contains("the session `s-fork` is left out"), "{}", audited.stderr);
    assert_eq!(bench.run(&["audit", "--session", "s"]).code, 0);
    let alone = bench.run(&["audit", "--session", "s-fork"]);
    assert_eq!((alone.code, alone.stdout.as_str()), (5, ""), "{}", alone.stderr);
}

// proves T11
#[test]
fn the_audit_tells_every_call_and_keeps_no_arguments_of_removed_sessions() {
    let bench = Bench::new(Script::of([
        edit(),
        ScriptStep::call("run_command", json!({"command": "echo secret-words"})),
        ScriptStep::call("run_command", json!({"command": "rm a.txt"})),
        ScriptStep::call("no_such", json!({})),
        ScriptStep::say("Done."),
    ]));
    std::fs::write(bench.workspace().join("a.txt"), "one\n").expect("a file");
    let rules = ["--allow", "run_command(echo *)", "--deny", "run_command(rm *)"];
    let ran = bench.run(&[&["run", "go", "--session", "s"][..], &rules].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(bench.run(&["undo", "s"]).code, 0);
    let lines = |arguments: &[&str]| -> Vec<Value> {
        let audited = bench.run(&[&["audit", "--json"][..], arguments].concat());
        assert_eq!(audited.code, 0, "{}", audited.stderr);
        audited.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    let all = lines(&[]);
    let told: Vec<_> =
        all.iter().map(|line| (line["tool"].as_str(), line["verdict"].as_str(), line["outcome"].as_str())).collect();
    assert_eq!(
        told,
        [
            (Some("local.edit_file"), Some("allow"), Some("ok")),
            (Some("local.run_command"), Some("allow"), Some("ok")),
            (Some("local.run_command"), Some("deny"), Some("denied")),
            (Some("no_such"), Some("unknown"), Some("unknown")),
        ]
    );
    assert_eq!(all[0]["because"], json!({"by": "mode", "mode": "default"}));
    assert_eq!(all[1]["because"], json!({"by": "rule", "rule": "run_command(echo *)"}));
    assert_eq!(all[2]["because"], json!({"by": "rule", "rule": "run_command(rm *)"}));
    assert_eq!((&all[0]["undone"], all[0]["owner"].as_str()), (&json!(1), Some("local")));
    assert_eq!(
        (&all[1]["about"], &all[1]["outside_sandbox"]),
        (&json!("run_command echo secret-words"), &json!(false))
    );
    assert_eq!(lines(&["--tool", "run_*"]).len(), 2);
    assert_eq!(lines(&["--since", "2100-01-01"]).len(), 0);
    let shown = bench.run(&["audit", "--session", "s"]);
    assert!(shown.stdout.contains("denied by run_command(rm *)"), "{}", shown.stdout);
    assert!(shown.stdout.contains("ok, undone by u1"), "{}", shown.stdout);
    assert_eq!(bench.run(&["sessions", "rm", "s"]).code, 0);
    let mut without = all.clone();
    for line in without.iter_mut().filter_map(Value::as_object_mut) {
        line.retain(|name, _| !["about", "network", "outside_sandbox"].contains(&name.as_str()));
    }
    assert_eq!(lines(&[]), without, "they outlive their session, without what they were about");
    let kept = bench.run(&["audit", "--session", "s"]).stdout;
    assert_eq!(kept.lines().count(), shown.stdout.lines().count());
    assert!(!kept.contains("secret-words") && !kept.contains("a.txt") && kept.contains("run_command ["), "{kept}");
}

// proves T11, X3: the audit names each command with its network and sandbox use
#[test]
fn the_audit_shows_commands_and_paths_and_how_far_a_command_reached() {
    let long = format!("echo {}", "x".repeat(300));
    let bench = Bench::new(Script::of([
        edit(),
        ScriptStep::call("run_command", json!({"command": "cargo test", "network": true})),
        ScriptStep::call("run_command", json!({"command": long, "sandbox": "off"})),
        ScriptStep::say("Done."),
    ]));
    assert_eq!(bench.run(&["run", "go", "--session", "s"]).code, 0);
    let shown = bench.run(&["audit"]).stdout;
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[0].contains("  edit_file a.txt  "), "{shown}");
    assert!(lines[1].contains("  run_command cargo test (with the network)  "), "{shown}");
    assert!(lines[2].contains("xxx… (outside the sandbox)  asked"), "{shown}");
    assert!(lines.iter().all(|line| line.chars().count() < 260), "{shown}");
}
