//! `windlass completions`: prints the completion script for a shell.

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs};
use crate::error::CommandResult;
use crate::exit::Exit;
use crate::streams::print;

pub(super) fn completions(args: &CompletionsArgs) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "windlass", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}
