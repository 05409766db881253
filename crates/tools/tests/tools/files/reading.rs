//! Tools that only read.

use std::os::unix::fs::symlink;

use proptest::prelude::*;
use serde_json::{Value, json};
use windlass_tools::shown_path;

use super::room::Room;

// proves T10
#[test]
fn a_directory_is_listed_folders_first_with_sizes_and_a_limit() {
    let room = Room::with(&[("b.txt", "12345"), ("a.txt", &"x".repeat(1234)), ("z/y", "")]);
    std::fs::write(room.root().join(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"q\xff")), "")
        .unwrap();
    symlink("nowhere", room.root().join("l")).unwrap();
    assert_eq!(room.ok("list_directory", &json!({})), "z/\na.txt  1,234\nb.txt  5\nq\u{fffd}  0\nl -> nowhere");
    let few = room.ok("list_directory", &json!({"limit": 2}));
    assert!(few.starts_with("z/\na.txt  1,234\n[2 of 5 entries shown"), "{few}");
    assert!(room.wrong("list_directory", &json!({"path": "a.txt"})).contains("is a file, not a directory"));
    assert!(room.missing("list_directory", &json!({"path": "none"})).contains("There is no `none`"));
}

// proves X4, T10: a name can't look like two, and can be passed back as it was listed
#[test]
fn a_name_with_a_line_break_is_listed_on_one_line_and_can_be_read() {
    let room = Room::with(&[("two\nlines", "needle\n"), ("\u{1b}[2J", "x"), ("plain", "y")]);
    symlink("no\nwhere", room.root().join("l")).unwrap();
    let listed = room.ok("list_directory", &json!({}));
    assert_eq!(listed, "\"\\u001b[2J\"  1\nplain  1\n\"two\\nlines\"  7\nl -> \"no\\nwhere\"");
    for (pattern, place) in [("needle", "content"), ("two", "names")] {
        let found = room.ok("search_files", &json!({"pattern": pattern, "in": place}));
        assert!(found.starts_with(r#""two\nlines""#) && !found.contains('\n'), "{found}");
    }
    // The quoted name is the JSON string for the argument.
    let path: Value = serde_json::from_str(r#""two\nlines""#).unwrap();
    assert_eq!(room.ok("read_file", &json!({"path": path})), "needle\n");
}

// proves T10
#[test]
fn a_file_is_read_in_windows_that_join_to_the_whole() {
    let long: String = (1..=4000).map(|n| format!("line {n} é\n")).collect();
    let wide = format!("first\n{}漢\nlast", "漢".repeat(40_000));
    let room = Room::with(&[("short", "a\nb"), ("empty", ""), ("long", &long), ("wide", &wide)]);
    assert_eq!(room.ok("read_file", &json!({"path": "short"})), "a\nb");
    assert_eq!(room.ok("read_file", &json!({"path": "empty"})), "[the file is empty]");
    assert_eq!(room.ok("read_file", &json!({"path": "short", "offset": 2})), "b\n[from line 2 to the end of the file]");
    assert_eq!(
        room.ok("read_file", &json!({"path": "long", "offset": 3, "limit": 2})),
        "line 3 é\nline 4 é\n[lines 3 to 4 of 4,000; go on with offset 5, and no limit to get all the rest]"
    );
    assert!(room.missing("read_file", &json!({"path": "short", "offset": 9})).contains("it has 2 lines"));
    for (path, whole) in [("long", &long), ("wide", &wide)] {
        assert_eq!(&read_in_parts(&room, path), whole);
    }
}

/// Reads a file window by window, as the notes say.
fn read_in_parts(room: &Room, path: &str) -> String {
    let (mut whole, mut offset, mut column) = (String::new(), 1, 1);
    loop {
        let part = room.ok("read_file", &json!({"path": path, "offset": offset, "column": column}));
        let (text, note) = part.rsplit_once('[').unwrap();
        assert!(text.chars().count() <= 15_010, "{}", text.chars().count());
        let numbers = |name: &str| {
            let after = note.split_once(name)?.1;
            after.split(|c: char| !c.is_ascii_digit()).find(|digits| !digits.is_empty())?.parse::<u64>().ok()
        };
        let next_column = numbers("column").unwrap_or(1);
        // A note after part of a line is on its own line.
        let added = next_column > 1 || !note.contains("go on");
        whole += if added { text.strip_suffix('\n').unwrap_or(text) } else { text };
        match numbers("go on with offset") {
            Some(next) => (offset, column) = (next, next_column),
            None => return if path == "long" { whole + "\n" } else { whole },
        }
    }
}

// proves T10
#[test]
fn binary_and_huge_files_are_met_without_reading_them() {
    let room = Room::with(&[("image", "")]);
    std::fs::write(room.root().join("image"), b"\x89PNG\r\n\x1a\n\0\0").unwrap();
    let text = room.refused("read_file", &json!({"path": "image"}));
    assert!(text.contains("PNG image") && text.contains("10 bytes"), "{text}");
    let huge = std::fs::File::create(room.root().join("huge")).unwrap();
    std::io::Write::write_all(&mut &huge, "text\n".repeat(4000).as_bytes()).unwrap();
    huge.set_len(2 << 30).unwrap();
    let text = room.ok("read_file", &json!({"path": "huge", "limit": 1}));
    assert!(text.starts_with("text\n[lines 1 to 1 of a file of 2,147,483,648 bytes"), "{text}");
    assert!(room.refused("edit_file", &json!({"path": "huge", "old_text": "a", "new_text": "b"})).contains("up to"));
    assert!(room.ok("search_files", &json!({"pattern": "text"})).contains("1 files over 10 MiB skipped"));
}

// proves T6, C9
#[test]
fn an_image_is_read_whole_whatever_its_name_is() {
    let room = Room::with(&[("chart.dat", "")]);
    let png = [&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..], &[0, 0, 0, 2, 0, 0, 0, 1, 8, 2, 0, 0, 0]].concat();
    std::fs::write(room.root().join("chart.dat"), &png).unwrap();
    let outcome = room.call("read_file", &json!({"path": "chart.dat"}));
    assert_eq!(outcome.text, "[image chart.dat, 2 × 1, 29 bytes]");
    let [image] = &outcome.images[..] else { panic!("{outcome:?}") };
    assert_eq!((image.media_type.as_str(), image.content.as_ref()), ("image/png", &png[..]));
    // Sparse: 200 MB that take no room.
    std::fs::File::options().write(true).open(room.root().join("chart.dat")).unwrap().set_len(200_000_000).unwrap();
    let text = room.refused("read_file", &json!({"path": "chart.dat"}));
    assert!(text.contains("an image of 200.0 MB") && text.contains("at most 20.0 MB"), "{text}");
}

// proves T6
#[test]
fn a_truncated_result_is_read_on_by_its_call() {
    let room = Room::with(&[]);
    let text = room.ok("read_file", &json!({"path": "call:0.0.0", "offset": 8}));
    assert_eq!(text, "line 8\nline 9\n[from line 8 to the end of the file]");
    assert!(room.missing("read_file", &json!({"path": "call:1.1.1"})).contains("all of it was shown"));
    assert!(room.missing("read_file", &json!({"path": "call:x"})).contains("names no result"));
}

// proves T10
#[test]
fn a_search_finds_lines_and_names_and_leaves_out_what_git_does() {
    let room = Room::with(&[
        (".gitignore", "target/\n*.log\n!keep.log\n"),
        ("src/main.rs", "fn main() {\n    one();\n    two();\n}\nfn other() {}\n"),
        ("src/lib.rs", "// fn MAIN\r\n"),
        ("sub/.gitignore", "hidden.rs\n"),
        ("sub/hidden.rs", "fn main"),
        ("target/x.rs", "fn main"),
        ("a.log", "fn main"),
        ("keep.log", "fn main"),
        (".git/config", "fn main"),
    ]);
    std::fs::write(room.root().join("binary"), b"fn main\0").unwrap();
    let find = |arguments: Value| room.ok("search_files", &arguments);
    assert_eq!(
        find(json!({"pattern": r"fn \w+\("})),
        "src/main.rs:1: fn main() {\nsrc/main.rs:5: fn other() {}\n[1 binary files skipped]"
    );
    assert_eq!(find(json!({"pattern": "^fn main", "glob": "*.log"})), "keep.log:1: fn main");
    assert_eq!(
        find(json!({"pattern": "main$", "ignore_case": true, "path": "src/lib.rs"})),
        "src/lib.rs:1: // fn MAIN"
    );
    assert_eq!(find(json!({"pattern": "main", "path": "sub"})), "[no match in 1 files]");
    assert_eq!(
        find(json!({"pattern": "two", "context": 1, "glob": "src/**/*.rs"})),
        "src/main.rs-2-     one();\nsrc/main.rs:3:     two();\nsrc/main.rs-4- }"
    );
    assert_eq!(find(json!({"pattern": "main()", "literal": true, "path": "src"})), "src/main.rs:1: fn main() {");
    assert_eq!(find(json!({"pattern": "rs$", "in": "names"})), "src/lib.rs\nsrc/main.rs");
    assert_eq!(find(json!({"pattern": "", "in": "names", "glob": "*.log"})), "keep.log");
    assert!(find(json!({"pattern": "fn", "limit": 1})).contains("stopped at 1 matches"));
    assert!(room.wrong("search_files", &json!({"pattern": "("})).contains("Set literal"));
    assert!(room.missing("search_files", &json!({"pattern": "x", "path": "none"})).contains("There is no `none`"));
}

#[test]
fn a_pattern_made_to_take_for_ever_takes_none() {
    let room = Room::with(&[("f", &"a".repeat(100_000))]);
    assert!(room.ok("search_files", &json!({"pattern": "(a+)+(a|aa)*b$"})).contains("no match"));
    room.wrong("search_files", &json!({"pattern": "((a{1000}){1000}){1000}"}));
}

proptest! {
    // proves X4
    #[test]
    fn every_path_is_one_line_and_comes_back_as_it_was(path in "(?s).{0,12}") {
        let shown = shown_path(&path);
        prop_assert!(!shown.chars().any(char::is_control), "{:?}", shown);
        let back: String = match shown.strip_prefix('"') {
            Some(_) => serde_json::from_str(&shown).unwrap(),
            None => shown.to_string(),
        };
        prop_assert_eq!(back, path);
    }
}

// proves T3, L11: every optional argument filled in, as small models do, hurts nobody
#[test]
fn optional_arguments_that_say_nothing_are_harmless() {
    let room = Room::with(&[("a.txt", "one\ntwo\nthree\n"), ("d/b.txt", "two\n")]);
    let filled = room.ok("read_file", &json!({"path": "a.txt", "column": 1, "limit": 1, "offset": 1}));
    assert_eq!(filled, "one\n[lines 1 to 1 of 3; go on with offset 2, and no limit to get all the rest]");
    for arguments in [
        json!({"path": "a.txt", "column": 0, "limit": 0, "offset": 0}),
        json!({"path": "a.txt", "column": null, "limit": "", "offset": " "}),
    ] {
        assert_eq!(room.ok("read_file", &arguments), "one\ntwo\nthree\n", "{arguments}");
    }
    let text = room.missing("read_file", &json!({"path": "a.txt", "column": 9}));
    assert_eq!(text, "Line 1 of `a.txt` has only 3 bytes: leave column out.");
    let listed = room.ok("list_directory", &json!({}));
    for arguments in [json!({"path": "", "limit": 0}), json!({"path": null, "limit": null})] {
        assert_eq!(room.ok("list_directory", &arguments), listed, "{arguments}");
    }
    let found = room.ok("search_files", &json!({"pattern": "two"}));
    let filled =
        json!({"pattern": "two", "path": "", "glob": "", "in": "", "context": "", "limit": 0, "literal": false});
    assert_eq!(room.ok("search_files", &filled), found);
}
