//! The arguments of `windlass mcp`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use windlass_setup::settings::Flags;

use super::deadline;
use super::name::name;

pub(super) const EXAMPLES: &str = "\
Examples:
  windlass mcp add git -- uvx mcp-server-git
  windlass mcp add docs --url https://example.com/mcp --header 'Authorization=Bearer ${DOCS_TOKEN}'
  windlass mcp list
  windlass mcp call git git_status '{\"repo_path\": \".\"}'

Servers are also taken from `mcpServers` in windlass.toml, from a project's .mcp.json once you agree to
it, and from files named with --mcp-config.";

// `windlass mcp`. Its flags have ids of their own, because clap would otherwise merge them with the chat's flags.
#[derive(Clone, Debug, Args)]
pub struct McpArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub command: McpCommand,
    /// Servers to use besides those configured: a JSON file with `mcpServers`; may be repeated
    #[arg(long = "mcp-config", id = "mcp.mcp_config", global = true, value_name = "FILE")]
    pub mcp_config: Vec<PathBuf>,
    /// The folder whose settings count [default: this one]
    #[arg(long, id = "mcp.workspace", global = true, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Print JSON
    #[arg(long, id = "mcp.json", global = true)]
    pub json: bool,
}

// The subcommands of `windlass mcp`.
#[derive(Clone, Debug, Subcommand)]
#[command(defer = true)]
pub enum McpCommand {
    /// Write a server into your settings
    Add(AddArgs),
    /// Reach every server and say how each is
    List,
    /// Take a server out of your settings
    Remove {
        /// Which
        #[arg(value_parser = name)]
        server: String,
        /// Take it out of this folder's windlass.toml instead
        #[arg(long)]
        project: bool,
    },
    /// Reach one server and say everything about it
    Test {
        /// Which
        #[arg(value_parser = name)]
        server: String,
    },
    /// List the tools of one server, or of all
    Tools {
        /// Which
        #[arg(value_parser = name)]
        server: Option<String>,
    },
    /// Call a tool and print its answer
    Call {
        /// The server
        #[arg(value_parser = name)]
        server: String,
        /// The tool
        #[arg(value_parser = name)]
        tool: String,
        /// Its arguments, a JSON object; `-` reads standard input
        #[arg(default_value = "{}")]
        arguments: String,
        /// Give up after this long, e.g. 30s
        #[arg(long, value_name = "TIME", value_parser = deadline::parse)]
        timeout: Option<Duration>,
    },
    /// Agree to the servers of this project's .mcp.json or windlass.toml
    Approve {
        /// Refuse them instead
        #[arg(long, conflicts_with = "sandbox")]
        no: bool,
        /// Let them run in the sandbox only: they write in the workspace, and have no network
        #[arg(long)]
        sandbox: bool,
    },
    /// Take tools that a server has changed as they are now
    Accept {
        /// Which server
        #[arg(value_parser = name)]
        server: String,
    },
    /// Log in to a server that wants it
    Login {
        /// Which
        #[arg(value_parser = name)]
        server: String,
    },
    /// Forget the login to a server
    Logout {
        /// Which
        #[arg(value_parser = name)]
        server: String,
    },
}

// `windlass mcp add`.
#[derive(Clone, Debug, Args)]
pub struct AddArgs {
    /// What it is called here
    #[arg(value_parser = name)]
    pub server: String,
    /// The program and its arguments, after `--`
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "url")]
    pub command: Vec<String>,
    /// Reach it over HTTP at this address
    #[arg(long, value_name = "URL", conflicts_with_all = ["command", "env"])]
    pub url: Option<String>,
    /// A variable for the program; `${NAME}` in the value is looked up when it starts; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    pub env: Vec<(String, String)>,
    /// A header for every request; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair, requires = "url")]
    pub header: Vec<(String, String)>,
    /// A tag of all its tools; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
    /// Believe what it says of its own tools: those it calls read-only run unasked
    #[arg(long)]
    pub trust: bool,
    /// Write it into this folder's windlass.toml, for everybody who works here
    #[arg(long)]
    pub project: bool,
    /// Replace a server of that name
    #[arg(long)]
    pub replace: bool,
}

impl McpArgs {
    /// Returns the arguments that override the environment and the settings files.
    #[must_use]
    pub fn flags(&self, data_dir: Option<PathBuf>) -> Flags {
        Flags { data_dir, workspace: self.workspace.clone(), mcp_config: self.mcp_config.clone(), ..Flags::default() }
    }
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.to_owned())),
        Some(_) | None => Err("write it NAME=VALUE".into()),
    }
}
