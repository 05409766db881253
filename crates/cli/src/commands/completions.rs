//! `windlass completions`: what a shell needs to complete our arguments.

use clap::CommandFactory;

use super::Done;
use super::streams::print;
use crate::args::{Cli, CompletionsArgs};
use crate::exit::Exit;

pub(super) fn completions(args: &CompletionsArgs) -> Done {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "windlass", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}
