//! The limits of a command, as plain data: they are sent to the guard process with the request.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{ScanExtent, path_wire};

/// The sandbox mode that the person has set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxMode {
    /// No sandbox.
    Off,
    /// Commands write in the workspace and in their own temporary folder.
    #[default]
    Workspace,
    /// Commands write only in their own temporary folder.
    ReadOnly,
}

impl SandboxMode {
    /// Every mode, the least strict first.
    pub const ALL: [Self; 3] = [Self::Off, Self::Workspace, Self::ReadOnly];

    /// Returns the name that people type.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Workspace => "workspace",
            Self::ReadOnly => "read-only",
        }
    }
}

/// Whether a command may use the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// Only a loopback device of its own.
    #[default]
    Off,
    /// The same access as Windlass itself.
    On,
}

/// What isolates a command from the rest of the machine besides Landlock and seccomp.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// User, mount, PID, IPC and network namespaces that the guard creates itself.
    #[default]
    Namespaces,
    /// The same, created by this bubblewrap.
    Bubblewrap(PathBuf),
    /// Nothing: this kernel allows no namespaces.
    Landlock,
    /// The profile under which macOS starts the command; there is no other protection.
    Seatbelt,
}

/// A symlink that must not change: a rule closes it, or closes its target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProtectedLink {
    /// The path of the symlink.
    #[serde(with = "path_wire")]
    pub path: PathBuf,
    /// Its literal target.
    #[serde(with = "path_wire")]
    pub target: PathBuf,
}

/// The rules for the cleanup after a command: the cleanup searches for new files that these rules close. They are
/// written in the syntax of the caller that made the confinement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CleanupRules {
    /// The folder to search.
    pub workspace: PathBuf,
    /// Patterns of protected files besides the built-in ones.
    pub protected: Vec<String>,
    /// Patterns of files that are not protected.
    pub exceptions: Vec<String>,
    /// Deny rules.
    pub denied: Vec<String>,
}

/// The limits of a command. All paths are absolute and without symlinks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// The kind of isolation.
    pub isolation: Isolation,
    /// Folders it may write in.
    #[serde(with = "path_wire::list")]
    pub writable: Vec<PathBuf>,
    /// Paths in them that it may not change.
    #[serde(with = "path_wire::list")]
    pub protected: Vec<PathBuf>,
    /// Paths that do not exist. They are closed beforehand where the isolation can do that; otherwise they are set
    /// aside if the command has created them.
    #[serde(with = "path_wire::list")]
    pub absent: Vec<PathBuf>,
    /// Symlinks that are restored after the command, if it changed them: a symlink can't be mounted over.
    pub links: Vec<ProtectedLink>,
    /// Those of the paths above that commands running during the scan may have created: they count as new when this
    /// command has ended.
    #[serde(default, with = "path_wire::list")]
    pub made_meanwhile: Vec<PathBuf>,
    /// How much of the workspace was scanned for these paths.
    pub scan_extent: ScanExtent,
    /// The rules for the cleanup after the command.
    pub cleanup: Option<CleanupRules>,
    /// Paths it may not read.
    #[serde(with = "path_wire::list")]
    pub unreadable: Vec<PathBuf>,
    /// Paths it may read although their folder is hidden as a whole ([`crate::HIDDEN_FOLDERS`]).
    #[serde(with = "path_wire::list")]
    pub readable: Vec<PathBuf>,
    /// Its own temporary folder; with namespaces it is mounted at `/tmp`.
    pub temp: PathBuf,
    /// Whether it may use the network.
    pub network: Network,
}

impl Confinement {
    /// Returns the same limits for a program that runs while the person and others work on the workspace: its files
    /// can't be distinguished from theirs, so nothing is set aside or restored when it ends.
    #[must_use]
    pub fn without_cleanup(self) -> Self {
        Self { absent: Vec::new(), links: Vec::new(), cleanup: None, ..self }
    }

    /// Returns the folders between the writable root and `path`, the outermost first. They must not be moved, because
    /// `path` would move with them.
    pub(crate) fn folders_above<'p>(&self, path: &'p Path) -> Vec<&'p Path> {
        let Some(root) = self.writable.iter().find(|folder| path.starts_with(folder)) else { return Vec::new() };
        let mut folders: Vec<&Path> = path.ancestors().skip(1).take_while(|parent| parent != root).collect();
        folders.reverse();
        folders
    }
}
