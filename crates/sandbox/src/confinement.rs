//! What a command is held to, as plain data: it travels to the guard process with the request.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{ScanExtent, path_wire};

/// What the person wants of the sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxMode {
    /// No sandbox.
    Off,
    /// Commands write in the workspace and a temporary folder of their own.
    #[default]
    Workspace,
    /// Commands write in a temporary folder of their own only.
    ReadOnly,
}

impl SandboxMode {
    /// Every mode, the loosest first.
    pub const ALL: [Self; 3] = [Self::Off, Self::Workspace, Self::ReadOnly];

    /// As people type it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Workspace => "workspace",
            Self::ReadOnly => "read-only",
        }
    }
}

/// Whether a command may talk to other machines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// It has a loopback device of its own, and nothing else.
    #[default]
    Off,
    /// As Windlass itself.
    On,
}

/// What stands between a command and the rest of the machine besides Landlock and seccomp.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// User, mount, process and network namespaces that the guard makes itself.
    #[default]
    Namespaces,
    /// The same, made by this bubblewrap.
    Bubblewrap(PathBuf),
    /// Nothing: this kernel lets us have no namespaces.
    Landlock,
    /// The profile that macOS starts the command with, which is all that holds it.
    Seatbelt,
}

/// A link that stays as it is: it is closed, or leads to what is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProtectedLink {
    /// Where it is.
    #[serde(with = "path_wire")]
    pub path: PathBuf,
    /// What it says.
    #[serde(with = "path_wire")]
    pub target: PathBuf,
}

/// What is looked for when a command has ended: whatever rules close that was not there before. The rules are in the
/// words of whoever made the confinement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CleanupRules {
    /// Where it is looked for.
    pub workspace: PathBuf,
    /// Patterns of what is protected besides what always is.
    pub protected: Vec<String>,
    /// Patterns of what is not.
    pub exceptions: Vec<String>,
    /// Rules that deny.
    pub denied: Vec<String>,
}

/// What a command is held to. All paths are absolute and without links.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// What holds it.
    pub isolation: Isolation,
    /// Folders it may write in.
    #[serde(with = "path_wire::list")]
    pub writable: Vec<PathBuf>,
    /// What is in them and may not be changed nevertheless.
    #[serde(with = "path_wire::list")]
    pub protected: Vec<PathBuf>,
    /// What is not there and closed beforehand where the walls can do that; else it is set aside if the command has
    /// made it.
    #[serde(with = "path_wire::list")]
    pub absent: Vec<PathBuf>,
    /// Links that are put back when it has ended, if it has changed them: a link can't be mounted over.
    pub links: Vec<ProtectedLink>,
    /// What of all these may have been made by commands that ran beside the look: it counts as new when this one has
    /// ended.
    #[serde(default, with = "path_wire::list")]
    pub made_meanwhile: Vec<PathBuf>,
    /// How far was looked for all these.
    pub scan_extent: ScanExtent,
    /// What is looked for when it has ended.
    pub cleanup: Option<CleanupRules>,
    /// What it may not read.
    #[serde(with = "path_wire::list")]
    pub unreadable: Vec<PathBuf>,
    /// What it may read although it lies in a folder that is hidden as a whole ([`crate::HIDDEN_FOLDERS`]).
    #[serde(with = "path_wire::list")]
    pub readable: Vec<PathBuf>,
    /// Its own temporary folder; what it finds at `/tmp`.
    pub temp: PathBuf,
    /// Whether it may talk to other machines.
    pub network: Network,
}

impl Confinement {
    /// The same for a program that runs while the person and others work on the workspace: what it makes can't be told
    /// from what they make, so nothing is set aside or put back when it ends.
    #[must_use]
    pub fn without_cleanup(self) -> Self {
        Self { absent: Vec::new(), links: Vec::new(), cleanup: None, ..self }
    }

    /// The folders between the one that may be written and `path`, the outermost first. They must stay where they are,
    /// or `path` goes with them.
    pub(crate) fn folders_above<'p>(&self, path: &'p Path) -> Vec<&'p Path> {
        let Some(root) = self.writable.iter().find(|folder| path.starts_with(folder)) else { return Vec::new() };
        let mut folders: Vec<&Path> = path.ancestors().skip(1).take_while(|parent| parent != root).collect();
        folders.reverse();
        folders
    }
}
