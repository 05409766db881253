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
        ("append_file", json!({"path": "f", "text": "key = ⟦secret:API_KEY⟧"})),
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
    assert_eq!(room.ok("edit_file", &arguments), "Edited f. It reads now:\none\n2\n3");
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

// proves T10, J4
#[test]
fn lines_are_added_at_the_end_of_a_file_or_make_one() {
    let room = Room::with(&[("f", "one"), ("script", "#!/bin/sh\n")]);
    let script = room.root().join("script");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o750)).unwrap();
    room.ok("append_file", &json!({"path": "script", "text": "id"}));
    assert_eq!(room.text("script"), "#!/bin/sh\nid\n");
    assert_eq!(script.metadata().unwrap().permissions().mode() & 0o777, 0o750);
    let two = json!({"path": "f", "text": "two"});
    // Somebody may have added more below the text since.
    assert_eq!(room.verify("append_file", &two), Verification::Unknown);
    assert_eq!(room.ok("append_file", &two), "Added to f. It reads now:\none\ntwo");
    assert_eq!(room.text("f"), "one\ntwo\n");
    // It may have ended so before.
    assert_eq!(room.verify("append_file", &two), Verification::Unknown);
    let new = json!({"path": "a/b/new", "text": "x\n"});
    assert_eq!(room.verify("append_file", &new), Verification::NotDone);
    assert_eq!(room.ok("append_file", &new), "Made a/b/new. It reads now:\nx");
    assert_eq!(room.text("a/b/new"), "x\n");
    std::fs::write(room.root().join("latin1"), b"caf\xe9").unwrap();
    assert!(room.refused("append_file", &json!({"path": "latin1", "text": "x"})).contains("not UTF-8"));
    for path in ["", ".", "a", "new/"] {
        room.wrong("append_file", &json!({"path": path, "text": "x"}));
    }
}

// proves T10, J4
#[test]
fn one_file_or_link_is_deleted_and_never_a_folder() {
    let room = Room::with(&[("a", "A"), ("b", "B"), ("dir/x", "X"), ("dir/y", "Y")]);
    std::os::unix::fs::symlink("dir", room.root().join("link")).unwrap();
    let x = json!({"path": "dir/x"});
    assert_eq!(room.verify("delete_file", &x), Verification::NotDone);
    let done = "dir/x is deleted. In dir/ there is now: y.";
    assert_eq!(room.ok("delete_file", &x), done);
    assert_eq!(room.verify("delete_file", &x), Verification::Done(Outcome::ok(done)));
    assert!(room.missing("delete_file", &x).contains("There is no `dir/x`"));
    assert_eq!(room.ok("delete_file", &json!({"path": "link/y"})), "link/y is deleted. In link/ there is nothing now.");
    assert_eq!(
        room.ok("delete_file", &json!({"path": "link"})),
        "link is deleted. In the workspace there are now: a, b, dir/."
    );
    for path in ["dir", "dir/", ".", ""] {
        room.wrong("delete_file", &json!({"path": path}));
    }
    assert!(room.root().join("dir").is_dir());
    assert_eq!(room.ok("delete_file", &json!({"path": "a"})), "a is deleted. In the workspace there are now: b, dir/.");
}

// proves X5: names that a rule forbids to read, or asks about, are not in a result
#[test]
fn a_result_names_no_file_that_must_not_be_read() {
    let room = Room::with(&[("a", "A"), ("b", "B"), ("key", "K"), ("pin", "P")]);
    let rule = |rule: &str| vec![rule.parse().unwrap()];
    let permissions = Permissions { deny: rule("read(key)"), ask: rule("read(pin)"), ..Permissions::default() };
    let told = room.checked(&permissions, "delete_file", &json!({"path": "a"})).text;
    assert_eq!(told, "a is deleted. In the workspace there is now: b.");
}

// proves T10: a result says how things are now
#[test]
fn a_change_answers_how_the_file_or_its_folder_is_now() {
    let long: String = (1..=30).map(|n| format!("line {n}\n")).collect();
    let room = Room::with(&[("long", &long), ("docs/a.txt", "a")]);
    let told = room.ok("edit_file", &json!({"path": "long", "old_text": "line 9\n", "new_text": "nine\n"}));
    assert_eq!(told, "Edited long. Lines 7 to 11 of 30 read now:\nline 7\nline 8\nnine\nline 10\nline 11");
    let told = room.ok("edit_file", &json!({"path": "docs/a.txt", "old_text": "  a", "new_text": "  b"}));
    assert!(told.starts_with("Edited docs/a.txt. old_text fits but for white space"), "{told}");
    assert_eq!(room.text("docs/a.txt"), "b");
    let new = json!({"path": "docs/b.txt", "content": "b"});
    assert_eq!(room.ok("write_file", &new), "Wrote 1 bytes to docs/b.txt. In docs/ there are now: a.txt, b.txt.");
    assert_eq!(room.ok("write_file", &new), "`docs/b.txt` reads exactly so already. Nothing was changed.");
    let changed = json!({"path": "docs/b.txt", "content": "bb"});
    assert_eq!(room.ok("write_file", &changed), "Wrote 2 bytes to docs/b.txt.");
    let longer = json!({"path": "docs/b.txt", "old_text": "bb", "new_text": "bbc"});
    assert_eq!(room.ok("edit_file", &longer), "Edited docs/b.txt. It reads now:\nbbc");
    assert_eq!(room.ok("edit_file", &longer), "`docs/b.txt` reads so already: new_text is there. Nothing was changed.");
    assert_eq!(room.text("docs/b.txt"), "bbc");
    let told = room.ok("move_file", &json!({"from": "docs/b.txt", "to": "b.txt"}));
    assert_eq!(told, "Moved docs/b.txt to b.txt. In the workspace there are now: b.txt, docs/, long.");
    for number in 0..30 {
        std::fs::write(room.root().join(format!("docs/{number:02}")), "").unwrap();
    }
    let told = room.ok("delete_file", &json!({"path": "docs/00"}));
    assert!(told.ends_with(" 19, 20 and 10 more."), "{told}");
}

// proves T10: who names a directory is told the whole path, and no file takes the name of one
#[test]
fn a_move_to_what_looks_like_a_directory_is_told_the_whole_path() {
    let room =
        Room::with(&[("rain.csv", "r"), ("old/x.md", "x"), ("dir/y", "y"), ("LICENSE.txt", "l"), ("v1.2/z", "z")]);
    let moved =
        |from: &str, to: &str| room.checked(&Permissions::default(), "move_file", &json!({"from": from, "to": to}));
    for (from, to, path) in [
        ("rain.csv", "data", "data/rain.csv"),
        ("data/rain.csv", "dir", "dir/rain.csv"),
        ("old/x.md", "a/b", "a/b/x.md"),
    ] {
        let outcome = moved(from, to);
        assert_ne!(outcome.kind, OutcomeKind::Ok, "{from} {to}");
        assert!(outcome.text.contains(&format!("write its whole new path: `{path}`.")), "{}", outcome.text);
        assert_eq!(moved(from, path).kind, OutcomeKind::Ok, "{from} {path}");
    }
    assert_ne!(moved("dir/y", "new/").kind, OutcomeKind::Ok);
    for (from, to) in
        [("LICENSE.txt", "LICENSE"), ("dir/y", "why"), ("v1.2", "v2"), ("LICENSE", "COPYING"), ("a/b/x.md", "NOTES")]
    {
        assert_eq!(moved(from, to).kind, OutcomeKind::Ok, "{from} {to}");
    }
}

// proves T10: the right path is named at once
#[test]
fn a_path_that_is_not_there_is_answered_with_similar_ones_and_the_folder() {
    let room = Room::with(&[("a.txt", "a"), ("docs/notes-2024.txt", "n"), ("docs/deep/x.md", "x")]);
    let here = "In the workspace there are: a.txt, docs/.";
    for (tool, arguments) in [
        ("read_file", json!({"path": "notes.txt"})),
        ("edit_file", json!({"path": "notes.txt", "old_text": "a", "new_text": "b"})),
        ("move_file", json!({"from": "notes.txt", "to": "b.txt"})),
        ("delete_file", json!({"path": "notes.txt"})),
        ("list_directory", json!({"path": "notes.txt"})),
        ("search_files", json!({"path": "notes.txt", "pattern": "a"})),
    ] {
        let told = room.missing(tool, &arguments);
        assert_eq!(
            told,
            format!("There is no `notes.txt` in the workspace. Similar: docs/notes-2024.txt. {here}"),
            "{tool}"
        );
    }
    let told = room.missing("read_file", &json!({"path": "none/y.md"}));
    assert_eq!(told, format!("There is no `none/y.md` in the workspace. {here}"));
    let told = room.missing("list_directory", &json!({"path": "doc"}));
    assert!(told.contains("Similar: docs/."), "{told}");
    for (tool, arguments) in [
        ("read_file", json!({"path": "docs"})),
        ("edit_file", json!({"path": "docs", "old_text": "a", "new_text": "b"})),
    ] {
        let told = room.wrong(tool, &arguments);
        assert!(told.ends_with("In docs/ there are: deep/, notes-2024.txt."), "{told}");
    }
}

// proves X5: a refusal names nothing that a rule forbids to read, or asks about
#[test]
fn no_hidden_file_is_named_in_place_of_one_that_is_not_there() {
    let room =
        Room::with(&[("notes-1.txt", "a"), ("notes-2.txt", "a"), ("secret/notes.txt", "a"), ("notes-3.txt", "a")]);
    let rules = |rules: &[&str]| rules.iter().map(|rule| rule.parse().unwrap()).collect();
    let (deny, ask) = (rules(&["read(notes-1.txt)", "read(secret/)"]), rules(&["read(notes-2.txt)"]));
    let permissions = Permissions { deny, ask, ..Permissions::default() };
    let told = room.checked(&permissions, "read_file", &json!({"path": "notes.txt"})).text;
    assert!(told.contains("Similar: notes-3.txt."), "{told}");
    for hidden in ["notes-1", "notes-2", "secret/notes"] {
        assert!(!told.contains(hidden), "{told}");
    }
    let nothing = Permissions { deny: rules(&["read"]), ..Permissions::default() };
    let told = room.checked(&nothing, "write_file", &json!({"path": "new.txt", "content": "x"})).text;
    assert_eq!(told, "Wrote 1 bytes to new.txt.");
}
