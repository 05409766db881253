//! Whether the checks of a job fit it: they hold for an outcome that is right, and not if nothing was done.

use super::checks::check;
use super::events::EventCounts;
use super::job::Job;
use super::workspace::Files;

/// The workspace as it is when the job was done right.
pub(crate) fn right_files(job: &Job) -> Files {
    let mut after = Files::of(&job.files);
    for path in &job.gone {
        after.remove(path);
    }
    let in_full = job.expect.iter().filter_map(|file| Some((&file.path, file.is.as_ref()?)));
    for (path, text) in in_full.chain(&job.right.files) {
        after.set(path, text);
    }
    after
}

/// A run without calls that ended with this answer.
pub(crate) fn answered(answer: &str) -> EventCounts {
    EventCounts { answer: answer.to_owned(), ..EventCounts::default() }
}

/// What is wrong with the checks.
pub(crate) fn misfits(job: &Job) -> Vec<String> {
    let before = Files::of(&job.files);
    let right = check(job, &before, &right_files(job), &answered(&job.right.answer)).complaints;
    let mut misfits: Vec<String> =
        right.into_iter().map(|complaint| format!("its right outcome does not pass: {complaint}")).collect();
    let nothing = check(job, &before, &before, &answered("I have done it."));
    if job.kind.is_about_files() && nothing.complaints.is_empty() {
        misfits.push("it passes if nothing is done".to_owned());
    }
    misfits
}
