//! Limits the length of files. Some central files have their own limits.

use super::problem::Problem;
use crate::tree::Tree;

/// Files with their own limit, and why.
const BUDGETS: &[(&str, usize)] = &[
    // The loop should be readable in one sitting.
    ("crates/machine/src/machine.rs", 400),
    ("crates/runtime/src/driver.rs", 300),
    // All records on one page: a list of plain types, one after another.
    ("crates/vocab/src/record.rs", 700),
    // Every coding assistant reads all of it, every time.
    ("AGENTS.md", 20),
];

const SOURCE: usize = 500;
const TESTS: usize = 800;

pub(super) fn problems(tree: &Tree) -> Vec<Problem> {
    let over = |(path, text): (&str, &str)| {
        let (lines, budget) = (text.lines().count(), budget(path)?);
        (lines > budget).then(|| Problem::in_file(path, format!("{lines} lines; its budget is {budget}")))
    };
    tree.files().filter_map(over).collect()
}

fn budget(path: &str) -> Option<usize> {
    let own = BUDGETS.iter().find(|(file, _)| *file == path).map(|(_, lines)| *lines);
    let tests = path.contains("/tests/") || path.ends_with("/tests.rs") || path.ends_with("_tests.rs");
    let common = path.ends_with(".rs").then_some(if tests { TESTS } else { SOURCE });
    own.or(common)
}

#[cfg(test)]
mod tests {
    use super::{budget, problems};
    use crate::tree::Tree;

    #[test]
    fn each_kind_of_file_has_its_budget() {
        for (path, lines) in [
            ("crates/machine/src/machine.rs", 400),
            ("crates/runtime/src/driver.rs", 300),
            ("AGENTS.md", 20),
            ("crates/store/src/lib.rs", 500),
            ("crates/store/tests/journal.rs", 800),
            ("crates/store/src/tests.rs", 800),
        ] {
            assert_eq!(budget(path), Some(lines), "{path}");
        }
        assert_eq!(budget("README.md"), None);
    }

    #[test]
    fn a_file_over_its_budget_is_named_and_one_at_it_is_not() {
        let (at, over) = ("\n".repeat(300), "\n".repeat(301));
        assert_eq!(problems(&Tree::from([("crates/runtime/src/driver.rs", at.as_str())])), []);
        let found =
            problems(&Tree::from([("crates/runtime/src/driver.rs", over.as_str()), ("notes.txt", over.as_str())]));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].to_string(), "crates/runtime/src/driver.rs: 301 lines; its budget is 300");
    }
}
