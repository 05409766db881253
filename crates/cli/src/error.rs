//! Why a command failed, and with which exit code.

use std::io;

use windlass::BuildError;
use windlass_setup::agent::AgentError;
use windlass_setup::run_setup::SetupError;
use windlass_setup::settings::SettingsError;
use windlass_store::StoreError;

use crate::exit::Exit;
use crate::output::advice::with_workspace;
use crate::output::quoted;
use crate::output::setting_words::{origin_text, settings_error};
use crate::prompt::PromptError;

/// What helps where another process has the session open.
pub(crate) const IN_USE_HINT: &str = " (`windlass follow KEY` shows what it does, `windlass stop KEY` stops its run)";

/// A command failed.
#[derive(Debug)]
pub struct CommandError {
    /// The exit code.
    pub exit: Exit,
    /// The message for the person.
    pub message: String,
    /// The store's error, where the store caused this one.
    pub store: Option<StoreError>,
}

impl CommandError {
    /// Returns an error with the exit code `exit`.
    #[must_use]
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), store: None }
    }

    /// Returns the error for a name that would be recorded and contains a secret (X1).
    #[must_use]
    pub fn secret_in(what: &str) -> Self {
        let text = format!("{what} contains a secret, and would be written down; choose another name");
        Self::new(Exit::Usage, text)
    }

    /// Returns the error for a standard stream that can't be written.
    #[must_use]
    pub fn output(error: &io::Error) -> Self {
        Self::new(Exit::Failed, format!("standard output can't be written: {error}"))
    }

    /// Names the session in the advice about one that is in use.
    #[must_use]
    pub(crate) fn for_session(self, key: &str) -> Self {
        match self.store {
            Some(StoreError::Busy { .. }) => {
                Self { message: self.message.replace("KEY`", &format!("{}`", quoted(key))), ..self }
            }
            Some(_) | None => self,
        }
    }

    /// Whether stored data can't be read.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        matches!(self.store, Some(StoreError::Damaged { .. } | StoreError::Broken { .. }))
    }

    /// Whether nothing more can be stored: the store is gone.
    #[must_use]
    pub fn is_final(&self) -> bool {
        matches!(self.store, Some(StoreError::Gone { .. }))
    }
}

impl From<SettingsError> for CommandError {
    fn from(error: SettingsError) -> Self {
        Self::new(Exit::Usage, settings_error(&error))
    }
}

impl From<PromptError> for CommandError {
    fn from(error: PromptError) -> Self {
        Self::new(Exit::Usage, error.to_string())
    }
}

/// The result of a command.
pub type CommandResult = Result<Exit, CommandError>;

impl From<BuildError> for CommandError {
    fn from(error: BuildError) -> Self {
        let exit = match &error {
            BuildError::Store(_) => Exit::Store,
            BuildError::NoModel
            | BuildError::NoModelPicked { .. }
            | BuildError::NoBaseUrl
            | BuildError::Preset { .. }
            | BuildError::Server(_)
            | BuildError::Rule(_)
            | BuildError::Workspace(_) => Exit::Usage,
            // The library may add error variants, hence the `_`.
            BuildError::Tool(_) | BuildError::Http(_) | _ => Exit::Failed,
        };
        let message = match &error {
            BuildError::Workspace(error) => with_workspace(error),
            error => error.to_string(),
        };
        Self::new(exit, message)
    }
}

impl From<AgentError> for CommandError {
    fn from(error: AgentError) -> Self {
        match error {
            AgentError::Settings(error) => error.into(),
            AgentError::Build(error) => error.into(),
        }
    }
}

impl From<SetupError> for CommandError {
    fn from(error: SetupError) -> Self {
        match error {
            SetupError::Settings(error) => error.into(),
            SetupError::SecretInModel(origin) => Self::secret_in(&origin_text(&origin)),
            SetupError::Asking(error) => Self::output(&error),
        }
    }
}
