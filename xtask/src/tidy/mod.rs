//! `cargo xtask tidy`: the rules of the house that no compiler checks. Each is a pure function of
//! the project's files in a file of its own, and a row of [`CHECKS`].

mod budget;
mod deaths;
mod decisions;
mod direction;
mod glossary;
mod leftovers;
mod links;
mod places;
mod programs;
mod proofs;
mod purity;

use std::path::Path;

use crate::tree::Tree;

/// A rule, and how it is checked.
struct Check {
    rule: &'static str,
    problems: fn(&Tree) -> Vec<Problem>,
}

const CHECKS: &[Check] = &[
    Check { rule: "files keep to their line budgets", problems: budget::problems },
    Check { rule: "crates depend only on those below them", problems: direction::problems },
    Check { rule: "pure crates know no clock, environment, input or output", problems: purity::problems },
    Check { rule: "every rule in docs/rules.md is proved, and no other is claimed", problems: proofs::problems },
    Check { rule: "the README counts the ways to die as the kill matrices do", problems: deaths::problems },
    Check { rule: "nothing is left for later", problems: leftovers::problems },
    Check { rule: "no file knows the machine it was written on", problems: places::problems },
    Check { rule: "a crate's tests are one program", problems: programs::problems },
    Check { rule: "decisions are numbered and indexed", problems: decisions::problems },
    Check { rule: "links between pages lead somewhere", problems: links::problems },
    Check { rule: "the glossary knows every record and preset", problems: glossary::problems },
];

/// Something that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Problem {
    path: String,
    /// From 1; 0 for the file as a whole.
    line: usize,
    what: String,
}

impl Problem {
    fn in_file(path: &str, what: impl Into<String>) -> Self {
        Self::at(path, 0, what)
    }

    fn at(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, what: what.into() }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.what),
            line => write!(f, "{}:{line}: {}", self.path, self.what),
        }
    }
}

/// The lines of a text with their numbers, from 1.
fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines())
}

/// Checks every rule and says which hold.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let tree = Tree::read(root).map_err(|error| format!("can't read {}: {error}", root.display()))?;
    let mut broken = 0;
    for check in CHECKS {
        let problems = (check.problems)(&tree);
        println!("{} {}", if problems.is_empty() { "ok    " } else { "BROKEN" }, check.rule);
        for problem in &problems {
            println!("       {problem}");
        }
        broken += problems.len();
    }
    match broken {
        0 => Ok(()),
        1 => Err("1 problem, named above".to_owned()),
        many => Err(format!("{many} problems, named above")),
    }
}
