//! `windlass trust`: asks about a project that is not trusted, or not in its current state, whatever was answered
//! before; also revokes trust (X2).

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;

use windlass_setup::settings::file_edit::SettingsWrite;
use windlass_setup::settings::{Env, Sources, TrustState};
use windlass_setup::trusting;

use super::prepared_run;
use crate::args::TrustArgs;
use crate::consent::TerminalPerson;
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::output::harmless_line;
use crate::streams::print;

pub(super) fn trust(data_dir: Option<PathBuf>, args: &TrustArgs, env: Env) -> CommandResult {
    let sources = prepared_run::sources(args.flags(data_dir), env)?;
    let Some(file) = sources.project.as_ref().map(|file| harmless_line(&file.path().display().to_string())) else {
        print(
            "There is no windlass.toml of a project here, so there is nothing to trust. `windlass mcp approve` is about \
             the servers of a .mcp.json.\n",
        )?;
        return Ok(Exit::Done);
    };
    if args.remove {
        return remove(&sources, &file);
    }
    let standing = sources.trust_state();
    if standing == Some(TrustState::AsTrusted) {
        print(&format!("{file} is trusted as it is now.\n"))?;
        return Ok(Exit::Done);
    }
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        let text = "trust is given at a terminal, where what the project says can be shown";
        return Err(CommandError::new(Exit::Waiting, text));
    }
    let asked = match standing {
        Some(TrustState::Changed) => trusting::ask_about_change(sources, &mut TerminalPerson),
        Some(TrustState::New | TrustState::AsTrusted) | None => trusting::ask_about_new(sources, &mut TerminalPerson),
    };
    let sources = asked.map_err(|error| CommandError::output(&error))?;
    if sources.trusts_project() {
        print(&format!("{file} is trusted until it changes; `windlass trust --remove` takes that back.\n"))?;
    } else {
        print(&format!("{file} is not trusted: it may only tighten your settings.\n"))?;
    }
    Ok(Exit::Done)
}

fn remove(sources: &Sources, file: &str) -> CommandResult {
    let removed = sources.distrust_folder().map_err(|problem| CommandError::new(Exit::Failed, problem.to_string()))?;
    let text = match removed {
        SettingsWrite::Written => format!("{file} is trusted no more: it may only tighten your settings.\n"),
        SettingsWrite::Known => format!("{file} was not trusted.\n"),
    };
    print(&text)?;
    Ok(Exit::Done)
}
