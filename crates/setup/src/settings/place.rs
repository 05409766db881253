//! Where sessions are kept.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::durability::DurabilitySetting;
use super::origin::Sourced;

/// Where sessions are kept; all that the commands that call no model need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceSettings {
    /// The folder the tools work in, without symlinks.
    pub workspace: PathBuf,
    /// Where sessions are kept; a whole path.
    pub data_dir: Sourced<PathBuf>,
    /// What a stored record outlives.
    pub durability: Sourced<DurabilitySetting>,
    /// What is not for tools besides the data folder: the person's settings and what they trust.
    pub closed: Vec<PathBuf>,
}

/// Makes the folder sessions are kept in, for nobody else to look into.
pub fn create_data_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}
