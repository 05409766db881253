//! Where sessions are kept.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use windlass_sandbox::SandboxMode;
use windlass_vocab::Dialect;

use super::durability::DurabilitySetting;
use super::flags::Flags;
use super::mode::ModeSetting;
use super::origin::Sourced;

/// Where sessions are kept, and how a person goes on with them: all the settings of commands that call no model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceSettings {
    /// The folder the tools work in, without symlinks.
    pub workspace: PathBuf,
    /// Where sessions are kept; an absolute path.
    pub data_dir: Sourced<PathBuf>,
    /// Which failures a stored record survives.
    pub durability: Sourced<DurabilitySetting>,
    /// The flags that a command needs again which goes on with a session.
    pub again: RepeatedFlags,
    /// Paths closed to tools besides the data folder: the person's settings and the record of what they trust.
    pub closed: Vec<PathBuf>,
}

/// Flags that say which model is called, how, and what it may do: a session does not remember them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepeatedFlags {
    /// `--model`
    pub model: Option<String>,
    /// `--base-url`, unless a password or a key may be in it.
    pub base_url: Option<String>,
    /// `--preset`
    pub preset: Option<String>,
    /// `--mode`
    pub mode: Option<ModeSetting>,
    /// `--sandbox`
    pub sandbox: Option<SandboxMode>,
    /// `--dialect`, each
    pub dialects: Vec<Dialect>,
    /// `--allow`, each
    pub allow: Vec<String>,
    /// `--deny`, each
    pub deny: Vec<String>,
}

impl From<&Flags> for RepeatedFlags {
    fn from(flags: &Flags) -> Self {
        Self {
            model: flags.model.clone(),
            base_url: flags.base_url.clone().filter(|url| !url.contains(['@', '?'])),
            preset: flags.preset.clone(),
            mode: flags.mode,
            sandbox: flags.sandbox,
            dialects: flags.dialects.clone(),
            allow: flags.allow.clone(),
            deny: flags.deny.clone(),
        }
    }
}

/// Creates the folder for sessions, accessible to its owner only.
pub fn create_data_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}
