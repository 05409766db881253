//! Shared preparation of the commands that talk to a model, done before the async runtime starts.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::Arc;

use windlass::{Agent, BuildError};
use windlass_provider::{HttpClient, HttpConfig};
use windlass_setup::agent;
use windlass_setup::models::ModelPreference;
use windlass_setup::run_setup::{RunConditions, RunSetup, SetupError};
use windlass_setup::secrets::{is_secret, scrubber};
use windlass_setup::settings::{
    Env, Flags, PlaceSettings, RepeatedFlags, SettingOrigin, Settings, SettingsError, Sources, create_data_dir,
};
use windlass_setup::trusting;
use windlass_store::Store;
use windlass_vocab::{AttachedFile, Attendance, ModelName, QuestionAsked};

use super::script_dialect;
use super::script_dialect::ScriptConditions;
use super::setup_notices::{context_notices, model_notices, settings_notices};
use crate::args::CommonFlags;
use crate::attaching::{attached_line, check_images, cut_notes};
use crate::consent::{TerminalPerson, wording};
use crate::demo::WORDS;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::setting_words::origin_text;
use crate::output::wording::loosened;
use crate::output::{RunProgress, RunView, StreamTarget, model_command_for};
use crate::streams::StandardStream;
use crate::tty;

/// Whether a person was asked something before this command, or answers with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuestionsBefore {
    None,
    Some,
}

impl QuestionsBefore {
    pub(crate) fn of(questions: &[QuestionAsked]) -> Self {
        if questions.is_empty() { Self::None } else { Self::Some }
    }
}

/// A prepared run, and how it is displayed.
#[derive(Debug)]
pub struct PreparedRun {
    /// The settings, servers, secrets and environment of the run.
    pub setup: RunSetup,
    /// How it is displayed.
    pub view: RunView<StandardStream, StandardStream>,
}

/// Returns a client for models' servers.
pub(crate) fn http_client() -> Result<HttpClient, CommandError> {
    Ok(HttpClient::new(HttpConfig::default()).map_err(BuildError::from)?)
}

impl PreparedRun {
    /// Resolves the settings that apply in the session's folder, and prints their notices.
    pub fn prepare(sources: Sources, common: &CommonFlags, place: PlaceSettings) -> Result<Self, CommandError> {
        Self::prepare_for(sources, common, place, attendance())
    }

    /// Like `prepare`, but the caller says whether a person at the terminal can be asked.
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
        // The session stays in the store where it was found, whatever data folder its project file names.
        let settings = Settings { place, ..sources.resolve()? };
        let mut view = if common.json { json_view() } else { answer_view(&sources.env) };
        for notice in settings_notices(&settings, attendance) {
            view.notice(&notice);
        }
        let (deadline, http) = (common.deadline, http_client()?);
        let conditions = RunConditions { deadline, attendance, demo_words: WORDS, http };
        let setup = RunSetup::new(settings, sources, conditions, &mut TerminalPerson)?;
        for notice in context_notices(&setup) {
            view.notice(&notice);
        }
        Ok(Self { setup, view })
    }

    /// Refuses a name that is a secret (X1): names are recorded unscrubbed, because they are looked up.
    pub(crate) fn refuse_secret(&self, flag: &str, name: Option<&str>) -> Result<(), CommandError> {
        match name {
            Some(name) if is_secret(&self.setup.secrets, name) => Err(CommandError::secret_in(flag)),
            Some(_) | None => Ok(()),
        }
    }

    /// Returns the text with secrets replaced, as it is recorded.
    pub(crate) fn scrub(&self, text: &str) -> String {
        scrubber(&self.setup.secrets).scrub(text).into_owned()
    }

    /// Prints which restrictions are looser than usual.
    pub(crate) fn print_loosened(&mut self) {
        for text in loosened(&self.setup.settings) {
            self.view.notice(text);
        }
    }

    /// Says what the scripts of this model can't be written in, or that none will run.
    pub(crate) fn print_script_notice(&mut self, model: &ModelName) {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let conditions = ScriptConditions {
            attendance: self.setup.attendance,
            permissions: &self.setup.settings.permissions,
            sandbox: self.setup.settings.sandbox.mode.value,
            path: &path,
        };
        for text in script_dialect::notices(&agent::learned_chain(&self.setup, model), &conditions) {
            self.view.notice(text);
        }
    }

    /// Says what is attached, and refuses an image that no model of the chain can be sent.
    pub(crate) fn check_attached(&mut self, files: &[AttachedFile], model: &ModelName) -> Result<(), CommandError> {
        let note = check_images(files, &agent::learned_chain(&self.setup, model));
        let note = note.map_err(|refused| CommandError::new(Exit::Usage, refused))?;
        let cut = cut_notes(files, self.setup.settings.policy.result_cap);
        for line in attached_line(files).into_iter().chain(cut).chain(note) {
            self.view.notice(&line);
        }
        Ok(())
    }

    /// Prints the servers' pending notices.
    pub(crate) fn print_news(&mut self) {
        for news in self.setup.servers.news() {
            self.view.notice(&wording(&news));
        }
    }

    /// Builds the agent. A run that waits for an answer already, or gets one on the command line, is resumed as attended:
    /// what it asks then waits for a person, and is not denied because nobody is at the terminal.
    pub(crate) fn build_agent(
        &mut self,
        store: Arc<dyn Store>,
        model: &ModelName,
        questions: QuestionsBefore,
    ) -> Result<Agent, CommandError> {
        let here = self.setup.attendance;
        if questions == QuestionsBefore::Some {
            self.setup.attendance = Attendance::Attended;
        }
        let agent = agent::build(&self.setup, store, model);
        self.setup.attendance = here;
        Ok(agent?)
    }

    /// Chooses the model, and prints which choices were made by default.
    pub(crate) async fn choose(&mut self, preference: ModelPreference) -> Result<ModelName, CommandError> {
        Ok(self.try_choose(preference).await?)
    }

    /// Like `choose`, for the command `verb` on the session `key`. Where the session's model has no server now, because its
    /// run was told of one by flags, the error names the command with those flags.
    pub(crate) async fn choose_again(
        &mut self,
        (verb, key): (&str, &str),
        preference: ModelPreference,
        named: Option<RepeatedFlags>,
    ) -> Result<ModelName, CommandError> {
        let chosen = self.try_choose(preference).await;
        chosen.map_err(|error| match (error, named) {
            (
                SetupError::Settings(SettingsError::NoServerFor { origin: SettingOrigin::Session, model, .. }),
                Some(RepeatedFlags { model: name, base_url, .. }),
            ) => {
                let place = &self.setup.settings.place;
                let again = RepeatedFlags { model: name, base_url, ..place.again.clone() };
                let line = model_command_for(verb, key, "", &PlaceSettings { again, ..place.clone() });
                let text =
                    format!("no server is configured for the session's model {model:?}: `{line}` names it again");
                CommandError::new(Exit::Usage, text)
            }
            (error, _) => error.into(),
        })
    }

    async fn try_choose(&mut self, preference: ModelPreference) -> Result<ModelName, SetupError> {
        let (model, notices) = self.setup.choose(preference, &mut TerminalPerson).await?;
        for notice in model_notices(&notices, attendance()) {
            self.view.notice(&notice);
        }
        Ok(model)
    }
}

/// Prints every event on standard output.
pub(crate) fn json_view() -> RunView<StandardStream, StandardStream> {
    RunView::Json { out: StandardStream::Output, err: StandardStream::Error }
}

/// Prints the answer on standard output and progress on standard error.
pub(crate) fn answer_view(env: &Env) -> RunView<StandardStream, StandardStream> {
    let progress = RunProgress::new(StandardStream::Error, progress_stream(env));
    RunView::Answer { out: StandardStream::Output, stream: stream(&io::stdout()), progress }
}

/// Returns the data folder, which it creates if missing, and the folder the command was typed in or for.
pub(crate) fn place(sources: &Sources) -> Result<PlaceSettings, CommandError> {
    let place = sources.place()?;
    make_data_dir(&place)?;
    Ok(place)
}

pub(crate) fn gather(flags: Flags, env: Env) -> Result<Sources, CommandError> {
    settle_trust(sources(flags, env)?, attendance())
}

/// Like `gather`, for a command that only reads, or that manages consent itself: does not ask whether the person trusts
/// the project.
pub(crate) fn gather_unasked(flags: Flags, env: Env) -> Result<Sources, CommandError> {
    settle_trust(sources(flags, env)?, Attendance::Unattended)
}

/// Reads settings files and environment without asking about trust.
pub(super) fn sources(flags: Flags, env: Env) -> Result<Sources, CommandError> {
    Ok(Sources::gather(flags, env, current_folder()?)?)
}

/// Returns the folder the command was typed in.
pub(crate) fn current_folder() -> Result<PathBuf, CommandError> {
    std::env::current_dir()
        .map_err(|error| CommandError::new(Exit::Usage, format!("the current folder can't be used: {error}")))
}

/// Settles whether the project is trusted, asking the person if need be.
fn settle_trust(sources: Sources, attendance: Attendance) -> Result<Sources, CommandError> {
    trusting::settle_trust(sources, attendance, &mut TerminalPerson).map_err(|error| CommandError::output(&error))
}

pub(crate) fn make_data_dir(place: &PlaceSettings) -> Result<(), CommandError> {
    let path = &place.data_dir.value;
    create_data_dir(path).map_err(|error| {
        let text = format!(
            "the data folder {} ({}) can't be made: {error}; give another with --data-dir",
            path.display(),
            origin_text(&place.data_dir.origin)
        );
        CommandError::new(Exit::Store, text)
    })
}

/// A dumb terminal, which can't overwrite what it printed, gets whole lines, as a file does.
fn progress_stream(env: &Env) -> StreamTarget {
    if tty::is_dumb(env) { StreamTarget::Piped } else { stream(&io::stderr()) }
}

fn stream(end: &impl IsTerminal) -> StreamTarget {
    if end.is_terminal() { StreamTarget::Terminal } else { StreamTarget::Piped }
}

/// A person can be asked if both standard input and standard error are terminals.
pub(super) fn attendance() -> Attendance {
    if io::stdin().is_terminal() && io::stderr().is_terminal() { Attendance::Attended } else { Attendance::Unattended }
}
