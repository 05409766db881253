//! The settings given on the command line or by another door.

use std::num::NonZeroU64;
use std::path::PathBuf;

use windlass_sandbox::SandboxMode;
use windlass_vocab::{Dialect, Dollars};

use super::durability::DurabilitySetting;
use super::mode::ModeSetting;

/// The settings given as flags. Absent means "not set here".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// `--data-dir`
    pub data_dir: Option<PathBuf>,
    /// `--model`
    pub model: Option<String>,
    /// `--base-url`
    pub base_url: Option<String>,
    /// `--preset`
    pub preset: Option<String>,
    /// `--agent`
    pub agent: Option<String>,
    /// The agent of the session's last run. It is used where no flag names one and a table still describes it.
    pub session_agent: Option<String>,
    /// `--system`
    pub system: Option<String>,
    /// `--workspace`
    pub workspace: Option<PathBuf>,
    /// `--plan`
    pub plan: bool,
    /// `--max-turns`
    pub max_turns: Option<u32>,
    /// `--max-cost`
    pub max_cost: Option<Dollars>,
    /// `--max-run-tokens`
    pub max_run_tokens: Option<NonZeroU64>,
    /// `--dialect`, each
    pub dialects: Vec<Dialect>,
    /// `--mode`
    pub mode: Option<ModeSetting>,
    /// `--durability`
    pub durability: Option<DurabilitySetting>,
    /// `--allow`, each
    pub allow: Vec<String>,
    /// `--deny`, each
    pub deny: Vec<String>,
    /// `--sandbox`
    pub sandbox: Option<SandboxMode>,
    /// `--fetch-private`, each
    pub fetch_private: Vec<String>,
    /// `--mcp-config`, each
    pub mcp_config: Vec<PathBuf>,
    /// `--tag`, each
    pub tags: Vec<String>,
}
