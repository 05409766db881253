//! The flags of `cargo xtask jobs`.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use super::job::JobSet;

pub(crate) const USAGE: &str = "\
usage: cargo xtask jobs [--base-url URL --model NAME] [--preset NAME] [-- FLAGS OF windlass run]
  --base-url URL     a server of OpenAI Chat Completions; without one, a small model is downloaded and started
  --model NAME       the model's id there
  --preset NAME      the rules of the runs [default: local-model]
  --set tune|kept|all  which half of the suite [default: tune]
  --only ID,ID       only these jobs, whatever their half
  --tries N          how often each job is done [default: 3]
  --parallel N       how many at a time [default: 1]
  --limit SECONDS    how long one may take [default: 300]
  --settings FILE    settings of the program, as in ~/.config/windlass/windlass.toml [default: none]
  --commands         allow the commands that a job says it may need; else every command is refused
  --replies          keep the text of every reply as it came, with its request, in replies.jsonl
  --windlass FILE    the program to measure [default: built here]
  --suite DIR        the jobs [default: fixtures/jobs]
  --out DIR          where results and journals go [default: target/jobs/MODEL-PRESET-DATE]
  --resume           go on with the results in that folder";

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) base_url: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) preset: String,
    pub(crate) sets: Vec<JobSet>,
    pub(crate) only: Vec<String>,
    pub(crate) tries: u32,
    pub(crate) parallel: usize,
    pub(crate) limit: Duration,
    pub(crate) settings: Option<PathBuf>,
    pub(crate) commands: CommandRule,
    pub(crate) replies: RawReplies,
    pub(crate) windlass: Option<PathBuf>,
    pub(crate) suite: Option<PathBuf>,
    pub(crate) out: Option<PathBuf>,
    pub(crate) earlier: EarlierResults,
    /// Passed to `windlass run` as they are.
    pub(crate) extra: Vec<String>,
}

/// Whether commands may run. Nobody attends a job, so what is not allowed is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandRule {
    Refused,
    /// Those that the job says it may need.
    OfTheJob,
}

/// What is done with the replies of the model as they came, before calls are read out of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RawReplies {
    Dropped,
    Kept,
}

/// What to do with results that are in the folder already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EarlierResults {
    Refused,
    /// They are kept, and only what is missing is done.
    Kept,
}

impl Options {
    /// Reads the words after the command's name.
    pub(crate) fn parse(words: &[String]) -> Result<Self, String> {
        let mut options = Self {
            base_url: None,
            model: None,
            preset: "local-model".to_owned(),
            sets: vec![JobSet::Tune],
            only: Vec::new(),
            tries: 3,
            parallel: 1,
            limit: Duration::from_mins(5),
            settings: None,
            commands: CommandRule::Refused,
            replies: RawReplies::Dropped,
            windlass: None,
            suite: None,
            out: None,
            earlier: EarlierResults::Refused,
            extra: Vec::new(),
        };
        let mut words = words.iter();
        while let Some(flag) = words.next() {
            match flag.as_str() {
                "--" => options.extra.extend(words.by_ref().cloned()),
                "--commands" => options.commands = CommandRule::OfTheJob,
                "--replies" => options.replies = RawReplies::Kept,
                "--resume" => options.earlier = EarlierResults::Kept,
                _ => {
                    let value = words.next().ok_or_else(|| format!("{flag} is unknown or lacks a value\n{USAGE}"))?;
                    options.set(flag, value)?;
                }
            }
        }
        if options.base_url.is_some() && options.model.is_none() {
            return Err("--base-url needs --model, the id of a model there".to_owned());
        }
        Ok(options)
    }

    fn set(&mut self, flag: &str, value: &str) -> Result<(), String> {
        match flag {
            "--base-url" => self.base_url = Some(value.to_owned()),
            "--model" => self.model = Some(value.to_owned()),
            "--preset" => value.clone_into(&mut self.preset),
            "--set" => self.sets = sets(value)?,
            "--only" => self.only = value.split(',').map(str::to_owned).collect(),
            "--tries" => self.tries = number(flag, value)?,
            "--parallel" => self.parallel = number(flag, value)?,
            "--limit" => self.limit = Duration::from_secs(number(flag, value)?),
            "--settings" => self.settings = Some(value.into()),
            "--windlass" => self.windlass = Some(value.into()),
            "--suite" => self.suite = Some(value.into()),
            "--out" => self.out = Some(value.into()),
            _ => return Err(format!("{flag} is unknown\n{USAGE}")),
        }
        Ok(())
    }
}

fn sets(name: &str) -> Result<Vec<JobSet>, String> {
    match name {
        "tune" => Ok(vec![JobSet::Tune]),
        "kept" => Ok(vec![JobSet::Kept]),
        "all" => Ok(JobSet::ALL.to_vec()),
        _ => Err(format!("--set is tune, kept or all, not `{name}`")),
    }
}

/// A number from 1.
fn number<T: FromStr + PartialOrd + From<u8>>(flag: &str, value: &str) -> Result<T, String> {
    let number = value.parse::<T>().ok().filter(|number| *number >= T::from(1));
    number.ok_or_else(|| format!("{flag} is a number from 1, not `{value}`"))
}

#[cfg(test)]
mod tests {
    use super::{CommandRule, EarlierResults, Options, RawReplies};
    use crate::jobs::job::JobSet;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn flags_are_read_and_what_follows_two_hyphens_is_passed_on() {
        let line = "--base-url http://x/v1 --model m --set all --only a,b --tries 2 --resume --commands --replies -- --max-turns 3";
        let options = parse(line).unwrap();
        assert_eq!(options.base_url.as_deref(), Some("http://x/v1"));
        assert_eq!(options.sets, JobSet::ALL);
        assert_eq!(options.only, ["a", "b"]);
        assert_eq!((options.tries, options.parallel, options.limit.as_secs()), (2, 1, 300));
        assert_eq!((options.commands, options.earlier), (CommandRule::OfTheJob, EarlierResults::Kept));
        assert_eq!(options.replies, RawReplies::Kept);
        assert_eq!(options.extra, ["--max-turns", "3"]);
    }

    #[test]
    fn wrong_use_is_refused() {
        for line in ["--tries 0", "--tries", "--set half", "--colour red", "--base-url http://x/v1", "more"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
