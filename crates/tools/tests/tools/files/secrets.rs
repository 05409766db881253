//! No part of a secret in a file is disclosed, however the file is read (X1).

use proptest::prelude::*;
use serde_json::{Value, json};
use windlass_tools::{Mode, Permissions, Secrets};
use windlass_vocab::{OutcomeKind, ReplyCall};

use super::room::Room;

/// None of its letters is in the surrounding text.
const KEY: &str = "QZ7XV9KP3WM5YT2R";

/// Returns a piece of the key in `text` that is too long to occur by chance.
fn piece_in(text: &str) -> Option<&'static str> {
    (0..=KEY.len() - 4).map(|at| &KEY[at..at + 4]).find(|piece| text.contains(piece))
}

fn secrets() -> Secrets {
    Secrets::new([("KEY", KEY)])
}

/// The calls by which a model reads a file.
fn look() -> impl Strategy<Value = (&'static str, Value)> {
    let part = (1..6_u64, 1..60_u64, prop::option::of(1..4_u64)).prop_map(|(offset, column, limit)| {
        let mut arguments = json!({"path": "a.txt", "offset": offset, "column": column});
        if let Some(limit) = limit {
            arguments["limit"] = limit.into();
        }
        ("read_file", arguments)
    });
    let pattern = prop_oneof![Just("."), Just("[A-Z0-9]{3}"), Just("9KP"), Just("a"), Just("3.*$"), Just("^.{20}")];
    let search = (pattern, 0..3_u64)
        .prop_map(|(pattern, context)| ("search_files", json!({"pattern": pattern, "context": context})));
    let edit = prop_oneof![Just("a QZ7"), Just("XV9K"), Just("a a"), Just("zzz")]
        .prop_map(|old| ("edit_file", json!({"path": "a.txt", "old_text": old, "new_text": "\\n"})));
    prop_oneof![part, search, edit]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    // proves X1: text is scrubbed before it is cut
    #[test]
    fn no_piece_of_a_secret_is_seen_by_any_sequence_of_looks(
        around in prop::collection::vec("[a \n]{0,40}", 2..4),
        filler in 0..4_usize,
        looks in prop::collection::vec(look(), 1..6),
    ) {
        // A window of read_file ends at 15,000 characters, an excerpt of search_files has 300.
        let filler = ["a".repeat(0), "a".repeat(14_970), "a".repeat(290), "a ".repeat(40_000)][filler].clone();
        let content = around.join(&format!("{filler}{KEY}"));
        let room = Room::hiding(&secrets(), &[("a.txt", &content)]);
        for (tool, arguments) in looks {
            let outcome = room.call(tool, &arguments);
            prop_assert_eq!(piece_in(&outcome.text), None, "{} {}: {}", tool, arguments, outcome.text);
        }
    }
}

// proves X1: regression test of the original leak
#[test]
fn a_column_inside_a_secret_shows_nothing_of_it() {
    let room = Room::hiding(&secrets(), &[("a.txt", &format!("password = {KEY}\nb\n"))]);
    for column in 1..40 {
        let text = room.call("read_file", &json!({"path": "a.txt", "column": column})).text;
        assert_eq!(piece_in(&text), None, "{column}: {text}");
    }
    assert!(room.ok("read_file", &json!({"path": "a.txt"})).starts_with("password = ⟦secret:KEY⟧\nb\n"));
    // A hidden secret can't be searched for either, one letter after another.
    assert!(room.ok("search_files", &json!({"pattern": "QZ7"})).contains("no match"));
    assert!(room.ok("search_files", &json!({"pattern": "secret:KEY"})).starts_with("a.txt:1: password = ⟦secret:KEY⟧"));
}

// proves X1: an edit can't change part of a secret, which would then no longer be recognized and hidden
#[test]
fn an_edit_finds_no_part_of_a_secret() {
    let room = Room::hiding(&secrets(), &[("a.txt", &format!("a = 1\nkey = {KEY}\n"))]);
    for old in ["key = QZ7X", "9KP3", KEY] {
        let text = room.missing("edit_file", &json!({"path": "a.txt", "old_text": old, "new_text": "x"}));
        assert!(text.contains("does not occur"), "{text}");
    }
    let text = room.wrong("edit_file", &json!({"path": "a.txt", "old_text": "key = ⟦secret:KEY⟧", "new_text": "x"}));
    assert!(text.contains("placeholder"), "{text}");
    room.ok("edit_file", &json!({"path": "a.txt", "old_text": "a = 1\nkey", "new_text": "a = 2\nkey"}));
    assert_eq!(room.text("a.txt"), format!("a = 2\nkey = {KEY}\n"));
}

// proves X1: a placeholder is not the real name
#[test]
fn no_path_with_a_placeholder_is_used() {
    let room = Room::hiding(&secrets(), &[("a.txt", "x")]);
    let path = "⟦secret:KEY⟧.txt";
    for (tool, arguments) in [
        ("write_file", json!({"path": path, "content": "x"})),
        ("edit_file", json!({"path": path, "old_text": "x", "new_text": "y"})),
        ("move_file", json!({"from": "a.txt", "to": format!("b/{path}")})),
        ("move_file", json!({"from": path, "to": "b"})),
        ("append_file", json!({"path": path, "text": "x"})),
        ("delete_file", json!({"path": path})),
        ("read_file", json!({"path": path})),
        ("list_directory", json!({"path": path})),
        ("search_files", json!({"pattern": "x", "path": path})),
    ] {
        let outcome = room.call(tool, &arguments);
        assert_eq!(outcome.kind, OutcomeKind::InvalidArguments, "{tool}: {}", outcome.text);
        assert!(outcome.text.contains("placeholder"), "{tool}: {}", outcome.text);
    }
    assert_eq!(std::fs::read_dir(room.root()).unwrap().count(), 1);
}

// proves X1: scrubbing precedes the line diff, so that no single line of a multi-line key is left
#[test]
fn a_preview_shows_no_secret_of_the_file_it_changes() {
    let key = format!("-----BEGIN KEY-----\n{}\n{KEY}\n-----END KEY-----", "a".repeat(64));
    let secrets = Secrets::new([("PEM", key.as_str())]);
    let room = Room::hiding(&secrets, &[("a.txt", &format!("one\n{key}\ntwo\n"))]);
    let strict = Permissions { mode: Mode::Strict, ..Permissions::default() };
    for (tool, arguments) in [
        ("write_file", json!({"path": "a.txt", "content": "one\n"})),
        ("edit_file", json!({"path": "a.txt", "old_text": "two", "new_text": "2"})),
        ("append_file", json!({"path": "a.txt", "text": "three"})),
        ("delete_file", json!({"path": "a.txt"})),
    ] {
        let call = ReplyCall { name: tool.into(), arguments: arguments.to_string(), provider_id: None, mended: None };
        let body = room.offer.prepare(&call, &strict, &[]).preview.unwrap().body;
        assert_eq!(piece_in(&body), None, "{body}");
        assert!(body.contains("⟦secret:PEM⟧"), "{body}");
    }
}
