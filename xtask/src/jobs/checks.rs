//! What must hold after a job: a pure function of the job, its files before and after, and how the run ended.

use std::collections::BTreeSet;

use regex::Regex;

use super::events::EventCounts;
use super::job::{ExpectedFile, Job, JobKind};
use super::workspace::Files;

/// What was found out about a try.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CheckResult {
    /// What does not hold; empty if the job is done.
    pub(crate) complaints: Vec<String>,
    /// Files that changed though the request did not ask for it. Each is a complaint too.
    pub(crate) unasked: Vec<String>,
}

/// Checks one try.
pub(crate) fn check(job: &Job, before: &Files, after: &Files, events: &EventCounts) -> CheckResult {
    let asked: BTreeSet<&str> = job.changeable().collect();
    let changed = before.changed_in(after);
    let unasked: Vec<String> = changed.into_iter().filter(|path| !asked.contains(path.as_str())).collect();
    let mut complaints: Vec<String> = job.expect.iter().flat_map(|file| file_complaints(file, after)).collect();
    let still_there = job.gone.iter().filter(|path| after.text(path).is_some());
    complaints.extend(still_there.map(|path| format!("{path} is still there")));
    complaints.extend(unasked.iter().map(|path| format!("{path} was changed, which nobody asked for")));
    complaints.extend(answer_complaints(job, &events.answer));
    if job.kind == JobKind::Talk && events.calls > 0 {
        complaints.push(format!("{} calls for mere talk", events.calls));
    }
    CheckResult { complaints, unasked }
}

fn file_complaints(file: &ExpectedFile, after: &Files) -> Vec<String> {
    let path = &file.path;
    let Some(text) = after.text(path) else { return vec![format!("{path} is not there")] };
    let mut complaints = Vec::new();
    if file.is.as_ref().is_some_and(|wanted| trimmed(wanted) != trimmed(&text)) {
        complaints.push(format!("{path} reads otherwise: {}", shortened(&text)));
    }
    let missing = file.has.iter().filter(|words| !text.contains(*words));
    complaints.extend(missing.map(|words| format!("{path} lacks `{words}`")));
    let unwanted = file.lacks.iter().filter(|words| text.contains(*words));
    complaints.extend(unwanted.map(|words| format!("{path} has `{words}`")));
    let fits = |pattern: &str| Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(&text));
    let unlike = file.matches.iter().filter(|pattern| !fits(pattern));
    complaints.extend(unlike.map(|pattern| format!("{path} does not match `{pattern}`: {}", shortened(&text))));
    complaints
}

/// A job that changes files may end without words; the others are done by them.
fn answer_complaints(job: &Job, answer: &str) -> Vec<String> {
    let lower = answer.to_lowercase();
    let has = |words: &String| lower.contains(&words.to_lowercase());
    let mut complaints = Vec::new();
    if answer.trim().is_empty() && job.kind != JobKind::NeedsTools {
        complaints.push("there is no answer".to_owned());
    }
    let missing = job.answer_has.iter().filter(|group| !group.iter().any(has));
    complaints
        .extend(missing.map(|group| format!("the answer has none of `{}`: {}", group.join("`, `"), shortened(answer))));
    let unwanted = job.answer_lacks.iter().filter(|words| has(words));
    complaints.extend(unwanted.map(|words| format!("the answer has `{words}`")));
    complaints
}

/// A text without the white space that does not count: at the ends of lines, and around the whole.
fn trimmed(text: &str) -> String {
    let lines: Vec<&str> = text.trim().lines().map(str::trim_end).collect();
    lines.join("\n")
}

/// The beginning of a text, on one line.
fn shortened(text: &str) -> String {
    const LIMIT: usize = 160;
    let line = text.trim().replace('\n', "⏎");
    match line.char_indices().nth(LIMIT) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
