//! The arguments of `windlass trust`.

use std::path::PathBuf;

use clap::Args;

use crate::settings::Flags;

pub(super) const EXAMPLES: &str = "\
Examples:
  windlass trust             shows what this project's files say, or how they have changed, and asks
  windlass trust --remove    trusts this project no more: it may only tighten your settings

Trust is in what the files say: when they change, you are asked again.";

// `windlass trust`.
#[derive(Clone, Debug, Args)]
pub struct TrustArgs {
    /// Trust this project no more
    #[arg(long)]
    pub remove: bool,
    /// The folder of the project, or one in it [default: this one]
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
}

impl TrustArgs {
    /// Returns the arguments that override the environment and the settings files.
    #[must_use]
    pub fn flags(&self, data_dir: Option<PathBuf>) -> Flags {
        Flags { data_dir, workspace: self.workspace.clone(), ..Flags::default() }
    }
}
