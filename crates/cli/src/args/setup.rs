//! The arguments of the setup commands: demo, doctor, init, completions, man.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;
use windlass_setup::settings::Flags;

pub(super) const DEMO_EXAMPLES: &str = "\
Examples:
  windlass demo            seven screenshots are renamed after what is on them
  windlass demo --crash    the same, killed with SIGKILL in the middle and resumed
  windlass demo --session shots & sleep 2; kill -9 $!; windlass resume shots

The model is scripted and says so. The loop, the journal, the tools and the files are real.";

pub(super) const INIT_EXAMPLES: &str = "\
Examples:
  windlass init            asks, then writes windlass.toml in this folder
  windlass init --user     writes your own settings, which hold in every folder
  windlass init --yes      takes what is found, without asking

Never overwrites a file, and never writes a key.";

pub(super) const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  windlass completions bash > ~/.local/share/bash-completion/completions/windlass
  windlass completions zsh  > ~/.zfunc/_windlass
  windlass completions fish > ~/.config/fish/completions/windlass.fish";

// `windlass demo`.
#[derive(Clone, Debug, Args)]
pub struct DemoArgs {
    /// Kill the demo in the middle and show how it goes on
    #[arg(long)]
    pub crash: bool,
    /// The key of its session [default: a new one]
    #[arg(long, value_name = "KEY", value_parser = super::name::name)]
    pub session: Option<String>,
}

// `windlass doctor`.
#[derive(Clone, Debug, Args)]
pub struct DoctorArgs {
    /// The model to check
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// The server to check
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// The folder whose settings are checked [default: this one]
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

impl DoctorArgs {
    /// Returns the arguments that override the environment and the settings files.
    #[must_use]
    pub fn flags(&self, data_dir: Option<PathBuf>) -> Flags {
        Flags {
            data_dir,
            model: self.model.clone(),
            base_url: self.base_url.clone(),
            workspace: self.workspace.clone(),
            ..Flags::default()
        }
    }
}

// `windlass init`.
#[derive(Clone, Debug, Args)]
pub struct InitArgs {
    /// Write your own settings instead of this folder's
    #[arg(long)]
    pub user: bool,
    /// Take what is found, without asking
    #[arg(long, short)]
    pub yes: bool,
    /// The model to write down
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// The server to write down
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// The preset to write down
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
}

// `windlass completions`.
#[derive(Clone, Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

// `windlass man`.
#[derive(Clone, Debug, Args)]
pub struct ManArgs {
    /// Write a page for windlass and one for each command into this folder
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}
