//! The flags that several commands share.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use windlass_sandbox::SandboxMode;
use windlass_setup::settings::{DurabilitySetting, ModeSetting};
use windlass_vocab::{Dialect, Dollars};

use super::{choices, counts, deadline, dialect, sandbox};

// The run settings of a new run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct RuleFlags {
    /// The rules to start from: default, durable-chat, local-model, assistant, task or operator
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// Who the agent is and what it is for, in place of the default; the session keeps it
    #[arg(long, value_name = "TEXT")]
    pub system: Option<String>,
    /// Plan first: steps, and the same for each of several files, done one by one, then the answer from what they brought
    #[arg(long)]
    pub plan: bool,
    /// How many turns the run may take
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = counts::turns)]
    pub max_turns: Option<u32>,
    /// The most the run may spend on model calls, in dollars, e.g. 0.50
    #[arg(long, value_name = "AMOUNT", allow_negative_numbers = true)]
    pub max_cost: Option<Dollars>,
    /// The most tokens the run may send and receive
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = counts::tokens)]
    pub max_run_tokens: Option<NonZeroU64>,
    /// How calls are written, for models that can't call tools natively; several with commas
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = dialect::parser())]
    pub dialect: Vec<Dialect>,
    /// Offer only tools with this tag, and the core ones; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
}

// The flags of every command that uses a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct CommonFlags {
    /// The model: its id, or with its server, as ollama:qwen3 or https://llm.example/v1#big; several with commas are a chain
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// The agent: the models and instructions of its table `[agents.NAME]` in the settings
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// The server, e.g. http://127.0.0.1:11434/v1
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// The folder the tools work in [default: this one]
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Stop after this long, e.g. 30s, 5m, 1h30m
    #[arg(long, value_name = "TIME", value_parser = deadline::parse)]
    pub deadline: Option<Duration>,
    /// Allow calls without asking, e.g. 'run_command(cargo *)'; may be repeated
    #[arg(long, value_name = "RULE")]
    pub allow: Vec<String>,
    /// Forbid calls; wins over every --allow; may be repeated. 'write' forbids file tools every change
    #[arg(long, value_name = "RULE")]
    pub deny: Vec<String>,
    /// Let fetch_url fetch from this host on this machine or in a private network; may be repeated
    #[arg(long, value_name = "HOST")]
    pub fetch_private: Vec<String>,
    /// MCP servers to use besides those configured: a JSON file with `mcpServers`; may be repeated
    #[arg(long, value_name = "FILE")]
    pub mcp_config: Vec<PathBuf>,
    /// What needs asking: commands and web pages (default), every change (strict), nothing (bypass)
    #[arg(long, value_parser = choices::mode())]
    pub mode: Option<ModeSetting>,
    /// What commands may write: the workspace (workspace), nothing (read-only; file tools: --deny write), everything (off)
    #[arg(long, value_name = "MODE", value_parser = sandbox::mode())]
    pub sandbox: Option<SandboxMode>,
    /// Print one event per line instead of the answer
    #[arg(long)]
    pub json: bool,
    /// Whether a record must survive a power cut (full) or only a crash (normal)
    #[arg(long, value_parser = choices::durability())]
    pub durability: Option<DurabilitySetting>,
}
