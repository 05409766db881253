//! `windlass sandbox -- COMMAND`: runs a command in the sandbox, to try its effect by hand.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use windlass::own_guard;
use windlass_sandbox::{Network, SandboxMode};
use windlass_setup::permissions::permissions;
use windlass_setup::secrets;
use windlass_setup::settings::Env;
use windlass_tools::Sandbox;
use windlass_tools::guard::{ChildEnd, CleanupReport, GuardedProgram, run_in_terminal};
use windlass_vocab::shown_path;

use super::prepared_run;
use crate::args::SandboxArgs;
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::output::advice::with_untried;
use crate::streams::print_notice;

pub(super) fn sandbox(data_dir: Option<PathBuf>, args: &SandboxArgs, env: Env) -> CommandResult {
    let sources = prepared_run::gather(args.flags(data_dir), env)?;
    let settings = sources.resolve()?;
    let secrets = secrets::scrubber(&secrets::known_secrets(&sources.env, Some(&settings)));
    let guard = own_guard().ok_or_else(|| CommandError::new(Exit::Failed, "this program is not found again"))?;
    let network = if args.network { Network::On } else { Network::Off };
    let permissions = Arc::new(permissions(&settings.permissions));
    let sandbox = Sandbox::new(settings.sandbox.surroundings(&settings.place), permissions);
    let support = sandbox.support(&guard);
    if sandbox.mode() != SandboxMode::Off {
        for gap in support.gaps() {
            print_notice(&format!("windlass: not enforced here: {gap}"));
        }
    }
    let confinement = sandbox.program_confinement(&guard, network);
    let confinement = confinement.map_err(|problem| CommandError::new(Exit::Failed, with_untried(&problem)))?;
    let (program, args) = args.command.split_first().ok_or_else(|| CommandError::new(Exit::Usage, "name a command"))?;
    let program = GuardedProgram {
        program: program.clone(),
        args: args.to_vec(),
        directory: settings.place.workspace,
        environment: Vec::new(),
        scrubbed: secrets.scrubbed_names(std::env::vars_os()),
        stop_grace: Duration::from_millis(200),
        confinement,
    };
    let end = run_in_terminal(&guard, &program);
    let (end, cleared) = end.map_err(|error| CommandError::new(Exit::Failed, format!("not started: {error}")))?;
    print_cleared(&cleared);
    match end {
        ChildEnd::Exited(code) => Ok(Exit::OfCommand(u8::try_from(code).unwrap_or(u8::MAX))),
        ChildEnd::Signalled(signal) => Ok(Exit::OfCommand(u8::try_from(128 + signal).unwrap_or(u8::MAX))),
        ChildEnd::NotStarted(problem) => Err(CommandError::new(Exit::Failed, format!("not started: {problem}"))),
        ChildEnd::GuardLost => Err(CommandError::new(Exit::Failed, "the guard of the command died")),
    }
}

fn print_cleared(cleared: &CleanupReport) {
    for path in &cleared.set_aside {
        print_notice(&format!(
            "windlass: set aside as {}: it is protected, and a command in the sandbox can't make it",
            display_path(path)
        ));
    }
    for path in &cleared.put_back {
        print_notice(&format!(
            "windlass: put back {}: it is a link that is protected or leads to what is",
            display_path(path)
        ));
    }
    for (path, problem) in &cleared.left {
        print_notice(&format!(
            "windlass: WARNING: {} is protected and could not be set aside: {problem}",
            display_path(path)
        ));
    }
}

/// Renders a path on one line: a command may create files with any name.
fn display_path(path: &Path) -> String {
    shown_path(&path.to_string_lossy()).into_owned()
}
