//! Why a command failed, and with which exit code.

use std::io;

use windlass::BuildError;
use windlass_runtime::OpenError;
use windlass_setup::agent::AgentError;
use windlass_setup::run_setup::SetupError;
use windlass_setup::session_agent::SessionAgentError;
use windlass_setup::settings::SettingsError;
use windlass_store::StoreError;

use crate::commands::session::session_folder_error;
use crate::exit::Exit;
use crate::output::advice::with_workspace;
use crate::output::quoted;
use crate::output::setting_words::{origin_text, settings_error};
use crate::prompt::PromptError;

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

    /// Returns the store's error about the session with this key, if the key is known.
    pub(crate) fn of_store(error: StoreError, key: Option<&str>) -> Self {
        let (exit, hint) = match error {
            StoreError::Missing | StoreError::KeyTaken { .. } | StoreError::Exists { .. } => {
                (Exit::Usage, String::new())
            }
            // The messages of these errors end with the advice to choose another data folder.
            StoreError::ReadOnly { .. } | StoreError::Damaged { .. } | StoreError::Foreign { .. } => {
                (Exit::Store, " (--data-dir)".to_owned())
            }
            StoreError::Lost(_) => (
                Exit::Store,
                ": restore the data folder from a backup, or accept the loss (`windlass sessions accept-loss`)"
                    .to_owned(),
            ),
            StoreError::Broken { .. } => (
                Exit::Store,
                format!(
                    "; `windlass sessions salvage {}` copies what is whole up to there into a session of its own",
                    key_text(key)
                ),
            ),
            StoreError::Busy { .. } => (Exit::Store, in_use_hint(key)),
            StoreError::Conflict
            | StoreError::Unavailable { .. }
            | StoreError::Full { .. }
            | StoreError::Gone { .. }
            | StoreError::Newer { .. }
            | StoreError::Locked { .. }
            | StoreError::Io { .. }
            | StoreError::Unwritable { .. }
            | StoreError::Closed => (Exit::Store, String::new()),
        };
        let message = format!("{error}{hint}");
        Self { store: Some(error), ..Self::new(exit, message) }
    }

    /// Returns the error about the session with this key, if the key is known, which can't be opened.
    pub(crate) fn of_opening(error: OpenError, key: Option<&str>) -> Self {
        match error {
            OpenError::Store(error) => Self::of_store(error, key),
            OpenError::Newer { .. } | OpenError::Survivors { .. } => Self::new(Exit::Store, error.to_string()),
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

/// What helps where another process has the session open.
fn in_use_hint(key: Option<&str>) -> String {
    let key = key_text(key);
    format!(
        " (`windlass follow {key}` shows what it does, `windlass stop {key}` stops its run; a chat \
             that has none open must be left there)"
    )
}

/// The key as it is typed after a command.
fn key_text(key: Option<&str>) -> String {
    key.map_or_else(|| "KEY".to_owned(), quoted)
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        Self::of_store(error, None)
    }
}

impl From<OpenError> for CommandError {
    fn from(error: OpenError) -> Self {
        Self::of_opening(error, None)
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
            | BuildError::NoProvider { .. }
            | BuildError::ModelTwice { .. }
            | BuildError::UnknownPrice { .. }
            | BuildError::Preset { .. }
            | BuildError::Server(_)
            | BuildError::Rule(_)
            | BuildError::NoContextSource
            | BuildError::NothingToRetrieve
            | BuildError::RetrieveForbidden
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

impl From<SessionAgentError> for CommandError {
    fn from(error: SessionAgentError) -> Self {
        match error {
            SessionAgentError::Folder { key, error } => session_folder_error(&key, &error),
            SessionAgentError::Setup(error) => error.into(),
            SessionAgentError::Agent(error) => error.into(),
            SessionAgentError::Store(error) => error.into(),
            SessionAgentError::Io(error) => Self::output(&error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves W2: the advice about a session in use can be typed as it is, and changes nothing else in the message
    #[test]
    fn a_session_in_use_is_named_in_the_advice_alone() {
        let busy = || StoreError::Busy { holder: "`KEY`".into() };
        let text = CommandError::of_store(busy(), Some("my key")).message;
        assert!(text.contains("`KEY`") && text.contains("`windlass stop 'my key'`"), "{text}");
        assert!(CommandError::from(busy()).message.contains("`windlass follow KEY`"));
    }
}
