//! Rules go by the access of a call to a path, whichever tool makes it and however the path is written (X5).

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};
use windlass_tools::{Mode, Permissions, Rule};
use windlass_vocab::OutcomeKind;

use super::room::Room;

const TREASURE: &str = "treasure";

fn rules(texts: &[&str]) -> Vec<Rule> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn denying(texts: &[&str]) -> Permissions {
    Permissions { deny: rules(texts), ..Permissions::default() }
}

fn furnished() -> Room {
    let room = Room::with(&[
        ("secrets/key", "a treasure\n"),
        ("secrets/deep/map", "a treasure\n"),
        ("app/.env", "A=treasure\n"),
        ("app/main.rs", "fn main() {}\n"),
        ("notes", "plain\n"),
    ]);
    symlink("secrets", room.root().join("link")).unwrap();
    symlink("secrets/deep", room.root().join("deep")).unwrap();
    symlink("../secrets/key", room.root().join("app/alias")).unwrap();
    room
}

/// All calls of file tools that reveal the content or the metadata of a path.
fn ways_to_read(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("read_file", json!({"path": path})),
        ("search_files", json!({"pattern": "treasure", "path": path})),
        ("search_files", json!({"pattern": "", "path": path, "in": "names"})),
        ("edit_file", json!({"path": path, "old_text": "a treasurer", "new_text": "x"})),
        ("edit_file", json!({"path": path, "old_text": "a treasure", "new_text": "x"})),
        ("append_file", json!({"path": path, "text": "x"})),
        ("move_file", json!({"from": path, "to": "plain"})),
        ("delete_file", json!({"path": path})),
    ]
}

fn ways_to_write(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("write_file", json!({"path": path, "content": "x"})),
        ("edit_file", json!({"path": path, "old_text": "treasure", "new_text": "x"})),
        ("move_file", json!({"from": path, "to": "plain"})),
        ("move_file", json!({"from": "notes", "to": path, "overwrite": true})),
        ("append_file", json!({"path": path, "text": "x"})),
        ("delete_file", json!({"path": path})),
    ]
}

// proves X5
#[test]
fn what_must_not_be_read_is_read_by_no_tool_whatever_the_rule_and_the_path_are_called() {
    let names = ["read", "read_file", "search_files", "list_directory", "*", "*_file", "local.read_file"];
    for name in names {
        let permissions = denying(&[&format!("{name}(secrets/)"), &format!("{name}(**/.env)")]);
        for path in [
            "secrets/key",
            "./secrets//key",
            "app/../secrets/key",
            "SECRETS/key",
            "link/key",
            "deep/map",
            "deep/../key",
            "app/alias",
            "app/.env",
            "app/.ENV",
            "app/./.env",
        ] {
            let room = furnished();
            for (tool, arguments) in ways_to_read(path) {
                let outcome = room.checked(&permissions, tool, &arguments);
                assert_eq!(outcome.kind, OutcomeKind::Denied, "{name}: {tool} {arguments}: {}", outcome.text);
                assert!(!outcome.text.contains(TREASURE), "{}", outcome.text);
            }
            assert_eq!(room.text("secrets/key"), "a treasure\n");
        }
    }
}

// proves X5: with `--deny write` the file tools change nothing
#[test]
fn a_deny_of_writing_without_a_path_forbids_every_change() {
    for mode in [Mode::Default, Mode::Strict, Mode::Bypass] {
        let permissions = Permissions { mode, ..denying(&["write"]) };
        let room = furnished();
        let before = tree(&room.root());
        for path in ["notes", "secrets/key", "new", "app/new/deep"] {
            for (tool, arguments) in ways_to_write(path) {
                let outcome = room.checked(&permissions, tool, &arguments);
                assert_eq!(outcome.kind, OutcomeKind::Denied, "{mode:?}: {tool} {arguments}: {}", outcome.text);
            }
        }
        assert_eq!(tree(&room.root()), before);
        assert_eq!(room.checked(&permissions, "read_file", &json!({"path": "notes"})).kind, OutcomeKind::Ok);
    }
}

// proves X5: the target of a denied symlink is denied, whatever its own name
#[test]
fn what_a_denied_link_leads_to_is_read_by_no_tool() {
    let permissions = denying(&["read(.env)", "read(**/*.pem)", "read(private/)"]);
    let furnished = || {
        let room = Room::with(&[("conf/real.env", "a treasure\n"), ("keys/a", "a treasure\n"), ("notes", "plain\n")]);
        let link = |name: &str, target: &str| symlink(target, room.root().join(name)).unwrap();
        link(".env", "hop");
        link("hop", "conf/real.env");
        link("conf/a.pem", "../keys/a");
        link("private", "store");
        std::fs::create_dir_all(room.root().join("store/deep")).unwrap();
        std::fs::write(room.root().join("store/deep/x"), "a treasure\n").unwrap();
        room
    };
    for path in ["conf/real.env", "hop", "keys/a", "store/deep/x"] {
        let room = furnished();
        for (tool, arguments) in ways_to_read(path) {
            let outcome = room.checked(&permissions, tool, &arguments);
            assert_eq!(outcome.kind, OutcomeKind::Denied, "{tool} {arguments}: {}", outcome.text);
        }
    }
    let room = furnished();
    let found = room.checked(&permissions, "search_files", &json!({"pattern": "treasure"}));
    assert!(!found.text.contains("a treasure") && found.text.contains("not shown"), "{}", found.text);
    let moved = room.checked(&permissions, "move_file", &json!({"from": "conf", "to": "plain"}));
    assert_eq!(moved.kind, OutcomeKind::Denied, "{}", moved.text);
    let listed = room.checked(&permissions, "list_directory", &json!({"path": "conf"}));
    assert!(!listed.text.contains("real.env"), "{}", listed.text);
    assert_eq!(room.checked(&permissions, "read_file", &json!({"path": "notes"})).kind, OutcomeKind::Ok);
}

// proves X5
#[test]
fn what_must_not_be_written_is_changed_by_no_tool() {
    for name in ["write", "write_file", "edit_file", "move_file", "append_file", "delete_file", "*"] {
        let permissions = denying(&[&format!("{name}(secrets/)"), &format!("{name}(**/.env)")]);
        for path in ["secrets/key", "link/key", "deep/../key", "app/alias", "app/.env", "secrets/new", "app/.Env"] {
            let room = furnished();
            let before = tree(&room.root());
            for (tool, arguments) in ways_to_write(path) {
                let outcome = room.checked(&permissions, tool, &arguments);
                assert_eq!(outcome.kind, OutcomeKind::Denied, "{name}: {tool} {arguments}: {}", outcome.text);
            }
            assert_eq!(tree(&room.root()), before, "{path}");
        }
        let read = furnished().checked(&permissions, "read_file", &json!({"path": "secrets/key"}));
        assert_eq!(read.kind == OutcomeKind::Ok, name != "*", "{name}: {}", read.text);
    }
}

// proves X5
#[test]
fn a_folder_is_not_moved_with_what_must_stay_in_it_or_must_not_come_into_it() {
    for (rule, from, to) in [
        ("read(secrets/deep/)", "secrets", "plain"),
        ("write(secrets/deep/map)", "secrets", "plain"),
        ("read(**/.env)", "app", "plain"),
        ("write(plain/main.rs)", "app", "plain"),
        ("write(plain)", "app", "plain/app"),
        ("read(secrets)", "secrets", "plain"),
    ] {
        let room = furnished();
        let before = tree(&room.root());
        let outcome = room.checked(&denying(&[rule]), "move_file", &json!({"from": from, "to": to}));
        assert_eq!(outcome.kind, OutcomeKind::Denied, "{rule}: {}", outcome.text);
        assert!(outcome.text.contains(rule), "{}", outcome.text);
        assert_eq!(tree(&room.root()), before, "{rule}");
    }
    let outcome =
        furnished().checked(&denying(&["read(**/.env)"]), "move_file", &json!({"from": "secrets", "to": "s"}));
    assert_eq!(outcome.kind, OutcomeKind::Ok, "{}", outcome.text);
}

// proves X5
#[test]
fn a_folder_too_large_to_look_through_is_taken_to_hold_what_a_rule_names() {
    let room = furnished();
    std::fs::create_dir(room.root().join("many")).unwrap();
    for number in 0..5_001 {
        std::fs::write(room.root().join(format!("many/{number}")), "").unwrap();
    }
    let moved = |rule: &str| room.checked(&denying(&[rule]), "move_file", &json!({"from": "many", "to": "more"})).kind;
    assert_eq!(moved("write(**/.env)"), OutcomeKind::Denied);
    assert_eq!(moved("write(more/x/y)"), OutcomeKind::Denied);
    assert_eq!(moved("write(secrets/)"), OutcomeKind::Denied, "it may hold a protected path, so it asks");
    let bypass = Permissions { mode: Mode::Bypass, ..denying(&["write(secrets/)"]) };
    assert_eq!(room.checked(&bypass, "move_file", &json!({"from": "many", "to": "more"})).kind, OutcomeKind::Ok);
}

// proves X5
#[test]
fn a_search_and_a_listing_leave_out_what_must_not_be_read_and_say_how_many() {
    let room = furnished();
    std::fs::write(room.root().join("open"), "no treasure here\n").unwrap();
    let forbidden = denying(&["read_file(secrets/)", "read(**/.env)"]);
    let asked = Permissions { ask: rules(&["read(secrets/)", "read_file(**/.env)"]), ..Permissions::default() };
    for permissions in [&forbidden, &asked] {
        let found = room.checked(permissions, "search_files", &json!({"pattern": "treasure"})).text;
        assert_eq!(
            found,
            "open:1: no treasure here\n[2 entries not shown: a rule forbids reading them, or asks first]"
        );
        let named = room.checked(permissions, "search_files", &json!({"pattern": "", "in": "names"})).text;
        assert!(!named.contains("key") && !named.contains(".env") && named.contains("app/main.rs"), "{named}");
        let listed = room.checked(permissions, "list_directory", &json!({})).text;
        assert_eq!(
            listed,
            "app/\nnotes  6\nopen  17\n[3 entries not shown: a rule forbids reading them, or asks first]"
        );
        let app = room.checked(permissions, "list_directory", &json!({"path": "app"})).text;
        assert_eq!(app, "main.rs  13\n[2 entries not shown: a rule forbids reading them, or asks first]");
    }
    let bypass = Permissions { mode: Mode::Bypass, ..asked.clone() };
    let found = room.checked(&bypass, "search_files", &json!({"pattern": "treasure"})).text;
    assert!(found.contains("secrets/key:1") && found.contains("app/.env:1"), "{found}");
    let bypass = Permissions { mode: Mode::Bypass, ..forbidden };
    assert!(!room.checked(&bypass, "search_files", &json!({"pattern": "treasure"})).text.contains("secrets"));
    let inside = room.checked(&asked, "search_files", &json!({"pattern": "treasure", "path": "secrets"}));
    assert_eq!(inside.text, "asked");
}

// proves X5: below a symlink the real path of a file is checked
#[test]
fn a_search_through_a_link_leaves_out_the_same() {
    let room = furnished();
    let permissions = denying(&["read(secrets/deep/)"]);
    let found = room.checked(&permissions, "search_files", &json!({"pattern": "treasure", "path": "link"})).text;
    assert!(found.contains("link/key:1") && !found.contains("map"), "{found}");
    let listed = room.checked(&permissions, "list_directory", &json!({"path": "link"})).text;
    assert!(listed.contains("key") && !listed.contains("deep/"), "{listed}");
}

// proves X5: in an allow rule a name means that tool, and an access means every built-in tool
#[test]
fn an_access_allows_every_tool_that_does_nothing_else() {
    let strict = |allow: &[&str]| Permissions { mode: Mode::Strict, allow: rules(allow), ..Permissions::default() };
    let kinds = |permissions: &Permissions| {
        let (room, permissions) = (furnished(), permissions.clone());
        let calls = [
            ("write_file", json!({"path": "app/new", "content": "x"})),
            ("edit_file", json!({"path": "app/main.rs", "old_text": "main", "new_text": "x"})),
            ("move_file", json!({"from": "app/main.rs", "to": "app/lib.rs"})),
            ("move_file", json!({"from": "app", "to": "lib"})),
        ];
        calls.map(|(tool, arguments)| room.checked(&permissions, tool, &arguments).kind == OutcomeKind::Ok)
    };
    assert_eq!(kinds(&strict(&[])), [false, false, false, false]);
    assert_eq!(kinds(&strict(&["write_file(app/*)"])), [true, false, false, false]);
    assert_eq!(kinds(&strict(&["write(app/*)"])), [true, true, true, false]);
    assert_eq!(kinds(&strict(&["read"])), [false, false, false, false]);
    assert_eq!(kinds(&strict(&["write"])), [true, true, true, true]);
}

/// Returns all files with their contents; follows no symlinks.
fn tree(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            found.extend(tree(&entry.path()).into_iter().map(|(below, text)| (format!("{name}/{below}"), text)));
        } else if kind.is_file() {
            found.insert(name, std::fs::read_to_string(entry.path()).unwrap());
        } else {
            found.insert(name, "a link".to_owned());
        }
    }
    found
}

const PATHS: &[&str] = &[
    ".",
    "a",
    "a/x",
    "a/.env",
    "a/b",
    "a/b/.env",
    "a/b/z",
    "secrets",
    "secrets/key",
    "secrets/more/key",
    "Secrets/key",
    "./a/../secrets/key",
    "to_more/../key",
    "to_secrets",
    "to_secrets/key",
    "to_key",
    "vault",
    "vault/v",
    "vault/in/v",
    "locked",
    "a/locked",
    "new",
    "new/locked",
    "new/deep/x",
];

#[derive(Clone, Debug)]
enum Operation {
    Read(&'static str),
    Write(&'static str),
    Edit(&'static str, &'static str),
    Move(&'static str, &'static str, bool),
    Append(&'static str),
    Delete(&'static str),
    Search(&'static str),
    Names(&'static str),
    List(&'static str),
}

fn operation() -> impl Strategy<Value = Operation> {
    let path = || proptest::sample::select(PATHS);
    prop_oneof![
        path().prop_map(Operation::Read),
        path().prop_map(Operation::Write),
        (path(), proptest::sample::select(&["gold", "golf", "line", "lime"][..]))
            .prop_map(|(path, text)| Operation::Edit(path, text)),
        (path(), path(), any::<bool>()).prop_map(|(from, to, over)| Operation::Move(from, to, over)),
        (path(), path(), any::<bool>()).prop_map(|(from, to, over)| Operation::Move(from, to, over)),
        path().prop_map(Operation::Append),
        path().prop_map(Operation::Delete),
        path().prop_map(Operation::Search),
        path().prop_map(Operation::Names),
        path().prop_map(Operation::List),
    ]
}

impl Operation {
    fn call(&self) -> (&'static str, Value) {
        match self {
            Self::Read(path) => ("read_file", json!({"path": path})),
            Self::Write(path) => ("write_file", json!({"path": path, "content": "line\n"})),
            Self::Edit(path, text) => ("edit_file", json!({"path": path, "old_text": text, "new_text": "tin"})),
            Self::Move(from, to, over) => ("move_file", json!({"from": from, "to": to, "overwrite": over})),
            Self::Append(path) => ("append_file", json!({"path": path, "text": "line"})),
            Self::Delete(path) => ("delete_file", json!({"path": path})),
            Self::Search(path) => ("search_files", json!({"pattern": "gold|line", "path": path, "context": 3})),
            Self::Names(path) => ("search_files", json!({"pattern": "", "path": path, "in": "names"})),
            Self::List(path) => ("list_directory", json!({"path": path})),
        }
    }
}

/// Returns the paths that must not change, with their contents.
fn locked(room: &Room) -> BTreeMap<String, String> {
    let mut files = tree(&room.root());
    files.retain(|path, _| path.starts_with("vault/") || path == "locked" || path.ends_with("/locked"));
    files
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    // proves X5: no denied content reaches the model, and no denied path changes
    #[test]
    fn whatever_is_done_to_files_nothing_denied_is_read_or_changed(
        operations in prop::collection::vec(operation(), 1..12),
        names in prop_oneof![
            Just(("read", "write")),
            Just(("read_file", "write_file")),
            Just(("search_files", "move_file")),
            Just(("list_directory", "edit_file")),
            Just(("read", "append_file")),
            Just(("read", "delete_file")),
        ],
        mode in prop_oneof![Just(Mode::Default), Just(Mode::Bypass)],
    ) {
        let room = Room::with(&[
            ("a/x", "line\n"),
            ("a/.env", "gold one\nline\n"),
            ("a/b/.env", "gold two\n"),
            ("a/b/z", "line\n"),
            ("secrets/key", "line\ngold three\n"),
            ("secrets/more/key", "gold four\n"),
            ("vault/v", "line\n"),
            ("vault/in/v", "line\n"),
            ("locked", "line\n"),
            ("a/locked", "line\n"),
        ]);
        for (target, link) in [("secrets", "to_secrets"), ("secrets/key", "to_key"), ("secrets/more", "to_more")] {
            symlink(target, room.root().join(link)).unwrap();
        }
        let (read, write) = names;
        let deny = [
            format!("{read}(secrets/)"),
            format!("{read}(**/.env)"),
            format!("{write}(vault)"),
            format!("{write}(**/locked)"),
        ];
        let deny = deny.iter().map(|rule| rule.parse().unwrap()).collect();
        let permissions = Permissions { mode, deny, ..Permissions::default() };
        let before = locked(&room);
        for operation in &operations {
            let (tool, arguments) = operation.call();
            let outcome = room.checked(&permissions, tool, &arguments);
            prop_assert!(!outcome.text.contains("gold"), "{operation:?}: {}", outcome.text);
            prop_assert_eq!(&locked(&room), &before, "{:?}: {}", operation, outcome.text);
        }
    }
}
