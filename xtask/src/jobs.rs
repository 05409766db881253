//! `cargo xtask jobs`: how often a model finishes ordinary file jobs through the real program.
//!
//! The suite (`fixtures/jobs`) is data: requests, workspaces and checks. Each job is done several times, each time in a
//! fresh workspace, and all tries of a round are done before the next round begins, so that what is measured before an
//! end by hand is of use. Requests carry no seed: tries differ as the server samples.
//!
//! With `--windlass` and `--suite` it needs neither cargo nor the sources.

mod checks;
mod events;
mod job;
mod measured_row;
mod model_server;
mod options;
mod reply_recorder;
mod report;
mod results;
mod right;
mod suite;
#[cfg(test)]
mod suite_tests;
mod trial;
mod workspace;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use self::job::Job;
use self::measured_row::{MeasuredSetting, measured_row};
use self::model_server::JobModelServer;
use self::options::{Options, RawReplies, USAGE};
use self::reply_recorder::ReplyRecorder;
use self::report::report;
use self::results::ResultFolder;
use self::suite::Suite;
use self::trial::{TrialResult, TrialSetting, try_once};
use crate::cargo::{cargo, target_dir};

/// Does the jobs that `words` ask for, and prints how they went.
pub(crate) fn run(root: &Path, words: &[String]) -> Result<(), String> {
    if words.iter().any(|word| word == "--help") {
        println!("{USAGE}");
        return Ok(());
    }
    let options = Options::parse(words)?;
    let suite = Suite::read(&options.suite.clone().unwrap_or_else(|| root.join("fixtures/jobs")))?;
    let jobs = chosen(&suite, &options)?;
    let windlass = program(root, options.windlass.as_deref())?;
    let (mut setting, server) = setting(root, &options, windlass)?;
    let path = options.out.clone().map_or_else(|| default_folder(root, &setting), Ok)?;
    let folder = ResultFolder::open(&path, &setting, options.earlier)?;
    if options.replies == RawReplies::Kept {
        setting.base_url = ReplyRecorder::start(&setting.base_url, &path.join("replies.jsonl"))?.base_url();
    }
    let results = measure(&jobs, options.tries, options.parallel, &setting, &folder)?;
    let text = report(&facts(&setting, server.as_ref(), &results)?, &results);
    let text = format!("{text}\n{}", row(&setting, &folder, &results)?);
    println!("\n{text}");
    println!("The report and all journals are in {}.", path.display());
    folder.report(&text).map(drop)
}

/// The jobs that were asked for, in the order of the suite.
fn chosen<'s>(suite: &'s Suite, options: &Options) -> Result<Vec<&'s Job>, String> {
    if let Some(id) = options.only.iter().find(|id| !suite.jobs().any(|job| job.id == **id)) {
        return Err(format!("the suite has no job `{id}`"));
    }
    let of_sets = |job: &&Job| options.sets.contains(&job.set);
    let named = |job: &&Job| options.only.contains(&job.id);
    Ok(if options.only.is_empty() {
        suite.jobs().filter(of_sets).collect()
    } else {
        suite.jobs().filter(named).collect()
    })
}

/// The program to measure, by its whole path: it is started in other folders.
fn program(root: &Path, named: Option<&Path>) -> Result<PathBuf, String> {
    let path = match named {
        Some(path) => path.to_owned(),
        None => {
            cargo(root, &["build", "--release", "--locked", "-p", "windlass-cli"], &[])?;
            target_dir(root).join("release/windlass")
        }
    };
    path.canonicalize().map_err(|error| format!("{}: {error}", path.display()))
}

/// What all tries have in common, and the server if it had to be started.
fn setting(
    root: &Path,
    options: &Options,
    windlass: PathBuf,
) -> Result<(TrialSetting, Option<JobModelServer>), String> {
    let server = match options.base_url {
        Some(_) => None,
        None => Some(JobModelServer::start(root, options.parallel)?),
    };
    let read = |path: &PathBuf| std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()));
    let own_url = server.as_ref().map(JobModelServer::base_url);
    let setting = TrialSetting {
        windlass,
        base_url: options.base_url.clone().or(own_url).unwrap_or_default(),
        model: options.model.clone().unwrap_or_else(|| model_server::ID.to_owned()),
        preset: options.preset.clone(),
        limit: options.limit,
        settings: options.settings.as_ref().map(read).transpose()?,
        commands: options.commands,
        extra: options.extra.clone(),
    };
    Ok((setting, server))
}

/// Does all jobs, `parallel` at a time, and returns the results of these jobs and rounds, earlier ones included.
fn measure(
    jobs: &[&Job],
    tries: u32,
    parallel: usize,
    setting: &TrialSetting,
    folder: &ResultFolder,
) -> Result<Vec<TrialResult>, String> {
    let done = folder.done();
    let all = (1..=tries).flat_map(|round| jobs.iter().map(move |job| (*job, round)));
    let missing: Vec<(&Job, u32)> = all.filter(|(job, round)| !done.contains(&(job.id.as_str(), *round))).collect();
    let (next, failure) = (AtomicUsize::new(0), Mutex::new(None));
    let is_asked = |result: &&TrialResult| result.round <= tries && jobs.iter().any(|job| job.id == result.job);
    let results = Mutex::new(folder.earlier().iter().filter(is_asked).cloned().collect::<Vec<_>>());
    let one = |job: &Job, round: u32| -> Result<(), String> {
        let result = try_once(job, round, setting, &folder.journal(&job.id, round))?;
        folder.add(&result)?;
        println!("{}", line(&result));
        results.lock().unwrap_or_else(PoisonError::into_inner).push(result);
        Ok(())
    };
    std::thread::scope(|scope| {
        for _ in 0..parallel {
            scope.spawn(|| {
                while let Some((job, round)) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(error) = one(job, *round) {
                        failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                        // The others end after the job they have in hand.
                        next.store(missing.len(), Ordering::Relaxed);
                    }
                }
            });
        }
    });
    match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(results.into_inner().unwrap_or_else(PoisonError::into_inner)),
    }
}

/// A result on one line, to watch.
fn line(result: &TrialResult) -> String {
    let verdict = if result.passed() { "passed" } else { "FAILED" };
    let reasons = if result.passed() { String::new() } else { format!(": {}", result.complaints.join("; ")) };
    let (calls, seconds) = (result.events.calls, result.seconds);
    format!("{verdict} {} ({}, {calls} calls, {seconds:.1} s){reasons}", result.job, result.round)
}

/// What was measured, for the report.
fn facts(
    setting: &TrialSetting,
    server: Option<&JobModelServer>,
    results: &[TrialResult],
) -> Result<Vec<String>, String> {
    let jobs: BTreeSet<&str> = results.iter().map(|result| result.job.as_str()).collect();
    let file = server.map_or_else(String::new, |_| format!(", SHA-256 {}", model_server::SHA256));
    Ok(vec![
        format!("date: {}", output("date", &["-u", "+%Y-%m-%d"])?),
        format!("program: {}", output(&setting.windlass.to_string_lossy(), &["--version"])?),
        format!("model: {}{file}", setting.model),
        format!("preset: {}, further flags: `{}`", setting.preset, setting.extra.join(" ")),
        format!("settings: `{}`", setting.settings.as_deref().unwrap_or_default().trim().replace('\n', "; ")),
        format!(
            "jobs: {}, tries: {}; limit: {} s; commands: {:?}",
            jobs.len(),
            results.len(),
            setting.limit.as_secs(),
            setting.commands
        ),
    ])
}

/// The measurement as a row of the shipped table.
fn row(setting: &TrialSetting, folder: &ResultFolder, results: &[TrialResult]) -> Result<String, String> {
    let journal = results.first().map(|result| folder.journal(&result.job, result.round).join("events.jsonl"));
    let events = journal.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
    let date = output("date", &["-u", "+%Y-%m-%d"])?;
    let program = output(&setting.windlass.to_string_lossy(), &["--version"])?;
    let measured = MeasuredSetting {
        model: &setting.model,
        preset: &setting.preset,
        date: &date,
        program: &program,
        events: &events,
    };
    Ok(measured_row(&measured, results))
}

fn default_folder(root: &Path, setting: &TrialSetting) -> Result<PathBuf, String> {
    let model: String =
        setting.model.chars().map(|c| if c.is_alphanumeric() || "-._".contains(c) { c } else { '-' }).collect();
    let date = output("date", &["-u", "+%Y-%m-%d"])?;
    // On another machine than it was built on, the workspace is not there.
    let root = if root.exists() { root } else { Path::new(".") };
    Ok(target_dir(root).join("jobs").join(format!("{model}-{}-{date}", setting.preset)))
}

/// The first line that a program prints.
fn output(program: &str, words: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(words).output().map_err(|error| format!("{program}: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned())
}
