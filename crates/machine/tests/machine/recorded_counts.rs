//! Real exchanges, recorded beside the project: what servers report is never less than the least that we hold possible.

use std::path::{Path, PathBuf};

use serde_json::Value;
use windlass_machine::least_tokens;

/// Below this a report proves nothing, and some recordings have made-up ones.
const SMALLEST: u64 = 1_000;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            found.push(path);
        }
    }
}

/// The request's body, where it is JSON on one line, and the answer as it stands in the file.
fn exchanges(text: &str) -> impl Iterator<Item = (Value, &str)> {
    text.split("when:\n").filter_map(|exchange| {
        let (when, then) = exchange.split_once("\nthen:\n")?;
        let body = when.lines().find_map(|line| line.strip_prefix("  body: '")?.strip_suffix('\''))?;
        Some((serde_json::from_str(&body.replace("''", "'")).ok()?, then))
    })
}

/// Adds up what the texts of a request have at least. Tools, images and forms of answers are not counted.
fn least_in(value: &Value, key: &str) -> u64 {
    match value {
        Value::String(text) => match key {
            "content" | "text" | "system" | "instructions" | "input" | "arguments" | "output" => least_tokens(text),
            _ => 0,
        },
        Value::Array(items) => items.iter().map(|item| least_in(item, key)).sum(),
        Value::Object(fields) => fields
            .iter()
            .filter(|(name, _)| {
                !["tools", "response_format", "image_url", "source", "file", "data"].contains(&name.as_str())
            })
            .map(|(name, field)| least_in(field, name))
            .sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// The largest number that follows one of these names.
fn largest(text: &str, names: &[&str]) -> u64 {
    let number = |rest: &str| {
        let digits = rest.trim_start_matches(['"', '\\', ':', ' ']);
        digits.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse().ok())
    };
    let of_name = |name: &&str| text.split(&format!("\"{name}")).skip(1).filter_map(number).max();
    names.iter().filter_map(of_name).max().unwrap_or(0)
}

// proves M8, C4: no server that read everything is taken for one that did not, whichever way it counts cached tokens
#[test]
fn no_recorded_server_reports_less_than_the_least_possible() {
    let mut found = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/streams"), &mut found);
    if found.is_empty() {
        println!("skipped: no recorded streams beside the project");
        return;
    }
    let mut seen = 0;
    for file in found {
        let text = std::fs::read_to_string(&file).unwrap();
        for (request, answer) in exchanges(&text) {
            let input = largest(answer, &["prompt_tokens", "input_tokens", "prompt_eval_count"]);
            let beside = largest(answer, &["cache_read_input_tokens", "cache_creation_input_tokens"]);
            let reported = input + beside;
            if reported >= SMALLEST {
                seen += 1;
                let least = least_in(&request, "");
                assert!(least < reported, "{}: {least} at least, {reported} reported", file.display());
            }
        }
    }
    assert!(seen > 30, "{seen} exchanges of some length");
}
