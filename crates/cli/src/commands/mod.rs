//! One file per command. A command takes its arguments and the environment and says how the process
//! should leave.

pub(crate) mod always;
mod answer;
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
pub mod job;
mod man;
mod mcp;
mod mcp_serve;
pub(crate) mod open_question;
pub(crate) mod preview;
pub(crate) mod question;
pub(crate) mod recall;
mod remote;
pub(crate) mod repeat;
mod replay;
mod resume;
mod retry;
mod run;
mod salvage;
mod sandbox;
pub(crate) mod session;
pub(crate) mod sessions;
mod shown_store;
mod stop;
mod timeline;
mod trust;
mod typed_lines;
pub(crate) mod unanswered;
mod undo;
mod unheld;

use windlass_setup::settings::Env;

use crate::args::{Cli, Command, NotTaken};
use crate::error::{CommandError, Done};
use crate::exit::Exit;

/// Does what the arguments say.
pub fn dispatch(cli: Cli, env: Env) -> Done {
    let cli = cli.joined().map_err(|NotTaken| {
        let text =
            "the command does not take an option that stands before it; `windlass COMMAND --help` lists those it does";
        CommandError::new(Exit::Usage, text)
    })?;
    let data_dir = cli.data_dir;
    let Some(command) = cli.command else { return chat::chat(data_dir, &cli.chat, env) };
    match command {
        Command::Chat(args) => chat::chat(data_dir, &args, env),
        Command::Run(args) => run::run(data_dir, &args, env),
        Command::Sessions(command) => sessions::sessions(data_dir, &command, env),
        Command::Resume(args) => resume::resume(data_dir, &args, env),
        Command::Retry(args) => retry::retry(data_dir, &args, env),
        Command::Stop(args) => stop::stop(data_dir, &args, &env),
        Command::Answer(args) => answer::answer(data_dir, &args, env),
        Command::Follow(args) => follow_session::follow_session(data_dir, &args, &env),
        Command::McpServe(args) => mcp_serve::mcp_serve(data_dir, &args, env),
        Command::Demo(args) => demo::demo(data_dir, &args, env),
        Command::Doctor(args) => doctor::doctor(data_dir, &args, &env),
        Command::Trust(args) => trust::trust(data_dir, &args, env),
        Command::Sandbox(args) => sandbox::sandbox(data_dir, &args, env),
        Command::Init(args) => init::init(data_dir, &args, env),
        Command::Completions(args) => completions::completions(&args),
        Command::Man(args) => man::man(&args),
        Command::Mcp(args) => mcp::mcp(data_dir, &args, env),
        Command::Undo(args) => undo::run(data_dir, &args, &env),
        Command::Audit(args) => audit::run(data_dir, &args, env),
        Command::Fork(args) => fork::run(data_dir, &args, env),
        Command::Replay(args) => replay::replay(data_dir, &args, &env),
        Command::Backup(args) => backup::backup(data_dir, &args, env),
    }
}
