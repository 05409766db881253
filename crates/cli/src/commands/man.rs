//! `windlass man`: prints the manual page; with a folder, writes it there with a page for each command.

use std::path::Path;

use clap::CommandFactory;
use clap_mangen::Man;

use crate::args::{Cli, ManArgs};
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::streams::print;

pub(super) fn man(args: &ManArgs) -> CommandResult {
    // `build` propagates the global flags to all commands and sets the names of the pages.
    let mut command = Cli::command();
    command.build();
    match &args.dir {
        None => print(&String::from_utf8_lossy(&page(command)?))?,
        Some(dir) => {
            std::fs::create_dir_all(dir).map_err(|error| at(dir, &error))?;
            write_pages(dir, command)?;
        }
    }
    Ok(Exit::Done)
}

fn write_pages(dir: &Path, command: clap::Command) -> Result<(), CommandError> {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        write_pages(dir, below.clone())?;
    }
    let name = command.get_display_name().unwrap_or("windlass").to_owned();
    let path = dir.join(format!("{name}.1"));
    std::fs::write(&path, page(command)?).map_err(|error| at(&path, &error))
}

fn page(command: clap::Command) -> Result<Vec<u8>, CommandError> {
    let name = command.get_display_name().unwrap_or("windlass").to_owned();
    let mut page = Vec::new();
    let rendered = Man::new(command).title(name.to_uppercase()).render(&mut page);
    rendered.map_err(|error| CommandError::new(Exit::Failed, format!("the page can't be made: {error}")))?;
    Ok(page)
}

fn at(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::new(Exit::Usage, format!("{}: {error}", path.display()))
}
