//! The preview that a person sees before a file tool changes something.

use serde_json::{Value, json};
use windlass_tools::{CallPermission, Mode, Permissions};
use windlass_vocab::{Preview, Remedy, ReplyCall, Verdict};

use super::room::Room;

fn prepared(room: &Room, tool: &str, arguments: &Value) -> (Verdict, Option<Preview>) {
    let call = ReplyCall { name: tool.into(), arguments: arguments.to_string(), provider_id: None, mended: None };
    let strict = Permissions { mode: Mode::Strict, ..Permissions::default() };
    let prepared = room.offer.prepare(&call, &strict, &[]);
    (prepared.verdict, prepared.preview)
}

fn shown(room: &Room, tool: &str, arguments: &Value) -> (String, String) {
    let (verdict, preview) = prepared(room, tool, arguments);
    assert_eq!(verdict, Verdict::Ask, "{tool} {arguments}");
    let preview = preview.unwrap();
    (preview.title, preview.body)
}

// proves T8: a diff for edits
#[test]
fn an_edit_is_shown_as_a_diff_of_the_file() {
    let room = Room::with(&[("a.txt", "one\ntwo\nthree\n")]);
    let edit = json!({"path": "a.txt", "old_text": "two", "new_text": "2"});
    let diff = "--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";
    assert_eq!(shown(&room, "edit_file", &edit), ("Edit a.txt".into(), diff.into()));
    assert_eq!(room.text("a.txt"), "one\ntwo\nthree\n");
}

// proves T8: an edit that an earlier call of the same reply makes possible can be asked about
#[test]
fn an_edit_of_what_is_not_there_yet_is_shown_alone_and_said_to_be() {
    let room = Room::with(&[("a.txt", "one\n")]);
    for (path, why) in [("a.txt", "is not in the file"), ("new.txt", "no such file yet")] {
        let (_, body) = shown(&room, "edit_file", &json!({"path": path, "old_text": "two\n", "new_text": "2\n"}));
        assert!(body.contains(why) && body.ends_with("-two\n+2\n"), "{body}");
    }
}

// proves T8, X5: a call that can only fail asks nobody, and its error reveals nothing the model may not read
#[test]
fn an_edit_that_can_only_fail_is_not_asked_about() {
    let room = Room::with(&[("a.txt", "one\n"), ("b.txt", "one\n")]);
    let edit = |path: &str, old: &str| ("edit_file", json!({"path": path, "old_text": old, "new_text": "2"}));
    let write = || ("write_file", json!({"path": "b.txt", "content": "two\n"}));
    let checked = |calls: &[(&str, Value)], ask: &[&str]| {
        let ask = ask.iter().map(|rule| rule.parse().unwrap()).collect();
        let permissions = Permissions { mode: Mode::Strict, ask, ..Permissions::default() };
        let prepare = |(tool, arguments): &(&str, Value)| {
            let call = ReplyCall { name: (*tool).into(), arguments: arguments.to_string(), ..ReplyCall::default() };
            room.offer.prepare(&call, &permissions, &[])
        };
        let mut calls: Vec<_> = calls.iter().map(prepare).collect();
        room.offer.refuse_certain_failures(&mut calls, &permissions, &[]);
        calls.into_iter().map(|call| call.verdict).collect::<Vec<_>>()
    };
    let refused = checked(&[edit("a.txt", "two"), edit("none", "two"), edit("a.txt", "one")], &[]);
    let [Verdict::Invalid { reason, .. }, Verdict::Invalid { .. }, Verdict::Ask] = &refused[..] else {
        panic!("{refused:?}")
    };
    assert!(reason.contains("old_text does not occur in `a.txt`"), "{reason}");
    assert_eq!(checked(&[write(), edit("b.txt", "two")], &[]), [Verdict::Ask, Verdict::Ask], "it may be there by then");
    assert_eq!(checked(&[edit("a.txt", "two")], &["read(a.txt)"]), [Verdict::Ask], "it would learn what is there");
}

// proves T8: the preview says whether a file is created or overwritten, and what is lost
#[test]
fn a_write_says_what_it_makes_and_what_is_lost() {
    let room = Room::with(&[("a.txt", "old\n"), ("b.bin", "\0\u{1}")]);
    let write = |path: &str| shown(&room, "write_file", &json!({"path": path, "content": "new\n"}));
    assert_eq!(
        write("c.txt"),
        ("Create c.txt (4 bytes)".into(), "--- /dev/null\n+++ c.txt\n@@ -0,0 +1 @@\n+new\n".into())
    );
    let (title, body) = write("a.txt");
    assert_eq!(title, "Overwrite a.txt (4 → 4 bytes)");
    assert_eq!(body, "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-old\n+new\n");
    let replaced = "All 2 bytes of binary data that are there are replaced by these:\n--- /dev/null\n+++ b.bin\n";
    assert_eq!(write("b.bin").1, format!("{replaced}@@ -0,0 +1 @@\n+new\n"));
    std::os::unix::fs::symlink("a.txt", room.root().join("link")).unwrap();
    assert!(write("link").1.starts_with("By a link this is a.txt.\n"));
    std::fs::write(room.root().join("large"), vec![b'x'; 5 << 20]).unwrap();
    let (title, body) = write("large");
    assert_eq!(title, "Overwrite large (5,242,880 → 4 bytes)");
    assert!(body.starts_with("All 5,242,880 bytes that are there are replaced"), "{body}");
    std::fs::write(room.root().join("same"), "new\n").unwrap();
    assert!(write("same").1.contains("nothing changes"));
}

// proves T8
#[test]
fn a_move_says_what_it_overwrites() {
    let room = Room::with(&[("a", "1"), ("b", "22")]);
    let body = |to: &str, overwrite: bool| {
        shown(&room, "move_file", &json!({"from": "a", "to": to, "overwrite": overwrite})).1
    };
    assert_eq!(body("c", true), "");
    assert_eq!(body("b", true), "It takes the place of a file of 2 bytes, which is lost.");
    assert_eq!(body("b", false), "There is a file of 2 bytes already: nothing would be moved.");
}

// proves T8
#[test]
fn what_is_added_and_what_is_deleted_is_shown() {
    let room = Room::with(&[("a", "one\n"), ("b", "\0\0")]);
    let add = |path: &str| shown(&room, "append_file", &json!({"path": path, "text": "two"}));
    let (title, body) = add("a");
    assert!(title == "Add to a" && body.contains("\n+two\n"), "{title} {body}");
    let (title, body) = add("new");
    assert!(title == "Create new (4 bytes)" && body.contains("\n+two\n"), "{title} {body}");
    let delete = |path: &str| shown(&room, "delete_file", &json!({"path": path}));
    let (title, body) = delete("a");
    assert!(title == "Delete a (a file of 4 bytes)" && body.contains("\n-one\n"), "{title} {body}");
    assert!(delete("b").1.contains("no file"), "{:?}", delete("b"));
    assert_eq!(delete("none").1, "There is no none yet.");
    std::os::unix::fs::symlink("/etc", room.root().join("out")).unwrap();
    assert_eq!(delete("out"), ("Delete out (a link)".to_owned(), "What the link leads to stays.".to_owned()));
}

// proves T8: fails closed when a preview fails
#[test]
fn what_can_not_be_shown_does_not_run() {
    let room = Room::with(&[]);
    let long = "x".repeat(20_000);
    let (verdict, preview) = prepared(&room, "run_command", &json!({"command": long}));
    let Verdict::Deny { reason, remedy } = verdict else { panic!("{verdict:?}") };
    assert!(reason.contains("20,000 characters long") && reason.contains("was not run"), "{reason}");
    assert!(matches!(remedy, Some(Remedy::Allow { .. })), "a rule would let it run: {remedy:?}");
    assert_eq!(preview, None);
}

// proves T8: a call that no rule would let run asks nobody, says what is wrong, and recommends no rule
#[test]
fn a_call_whose_arguments_can_never_be_used_is_invalid_and_recommends_no_rule() {
    let room = Room::with(&[("d/file", "x")]);
    std::os::unix::fs::symlink("/etc", room.root().join("out")).unwrap();
    let (outside, placeholder) = ("outside the workspace", "placeholder");
    let write = |path: &str| json!({"path": path, "content": "x"});
    let edit = |path: &str, old: &str| json!({"path": path, "old_text": old, "new_text": "b"});
    for (tool, arguments, why) in [
        ("write_file", write("../out"), outside),
        ("write_file", write("none/../../out"), outside),
        ("write_file", write("out/passwd"), outside),
        ("write_file", write("d"), "is a directory"),
        ("write_file", json!({"path": "a", "content": "\u{27e6}secret:a\u{27e7}"}), placeholder),
        ("edit_file", edit("/etc/passwd", "a"), outside),
        ("edit_file", edit("d/file", "\u{27e6}secret:a\u{27e7}"), placeholder),
        ("append_file", json!({"path": "../out", "text": "x"}), outside),
        ("append_file", json!({"path": "d", "text": "x"}), "is a directory"),
        ("append_file", json!({"path": "a", "text": "\u{27e6}secret:a\u{27e7}"}), placeholder),
        ("delete_file", json!({"path": "../a"}), outside),
        ("delete_file", json!({"path": "out/passwd"}), outside),
        ("delete_file", json!({"path": "d"}), "is a directory"),
        ("move_file", json!({"from": "../a", "to": "b"}), outside),
        ("move_file", json!({"from": "d/file", "to": "/tmp/b"}), outside),
        ("read_file", json!({"path": "../a"}), outside),
        ("list_directory", json!({"path": "out"}), outside),
        ("search_files", json!({"path": "..", "pattern": "x"}), outside),
        ("run_command", json!({"command": "echo \u{27e6}secret:a\u{27e7}"}), placeholder),
    ] {
        let ask = ["read(**)", "read_file", "list_directory", "search_files"];
        let ask = ask.iter().map(|rule| rule.parse().unwrap()).collect();
        let permissions = Permissions { mode: Mode::Strict, ask, ..Permissions::default() };
        let call = ReplyCall { name: tool.into(), arguments: arguments.to_string(), ..ReplyCall::default() };
        let call = room.offer.prepare(&call, &permissions, &[]);
        let Verdict::Invalid { reason, remedy } = call.verdict else {
            panic!("{tool} {arguments}: {:?}", call.verdict)
        };
        assert!(reason.contains(why), "{tool}: {reason}");
        assert_eq!((remedy, call.preview), (None, None), "{tool} {arguments}");
        // The same right before it runs, for a call that was prepared under other rules.
        let name = call.tool.unwrap();
        let again = room.offer.check_permission(&name, &call.arguments, &permissions, &[], []);
        assert_eq!(again, CallPermission::Refused { reason, remedy: None });
    }
    let moved = json!({"from": "out", "to": "d/out"});
    assert_eq!(prepared(&room, "move_file", &moved).0, Verdict::Ask, "a link may be moved, wherever it leads");
}

// proves T8: a person who approves has seen the whole preview
#[test]
fn a_preview_is_whole_and_what_is_too_long_for_one_does_not_run() {
    let room = Room::with(&[("old", "a\n")]);
    let lines: String = (0..1001).map(|n| format!("line {n}\n")).collect();
    let (_, body) = shown(&room, "write_file", &json!({"path": "new", "content": lines}));
    assert_eq!(body.lines().filter(|line| line.starts_with("+line ")).count(), 1001);
    let wide = format!("{}middle{}", "x".repeat(50_000), "y".repeat(50_000));
    for (tool, arguments) in [
        ("write_file", json!({"path": "old", "content": wide})),
        ("edit_file", json!({"path": "old", "old_text": "a", "new_text": wide})),
    ] {
        assert!(shown(&room, tool, &arguments).1.contains(&wide), "{tool}");
    }
    // Control characters, which would look like binary data, are shown as symbols.
    let (_, body) = shown(&room, "write_file", &json!({"path": "new", "content": "a\0b"}));
    assert!(body.contains("+a␀b"), "{body}");
    let (from, to) = ("old", format!("{}/end", "d".repeat(250)));
    let (title, body) = shown(&room, "move_file", &json!({"from": from, "to": to}));
    assert!(!title.contains("/end") && body.contains(&to), "{title} {body}");
    let (verdict, preview) = prepared(&room, "write_file", &json!({"path": "new", "content": "x\n".repeat(500_000)}));
    let reason = format!("{verdict:?}");
    assert!(reason.starts_with("Deny") && reason.contains("do it in parts") && preview.is_none(), "{reason}");
}

// proves X4: a file name can't imitate a line of the diff
#[test]
fn a_path_with_a_line_break_is_one_line_of_a_preview() {
    let room = Room::with(&[]);
    let path = "a\n+++ b\n+harmless";
    for (tool, arguments) in [
        ("write_file", json!({"path": path, "content": "x\n"})),
        ("edit_file", json!({"path": path, "old_text": "x", "new_text": "y"})),
        ("move_file", json!({"from": path, "to": path})),
        ("append_file", json!({"path": path, "text": "y"})),
        ("delete_file", json!({"path": path})),
    ] {
        let (title, body) = shown(&room, tool, &arguments);
        assert!(title.contains(r#""a\n+++ b\n+harmless""#), "{title}");
        assert!(!body.lines().any(|line| line == "+harmless" || line == "+++ b"), "{body}");
    }
}

// proves T8: the command line and the folder it runs in
#[test]
fn a_command_is_shown_whole_with_its_folder() {
    let room = Room::with(&[]);
    let (title, body) = shown(&room, "run_command", &json!({"command": "make\nmake install"}));
    assert_eq!(title, "Run `make` and 1 more line");
    let place = format!("in {}", room.root().canonicalize().unwrap().display());
    assert_eq!(body, format!("{place}\nmake\nmake install"));
    let one_line = shown(&room, "run_command", &json!({"command": "make install"}));
    assert_eq!(one_line, ("Run `make install`".to_owned(), place.clone()), "nothing is said twice");
    let script = shown(&room, "run_command", &json!({"command": "python3 -Bu -c 'import os\nprint('\\''a'\\'')'"}));
    let plain = format!("{place}\nimport os\nprint('a')");
    assert_eq!(script, ("Run 2 lines of Python".to_owned(), plain), "a script is shown as it was written");
}
