//! What the commands that talk to a model have in common, made ready before the runtime starts.

use std::io::{self, IsTerminal, Stderr, Stdout};
use std::path::PathBuf;
use std::time::Duration;

use windlass_vocab::Attendance;

use super::CommandError;
use crate::args::{CommonFlags, RuleFlags, flags};
use crate::exit::Exit;
use crate::output::{Progress, Stream, View};
use crate::secrets::{self, Secret};
use crate::settings::{Env, Flags, Place, Settings, Sources, create_data_dir};

/// Everything a run is given from outside.
#[derive(Debug)]
pub struct Job {
    /// Server, model, rules, permissions, places.
    pub settings: Settings,
    /// What must not be seen.
    pub secrets: Vec<Secret>,
    /// The environment, for commands the run starts.
    pub env: Env,
    /// How long it may take.
    pub deadline: Option<Duration>,
    /// Whether somebody can be asked.
    pub attendance: Attendance,
    /// How it is shown.
    pub view: View<Stdout, Stderr>,
}

impl Job {
    /// Resolves the settings, tells the person what they should know of them, and makes the data folder.
    pub fn prepare(
        data_dir: Option<PathBuf>,
        rules: &RuleFlags,
        common: &CommonFlags,
        env: Env,
    ) -> Result<Self, CommandError> {
        let sources = gather(flags(data_dir, rules, common), env)?;
        let settings = sources.resolve()?;
        let mut progress = Progress::new(io::stderr(), stream(&io::stderr()));
        for notice in &settings.notices {
            progress.line(&format!("windlass: {notice}"));
        }
        make_data_dir(&settings.place)?;
        let view = if common.json {
            View::Json { out: io::stdout(), err: io::stderr() }
        } else {
            View::Answer { out: io::stdout(), stream: stream(&io::stdout()), progress }
        };
        Ok(Self {
            secrets: secrets::known(&sources.env, settings.endpoint.api_key.as_ref()),
            settings,
            env: sources.env,
            deadline: common.deadline,
            attendance: attendance(),
            view,
        })
    }
}

/// Where sessions are kept, for the commands that only look at them.
pub(super) fn place(data_dir: Option<PathBuf>, env: Env) -> Result<Place, CommandError> {
    let place = gather(Flags { data_dir, ..Flags::default() }, env)?.place()?;
    make_data_dir(&place)?;
    Ok(place)
}

fn gather(flags: Flags, env: Env) -> Result<Sources, CommandError> {
    let cwd = std::env::current_dir()
        .map_err(|error| CommandError::new(Exit::Usage, format!("the current folder can't be used: {error}")))?;
    Ok(Sources::gather(flags, env, cwd)?)
}

fn make_data_dir(place: &Place) -> Result<(), CommandError> {
    let path = &place.data_dir.value;
    create_data_dir(path).map_err(|error| {
        let text = format!(
            "{}: the data folder {} can't be made: {error}; give another with --data-dir",
            place.data_dir.origin,
            path.display()
        );
        CommandError::new(Exit::Store, text)
    })
}

fn stream(end: &impl IsTerminal) -> Stream {
    if end.is_terminal() { Stream::Terminal } else { Stream::Piped }
}

/// Somebody can be asked when both the keyboard and the screen are there.
fn attendance() -> Attendance {
    if io::stdin().is_terminal() && io::stderr().is_terminal() { Attendance::Attended } else { Attendance::Unattended }
}
