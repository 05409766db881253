//! No unfinished work: no notes for later, no disabled tests. (The marks are written in halves here, so
//! that this file does not find itself.)

use super::problem::{Problem, numbered};
use crate::tree::Tree;

/// Marks that are whole words.
const WORDS: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

/// Marks of Rust code.
const CODE: &[&str] =
    &[concat!("db", "g!("), concat!("to", "do!("), concat!("un", "implemented!("), concat!("#[ig", "nore")];

pub(super) fn problems(tree: &Tree) -> Vec<Problem> {
    let marks = |(path, text)| {
        numbered(text).filter_map(move |(line, text)| {
            Some(Problem::at(path, line, format!("`{}` is left over", mark(path, text)?)))
        })
    };
    tree.files().filter(|(path, _)| *path != "Cargo.lock").flat_map(marks).collect()
}

fn mark(path: &str, line: &str) -> Option<&'static str> {
    let word = line
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .find_map(|word| WORDS.iter().find(|mark| **mark == word));
    let code = CODE.iter().find(|mark| path.ends_with(".rs") && line.contains(**mark));
    word.or(code).copied()
}

#[cfg(test)]
mod tests {
    use super::{CODE, WORDS, mark};

    #[test]
    fn every_mark_is_found() {
        for word in WORDS {
            assert!(mark("notes.md", &format!("// {word}: later")).is_some(), "{word}");
        }
        for code in CODE {
            assert!(mark("src/x.rs", &format!("    {code}x)]")).is_some(), "{code}");
        }
    }

    #[test]
    fn words_that_only_look_like_a_mark_are_free() {
        for line in ["the todo tool", "TODOS", "XXXL", "let fixme = 1;"] {
            assert_eq!(mark("src/x.rs", line), None, "{line}");
        }
    }
}
