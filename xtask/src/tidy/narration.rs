//! Only `crates/narrate` turns records into words. A door that does so itself names nearly every kind in one match;
//! code that only needs a few kinds (to know what a run waits for, or where it ends) stays below the limit.

use std::collections::BTreeSet;

use super::glossary::kinds;
use super::problem::Problem;
use super::tokens::tokens;
use crate::tree::Tree;

/// The folders of the doors.
const DOORS: &[&str] = &["crates/cli/src/"];

/// How many kinds of record a file of a door may name: those that change what a screen waits for.
const MOST: usize = 14;

pub(super) fn problems(tree: &Tree) -> Vec<Problem> {
    let kinds = kinds(tree);
    let doors = tree.ending(".rs").filter(|(path, _)| DOORS.iter().any(|door| path.starts_with(door)));
    let sources = doors.filter(|(path, _)| !path.ends_with("tests.rs") && !path.contains("/tests/"));
    sources
        .filter_map(|(path, text)| {
            let named = named(&tokens(text), &kinds);
            let what = || format!("names {named} kinds of record, at most {MOST} may be: their words are narrate's");
            (named > MOST).then(|| Problem::in_file(path, what()))
        })
        .collect()
}

/// How many of the kinds occur after `Record::`.
fn named(tokens: &[&str], kinds: &[&str]) -> usize {
    let named = tokens.windows(3).filter_map(|window| match window {
        ["Record", "::", kind] if kinds.contains(kind) => Some(*kind),
        _ => None,
    });
    named.collect::<BTreeSet<_>>().len()
}

#[cfg(test)]
mod tests {
    use super::{MOST, problems};
    use crate::tree::Tree;

    /// The number of problems in a file that names this many kinds, each twice, and one more in a comment.
    fn found(path: &str, kinds: usize) -> usize {
        let names: Vec<String> = (0..=kinds).map(|number| format!("Kind{number}")).collect();
        let records = format!("\nrecords! {{\n    {},\n}}\n", names.join(",\n    "));
        let arms = names[..kinds].iter().map(|name| format!("Record::{name}(_) | Record::{name}(_) => 1,\n"));
        let source = format!("match record {{\n// Record::{}\n{}}}", names[kinds], arms.collect::<String>());
        problems(&Tree::from([("crates/vocab/src/record.rs", records.as_str()), (path, source.as_str())])).len()
    }

    #[test]
    fn a_door_that_words_most_records_is_a_problem_and_one_that_knows_some_is_not() {
        assert_eq!(found("crates/cli/src/screen/record.rs", MOST), 0);
        assert_eq!(found("crates/cli/src/commands/timeline.rs", MOST + 1), 1);
    }

    #[test]
    fn the_narrator_and_tests_may_name_them_all() {
        assert_eq!(found("crates/narrate/src/full.rs", MOST + 1), 0);
        assert_eq!(found("crates/cli/src/screen/tests/runs.rs", MOST + 1), 0);
    }
}
