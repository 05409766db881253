//! Tool calls with wrong arguments, paths outside the workspace, too much output or no end. The model gets an error
//! result, and the run continues.

use std::fs::{self, File};
use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use windlass_testkit::{Script, ScriptStep};

use crate::support::{Bench, ran};

struct Case<'a> {
    tool: &'a str,
    arguments: Value,
    outcome: &'a str,
    /// Texts that the result sent to the model must contain.
    told: &'a [&'a str],
}

/// Puts unusual files into the workspace.
fn furnish(bench: &Bench) {
    let (work, outside) = (bench.workspace(), bench.dir.path().join("outside"));
    fs::create_dir(&outside).expect("a folder");
    fs::write(outside.join("secret.txt"), "the treasure\n").expect("written");
    symlink(&outside, work.join("way-out")).expect("a link");
    symlink(outside.join("secret.txt"), work.join("file-out")).expect("a link");
    fs::write(work.join("notes.txt"), "one\ntwo\n").expect("written");
    fs::write(work.join("binary"), b"\x7fELF\0\0\x01\x02").expect("written");
    File::create(work.join("huge")).and_then(|file| file.set_len(2 << 30)).expect("a sparse file");
}

fn check(case: Case<'_>) {
    let Case { tool, arguments, outcome, told } = case;
    let context = format!("{tool} {arguments}");
    let bench = Bench::new(Script::of([ScriptStep::call(tool, arguments), ScriptStep::say("I see.")]));
    furnish(&bench);
    let ran = bench.run(&["run", "go", "--session", "s", "--mode", "bypass"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "I see.\n"), "{context}: {}", ran.stderr);
    let finished = bench.journal("s").into_iter().find(|record| record["kind"] == "CallFinished").expect("a result");
    let heard = bench.last_request("tool").concat();
    assert_eq!(finished["body"]["outcome"], outcome, "{context}: {heard}");
    for part in told {
        assert!(heard.contains(part), "{context}: {part:?} is not in {heard}");
    }
    assert!(heard.chars().count() < 20_000, "{context}: {} characters", heard.chars().count());
    assert!(!heard.contains("treasure"), "{context}: {heard}");
    let outside: Vec<_> = fs::read_dir(bench.dir.path().join("outside")).expect("a folder").flatten().collect();
    assert!(outside.len() == 1 && outside[0].file_name() == "secret.txt", "{context}: {outside:?}");
    assert_eq!(fs::read_to_string(outside[0].path()).ok().as_deref(), Some("the treasure\n"), "{context}");
    bench.assert_nothing_survives(&context);
    bench.assert_whole(&context);
}

// proves T1, T3, T5
#[test]
fn a_call_that_makes_no_sense_is_explained_to_the_model() {
    for (tool, arguments, outcome, told) in [
        ("file_read", json!({"path": "notes.txt"}), "unknown", &["read_file"][..]),
        ("fly_to_the_moon", json!({}), "unknown", &["no tool"]),
        ("read_file", json!("[1, 2]"), "invalid_arguments", &["object"]),
        ("read_file", json!("\"notes.txt\""), "invalid_arguments", &["object"]),
        ("read_file", json!("null"), "invalid_arguments", &["path"]),
        ("read_file", json!("path=notes.txt please"), "invalid_arguments", &["JSON"]),
        ("read_file", json!({"path": [7]}), "invalid_arguments", &["path", "string"]),
        ("read_file", json!({}), "invalid_arguments", &["path"]),
        ("read_file", json!({"path": "notes.txt", "colour": "red"}), "invalid_arguments", &["colour"]),
        ("run_command", json!({"command": ""}), "invalid_arguments", &["command"]),
        ("read_file", json!({"path": "no/such/file"}), "not_found", &["no/such/file"]),
        ("read_file", json!({"path": "."}), "invalid_arguments", &["directory"]),
    ] {
        check(Case { tool, arguments, outcome, told });
    }
}

// proves T3: arguments with only one possible meaning are repaired
#[test]
fn a_call_with_slips_is_mended_and_run() {
    for (tool, arguments) in [
        ("raed_file", json!({"path": "notes.txt"})),
        ("cat", json!({"path": "notes.txt"})),
        ("functions.read_file", json!("{'path': 'notes.txt',}")),
        ("read_file", json!("```json\n{\"path\": \"notes.txt\"\n```")),
        ("read_file", json!({"path": "notes.txt", "limit": "5", "offset": null})),
    ] {
        check(Case { tool, arguments, outcome: "ok", told: &["one\ntwo"] });
    }
}

// proves T3: an object written as a string is parsed
#[test]
fn arguments_in_quotes_are_understood() {
    let arguments = json!(json!({"path": "notes.txt"}).to_string()).to_string().into();
    check(Case { tool: "read_file", arguments, outcome: "ok", told: &["one\ntwo"] });
}

// proves T10: paths stay inside the workspace
#[test]
fn no_path_leads_out_of_the_workspace() {
    for path in
        ["../outside/secret.txt", "/etc/passwd", "way-out/secret.txt", "file-out", "way-out/../../outside/secret.txt"]
    {
        let outside = &["workspace"][..];
        check(Case {
            tool: "read_file",
            arguments: json!({"path": path}),
            outcome: "invalid_arguments",
            told: outside,
        });
        let write = json!({"path": path, "content": "pwned"});
        check(Case { tool: "write_file", arguments: write, outcome: "invalid_arguments", told: outside });
    }
    for path in ["..", "/", "way-out"] {
        check(Case {
            tool: "list_directory",
            arguments: json!({"path": path}),
            outcome: "invalid_arguments",
            told: &["workspace"],
        });
    }
    let steal = json!({"from": "way-out/secret.txt", "to": "mine"});
    check(Case { tool: "move_file", arguments: steal, outcome: "invalid_arguments", told: &["workspace"] });
    let smuggle = json!({"from": "notes.txt", "to": "way-out/notes.txt"});
    check(Case { tool: "move_file", arguments: smuggle, outcome: "invalid_arguments", told: &["workspace"] });
    check(Case { tool: "search_files", arguments: json!({"pattern": "tr[e]asure"}), outcome: "ok", told: &[] });
}

// proves T5, T7
#[test]
fn binary_and_huge_files_are_not_read_whole() {
    for (tool, arguments, outcome, told) in [
        ("read_file", json!({"path": "binary"}), "tool_error", &["an ELF program"][..]),
        ("read_file", json!({"path": "huge"}), "tool_error", &["binary"]),
        ("search_files", json!({"pattern": "two"}), "ok", &["notes.txt:2: two"]),
        ("edit_file", json!({"path": "huge", "old_text": "a", "new_text": "b"}), "tool_error", &[]),
    ] {
        check(Case { tool, arguments, outcome, told });
    }
}

// proves T6, T7
#[test]
fn commands_that_never_end_flood_or_leave_children_are_ended() {
    for (command, outcome, told) in [
        ("echo begun; sleep 300", "timed_out", &["begun", "1 s"][..]),
        ("trap '' TERM INT HUP; echo begun; while :; do sleep 1; done", "timed_out", &["begun"]),
        ("sleep 300 & setsid sleep 300 & nohup sleep 300 & echo left", "ok", &["left"]),
        ("exit 3", "ok", &["3"]),
        ("kill -9 $$", "ok", &["9"]),
        ("no-such-program-anywhere", "ok", &["127"]),
        ("head -c 50000 /dev/urandom", "ok", &[]),
        ("cat", "ok", &[]),
    ] {
        check(Case {
            tool: "run_command",
            arguments: json!({"command": command, "timeout_seconds": 1}),
            outcome,
            told,
        });
    }
}

// proves T6, T7: long output is truncated, and the rest can be read in parts
#[test]
fn a_flood_of_output_is_cut() {
    let command = json!({"command": "yes haul | head -c 3000000; echo the end"});
    check(Case { tool: "run_command", arguments: command, outcome: "ok", told: &["haul", "truncated", "the end"] });
}

// proves T7: a command with endless output is killed
#[test]
fn an_endless_flood_is_ended() {
    let command = json!({"command": "yes", "timeout_seconds": 60});
    check(Case { tool: "run_command", arguments: command, outcome: "tool_error", told: &["y"] });
}

// proves T10, J9: tools can't access the journal, even if the data folder is in the workspace
#[test]
fn no_tool_touches_the_data_folder_in_the_workspace() {
    let in_data = |name: &str| format!("home/data/{name}");
    let database = in_data("windlass.db");
    let refused = "keeps its own data or settings";
    for (tool, arguments, told) in [
        ("write_file", json!({"path": database, "content": "gone"}), refused),
        ("write_file", json!({"path": in_data("new/file"), "content": "x"}), refused),
        ("write_file", json!({"path": "way-in/new", "content": "x"}), refused),
        ("write_file", json!({"path": "home/../way-in/../data/new", "content": "x"}), refused),
        ("edit_file", json!({"path": database, "old_text": "a", "new_text": "b"}), refused),
        ("read_file", json!({"path": database}), refused),
        ("list_directory", json!({"path": "way-in"}), refused),
        ("search_files", json!({"pattern": "", "in": "names", "path": "home/data"}), refused),
        ("search_files", json!({"pattern": "", "in": "names"}), "notes"),
        ("move_file", json!({"from": "notes", "to": database, "overwrite": true}), refused),
        ("move_file", json!({"from": database, "to": "mine"}), refused),
        ("move_file", json!({"from": "home/data", "to": "mine"}), refused),
        ("move_file", json!({"from": "home", "to": "mine"}), refused),
        ("list_directory", json!({"path": "home"}), "data/"),
        ("write_file", json!({"path": "home/database", "content": "x"}), "home/database"),
    ] {
        let context = format!("{tool} {arguments}");
        let bench = Bench::new(Script::of([ScriptStep::call(tool, arguments), ScriptStep::say("I see.")]));
        let data = bench.workspace().join("home/data");
        fs::create_dir_all(&data).expect("a folder");
        symlink("home/data", bench.workspace().join("way-in")).expect("a link");
        fs::write(bench.workspace().join("notes"), "").expect("written");
        let on_data = |arguments: &[&str]| ran(bench.command_on(&data, arguments).spawn().expect("the binary starts"));
        let done = on_data(&["run", "go", "--session", "s", "--mode", "bypass"]);
        assert_eq!((done.code, done.stdout.as_str()), (0, "I see.\n"), "{context}: {}", done.stderr);
        let heard = bench.last_request("tool").concat();
        assert!(heard.contains(told) && !heard.contains("windlass.db-wal"), "{context}: {heard}");
        assert!(!data.join("new").exists(), "{context}");
        assert_eq!(on_data(&["sessions", "verify"]).code, 0, "{context}");
    }
}

#[test]
fn a_workspace_in_the_data_folder_is_refused() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    for data in [bench.workspace(), bench.dir.path().to_owned()] {
        let refused = ran(bench.command_on(&data, &["run", "go"]).spawn().expect("the binary starts"));
        assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{}", refused.stderr);
        assert!(refused.stderr.contains("which is not for tools"), "{}", refused.stderr);
    }
    assert_eq!(bench.server.count(), 0);
}
