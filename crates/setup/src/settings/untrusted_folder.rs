//! A project's folder whose settings don't all count yet.

use std::path::PathBuf;

/// A folder that is not trusted, and what a door needs to say how to trust it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UntrustedFolder {
    /// The folder.
    pub folder: PathBuf,
    /// Whether it was trusted before.
    pub former: FormerTrust,
    /// The person's own settings file, where trusted folders are listed.
    pub user_file: PathBuf,
}

/// Whether a folder was trusted before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormerTrust {
    /// It was not.
    Never,
    /// It is listed as trusted, but has changed since.
    Changed,
}
