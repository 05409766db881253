//! One file per command. A command takes its arguments and the environment and returns the exit code of the process.

pub(crate) mod always;
mod answer;
mod attach;
mod audit;
mod backup;
mod block_on;
mod chat;
mod completions;
mod demo;
mod doctor;
pub(crate) mod follow;
mod follow_session;
pub(crate) mod fork;
mod init;
mod man;
mod mcp;
mod mcp_serve;
pub(crate) mod models;
mod models_pull;
mod open;
pub(crate) mod open_question;
pub mod prepared_run;
pub(crate) mod preview;
pub(crate) mod question;
mod readable_store;
pub(crate) mod recall;
mod remote;
pub(crate) mod repeat;
mod replay;
mod resume;
mod retry;
mod run;
mod salvage;
mod sandbox;
mod script_dialect;
mod serve;
pub(crate) mod session;
pub(crate) mod sessions;
pub(crate) mod setup_notices;
mod stop;
mod timeline;
mod trust;
mod typed_lines;
pub(crate) mod unanswered;
mod undo;
pub(crate) mod undo_target;
mod unsandboxed;
pub(crate) mod usage;
mod users;

use windlass_setup::settings::Env;

use crate::args::{Cli, CliCommand, MisplacedOptions, SessionListArgs, SessionsCommand};
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;

/// Runs the command that the arguments name.
pub fn dispatch(cli: Cli, env: Env) -> CommandResult {
    let cli = cli.joined().map_err(|MisplacedOptions| {
        let text =
            "the command does not take an option that stands before it; `windlass COMMAND --help` lists those it does";
        CommandError::new(Exit::Usage, text)
    })?;
    let data_dir = cli.data_dir;
    let Some(command) = cli.command else { return chat::chat(data_dir, &cli.chat, env) };
    match command {
        CliCommand::Chat(args) => chat::chat(data_dir, &args, env),
        CliCommand::Run(args) => run::run(data_dir, &args, env),
        CliCommand::Sessions { command } => {
            let command = command.unwrap_or(SessionsCommand::List(SessionListArgs::default()));
            sessions::sessions(data_dir, &command, env)
        }
        CliCommand::Resume(args) => resume::resume(data_dir, &args, env),
        CliCommand::Retry(args) => retry::retry(data_dir, &args, env),
        CliCommand::Stop(args) => stop::stop(data_dir, &args, &env),
        CliCommand::Answer(args) => answer::answer(data_dir, &args, env),
        CliCommand::Follow(args) => follow_session::follow_session(data_dir, &args, &env),
        CliCommand::Serve(args) => serve::serve(data_dir, &args, &env),
        CliCommand::Users(args) => users::users(data_dir, &args, env),
        CliCommand::Open(args) => open::open(data_dir, &args, &env),
        CliCommand::Attach(args) => attach::attach(data_dir, &args, env),
        CliCommand::McpServe(args) => mcp_serve::mcp_serve(data_dir, &args, env),
        CliCommand::Demo(args) => demo::demo(data_dir, &args, env),
        CliCommand::Doctor(args) => doctor::doctor(data_dir, &args, &env),
        CliCommand::Models(args) => models::models(data_dir, &args, env),
        CliCommand::Trust(args) => trust::trust(data_dir, &args, env),
        CliCommand::Sandbox(args) => sandbox::sandbox(data_dir, &args, env),
        CliCommand::Init(args) => init::init(data_dir, &args, env),
        CliCommand::Completions(args) => completions::completions(&args),
        CliCommand::Man(args) => man::man(&args),
        CliCommand::Mcp(args) => mcp::mcp(data_dir, &args, env),
        CliCommand::Undo(args) => undo::run(data_dir, &args, &env),
        CliCommand::Audit(args) => audit::run(data_dir, &args, env),
        CliCommand::Usage(args) => usage::usage(data_dir, &args, env),
        CliCommand::Fork(args) => fork::run(data_dir, &args, env),
        CliCommand::Replay(args) => replay::replay(data_dir, &args, &env),
        CliCommand::Backup(args) => backup::backup(data_dir, &args, env),
    }
}
