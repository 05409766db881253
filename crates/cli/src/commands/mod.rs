//! One file per command. A command takes its arguments and the environment and says how the process
//! should leave.

pub(crate) mod agent;
pub(crate) mod always;
mod audit;
mod backup;
mod chat;
mod completions;
mod demo;
mod doctor;
pub(crate) mod follow;
pub(crate) mod fork;
mod init;
mod job;
mod man;
mod mcp;
pub(crate) mod mcp_serve;
pub(crate) mod open_question;
pub(crate) mod preview;
pub(crate) mod question;
pub(crate) mod recall;
mod repeat;
mod replay;
mod resume;
mod retry;
mod run;
mod salvage;
mod sandbox;
pub(crate) mod session;
pub(crate) mod sessions;
pub(crate) mod streams;
mod timeline;
mod trust;
mod trusting;
mod undo;
mod unheld;

use windlass::store::StoreError;

pub use self::job::Job;
use crate::args::{Cli, Command, NotTaken};
use crate::exit::Exit;
use crate::prompt::PromptError;
use crate::settings::{Env, SettingsError};

/// A command could not be done.
#[derive(Debug)]
pub struct CommandError {
    /// How to leave.
    pub exit: Exit,
    /// What to tell the person.
    pub message: String,
    /// What the store said, where it was the store.
    pub store: Option<StoreError>,
}

impl CommandError {
    /// An error that leaves with `exit`.
    #[must_use]
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), store: None }
    }

    /// Whether something that was stored can't be read.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        matches!(self.store, Some(StoreError::Damaged { .. } | StoreError::Broken { .. }))
    }

    /// Whether nothing more can be written down: the store is gone.
    #[must_use]
    pub fn is_final(&self) -> bool {
        matches!(self.store, Some(StoreError::Gone { .. }))
    }
}

impl From<SettingsError> for CommandError {
    fn from(error: SettingsError) -> Self {
        Self::new(Exit::Usage, error.to_string())
    }
}

impl From<PromptError> for CommandError {
    fn from(error: PromptError) -> Self {
        Self::new(Exit::Usage, error.to_string())
    }
}

/// What a command gives back.
pub type Done = Result<Exit, CommandError>;

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

/// Runs a command's async part: one thread is plenty for one session.
fn block_on(work: impl Future<Output = Done>) -> Done {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| CommandError::new(Exit::Failed, format!("no threads to work with: {error}")))?;
    let done = runtime.block_on(work);
    // A thread that still waits at the keyboard must not hold the process up.
    runtime.shutdown_background();
    done
}
