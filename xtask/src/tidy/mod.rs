//! `cargo xtask tidy`: the project's rules that no compiler checks. Each is a pure function of
//! the project's files in a separate source file, and a row of [`CHECKS`].

mod budget;
mod circles;
mod deaths;
mod decisions;
mod direction;
mod doors;
mod events;
mod glossary;
mod imports;
mod leftovers;
mod links;
mod modules;
mod narration;
mod places;
mod problem;
mod programs;
mod proofs;
mod purity;
mod texts;
mod tokens;
mod type_names;

use std::path::Path;

use self::problem::Problem;
use crate::tree::Tree;

/// A rule, and the function that checks it.
struct Check {
    rule: &'static str,
    problems: fn(&Tree) -> Vec<Problem>,
}

const CHECKS: &[Check] = &[
    Check { rule: "files keep to their line budgets", problems: budget::problems },
    Check { rule: "crates depend only on those below them", problems: direction::problems },
    Check { rule: "no more than three files of a crate need each other", problems: circles::problems },
    Check { rule: "doors leave the words of records to the narrator", problems: narration::problems },
    Check { rule: "pure crates know no clock, environment, input or output", problems: purity::problems },
    Check { rule: "no library names a flag, variable, file or command of the door", problems: doors::problems },
    Check { rule: "every rule in docs/rules.md is proved, and no other is claimed", problems: proofs::problems },
    Check { rule: "the README counts the ways to die as the kill matrices do", problems: deaths::problems },
    Check { rule: "the types of the events are those of docs/events.md", problems: events::problems },
    Check { rule: "nothing is left for later", problems: leftovers::problems },
    Check { rule: "no file knows the machine it was written on", problems: places::problems },
    Check { rule: "a crate's tests are one program", problems: programs::problems },
    Check { rule: "decisions are numbered and indexed", problems: decisions::problems },
    Check { rule: "a type's name stands for one thing", problems: type_names::problems },
    Check { rule: "links between pages lead somewhere", problems: links::problems },
    Check { rule: "the glossary knows every record and preset, and is short", problems: glossary::problems },
];

/// Checks every rule and prints which ones hold.
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
