//! A rule about an action applies to every tool that performs the action (X5).

use serde_json::{Value, json};
use windlass_testkit::{Script, ScriptStep};

use crate::support::{Bench, Ran};

/// Runs these calls in a workspace with a few files.
fn run(flags: &[&str], calls: &[(&str, Value)]) -> (Bench, Ran) {
    let steps = calls.iter().map(|(tool, arguments)| ScriptStep::call(tool, arguments.clone()));
    let bench = Bench::new(Script::of(steps.chain([ScriptStep::say("Aye.")])));
    for (path, text) in [
        ("app/.env", "A=treasure\n"),
        ("secrets/key", "a treasure\n"),
        ("plain", "plain\n"),
        ("AGENTS.md", "Be brief.\n"),
    ] {
        let path = bench.workspace().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    }
    let ran = bench.run(&[&["run", "go"], flags].concat());
    assert_eq!(ran.code, 0, "{flags:?}: {}", ran.stderr);
    bench.assert_whole("denied");
    (bench, ran)
}

// proves X5: each of these calls once bypassed the rule
#[test]
fn a_file_that_must_not_be_written_is_neither_edited_nor_replaced() {
    for rule in ["write_file(**/.env)", "write(**/.env)", "edit_file(app/.env)", "*(**/.env)"] {
        let calls = [
            ("write_file", json!({"path": "app/.env", "content": "x"})),
            ("edit_file", json!({"path": "app/.env", "old_text": "A", "new_text": "B"})),
            ("move_file", json!({"from": "plain", "to": "app/.env", "overwrite": true})),
            ("move_file", json!({"from": "app/.env", "to": "gone"})),
            ("move_file", json!({"from": "app", "to": "gone"})),
        ];
        for mode in ["default", "bypass"] {
            let (bench, _) = run(&["--deny", rule, "--mode", mode], &calls);
            assert_eq!(bench.read("app/.env").as_deref(), Some("A=treasure\n"), "{rule}");
            let heard = bench.last_request("tool");
            let forbidden = format!("the rule `{rule}` forbids it");
            assert!(heard.len() == 5 && heard.iter().all(|text| text.contains(&forbidden)), "{heard:#?}");
        }
    }
}

// proves X5: each of these calls once bypassed the rule
#[test]
fn a_file_that_must_not_be_read_is_neither_found_nor_moved_to_be_read() {
    for rules in [["read_file(secrets/)", "read_file(**/.env)"], ["read(secrets)", "*(**/.env)"]] {
        let calls = [
            ("read_file", json!({"path": "secrets/key"})),
            ("search_files", json!({"pattern": "treasure"})),
            ("search_files", json!({"pattern": "treasure", "path": "secrets/key"})),
            ("list_directory", json!({"path": "secrets"})),
            ("move_file", json!({"from": "secrets/key", "to": "open"})),
            ("read_file", json!({"path": "open"})),
            ("move_file", json!({"from": "secrets", "to": "opened"})),
            ("read_file", json!({"path": "opened/key"})),
            ("edit_file", json!({"path": "app/.env", "old_text": "A=treasurer", "new_text": "x"})),
        ];
        let (bench, _) = run(&["--deny", rules[0], "--deny", rules[1]], &calls);
        let heard = bench.last_request("tool").concat();
        assert!(!heard.contains("treasure"), "{heard}");
        assert!(heard.contains("2 entries not shown: a rule forbids reading them"), "{heard}");
        assert_eq!(bench.read("secrets/key").as_deref(), Some("a treasure\n"));
    }
}

// proves X5: a rule about reading applies to the project's instructions, which are read for the model
#[test]
fn instructions_that_must_not_be_read_are_not_sent() {
    for (flags, sent) in [(&[][..], true), (&["--deny", "read(AGENTS.md)"], false)] {
        let (bench, _) = run(flags, &[]);
        assert_eq!(bench.last_request("system").concat().contains("Be brief."), sent, "{flags:?}");
    }
}

// proves X5
#[test]
fn an_ask_goes_by_what_is_done_as_well() {
    let calls = [
        ("edit_file", json!({"path": "app/.env", "old_text": "A", "new_text": "B"})),
        ("search_files", json!({"pattern": "treasure", "path": "app"})),
    ];
    let bench = Bench::new(Script::of(
        calls.into_iter().map(|(tool, arguments)| ScriptStep::call(tool, arguments)).chain([ScriptStep::say("Aye.")]),
    ));
    std::fs::create_dir(bench.workspace().join("app")).expect("made");
    std::fs::write(bench.workspace().join("app/.env"), "A=treasure\n").expect("written");
    settings(&bench, "[permissions]\nask = ['write_file(**/.env)', 'read_file(**/.env)']\n");
    assert_eq!(bench.run(&["run", "go"]).code, 0);
    let heard = bench.last_request("tool");
    assert!(heard[0].contains("nobody is there to give it"), "{heard:?}");
    assert!(heard[1].contains("1 entry not shown") && !heard[1].contains("A=treasure"), "{heard:?}");
    assert_eq!(bench.read("app/.env").as_deref(), Some("A=treasure\n"));
}

// proves X5, T9
#[test]
fn an_undo_does_not_change_what_must_not_be_changed() {
    let (bench, _) = run(&[], &[("write_file", json!({"path": "app/.env", "content": "B\n"}))]);
    settings(&bench, "[permissions]\ndeny = ['write(**/.env)']\n");
    let refused = bench.run(&["undo"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(
        refused.stderr.contains("it would change app/.env, which the rule `write(**/.env)` forbids"),
        "{}",
        refused.stderr
    );
    assert_eq!(bench.read("app/.env").as_deref(), Some("B\n"));
    settings(&bench, "");
    assert_eq!(bench.run(&["undo"]).code, 0);
    assert_eq!(bench.read("app/.env").as_deref(), Some("A=treasure\n"));
}

/// Writes the user's settings file.
fn settings(bench: &Bench, text: &str) {
    let file = bench.dir.path().join(".config/windlass/windlass.toml");
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
    std::fs::write(file, text).expect("written");
}
