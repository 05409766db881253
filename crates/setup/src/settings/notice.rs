//! Notices about settings, for the person. A notice says what was found; the door adds what can be done.

use std::fmt;
use std::path::PathBuf;

use super::ignored_setting::IgnoredSetting;
use super::origin::SettingOrigin;
use super::untrusted_folder::UntrustedFolder;

/// A notice about the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingsNotice {
    /// A sentence to which nothing need be added.
    Sentence(String),
    /// Something about the value at this place.
    At {
        /// Where the value is.
        origin: SettingOrigin,
        /// A sentence about it.
        problem: String,
    },
    /// Settings of a project that nobody was asked about are ignored.
    LeftOut {
        /// The settings.
        settings: Vec<IgnoredSetting>,
        /// The project's folder.
        folder: UntrustedFolder,
    },
    /// Settings of a project that the person declined to trust are ignored.
    Declined {
        /// How many.
        settings: usize,
    },
    /// A trusted project has changed, and the person declined to trust it as it is now.
    ChangeDeclined,
    /// A trusted project has changed, and nobody was asked about that yet.
    Changed {
        /// The changed files.
        files: Vec<String>,
    },
    /// A file is ignored because another user may control it.
    NotUsed {
        /// The file.
        file: PathBuf,
        /// The file or folder that another user may control.
        path: PathBuf,
        /// Why.
        problem: OwnershipProblem,
        /// The folder of the file.
        folder: UntrustedFolder,
    },
    /// The workspace contains far more than a project.
    WideWorkspace {
        /// The workspace.
        what: &'static str,
    },
}

/// Why a file or folder may be under another user's control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnershipProblem {
    /// Another user owns it.
    Owns,
    /// Others can write to it.
    Writes,
}

impl fmt::Display for SettingsNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sentence(text) => f.write_str(text),
            Self::At { origin, problem } => write!(f, "{origin}: {problem}"),
            Self::LeftOut { settings, .. } => {
                let all: Vec<String> = settings.iter().map(ToString::to_string).collect();
                write!(f, "{}: not taken from a project you have not trusted", all.join("; "))
            }
            Self::Declined { settings } => {
                let what = if *settings == 1 { "setting" } else { "settings" };
                write!(f, "{settings} {what} of this project not taken, as you said no")
            }
            Self::ChangeDeclined => f.write_str(
                "this project has changed since you trusted it, and you said no to that: it may only tighten your \
                 settings",
            ),
            Self::Changed { files } => {
                let it = if files.len() == 1 {
                    "has changed since you trusted it"
                } else {
                    "have changed since you trusted them"
                };
                write!(f, "{} {it}: this project may only tighten your settings", files.join(", "))
            }
            Self::NotUsed { file, path, problem, .. } => {
                let (file, path) = (file.display(), path.display());
                match problem {
                    OwnershipProblem::Owns => write!(f, "{file} is not used: {path} belongs to another user")?,
                    OwnershipProblem::Writes => write!(f, "{file} is not used: others can write to {path}")?,
                }
                f.write_str(", so it may be from anybody")
            }
            Self::WideWorkspace { what } => {
                write!(f, "the workspace is {what}: tools may read and change everything in it")
            }
        }
    }
}
