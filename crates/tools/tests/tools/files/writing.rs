//! Tools that change files.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;
use windlass_tools::{Mode, Permissions, Verification};
use windlass_vocab::{Outcome, OutcomeKind};

use super::room::{Room, context};

// proves T10
#[test]
fn a_file_is_written_whole_with_its_folders_and_keeps_its_mode() {
    let room = Room::with(&[("script", "old")]);
    let script = room.root().join("script");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o750)).unwrap();
    assert_eq!(room.ok("write_file", &json!({"path": "script", "content": "new é"})), "Wrote 6 bytes to script.");
    assert_eq!(room.text("script"), "new é");
    assert_eq!(script.metadata().unwrap().permissions().mode() & 0o777, 0o750);
    room.ok("write_file", &json!({"path": "a/b/c.txt", "content": ""}));
    assert_eq!(room.text("a/b/c.txt"), "");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o440)).unwrap();
    assert!(room.refused("write_file", &json!({"path": "script", "content": "x"})).contains("read-only"));
    let text = room.wrong("write_file", &json!({"path": "script/x", "content": "x"}));
    assert!(text.contains("not a directory"), "{text}");
    for path in ["", ".", "..", "new/", "a/.."] {
        room.wrong("write_file", &json!({"path": path, "content": "x"}));
    }
    assert_eq!(leftovers(&room.root()), Vec::<String>::new());
}

// proves T10: a failed call has changed nothing
#[test]
fn a_write_that_is_refused_or_fails_leaves_no_folder_behind() {
    let room = Room::with(&[("f", "x"), ("closed/g", "x")]);
    let long = "n".repeat(300);
    let closed = room.root().join("closed");
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o500)).unwrap();
    for (tool, arguments) in [
        ("write_file", json!({"path": format!("a/b/{long}"), "content": "x"})),
        ("write_file", json!({"path": "a/b/../../../out", "content": "x"})),
        ("write_file", json!({"path": "a/b/../../f/g", "content": "x"})),
        ("write_file", json!({"path": "a/b/..", "content": "x"})),
        ("write_file", json!({"path": "a/b", "content": "⟦secret:KEY⟧"})),
        ("move_file", json!({"from": "f", "to": format!("a/b/{long}")})),
        ("move_file", json!({"from": "closed/g", "to": "a/b/g"})),
    ] {
        let outcome = room.call(tool, &arguments);
        // Root is refused nothing by a folder's mode.
        if outcome.kind == OutcomeKind::Ok {
            std::fs::rename(room.root().join("a/b/g"), closed.join("g")).unwrap();
            std::fs::remove_dir_all(room.root().join("a")).unwrap();
        }
        assert!(!room.root().join("a").exists(), "{tool} {arguments}: {}", outcome.text);
    }
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o700)).unwrap();
    std::fs::create_dir(room.root().join("there")).unwrap();
    room.call("write_file", &json!({"path": format!("there/b/{long}"), "content": "x"}));
    assert!(room.root().join("there").exists() && !room.root().join("there/b").exists(), "what was there stays");
}

// proves J4
#[test]
fn what_a_crash_left_of_a_write_is_cleared_by_the_second_try() {
    let room = Room::with(&[("f", "old")]);
    let unfinished = format!(".windlass-{}.tmp", context().effect_id.as_str().replace(':', "-"));
    std::fs::write(room.root().join(&unfinished), "half").unwrap();
    room.ok("write_file", &json!({"path": "f", "content": "new"}));
    assert_eq!(room.text("f"), "new");
    assert_eq!(leftovers(&room.root()), Vec::<String>::new());
}

fn leftovers(root: &Path) -> Vec<String> {
    let names = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(".windlass")).collect()
}

// proves X1
#[test]
fn a_placeholder_is_never_written() {
    let room = Room::with(&[("f", "key = \"?\"")]);
    for (tool, arguments) in [
        ("write_file", json!({"path": "f", "content": "key = ⟦secret:API_KEY⟧"})),
        ("edit_file", json!({"path": "f", "old_text": "?", "new_text": "⟦secret:API_KEY⟧"})),
        ("run_command", json!({"command": "echo ⟦secret:API_KEY⟧ > f"})),
    ] {
        // The tool itself refuses it, even if everything is allowed.
        let bypass = Permissions { mode: Mode::Bypass, ..Permissions::default() };
        let outcome = room.checked(&bypass, tool, &arguments);
        assert_eq!(outcome.kind, OutcomeKind::ToolError, "{tool}");
        assert!(outcome.text.contains("Leave it out"), "{tool}: {}", outcome.text);
    }
    assert_eq!(room.text("f"), "key = \"?\"");
}

// proves J4
#[test]
fn an_edit_is_made_once_and_can_be_asked_about() {
    let room = Room::with(&[("f", "one\r\ntwo\r\nthree\r\n")]);
    let arguments = json!({"path": "f", "old_text": "two\nthree", "new_text": "2\n3"});
    assert_eq!(room.verify("edit_file", &arguments), Verification::NotDone);
    assert_eq!(room.ok("edit_file", &arguments), "Edited f.");
    assert_eq!(room.text("f"), "one\r\n2\r\n3\r\n");
    assert_eq!(room.verify("edit_file", &arguments), Verification::Done(Outcome::ok("Edited f.")));
    assert!(room.missing("edit_file", &arguments).contains("does not occur"));
    std::fs::remove_file(room.root().join("f")).unwrap();
    assert_eq!(room.verify("edit_file", &arguments), Verification::Unknown);
    std::fs::write(room.root().join("latin1"), b"caf\xe9").unwrap();
    let text = room.refused("edit_file", &json!({"path": "latin1", "old_text": "c", "new_text": "k"}));
    assert!(text.contains("not UTF-8"), "{text}");
}

// proves J4
#[test]
fn a_move_is_made_once_replaces_nothing_unasked_and_can_be_asked_about() {
    let room = Room::with(&[("a", "A"), ("b", "B"), ("dir/x", "X")]);
    let onto_b = json!({"from": "a", "to": "b"});
    assert!(room.refused("move_file", &onto_b).contains("already a `b`"));
    assert_eq!((room.text("a"), room.text("b")), ("A".into(), "B".into()));
    let away = json!({"from": "a", "to": "new/place/a"});
    assert_eq!(room.verify("move_file", &away), Verification::NotDone);
    room.ok("move_file", &away);
    assert_eq!(room.text("new/place/a"), "A");
    // Nothing on the disk distinguishes this from a move of a missing file.
    assert_eq!(room.verify("move_file", &away), Verification::Unknown);
    assert_eq!(room.verify("move_file", &json!({"from": "never", "to": "b"})), Verification::Unknown);
    room.ok("move_file", &json!({"from": "new/place/a", "to": "b", "overwrite": true}));
    assert_eq!(room.text("b"), "A");
    assert_eq!(room.verify("move_file", &away), Verification::Unknown);
    room.ok("move_file", &json!({"from": "dir", "to": "folder"}));
    assert_eq!(room.text("folder/x"), "X");
    assert!(room.wrong("move_file", &json!({"from": "b", "to": "folder"})).contains("is a directory"));
    assert!(room.missing("move_file", &json!({"from": "none", "to": "x"})).contains("There is no `none`"));
}
