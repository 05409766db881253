//! The report of a measurement, in Markdown: a table for docs/models.md, the figures of the goals, and every failure
//! with its reasons.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::job::{JobKind, JobSet};
use super::trial::TrialResult;

/// Writes the report. `what` says what was measured, one fact on each line.
pub(crate) fn report(what: &[String], results: &[TrialResult]) -> String {
    let mut text = String::from("# How the jobs went\n\n");
    for line in what {
        let _ = writeln!(text, "- {line}");
    }
    text.push('\n');
    text.push_str(&table(results));
    text.push('\n');
    text.push_str(&goals(results));
    text.push('\n');
    text.push_str(&failures(results));
    text
}

/// A row for each set and kind, and one for each set.
fn table(results: &[TrialResult]) -> String {
    let mut text = String::from(
        "| set | jobs | passed | in a round | calls | failed calls | nudges | turns | tokens in | tokens out | seconds |\n\
         |---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for set in JobSet::ALL {
        for kind in JobKind::ALL {
            let some: Vec<_> = results.iter().filter(|result| result.set == set && result.kind == kind).collect();
            row(&mut text, set, &kind.to_string(), &some);
        }
        row(&mut text, set, "all", &results.iter().filter(|result| result.set == set).collect::<Vec<_>>());
    }
    text.push_str("\nCalls, nudges, turns, tokens and seconds are means of one try.\n");
    text
}

fn row(text: &mut String, set: JobSet, name: &str, results: &[&TrialResult]) {
    if results.is_empty() {
        return;
    }
    let mean = |value: fn(&TrialResult) -> f64| mean(results, value);
    let _ = writeln!(
        text,
        "| {set} | {name} | {} | {} | {:.1} | {:.1} | {:.1} | {:.1} | {:.0} | {:.0} | {:.1} |",
        share(count(results, TrialResult::passed), results.len()),
        rounds(results),
        mean(|result| as_f64(result.events.calls)),
        mean(|result| as_f64(result.events.failed_calls)),
        mean(|result| as_f64(result.events.nudges)),
        mean(|result| as_f64(result.events.turns)),
        mean(|result| as_f64(result.events.tokens_in)),
        mean(|result| as_f64(result.events.tokens_out)),
        mean(|result| result.seconds),
    );
}

/// The fewest and the most jobs that passed in one round, of how many.
fn rounds(results: &[&TrialResult]) -> String {
    let mut rounds: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
    for result in results {
        let (passed, all) = rounds.entry(result.round).or_default();
        *passed += usize::from(result.passed());
        *all += 1;
    }
    let passed = || rounds.values().map(|(passed, _)| passed);
    let (fewest, most) = (passed().min().unwrap_or(&0), passed().max().unwrap_or(&0));
    let jobs = rounds.values().map(|(_, all)| all).max().unwrap_or(&0);
    format!("{fewest}–{most} of {jobs}")
}

/// The figures that the goals are about.
fn goals(results: &[TrialResult]) -> String {
    let mut text = String::from("| goal | set | tries |\n|---|---|---|\n");
    for set in JobSet::ALL {
        let of_set: Vec<&TrialResult> = results.iter().filter(|result| result.set == set).collect();
        let mut line = |goal: &str, some: &[&TrialResult], is_so: fn(&TrialResult) -> bool| {
            if !some.is_empty() {
                let _ = writeln!(text, "| {goal} | {set} | {} |", share(count(some, is_so), some.len()));
            }
        };
        let about_files: Vec<_> = of_set.iter().copied().filter(|result| result.kind.is_about_files()).collect();
        let talk: Vec<_> = of_set.iter().copied().filter(|result| result.kind == JobKind::Talk).collect();
        let stated: Vec<_> = of_set.iter().copied().filter(|result| result.states_falsely.is_some()).collect();
        line("a job about files (needs tools, question) passed", &about_files, TrialResult::passed);
        // Whether the answer is right says what the model knows, and is counted by the passes.
        line("talk answered without a call", &talk, |result| {
            result.events.end == "completed" && result.events.calls == 0
        });
        line("a file changed that nobody asked for", &of_set, |result| !result.unasked.is_empty());
        line("ended as completed, but did not pass", &of_set, |result| {
            result.events.end == "completed" && !result.passed()
        });
        line("the end states changes otherwise than they are", &stated, |result| result.states_falsely == Some(true));
        line("the end corrects what the model claims", &stated, |result| {
            result.events.stated.as_ref().is_some_and(|stated| stated.corrects)
        });
    }
    text
}

/// Every try that did not pass, with why.
fn failures(results: &[TrialResult]) -> String {
    let mut failed: Vec<&TrialResult> = results.iter().filter(|result| !result.passed()).collect();
    failed.sort_by(|one, other| {
        (one.set, one.kind, &one.job, one.round).cmp(&(other.set, other.kind, &other.job, other.round))
    });
    let mut text = String::from("## What did not pass\n\n");
    if failed.is_empty() {
        text.push_str("Nothing.\n");
    }
    for result in failed {
        let end = if result.events.end.is_empty() { "no end" } else { &result.events.end };
        let _ = writeln!(
            text,
            "- {} ({}), try {}, {end}, {} calls: {}",
            result.job,
            result.set,
            result.round,
            result.events.calls,
            result.complaints.join("; ")
        );
    }
    text
}

fn count(results: &[&TrialResult], is_so: fn(&TrialResult) -> bool) -> usize {
    results.iter().filter(|result| is_so(result)).count()
}

fn mean(results: &[&TrialResult], value: fn(&TrialResult) -> f64) -> f64 {
    let sum: f64 = results.iter().map(|result| value(result)).sum();
    sum / as_f64(results.len() as u64)
}

fn share(some: usize, all: usize) -> String {
    let percent = 100.0 * as_f64(some as u64) / as_f64(all.max(1) as u64);
    format!("{some} of {all} ({percent:.0} %)")
}

/// Counts here are far below where a float gets inexact.
#[expect(clippy::cast_precision_loss, reason = "means of small counts")]
fn as_f64(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::report;
    use crate::jobs::events::EventCounts;
    use crate::jobs::job::{JobKind, JobSet};
    use crate::jobs::trial::TrialResult;

    fn result(job: &str, kind: JobKind, round: u32, complaint: Option<&str>) -> TrialResult {
        TrialResult {
            job: job.to_owned(),
            kind,
            set: JobSet::Kept,
            round,
            complaints: complaint.into_iter().map(str::to_owned).collect(),
            unasked: Vec::new(),
            states_falsely: None,
            events: EventCounts { calls: 2, tokens_in: 1000, end: "completed".into(), ..EventCounts::default() },
            seconds: f64::from(round),
        }
    }

    fn called_nothing(result: TrialResult) -> TrialResult {
        TrialResult { events: EventCounts { calls: 0, ..result.events.clone() }, ..result }
    }

    #[test]
    fn the_table_has_shares_with_their_spread_and_means_and_failures_have_reasons() {
        let results = [
            result("a", JobKind::NeedsTools, 1, None),
            result("b", JobKind::NeedsTools, 1, Some("x.txt is not there")),
            result("a", JobKind::NeedsTools, 2, Some("x.txt is still there")),
            result("b", JobKind::NeedsTools, 2, Some("no")),
            called_nothing(result("t", JobKind::Talk, 1, None)),
            called_nothing(result("t", JobKind::Talk, 2, Some("the answer does not match"))),
        ];
        let text = report(&["model m".to_owned()], &results);
        for line in [
            "- model m",
            "| kept | needs tools | 1 of 4 (25 %) | 0–1 of 2 | 2.0 | 0.0 | 0.0 | 0.0 | 1000 | 0 | 1.5 |",
            "| kept | talk | 1 of 2 (50 %) | 0–1 of 1 | 0.0 | 0.0 | 0.0 | 0.0 | 1000 | 0 | 1.5 |",
            "| a job about files (needs tools, question) passed | kept | 1 of 4 (25 %) |",
            "| talk answered without a call | kept | 2 of 2 (100 %) |",
            "| ended as completed, but did not pass | kept | 4 of 6 (67 %) |",
            "- a (kept), try 2, completed, 2 calls: x.txt is still there",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        assert!(!text.contains("| tune |"), "{text}");
    }
}
