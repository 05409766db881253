//! The arguments of `windlass usage`.

use clap::{Args, ValueEnum};

use super::undo::Since;

pub(super) const EXAMPLES: &str = "\
Examples:
  windlass usage
  windlass usage --by model --since 7d
  windlass usage --by session --since 2026-11-01 --json

Days are those of UTC. Costs come from the prices that were known when a run began; sessions that
were removed are not counted.";

// `windlass usage`.
#[derive(Clone, Debug, Args)]
pub struct UsageArgs {
    /// What each line adds up
    #[arg(long, value_enum, default_value = "day")]
    pub by: UsageGroup,
    /// Model calls since then: 2h, 7d, 2w, 2026-11-15 or 2026-11-15T08:00:00Z
    #[arg(long, value_name = "WHEN", value_parser = super::undo::since)]
    pub since: Option<Since>,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

/// What a line of the usage adds up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum UsageGroup {
    /// The calls of a day
    Day,
    /// The calls of a model
    Model,
    /// The calls of a session
    Session,
}
