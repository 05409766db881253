//! Windows paths with unescaped backslashes in well-formed JSON.
//!
//! `{"path": "C:\new\test.txt"}` parses as `C:`, a line break, `ew`, a tab, `est.txt`. No
//! path contains line breaks; but a text may well begin with `A:` and a line break. So the backslashes are
//! taken literally only in an argument whose name says that it is a path, and only if the whole value
//! is a drive and names, each after one backslash that would otherwise make a control character.

use std::ops::Range;

/// Last words of keys whose value is a path.
const PATHS: &[&str] = &[
    "path",
    "paths",
    "file",
    "files",
    "filename",
    "filepath",
    "dir",
    "directory",
    "folder",
    "cwd",
    "root",
    "from",
    "to",
];

/// Returns `json` with the backslashes of such paths escaped; `None` if it has no such paths.
pub(crate) fn drive_paths(json: &str) -> Option<String> {
    if !json.contains(":\\") {
        return None;
    }
    let found = paths(json);
    if found.is_empty() {
        return None;
    }
    let (mut out, mut at) = (String::with_capacity(json.len() + 16), 0);
    for path in found {
        out.push_str(&json[at..path.start]);
        out.push_str(&json[path.clone()].replace('\\', "\\\\"));
        at = path.end;
    }
    Some(out + &json[at..])
}

/// Returns the positions of such paths, without their quotes.
fn paths(json: &str) -> Vec<Range<usize>> {
    let (mut found, mut at, mut key) = (Vec::new(), 0, None);
    while let Some(next) = json[at..].find(['"', '}']) {
        at += next;
        if json[at..].starts_with('}') {
            // A following element of an array has no key of its own.
            (key, at) = (None, at + 1);
            continue;
        }
        let Some(end) = string_end(json, at + 1) else { return found };
        let inner = at + 1..end;
        if json[end + 1..].trim_start().starts_with(':') {
            key = Some(&json[inner]);
        } else if key.is_some_and(is_path) && is_drive_path(&json[inner.clone()]) {
            found.push(inner);
        }
        at = end + 1;
    }
    found
}

/// Returns the position of the quote that ends the string whose text begins at `at`.
fn string_end(json: &str, mut at: usize) -> Option<usize> {
    loop {
        at += json[at..].find(['"', '\\'])?;
        if json[at..].starts_with('"') {
            return Some(at);
        }
        at += 1;
        at += json[at..].chars().next()?.len_utf8();
    }
}

fn is_path(key: &str) -> bool {
    let last = key.rfind(|c: char| !c.is_ascii_lowercase()).map_or(key, |at| {
        // The words of `filePath` are separated by case.
        let from = if key[at..].starts_with(|c: char| c.is_ascii_uppercase()) { at } else { at + 1 };
        key.get(from..).unwrap_or_default()
    });
    PATHS.contains(&last.to_ascii_lowercase().as_str())
}

/// Whether the raw text of a string is a drive and names, each after an unescaped backslash that
/// begins a control character.
fn is_drive_path(raw: &str) -> bool {
    let Some((drive, names)) = raw.split_once(":\\") else { return false };
    drive.len() == 1
        && drive.bytes().all(|byte| byte.is_ascii_alphabetic())
        && names.split('\\').all(|name| name.starts_with(['b', 'f', 'n', 'r', 't']) && !name.contains(FORBIDDEN))
}

/// Characters that no name in a path contains.
const FORBIDDEN: &[char] = &['/', ':', '*', '?', '"', '<', '>', '|'];

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    // proves T3
    #[test]
    fn a_drive_path_with_single_backslashes_is_taken_as_it_is_written() {
        for (text, want) in [
            (r#"{"path": "C:\new\test.txt"}"#, json!({"path": r"C:\new\test.txt"})),
            (r#"{"path": "c:\temp"}"#, json!({"path": r"c:\temp"})),
            (
                r#"{"n": 1, "filePath" : "D:\new folder\b.txt", "x": "\n"}"#,
                json!({"n": 1, "filePath": r"D:\new folder\b.txt", "x": "\n"}),
            ),
            (r#"{"old_path": "C:\n", "é_path": "C:\t"}"#, json!({"old_path": r"C:\n", "é_path": r"C:\t"})),
            (r#"{"paths": ["C:\new", "x\ny", "C:\\new"]}"#, json!({"paths": [r"C:\new", "x\ny", r"C:\new"]})),
            (r#"{"from": "C:\run", "to": "C:\fun\bin"}"#, json!({"from": r"C:\run", "to": r"C:\fun\bin"})),
        ] {
            let read = drive_paths(text).and_then(|text| serde_json::from_str::<Value>(&text).ok());
            assert_eq!(read, Some(want), "{text}");
        }
    }

    // proves T3
    #[test]
    fn nothing_else_is_touched() {
        for text in [
            r#"{"path": "C:\\new\\test.txt"}"#,
            r#"{"path": "C:\\new\test.txt"}"#,
            r#"{"path": "C:\new\\test.txt"}"#,
            r#"{"path": "C:\new\u00e9"}"#,
            r#"{"path": "C:\new/test"}"#,
            r#"{"path": "C:\/new"}"#,
            r#"{"path": "see C:\new"}"#,
            r#"{"path": "CC:\new"}"#,
            r#"{"path": "C:\new: x"}"#,
            r#"{"path": "a\nb"}"#,
            r#"{"content": "a:\n  b\n"}"#,
            r#"{"content": "C:\new\test.txt"}"#,
            r#"{"file_text": "Q:\nWhat"}"#,
            r#"{"all": [{"path": "x"}, "Q:\nWhat"]}"#,
            r#"{"path": {"content": "Q:\nWhat"}}"#,
            r#"{"C:\new": 1}"#,
            r#"{"a": "\"path\": C:\new"}"#,
        ] {
            assert_eq!(drive_paths(text), None, "{text}");
        }
    }

    proptest::proptest! {
        // proves T3
        #[test]
        fn what_was_written_by_a_json_writer_stays(text in "[A-C]?:?[\\\\nt\n\tab./: ]{0,12}") {
            let written = json!({"content": text, "path": text.replace(['\n', '\t'], "")}).to_string();
            proptest::prop_assert_eq!(drive_paths(&written), None);
        }

        #[test]
        fn any_text_is_taken_without_a_panic(text in "[a-cé\"\\\\{}:,\\[\\]]{0,40}") {
            let _ = drive_paths(&text);
        }
    }
}
