//! The arguments of `windlass serve`.

use std::net::SocketAddr;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Command, FromArgMatches as _};

use super::common::{CommonFlags, RuleFlags};
use super::deadline;

pub(super) const EXAMPLES: &str = r#"Examples:
  windlass serve
  windlass serve --address 127.0.0.1:7700 --workspace ~/project
  windlass serve --address 0.0.0.0:7700 --token-file /etc/windlass/token --host-name agents.example.org

It prints the address of the page, with a token that lets you in; the token is another one at each
start unless --token-file or WINDLASS_SERVE_TOKEN gives one. Programs send it as
`Authorization: Bearer TOKEN`. `windlass users add NAME` gives others a token of their own.
Ctrl-C or SIGTERM ends it: nothing new starts, calls under way get 30 seconds (--drain-wait), and
open runs go on at the next start. A second signal ends it at once."#;

// `windlass serve`.
#[derive(Clone, Debug, Args)]
#[command(mut_arg("json", |json| json.hide(true)))]
pub struct ServeArgs {
    /// Where to listen; any other machine than this one needs a token of your own
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:7700")]
    pub address: SocketAddr,
    /// A file with the token that lets callers in
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// A name by which this server may be called, such as a proxy's; may be given again
    #[arg(long, value_name = "NAME")]
    pub host_name: Vec<String>,
    /// Another folder that sessions may work in, besides the workspace; may be given again
    #[arg(long, value_name = "DIR")]
    pub folder: Vec<PathBuf>,
    /// What users and strangers may take, and how long things last.
    #[command(flatten)]
    pub service: ServiceFlags,
    /// The rules of new runs.
    #[command(flatten)]
    pub rules: RuleFlags,
    /// Flags shared by several commands.
    #[command(flatten)]
    pub common: CommonFlags,
}

// Flags of `windlass serve` and `windlass open`.
#[derive(Clone, Debug, PartialEq, Args)]
pub struct ServiceFlags {
    /// What users and strangers may take.
    #[command(flatten)]
    pub limits: LimitFlags,
    /// How long things last.
    #[command(flatten)]
    pub times: TimeFlags,
}

impl ServiceFlags {
    /// Whether none of them was given another value than its default.
    pub(crate) fn are_usual(&self) -> bool {
        let matches = Self::augment_args(Command::new("serve")).try_get_matches_from(["serve"]);
        matches.and_then(|matches| Self::from_arg_matches(&matches)).is_ok_and(|usual| usual == *self)
    }
}

// Of ServiceFlags.
#[derive(Clone, Debug, PartialEq, Args)]
pub struct TimeFlags {
    /// How long calls that are under way may take to finish when the server ends
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = deadline::parse)]
    pub drain_wait: Duration,
    /// After how long without a change a session is archived, or `never`; a pinned one is not
    #[arg(long, value_name = "TIME", default_value = "30d", value_parser = deadline::parse_or_never)]
    pub archive_after: Duration,
    /// After how long in the archive a session is deleted, or `never`; a pinned one is not
    #[arg(long, value_name = "TIME", default_value = "90d", value_parser = deadline::parse_or_never)]
    pub delete_after: Duration,
}

// Of ServiceFlags.
#[derive(Clone, Debug, PartialEq, Args)]
#[command(next_help_heading = "Limits (those of users are not yours)")]
pub struct LimitFlags {
    /// The largest body of a request, in MiB
    #[arg(long, value_name = "MIB", default_value = "32", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub max_body: u16,
    /// How many runs may be open at once
    #[arg(long, value_name = "N", default_value = "64")]
    pub max_runs: NonZeroUsize,
    /// How many runs of a user
    #[arg(long, value_name = "N", default_value = "8")]
    pub max_user_runs: NonZeroUsize,
    /// How many sessions a user may have
    #[arg(long, value_name = "N", default_value = "10000")]
    pub max_user_sessions: u64,
    /// How many streams of events a user may have open
    #[arg(long, value_name = "N", default_value = "32")]
    pub max_user_streams: NonZeroUsize,
    /// How many requests a user may make in a minute
    #[arg(long, value_name = "N", default_value = "600")]
    pub max_user_requests: NonZeroU32,
    /// How many requests without a token may come from one address in a minute
    #[arg(long, value_name = "N", default_value = "600")]
    pub max_stranger_requests: NonZeroU32,
}
