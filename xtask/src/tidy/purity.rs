//! The pure crates get time, ids and everything else as input: their code uses no clock, no randomness, no
//! environment, no input or output. Their tests may.

use super::problem::{Problem, numbered};
use crate::tree::Tree;

const PURE: &[&str] = &["crates/vocab/src/", "crates/machine/src/", "crates/narrate/src/"];

/// Modules of `std` with access to the system.
const MODULES: &[&str] = &["env", "fs", "io", "net", "process", "thread"];

/// Names that give such access, from whatever crate they come.
const NAMES: &[&str] = &["Instant", "SystemTime", "rand", "tokio", "getrandom"];

pub(super) fn problems(tree: &Tree) -> Vec<Problem> {
    let pure = tree.ending(".rs").filter(|(path, _)| PURE.iter().any(|folder| path.starts_with(folder)));
    let pure = pure.filter(|(path, _)| !path.ends_with("tests.rs") && !path.contains("/tests/"));
    pure.flat_map(|(path, text)| {
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        impure(code).into_iter().map(move |(line, name)| Problem::at(path, line, format!("`{name}` in a pure crate")))
    })
    .collect()
}

fn impure(code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut group = Group::None;
    for (number, line) in numbered(code) {
        let line = line.split("//").next().unwrap_or_default();
        let words = words(line);
        for (at, word) in words.iter().enumerate() {
            let of_std = at > 0 && words[at - 1] == "std" || group == Group::Std;
            if NAMES.contains(word) || of_std && MODULES.contains(word) {
                found.push((number, (*word).to_owned()));
            }
        }
        if line.contains("use std::{") {
            group = Group::Std;
            let first = words.iter().skip_while(|word| **word != "std").skip(2).filter(|word| MODULES.contains(word));
            found.extend(first.map(|word| (number, (*word).to_owned())));
        }
        if line.contains("};") {
            group = Group::None;
        }
    }
    found
}

/// Whether the line is inside `use std::{ … };`.
#[derive(PartialEq, Eq)]
enum Group {
    None,
    Std,
}

fn words(line: &str) -> Vec<&str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::problems;
    use crate::tree::Tree;

    fn complaints(code: &str) -> Vec<String> {
        let tree = Tree::from([("crates/machine/src/x.rs", code), ("crates/store/src/x.rs", code)]);
        problems(&tree).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_way_to_reach_outside_is_seen() {
        for code in [
            "let now = std::time::Instant::now();",
            "use std::time::SystemTime;",
            "let home = std::env::var(\"HOME\");",
            "use std::fs;",
            "use std::{fmt, fs};",
            "use std::{env, fmt};",
            "use std::{\n    fmt,\n    net::TcpStream,\n};",
            "tokio::spawn(f);",
            "let n: u32 = rand::random();",
            "#[cfg(test)]\nmod tests;\nuse std::fs;",
        ] {
            assert_eq!(complaints(code).len(), 1, "{code}");
        }
    }

    #[test]
    fn comments_tests_and_our_own_words_are_free() {
        for code in [
            "// std::fs is for others",
            "use std::{\n    fmt,\n};\nlet process = 1;",
            "fn process(thread: Thread) {}",
            "let operand = 1;",
            "#[cfg(test)]\nmod tests { use std::fs; }",
        ] {
            assert_eq!(complaints(code), Vec::<String>::new(), "{code}");
        }
    }

    #[test]
    fn the_line_is_named() {
        assert_eq!(complaints("\n\nuse std::fs;"), ["crates/machine/src/x.rs:3: `fs` in a pure crate"]);
    }
}
