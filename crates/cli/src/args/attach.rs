//! The arguments of `windlass attach`.

use std::path::PathBuf;

use clap::Args;

pub(super) const EXAMPLES: &str = "\
Examples:
  windlass attach                          the server of this machine and data folder
  windlass attach --session notes
  windlass attach https://agents.example.org --token-file token
  windlass attach https://agents.example.org --list
  git diff | windlass attach https://agents.example.org > review.md

Without an address, the server of this data folder is meant, and its token is found. Any other
address is the one that `windlass serve` prints there. Without its token, the token is read from
--token-file, from WINDLASS_TOKEN, or asked for: other users of this machine can read what stands
on a command line. Rules, tools, models and folders are the server's. What is piped in is one
message, and its answer alone is printed; the exit codes are those of `windlass run`.";

// `windlass attach`.
#[derive(Clone, Debug, Args)]
pub struct AttachArgs {
    /// The address of the server [default: the one that runs for this data folder]
    #[arg(value_name = "URL")]
    pub url: Option<String>,
    /// The session, by its key or id [default: a new one]
    #[arg(long, value_name = "KEY", value_parser = super::name)]
    pub session: Option<String>,
    /// A file with the token that lets you in, for a URL
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// List the sessions there are
    #[arg(long, conflicts_with = "session")]
    pub list: bool,
    /// Print one event per line instead of the answer; with --list, one session
    #[arg(long)]
    pub json: bool,
}
