//! The name of a type has one meaning: no two types have the same name, within a crate or across crates.

use std::collections::BTreeMap;

use super::problem::Problem;
use super::tokens::tokens;
use crate::tree::Tree;

/// The file with the list of exceptions.
const HERE: &str = "xtask/src/tidy/type_names.rs";

/// Names that occur more than once and still have one meaning: an alias that each library defines alike, and types with
/// a replacement for builds without a feature.
const ONE_MEANING: &[&str] = &["Address", "AddressPattern", "BoxFuture", "Locks", "RuleSide"];

pub(super) fn problems(tree: &Tree) -> Vec<Problem> {
    problems_except(tree, ONE_MEANING)
}

/// The problems of a tree in which these names may occur more than once. A name that does not is to be taken off the
/// list, or it would hide the next type of that name.
fn problems_except(tree: &Tree, one_meaning: &[&str]) -> Vec<Problem> {
    let mut places: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (path, text) in tree.ending(".rs").filter(|(path, _)| is_source(path)) {
        for name in defined(&tokens(text)) {
            places.entry(name).or_default().push(path);
        }
    }
    let stale = one_meaning.iter().filter(|name| places.get(*name).is_none_or(|paths| paths.len() < 2));
    let stale =
        stale.map(|name| Problem::in_file(HERE, format!("`{name}` in ONE_MEANING is not the name of two types")));
    let twice = places.iter().filter(|(name, paths)| paths.len() > 1 && !one_meaning.contains(name));
    let twice = twice.map(|(name, paths)| {
        Problem::in_file(paths[0], format!("`{name}` is also the name of a type in {}", paths[1]))
    });
    stale.chain(twice).collect()
}

/// Whether a file is a source of the crates and not for tests only.
fn is_source(path: &str) -> bool {
    let is_test = path.ends_with("tests.rs") || path.contains("/tests/");
    path.starts_with("crates/") && path.contains("/src/") && !is_test
}

/// The types that a file defines. Types inside an `impl` or a `trait` (`type Output = …`) do not count.
fn defined<'a>(tokens: &[&'a str]) -> Vec<&'a str> {
    let mut names = Vec::new();
    let mut depth = 0_usize;
    for window in tokens.windows(2) {
        match window {
            ["{", _] => depth += 1,
            ["}", _] => depth = depth.saturating_sub(1),
            ["struct" | "enum" | "union" | "trait", name] if is_type(name) => names.push(*name),
            ["type", name] if depth == 0 && is_type(name) => names.push(*name),
            _ => {}
        }
    }
    names
}

fn is_type(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::problems_except;
    use crate::tree::Tree;

    fn found(files: [(&str, &str); 2]) -> Vec<String> {
        problems_except(&Tree::from(files), &[]).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_name_that_stands_for_two_types_is_a_problem_in_one_crate_and_across_crates() {
        let wanted = |path: &str| vec![format!("crates/a/src/one.rs: `Step` is also the name of a type in {path}")];
        for path in ["crates/a/src/two.rs", "crates/b/src/lib.rs"] {
            assert_eq!(found([("crates/a/src/one.rs", "struct Step;"), (path, "pub enum Step { One }")]), wanted(path));
        }
    }

    #[test]
    fn an_exception_that_none_needs_is_a_problem() {
        let files = [("crates/a/src/one.rs", "struct Lock; struct Key;"), ("crates/b/src/two.rs", "struct Lock;")];
        let found = problems_except(&Tree::from(files), &["Gone", "Key", "Lock"]);
        let wanted =
            |name: &str| format!("xtask/src/tidy/type_names.rs: `{name}` in ONE_MEANING is not the name of two types");
        assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), [wanted("Gone"), wanted("Key")]);
    }

    #[test]
    fn associated_types_tests_and_variants_are_none() {
        let one = ("crates/a/src/one.rs", "impl Future for Walk { type Output = u8; }\nenum Next { Step }");
        let other =
            "impl Future for Talk { type Output = u8; }\n#[cfg(test)]\nmod tests { struct Step; }\nstruct Step;";
        assert_eq!(found([one, ("crates/b/src/two.rs", other)]), Vec::<String>::new());
        assert_eq!(
            found([("crates/a/src/a.rs", "struct A;"), ("crates/a/tests/a.rs", "struct A;")]),
            Vec::<String>::new()
        );
    }
}
