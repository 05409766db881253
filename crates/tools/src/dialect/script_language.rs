//! The languages of scripts.

use std::ffi::OsStr;

/// The language of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScriptLanguage {
    Python,
    Shell,
}

/// The languages that scripts may be written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScriptLanguages {
    /// Python and shell.
    #[default]
    PythonAndShell,
    /// Shell alone, where there is no Python.
    Shell,
}

impl ScriptLanguages {
    /// Returns the languages whose interpreters are in a folder of `path`, the value of `PATH`.
    #[must_use]
    pub fn on_path(path: &OsStr) -> Self {
        let has_python = std::env::split_paths(path).any(|folder| folder.join("python3").is_file());
        if has_python { Self::PythonAndShell } else { Self::Shell }
    }
}
