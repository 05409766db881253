//! The arguments of `windlass users`.

use clap::{Args, Subcommand};

pub(super) const EXAMPLES: &str = "\
Examples:
  windlass users add ann            prints her token, once: it is kept nowhere
  windlass users add bob --admin    bob may use everybody's sessions
  windlass users list
  windlass users remove ann         she is out at her next request; her sessions stay

Users sign in at the page of `windlass serve`, or send the token as `Authorization: Bearer TOKEN`. A
user sees their own sessions only. All of them work with the settings and keys of whoever serves.";

// `windlass users`.
#[derive(Clone, Debug, Args)]
pub struct UsersArgs {
    /// What to do [default: list them]
    #[command(subcommand)]
    pub command: Option<UsersCommand>,
}

// What to do with the users.
#[derive(Clone, Debug, Subcommand)]
pub enum UsersCommand {
    /// Add a user and print their token
    Add {
        /// The name, which their sessions carry
        #[arg(value_name = "NAME")]
        user: String,
        /// May use everybody's sessions
        #[arg(long)]
        admin: bool,
    },
    /// List the users
    List,
    /// Remove a user: the token lets nobody in any more
    Remove {
        /// The name
        #[arg(value_name = "NAME")]
        user: String,
    },
}
