//! Where a value came from, kept with the value so that an error can name the line or setting to fix.

use std::fmt;
use std::path::PathBuf;

use super::error::SettingsError;

/// A position in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.path.display(), self.line, self.column)
    }
}

/// Where a value came from; earlier variants win over later ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingOrigin {
    /// Given to the door for one command, e.g. as a flag: the setting's name, as in `model` or `data_dir`.
    Flag(&'static str),
    /// An environment variable.
    Variable(String),
    /// The project's file.
    Project(Position),
    /// The project's file of MCP servers.
    ProjectServers(PathBuf),
    /// The user's file.
    User(Position),
    /// The built-in default.
    Default,
    /// Not configured, but found on this machine.
    Found,
    /// The model or server the session was begun with.
    Session,
}

impl SettingOrigin {
    /// The file or flag without a line, for a value that has no line of its own.
    pub fn place(&self) -> String {
        match self {
            Self::Project(position) | Self::User(position) => position.path.display().to_string(),
            Self::Flag(_)
            | Self::Variable(_)
            | Self::ProjectServers(_)
            | Self::Default
            | Self::Found
            | Self::Session => self.to_string(),
        }
    }
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) => f.write_str(name),
            Self::Variable(name) => f.write_str(name),
            Self::Project(position) | Self::User(position) => position.fmt(f),
            Self::ProjectServers(path) => path.display().fmt(f),
            Self::Default => f.write_str("the default"),
            Self::Found => f.write_str("found on this machine"),
            Self::Session => f.write_str("the session"),
        }
    }
}

/// A value and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// Where it came from.
    pub origin: SettingOrigin,
}

impl<T> Sourced<T> {
    pub fn new(value: T, origin: SettingOrigin) -> Self {
        Self { value, origin }
    }

    /// Returns the value of a flag, if it was given.
    pub(super) fn flag(name: &'static str, value: Option<T>) -> Option<Self> {
        value.map(|value| Self::new(value, SettingOrigin::Flag(name)))
    }

    /// Converts the value; an error is reported with the origin.
    pub fn try_map<U, E: ToString>(self, make: impl FnOnce(T) -> Result<U, E>) -> Result<Sourced<U>, SettingsError> {
        match make(self.value) {
            Ok(value) => Ok(Sourced::new(value, self.origin)),
            Err(problem) => Err(SettingsError::wrong(self.origin, problem.to_string())),
        }
    }
}
