//! Where sessions are kept.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::durability::DurabilitySetting;
use super::origin::Sourced;

/// Where sessions are kept: all the settings of commands that call no model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceSettings {
    /// The folder the tools work in, without symlinks.
    pub workspace: PathBuf,
    /// Where sessions are kept; an absolute path.
    pub data_dir: Sourced<PathBuf>,
    /// Which failures a stored record survives.
    pub durability: Sourced<DurabilitySetting>,
    /// The address of a model server that a flag names: a command that goes on with a session needs it again.
    pub server: Option<String>,
    /// Paths closed to tools besides the data folder: the person's settings and the record of what they trust.
    pub closed: Vec<PathBuf>,
}

/// Creates the folder for sessions, accessible to its owner only.
pub fn create_data_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}
