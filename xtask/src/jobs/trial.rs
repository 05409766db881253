//! One job, done once: a fresh workspace, the real program with a clean environment, and the checks.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::checks::check;
use super::events::{EventCounts, child_keys};
use super::job::{Job, JobKind, JobSet};
use super::options::CommandRule;
use super::workspace::Files;

/// What the program may take longer than its limit, to stop by itself and write down what it has.
const GRACE: Duration = Duration::from_secs(20);

/// Variables of the person that the program keeps. The key is for servers that want one.
const KEPT_VARIABLES: &[&str] = &["PATH", "WINDLASS_API_KEY", "TMPDIR"];

/// What all tries have in common.
#[derive(Clone, Debug)]
pub(crate) struct TrialSetting {
    pub(crate) windlass: PathBuf,
    pub(crate) base_url: String,
    pub(crate) model: String,
    pub(crate) preset: String,
    pub(crate) limit: Duration,
    /// The text of the program's settings file; without one it runs with none.
    pub(crate) settings: Option<String>,
    pub(crate) commands: CommandRule,
    pub(crate) extra: Vec<String>,
}

/// What became of a try: a line of `results.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TrialResult {
    pub(crate) job: String,
    pub(crate) kind: JobKind,
    pub(crate) set: JobSet,
    /// The number of the try, from 1.
    pub(crate) round: u32,
    /// What does not hold; empty if it passed.
    pub(crate) complaints: Vec<String>,
    pub(crate) unasked: Vec<String>,
    /// Whether the end of the run states changes falsely; absent if it states none.
    pub(crate) states_falsely: Option<bool>,
    pub(crate) events: EventCounts,
    pub(crate) seconds: f64,
}

impl TrialResult {
    pub(crate) fn passed(&self) -> bool {
        self.complaints.is_empty()
    }
}

/// Does a job once. Events, what the program says and the workspace as it was left are kept in `journal`. The error says
/// what kept it from being done.
pub(crate) fn try_once(job: &Job, round: u32, setting: &TrialSetting, journal: &Path) -> Result<TrialResult, String> {
    let failed = |error: io::Error| format!("{}: {error}", job.id);
    let place = tempfile::Builder::new().prefix("windlass-job-").tempdir().map_err(failed)?;
    let workspace = place.path().join("workspace");
    std::fs::create_dir_all(&workspace).map_err(failed)?;
    // What is left of a try that was cut short.
    if journal.exists() {
        std::fs::remove_dir_all(journal).map_err(failed)?;
    }
    std::fs::create_dir_all(journal).map_err(failed)?;
    let before = Files::of(&job.files);
    before.write(&workspace).map_err(failed)?;
    write_settings(setting.settings.as_deref(), place.path()).map_err(failed)?;

    let events = journal.join("events.jsonl");
    let said = File::create(journal.join("stderr.txt")).map_err(failed)?;
    let begun = Instant::now();
    let mut command = command(job, setting, place.path(), &workspace);
    let child = command.stderr(said).spawn();
    let child = child.map_err(|error| format!("{} can't be started: {error}", setting.windlass.display()))?;
    let wait = wait(child, File::create(&events).map_err(failed)?, setting.limit + GRACE).map_err(failed)?;
    let seconds = begun.elapsed().as_secs_f64();

    let lines = String::from_utf8_lossy(&std::fs::read(&events).map_err(failed)?).into_owned();
    let mut events = EventCounts::of(&lines);
    for (number, key) in child_keys(&lines).iter().enumerate() {
        let file = journal.join(format!("child-{number}.jsonl"));
        let mut export = program(setting, place.path(), &workspace);
        // One that could not be opened has no records.
        if export
            .args(["sessions", "export", key, "-o"])
            .arg(&file)
            .output()
            .is_ok_and(|output| output.status.success())
        {
            events.add_child(&EventCounts::of(&std::fs::read_to_string(&file).map_err(failed)?));
        }
    }
    let after = Files::read(&workspace).map_err(failed)?;
    after.write(&journal.join("files")).map_err(failed)?;
    let mut found = check(job, &before, &after, &events);
    // A program that was killed may have done the job; it did not end by itself, and that is no pass.
    if wait == Wait::RanOut {
        found.complaints.push(format!("killed after {seconds:.0} s"));
    } else if events.end.is_empty() {
        found.complaints.push("the run has no end".to_owned());
    }
    Ok(TrialResult {
        job: job.id.clone(),
        kind: job.kind,
        set: job.set,
        round,
        complaints: found.complaints,
        unasked: found.unasked,
        states_falsely: events.states_falsely(&before.changed_in(&after)),
        events,
        seconds,
    })
}

/// Writes the settings to where the program looks for those of its user.
fn write_settings(settings: Option<&str>, place: &Path) -> io::Result<()> {
    let Some(text) = settings else { return Ok(()) };
    let folder = home(place).join(".config/windlass");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("windlass.toml"), text)
}

/// The home folder of the program.
fn home(place: &Path) -> PathBuf {
    place.join("home")
}

/// The program with an environment of its own: settings, caches and sessions of the person must not count, nor be touched.
fn program(setting: &TrialSetting, place: &Path, workspace: &Path) -> Command {
    let mut command = Command::new(&setting.windlass);
    command.env_clear().envs(KEPT_VARIABLES.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    command.env("HOME", home(place)).current_dir(workspace).stdin(Stdio::null());
    command.arg("--data-dir").arg(place.join("data"));
    command
}

fn command(job: &Job, setting: &TrialSetting, place: &Path, workspace: &Path) -> Command {
    let mut command = program(setting, place, workspace);
    command.args(["run", "--json", "--durability", "normal"]);
    command.args(["--base-url", &setting.base_url]);
    command.args(["--model", &setting.model, "--preset", &setting.preset]);
    command.arg("--deadline").arg(format!("{}s", setting.limit.as_secs()));
    if setting.commands == CommandRule::OfTheJob {
        command.args(job.commands.iter().flat_map(|pattern| ["--allow".into(), format!("run_command({pattern})")]));
    }
    command.args(&setting.extra).args([OsStr::new("--"), OsStr::new(&job.request)]);
    command.stdout(Stdio::piped());
    command
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    Ended,
    /// It was killed at its limit.
    RanOut,
}

/// Copies what a program prints until it ends, or kills it.
fn wait(mut child: Child, mut into: File, limit: Duration) -> io::Result<Wait> {
    let Some(mut out) = child.stdout.take() else { return Err(io::Error::other("no pipe")) };
    let (ended, end) = mpsc::channel();
    let copying = std::thread::spawn(move || {
        let copied = io::copy(&mut out, &mut into);
        // Nobody may wait for it any more.
        let _ = ended.send(());
        copied
    });
    let wait = match end.recv_timeout(limit) {
        Ok(()) | Err(mpsc::RecvTimeoutError::Disconnected) => Wait::Ended,
        Err(mpsc::RecvTimeoutError::Timeout) => {
            child.kill()?;
            Wait::RanOut
        }
    };
    child.wait()?;
    copying.join().map_err(|_| io::Error::other("the copying thread ended early"))??;
    Ok(wait)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::{TrialSetting, command, write_settings};
    use crate::jobs::job::Job;
    use crate::jobs::options::CommandRule;

    const JOB: &str = r#"
id = "a"
kind = "needs-tools"
set = "tune"
request = "--fix it"
commands = ["python3 *"]
"#;

    fn words(commands: CommandRule) -> Vec<String> {
        let job: Job = toml::from_str(JOB).unwrap();
        let setting = TrialSetting {
            windlass: "windlass".into(),
            base_url: "http://127.0.0.1:1/v1".to_owned(),
            model: "m".to_owned(),
            preset: "default".to_owned(),
            limit: Duration::from_secs(7),
            settings: None,
            commands,
            extra: vec!["--max-turns".to_owned(), "3".to_owned()],
        };
        let command = command(&job, &setting, Path::new("p"), Path::new("p/workspace"));
        command.get_args().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn commands_are_allowed_only_if_the_runner_is_told_to() {
        assert!(!words(CommandRule::Refused).contains(&"--allow".to_owned()));
        let told = words(CommandRule::OfTheJob);
        assert!(told.windows(2).any(|pair| pair == ["--allow", "run_command(python3 *)"]), "{told:?}");
    }

    #[test]
    fn the_request_comes_last_and_is_no_flag() {
        let words = words(CommandRule::Refused);
        assert_eq!(words[words.len() - 4..], ["--max-turns", "3", "--", "--fix it"]);
        assert!(words.windows(2).any(|pair| pair == ["--deadline", "7s"]), "{words:?}");
    }
    #[test]
    fn settings_are_where_the_program_looks_for_those_of_its_user() {
        let place = tempfile::tempdir().unwrap();
        write_settings(None, place.path()).unwrap();
        assert!(!place.path().join("home").exists());
        write_settings(Some("max_turns = 3"), place.path()).unwrap();
        let written = std::fs::read_to_string(place.path().join("home/.config/windlass/windlass.toml")).unwrap();
        assert_eq!(written, "max_turns = 3");
    }
}
