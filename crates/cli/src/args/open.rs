//! The arguments of `windlass open`.

use std::net::SocketAddr;

use clap::Args;

use super::common::{CommonFlags, RuleFlags};
use super::http_serve::ServiceFlags;

pub(super) const EXAMPLES: &str = "\
Examples:
  windlass open
  windlass open notes                 show session `notes`
  windlass open --no-browser          print the address; it lets one browser in

Where a server of this data folder runs, its page is opened. Otherwise one is started here, and
Ctrl-C ends it. Over ssh, or without a display, the address is printed; $BROWSER names another
program to open it with.";

// `windlass open`.
#[derive(Clone, Debug, Args)]
#[command(mut_arg("json", |json| json.hide(true)))]
pub struct OpenArgs {
    /// The session to show, by its key or id [default: a new one]
    #[arg(value_parser = super::name)]
    pub key: Option<String>,
    /// Print the address, and open no browser
    #[arg(long)]
    pub no_browser: bool,
    /// Where to listen if a server is started [default: 127.0.0.1:7700, or another port if that is taken]
    #[arg(long, value_name = "IP:PORT")]
    pub address: Option<SocketAddr>,
    /// What users and strangers may take of a server that is started, and how long things last there.
    #[command(flatten)]
    pub service: ServiceFlags,
    /// The rules of new runs, if a server is started.
    #[command(flatten)]
    pub rules: RuleFlags,
    /// Flags shared by several commands.
    #[command(flatten)]
    pub common: CommonFlags,
}
