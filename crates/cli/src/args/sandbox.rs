//! The arguments of `windlass sandbox`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use windlass_sandbox::SandboxMode;
use windlass_setup::settings::{Flags, sandbox};

pub(super) const EXAMPLES: &str = "\
Examples:
  windlass sandbox cargo test
  windlass sandbox --network npm install
  windlass sandbox --sandbox read-only -- make -n

Runs the command as the agent's commands are run, and leaves with its exit code.";

/// Parses a sandbox mode.
pub(super) fn mode() -> impl TypedValueParser<Value = SandboxMode> {
    PossibleValuesParser::new(SandboxMode::ALL.map(SandboxMode::as_str)).try_map(|text| sandbox::parsed(&text))
}

// `windlass sandbox`.
#[derive(Clone, Debug, Args)]
pub struct SandboxArgs {
    /// What it may write: the workspace (workspace), nothing (read-only), everything (off)
    #[arg(long, value_name = "MODE", value_parser = mode())]
    pub sandbox: Option<SandboxMode>,
    /// Let it talk to other machines, and write to package caches
    #[arg(long)]
    pub network: bool,
    /// The folder it runs in [default: this one]
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// The command and its arguments
    #[arg(trailing_var_arg = true, required = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

impl SandboxArgs {
    /// Returns the arguments that override the environment and the settings files.
    #[must_use]
    pub fn flags(&self, data_dir: Option<PathBuf>) -> Flags {
        Flags { data_dir, sandbox: self.sandbox, workspace: self.workspace.clone(), ..Flags::default() }
    }
}
