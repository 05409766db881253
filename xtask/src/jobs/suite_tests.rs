//! The suite as it is: well-formed, and each check neither too easy nor too hard.

use std::path::Path;

use super::checks::check;
use super::events::EventCounts;
use super::job::{Job, JobKind, JobSet};
use super::right::{answered, right_files};
use super::suite::Suite;
use super::workspace::Files;

fn suite() -> Suite {
    Suite::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/jobs")).unwrap()
}

fn complaints(job: &Job, after: &Files, events: &EventCounts) -> Vec<String> {
    check(job, &Files::of(&job.files), after, events).complaints
}

#[test]
fn the_suite_has_two_halves_with_the_same_mixture() {
    let suite = suite();
    let count = |kind, set| suite.jobs().filter(|job| job.kind == kind && job.set == set).count();
    for (kind, least) in [(JobKind::NeedsTools, 15), (JobKind::Question, 4), (JobKind::Talk, 5), (JobKind::Refuse, 2)] {
        assert!(count(kind, JobSet::Tune) >= least, "{kind}");
        assert_eq!(count(kind, JobSet::Tune), count(kind, JobSet::Kept), "{kind}");
    }
    assert!(suite.jobs().count() >= 48);
}

#[test]
fn no_job_about_files_passes_if_nothing_is_done() {
    for job in suite().jobs().filter(|job| job.kind.is_about_files()) {
        let found = complaints(job, &Files::of(&job.files), &answered("I have done it."));
        assert!(!found.is_empty(), "{}", job.id);
    }
}

#[test]
fn every_job_passes_when_it_was_done_right() {
    for job in suite().jobs() {
        let found = complaints(job, &right_files(job), &answered(&job.right.answer));
        assert_eq!(found, Vec::<String>::new(), "{}", job.id);
    }
}

#[test]
fn each_part_of_the_right_outcome_counts() {
    for job in suite().jobs() {
        let right = right_files(job);
        let before = Files::of(&job.files);
        for path in before.changed_in(&right) {
            let mut after = right.clone();
            match before.text(&path) {
                Some(text) => after.set(&path, &text),
                None => after.remove(&path),
            }
            assert!(!complaints(job, &after, &answered(&job.right.answer)).is_empty(), "{} without {path}", job.id);
        }
    }
}

#[test]
fn a_file_that_nobody_asked_about_fails_every_job() {
    for job in suite().jobs() {
        let mut after = right_files(job);
        after.set("notes-of-the-model.txt", "I was here.");
        let found = check(job, &Files::of(&job.files), &after, &answered(&job.right.answer));
        assert_eq!(found.unasked, ["notes-of-the-model.txt"], "{}", job.id);
        assert_eq!(found.complaints, ["notes-of-the-model.txt was changed, which nobody asked for"], "{}", job.id);
        if let Some(path) = job.files.keys().find(|path| !job.changeable().any(|changeable| changeable == **path)) {
            let mut after = right_files(job);
            after.remove(path);
            let found = check(job, &Files::of(&job.files), &after, &answered(&job.right.answer));
            assert_eq!(found.unasked, [path.as_str()], "{}", job.id);
        }
    }
}

#[test]
fn talk_fails_with_a_call_and_without_an_answer() {
    for job in suite().jobs().filter(|job| job.kind == JobKind::Talk) {
        let called = EventCounts { calls: 1, ..answered(&job.right.answer) };
        assert_eq!(complaints(job, &right_files(job), &called), ["1 calls for mere talk"], "{}", job.id);
        assert!(!complaints(job, &right_files(job), &answered(" ")).is_empty(), "{}", job.id);
    }
}

#[test]
fn only_white_space_at_the_ends_does_not_count() {
    let suite = suite();
    let exact = suite.jobs().filter(|job| job.expect.iter().any(|file| file.is.is_some()));
    for job in exact {
        let file = job.expect.iter().find(|file| file.is.is_some()).unwrap();
        let text = file.is.clone().unwrap();
        let with = |text: &str| {
            let mut after = right_files(job);
            after.set(&file.path, text);
            complaints(job, &after, &answered(&job.right.answer))
        };
        assert_eq!(with(text.trim_end()), Vec::<String>::new(), "{}", job.id);
        assert_eq!(with(&text.replace('\n', " \r\n")), Vec::<String>::new(), "{}", job.id);
        assert_eq!(with(&format!("{text}x\n")).len(), 1, "{}", job.id);
    }
}
