//! What the commands that talk to a model have in common, made ready before the runtime starts.

use std::io::{self, IsTerminal, Stderr, Stdout};

use windlass_setup::models::ModelPreference;
use windlass_setup::run_setup::{RunConditions, RunSetup};
use windlass_setup::secrets::{is_secret, scrubber};
use windlass_setup::settings::{Env, Flags, PlaceSettings, Settings, Sources, create_data_dir};
use windlass_setup::trusting;
use windlass_vocab::{Attendance, ModelName};

use super::unsandboxed;
use crate::args::CommonFlags;
use crate::consent::{TerminalPerson, wording};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::wording::loosened;
use crate::output::{RunProgress, RunView, StreamTarget};
use crate::tty;

/// A run that is made ready, and how it is shown.
#[derive(Debug)]
pub struct PreparedRun {
    /// Everything it is given from outside.
    pub setup: RunSetup,
    /// How it is shown.
    pub view: RunView<Stdout, Stderr>,
}

impl PreparedRun {
    /// Resolves the settings that hold in the session's folder and tells the person what they should
    /// know of them.
    pub fn prepare(sources: Sources, common: &CommonFlags, place: PlaceSettings) -> Result<Self, CommandError> {
        Self::prepare_for(sources, common, place, attendance())
    }

    /// The same where it is known whether the terminal's person can be asked.
    pub(crate) fn prepare_for(
        sources: Sources,
        common: &CommonFlags,
        place: PlaceSettings,
        attendance: Attendance,
    ) -> Result<Self, CommandError> {
        let sources = if sources.workspace == place.workspace {
            sources
        } else {
            settle_trust(sources.for_folder(&place.workspace)?, attendance)?
        };
        // Where the session was found is where it stays, whatever its folder's file names.
        let settings = Settings { place, ..sources.resolve()? };
        let mut view = if common.json { json_view() } else { answer_view(&sources.env) };
        for notice in &settings.notices {
            view.notice(notice);
        }
        if attendance == Attendance::Unattended
            && let Some(notice) = unsandboxed::notice(settings.sandbox.mode.value)
        {
            view.notice(&notice);
        }
        let conditions = RunConditions { deadline: common.deadline, attendance };
        let setup = RunSetup::new(settings, sources.env, conditions, &mut TerminalPerson)?;
        Ok(Self { setup, view })
    }

    /// Names are found by what they are, so they are recorded as they are; none may tell a secret (X1).
    pub(crate) fn refuse_secret(&self, flag: &str, name: Option<&str>) -> Result<(), CommandError> {
        match name {
            Some(name) if is_secret(&self.setup.secrets, name) => Err(CommandError::secret_in(flag)),
            Some(_) | None => Ok(()),
        }
    }

    /// The text as it is recorded.
    pub(crate) fn scrub(&self, text: &str) -> String {
        scrubber(&self.setup.secrets).scrub(text).into_owned()
    }

    /// Tells what is held less than usual.
    pub(crate) fn tell_loosened(&mut self) {
        for text in loosened(&self.setup.settings) {
            self.view.notice(text);
        }
    }

    /// Tells what the servers had to tell since.
    pub(crate) fn tell_news(&mut self) {
        for news in self.setup.servers.news() {
            self.view.notice(&wording(&news));
        }
    }

    /// Chooses the model, and tells the person what nobody named.
    pub(crate) async fn choose(&mut self, preference: ModelPreference) -> Result<ModelName, CommandError> {
        let (model, notices) = self.setup.choose(preference, &mut TerminalPerson).await?;
        for notice in &notices {
            self.view.notice(notice);
        }
        Ok(model)
    }
}

/// Every event on standard output.
pub(crate) fn json_view() -> RunView<Stdout, Stderr> {
    RunView::Json { out: io::stdout(), err: io::stderr() }
}

/// The answer on standard output, progress on standard error.
pub(crate) fn answer_view(env: &Env) -> RunView<Stdout, Stderr> {
    let progress = RunProgress::new(io::stderr(), progress_stream(env));
    RunView::Answer { out: io::stdout(), stream: stream(&io::stdout()), progress }
}

/// Where sessions are kept, and the folder the command was typed in or for. Makes the data folder.
pub(crate) fn place(sources: &Sources) -> Result<PlaceSettings, CommandError> {
    let place = sources.place()?;
    make_data_dir(&place)?;
    Ok(place)
}

pub(crate) fn gather(flags: Flags, env: Env) -> Result<Sources, CommandError> {
    settle_trust(sources(flags, env)?, attendance())
}

/// The same for a command that looks at things, or is itself about what the person agrees to: nobody is asked whether
/// they trust the project.
pub(crate) fn gather_unasked(flags: Flags, env: Env) -> Result<Sources, CommandError> {
    settle_trust(sources(flags, env)?, Attendance::Unattended)
}

/// What is outside, with nobody asked about it.
pub(super) fn sources(flags: Flags, env: Env) -> Result<Sources, CommandError> {
    let cwd = std::env::current_dir()
        .map_err(|error| CommandError::new(Exit::Usage, format!("the current folder can't be used: {error}")))?;
    Ok(Sources::gather(flags, env, cwd)?)
}

/// With the trust in the project settled.
fn settle_trust(sources: Sources, attendance: Attendance) -> Result<Sources, CommandError> {
    trusting::settle_trust(sources, attendance, &mut TerminalPerson).map_err(|error| CommandError::output(&error))
}

pub(crate) fn make_data_dir(place: &PlaceSettings) -> Result<(), CommandError> {
    let path = &place.data_dir.value;
    create_data_dir(path).map_err(|error| {
        let text = format!(
            "the data folder {} ({}) can't be made: {error}; give another with --data-dir",
            path.display(),
            place.data_dir.origin
        );
        CommandError::new(Exit::Store, text)
    })
}

/// A terminal that can't write over what it wrote gets whole lines, as a file does.
fn progress_stream(env: &Env) -> StreamTarget {
    if tty::is_dumb(env) { StreamTarget::Piped } else { stream(&io::stderr()) }
}

fn stream(end: &impl IsTerminal) -> StreamTarget {
    if end.is_terminal() { StreamTarget::Terminal } else { StreamTarget::Piped }
}

/// Somebody can be asked when both the keyboard and the screen are there.
fn attendance() -> Attendance {
    if io::stdin().is_terminal() && io::stderr().is_terminal() { Attendance::Attended } else { Attendance::Unattended }
}
