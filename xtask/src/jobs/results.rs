//! The folder of a measurement: `settings.txt`, `results.jsonl` with a line for each try as soon as it is over, the
//! journals of the tries, and at the end `report.md`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::options::EarlierResults;
use super::trial::{TrialResult, TrialSetting};

/// An open folder.
#[derive(Debug)]
pub(crate) struct ResultFolder {
    path: PathBuf,
    lines: Mutex<File>,
    earlier: Vec<TrialResult>,
}

impl ResultFolder {
    /// Opens or makes the folder. Results of an earlier measurement are refused unless they are to be kept, and then
    /// they must have been measured with the same settings.
    pub(crate) fn open(path: &Path, setting: &TrialSetting, earlier: EarlierResults) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        std::fs::create_dir_all(path).map_err(failed)?;
        let (settings, results) = (path.join("settings.txt"), path.join("results.jsonl"));
        let mut found = Vec::new();
        if results.exists() {
            if earlier == EarlierResults::Refused {
                return Err(format!("{} has results; go on with --resume, or name another --out", path.display()));
            }
            let old = std::fs::read_to_string(&settings).map_err(failed)?;
            if old != words(setting) {
                return Err(format!("{} was measured otherwise:\n{old}", path.display()));
            }
            found = read(&std::fs::read_to_string(&results).map_err(failed)?);
        }
        std::fs::write(&settings, words(setting)).map_err(failed)?;
        // Written anew, since a line may have been cut short.
        let mut lines = File::create(&results).map_err(failed)?;
        for result in &found {
            write_line(&mut lines, result)?;
        }
        let lines = OpenOptions::new().append(true).open(&results).map_err(failed)?;
        Ok(Self { path: path.to_owned(), lines: Mutex::new(lines), earlier: found })
    }

    /// What was measured before.
    pub(crate) fn earlier(&self) -> &[TrialResult] {
        &self.earlier
    }

    /// The jobs and rounds that need not be done again.
    pub(crate) fn done(&self) -> BTreeSet<(&str, u32)> {
        self.earlier.iter().map(|result| (result.job.as_str(), result.round)).collect()
    }

    /// Where the journal of a try goes.
    pub(crate) fn journal(&self, job: &str, round: u32) -> PathBuf {
        self.path.join("journals").join(job).join(round.to_string())
    }

    /// Keeps a result.
    pub(crate) fn add(&self, result: &TrialResult) -> Result<(), String> {
        write_line(&mut self.lines.lock().unwrap_or_else(PoisonError::into_inner), result)
    }

    /// Writes the report and returns its path.
    pub(crate) fn report(&self, text: &str) -> Result<PathBuf, String> {
        let path = self.path.join("report.md");
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    }
}

fn write_line(file: &mut File, result: &TrialResult) -> Result<(), String> {
    let line = serde_json::to_string(result).map_err(|error| error.to_string())?;
    writeln!(file, "{line}").map_err(|error| format!("results.jsonl: {error}"))
}

/// The results in a file. A last line that was cut short is passed over.
fn read(lines: &str) -> Vec<TrialResult> {
    lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// What must be the same for results to be comparable. The server's address may change.
fn words(setting: &TrialSetting) -> String {
    let mut words = format!("model {}\npreset {}\n", setting.model, setting.preset);
    let _ = writeln!(words, "limit {} s\ncommands {:?}", setting.limit.as_secs(), setting.commands);
    let _ = writeln!(words, "flags {}", setting.extra.join(" "));
    if let Some(settings) = &setting.settings {
        let _ = writeln!(words, "settings\n{settings}");
    }
    words
}
