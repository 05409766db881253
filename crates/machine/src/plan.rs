//! Reads a planner's reply (S3): one step on each line, or a line that names several files and what to do with each,
//! which the loop takes apart itself, because small models stop after the first of several files.
//!
//! ```text
//! 1. Read the price list.
//! FOR EACH FILE a.txt, b.txt, notes/*.md: replace "Ltd" by "Limited"
//! ```
//!
//! Whatever a model writes around its steps (numbers, bullets, bold type, a heading, a JSON list, a fence) is left out.
//! A plan never loses work by being too long: more steps than allowed are joined to the last one, and a list of more
//! files than allowed stays one step.

mod for_each;
mod lines;

use for_each::for_each;
use lines::step_lines;

/// The most lines of a plan that are steps.
const STEPS: usize = 8;
/// The most files of a plan for which the loop makes steps.
const FILES: usize = 50;
/// The most characters of a step.
const STEP_CHARS: usize = 500;

/// A step as the planner meant it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedStep {
    /// What is to be done.
    pub step: String,
    /// The file it is about, where the plan names several files for the same work.
    pub file: Option<String>,
}

/// The files of a workspace, as a plan is made and read with them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedFiles {
    /// Their paths, in order.
    pub names: Vec<String>,
    /// Whether there may be more.
    pub has_more: bool,
}

/// Returns the steps of a planner's reply, in a workspace with these files. Fewer than two are no plan.
#[must_use]
pub fn plan_steps(reply: &str, files: &ListedFiles) -> Vec<PlannedStep> {
    let mut steps = Vec::new();
    for line in joined_after(step_lines(reply), STEPS) {
        let made = steps.iter().filter(|step: &&PlannedStep| step.file.is_some()).count();
        match for_each(&line, files) {
            Some((named, work)) if !named.is_empty() && made + named.len() <= FILES => {
                steps.extend(named.into_iter().map(|file| PlannedStep { step: cut(&work), file: Some(file) }));
            }
            Some(_) | None => steps.push(PlannedStep { step: cut(&line), file: None }),
        }
    }
    steps
}

/// Joins what comes after the last allowed line to it.
fn joined_after(mut lines: Vec<String>, most: usize) -> Vec<String> {
    if lines.len() > most {
        let rest = lines.split_off(most - 1).join("; then: ");
        lines.push(rest);
    }
    lines
}

fn cut(step: &str) -> String {
    let mut text: String = step.chars().take(STEP_CHARS).collect();
    if text.len() < step.len() {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests;
