//! The command line arguments. Wrong usage exits with code 2 before anything starts.

mod attach;
mod backup;
mod before;
mod choices;
mod common;
mod control;
mod counts;
mod deadline;
mod dialect;
mod help;
mod http_serve;
mod mcp;
mod models;
mod name;
mod open;
mod sandbox;
pub(crate) mod secrets;
mod sentence;
mod serve;
mod setup;
mod trust;
mod undo;
mod usage;
mod users;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use windlass_setup::settings::Flags;

pub use self::attach::AttachArgs;
pub use self::backup::BackupArgs;
pub(crate) use self::before::MisplacedOptions;
pub use self::common::{CommonFlags, RuleFlags};
pub use self::control::{AnswerArgs, AnswerChoice, FollowArgs, StopArgs};
pub(crate) use self::deadline::parse as parse_time;
pub(crate) use self::dialect::dialect_name;
pub use self::http_serve::{LimitFlags, ServeArgs};
pub use self::mcp::{AddArgs, McpArgs, McpCommand};
pub use self::models::{ModelsArgs, ModelsCommand};
pub(crate) use self::name::name;
pub use self::open::OpenArgs;
pub use self::sandbox::SandboxArgs;
pub use self::serve::McpServeArgs;
pub use self::setup::{CompletionsArgs, DemoArgs, DoctorArgs, InitArgs, ManArgs};
pub use self::trust::TrustArgs;
pub use self::undo::{AuditArgs, Since, UndoArgs};
pub use self::usage::{UsageArgs, UsageGroup};
pub use self::users::{UsersArgs, UsersCommand};

const EXAMPLES: &str = "\
Examples:
  windlass
  windlass demo
  windlass run \"add a test for the parser\"
  git diff | windlass run \"review this change\"
  windlass sessions list

A run goes on where it was after a crash: type the same line with the same --message-id again,
or `windlass resume`.";

const CHAT_EXAMPLES: &str = "\
Examples:
  windlass
  windlass --continue
  windlass chat --resume notes --allow 'run_command(cargo *)'

Without a terminal each line of standard input is a message, and only answers are printed.";

const RUN_EXAMPLES: &str = "\
Examples:
  windlass run \"what does this project do?\"
  cargo test 2>&1 | windlass run \"why does this fail?\"
  windlass run --allow 'run_command(cargo *)' \"make the tests pass\"
  windlass run --attach photo.png \"what is on this photo?\"
  windlass run --session notes --message-id 42 - < prompt.txt

Piped text follows the prompt as data, in a fenced block. In a loop that reads its own input
(`while read`), give `< /dev/null` so that the loop keeps it.

Exit codes: 0 done, 1 failed, 2 wrong use, 3 turn cap, limit reached or unfinished, 4 cancelled,
5 the store is busy, damaged or gone, 6 waiting for a person.";

const SESSIONS_EXAMPLES: &str = "\
Examples:
  windlass sessions list --search parser
  windlass sessions show notes
  windlass sessions pin notes
  windlass sessions export notes -o notes.jsonl
  windlass sessions verify";

const RESUME_EXAMPLES: &str = "\
Examples:
  windlass resume
  windlass resume notes --answer run-again";

/// The version, with the commit it was built from if that is known.
pub const VERSION: &str = env!("WINDLASS_VERSION");

const FORK_EXAMPLES: &str = "\
Examples:
  windlass fork notes
  windlass fork notes --at 17 --as notes-again
  windlass run --session notes-again \"try it the other way\"

`windlass sessions show` numbers the records.";

/// An agent loop that loses nothing.
#[derive(Debug, Parser)]
#[command(name = "windlass", version = VERSION, after_help = EXAMPLES, disable_help_subcommand = true)]
pub struct Cli {
    /// Where sessions are kept [default: $XDG_DATA_HOME/windlass or ~/.local/share/windlass]
    #[arg(long, global = true, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Write what is done, and how long it takes, to this file; no words of a conversation
    #[arg(long, global = true, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// The command; `None` opens the chat.
    #[command(subcommand)]
    pub command: Option<CliCommand>,
    /// The chat's arguments, for `windlass` without a command.
    #[command(flatten)]
    pub chat: ChatArgs,
}

/// The commands. Clap builds only the typed command (`defer`), because building all takes longer than the rest of the
/// startup up to the settings. A doc comment on the struct of its arguments would then replace the help written here,
/// so those structs have none.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub enum CliCommand {
    /// Talk with the agent; `windlass` alone does the same
    #[command(after_help = CHAT_EXAMPLES)]
    Chat(ChatArgs),
    /// Do one request and print the answer
    #[command(after_help = RUN_EXAMPLES)]
    Run(RunArgs),
    /// Look at, move and check stored sessions; alone, it lists them
    #[command(after_help = SESSIONS_EXAMPLES)]
    Sessions {
        /// What to do with them
        #[command(subcommand)]
        command: Option<SessionsCommand>,
    },
    /// Go on with a run that was cut short or waits for an answer
    #[command(after_help = RESUME_EXAMPLES)]
    Resume(ResumeArgs),
    /// Try a failed run again, on the same history and within the same limits
    Retry(RetryArgs),
    /// Stop the run of a session that is open elsewhere, or was cut short
    #[command(after_help = control::STOP_EXAMPLES)]
    Stop(StopArgs),
    /// Answer what a session asks that is open elsewhere
    #[command(after_help = control::ANSWER_EXAMPLES)]
    Answer(AnswerArgs),
    /// Show a session from its journal and go on as it does, like `tail -f`
    #[command(after_help = control::FOLLOW_EXAMPLES)]
    Follow(FollowArgs),
    /// Begin another session with what one said up to some record
    #[command(after_help = FORK_EXAMPLES)]
    Fork(ForkArgs),
    /// Show a session again as its runs were shown, from the journal
    Replay(ReplayArgs),
    /// Copy all sessions into a folder, while they are written, and verify the copy
    #[command(after_help = backup::EXAMPLES)]
    Backup(BackupArgs),
    /// Add, look at, try and log in to MCP servers
    #[command(after_help = mcp::EXAMPLES)]
    Mcp(McpArgs),
    /// Serve sessions and the page over HTTP
    #[command(after_help = http_serve::EXAMPLES)]
    Serve(ServeArgs),
    /// Say who may use the server besides you, each with a token of their own
    #[command(after_help = users::EXAMPLES)]
    Users(UsersArgs),
    /// Open the page in a browser; starts a server if none runs
    #[command(after_help = open::EXAMPLES)]
    Open(OpenArgs),
    /// Chat in a session of a server, from this terminal
    #[command(after_help = attach::EXAMPLES)]
    Attach(AttachArgs),
    /// Serve the agent and its sessions to other programs, as an MCP server over stdio
    #[command(after_help = serve::SERVE_EXAMPLES)]
    McpServe(McpServeArgs),
    /// Put files back as they were before a call
    #[command(after_help = undo::UNDO_EXAMPLES)]
    Undo(UndoArgs),
    /// Show every call that was asked for, what allowed it and how it came out
    #[command(after_help = undo::AUDIT_EXAMPLES)]
    Audit(AuditArgs),
    /// Show what model calls used and cost, by day, model or session
    #[command(after_help = usage::EXAMPLES)]
    Usage(UsageArgs),
    /// Watch a real job without a model, offline
    #[command(after_help = setup::DEMO_EXAMPLES)]
    Demo(DemoArgs),
    /// Check model, tools, store, disk and terminal, and say what to do
    Doctor(DoctorArgs),
    /// List the models that can be used, and try those of the chain
    #[command(after_help = models::EXAMPLES)]
    Models(ModelsArgs),
    /// Look at what this project's files say, and trust them or not
    #[command(after_help = trust::EXAMPLES)]
    Trust(TrustArgs),
    /// Run a command in the sandbox that the agent's commands run in
    #[command(after_help = sandbox::EXAMPLES)]
    Sandbox(SandboxArgs),
    /// Write a windlass.toml by a few questions
    #[command(after_help = setup::INIT_EXAMPLES)]
    Init(InitArgs),
    /// Print the completions for a shell
    #[command(after_help = setup::COMPLETIONS_EXAMPLES)]
    Completions(CompletionsArgs),
    /// Print the manual page
    Man(ManArgs),
}

// `windlass`, `windlass chat`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct ChatArgs {
    /// Go on with this folder's last session
    #[arg(long = "continue", short = 'c', conflicts_with_all = ["resume", "session"])]
    pub continue_last: bool,
    /// Go on with this session; there must be one
    #[arg(long, short = 'r', value_name = "KEY", value_parser = name, conflicts_with = "session")]
    pub resume: Option<String>,
    /// Go on with this session, or begin it
    #[arg(long, value_name = "KEY", value_parser = name)]
    pub session: Option<String>,
    /// The rules of new runs.
    #[command(flatten)]
    pub rules: RuleFlags,
    /// Flags shared by several commands.
    #[command(flatten)]
    pub common: CommonFlags,
}

// `windlass run`.
#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    /// The request, before text that is piped in; `-`, or nothing with a pipe: standard input is the request
    pub prompt: Option<String>,
    /// Go on with this folder's last session
    #[arg(long = "continue", short = 'c', conflicts_with = "session")]
    pub continue_last: bool,
    /// The conversation to continue or begin
    #[arg(long, value_name = "KEY", value_parser = name)]
    pub session: Option<String>,
    /// Makes it safe to repeat: the same id never adds the message twice
    #[arg(long, value_name = "ID", value_parser = name)]
    pub message_id: Option<String>,
    /// Attach a file: an image, a PDF document or text; may be given several times
    #[arg(long, value_name = "PATH")]
    pub attach: Vec<PathBuf>,
    /// The rules of a new run.
    #[command(flatten)]
    pub rules: RuleFlags,
    /// Flags shared by several commands.
    #[command(flatten)]
    pub common: CommonFlags,
}

// `windlass resume`.
#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// The session [default: the last one of this folder]
    #[arg(value_parser = name)]
    pub key: Option<String>,
    /// Answers the question the run waits with
    #[arg(long, value_name = "ANSWER")]
    pub answer: Option<AnswerChoice>,
    /// Flags shared by several commands.
    #[command(flatten)]
    pub common: CommonFlags,
}

// `windlass retry`.
#[derive(Debug, Args)]
pub struct RetryArgs {
    /// The session [default: the last one of this folder]
    #[arg(value_parser = name)]
    pub key: Option<String>,
    /// The rules of the new run.
    #[command(flatten)]
    pub rules: RuleFlags,
    /// Flags shared by several commands.
    #[command(flatten)]
    pub common: CommonFlags,
}

// `windlass fork`.
#[derive(Debug, Args)]
pub struct ForkArgs {
    /// The session [default: the last one of this folder]
    #[arg(value_parser = name)]
    pub key: Option<String>,
    /// The last record to take over, with all that belongs to it [default: the newest]
    #[arg(long, value_name = "SEQ", value_parser = counts::number)]
    pub at: Option<u64>,
    /// The key of the new session [default: made from the old one]
    #[arg(long = "as", alias = "key", value_name = "KEY", value_parser = name)]
    pub new_key: Option<String>,
}

// `windlass replay`.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The session [default: the last one of this folder]
    #[arg(value_parser = name)]
    pub key: Option<String>,
    /// Take as long as it took, but no pause longer than 5 s
    #[arg(long)]
    pub real_time: bool,
    /// Print one event per line instead of the conversation
    #[arg(long)]
    pub json: bool,
    /// Decide everything again and show the first difference; exit code 0 if there is none
    #[arg(long, conflicts_with_all = ["real_time", "json"])]
    pub check: bool,
}

// `windlass sessions`.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub enum SessionsCommand {
    /// One line per session
    List(SessionListArgs),
    /// List a session before the others
    Pin(SessionKeyArgs),
    /// List a pinned session among the others again
    Unpin(SessionKeyArgs),
    /// Leave a session out of the list, until its next message
    Archive(SessionKeyArgs),
    /// List an archived session again
    Unarchive(SessionKeyArgs),
    /// What was said and done in a session
    Show {
        /// The session
        #[arg(value_parser = name)]
        key: String,
    },
    /// Write a session out as JSON lines
    Export {
        /// The session
        #[arg(value_parser = name)]
        key: String,
        /// Where to [default: standard output]
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Read a session written by `export`
    Import {
        /// The file; `-` reads standard input
        file: PathBuf,
        /// The key it gets here [default: the one it had]
        #[arg(long = "as", alias = "key", value_name = "KEY", value_parser = name)]
        key: Option<String>,
    },
    /// Check that no record was changed or lost
    Verify {
        /// The session [default: all of them]
        #[arg(value_parser = name)]
        key: Option<String>,
    },
    /// Copy what is whole of a session that does not verify into a new one
    Salvage {
        /// The session
        #[arg(value_parser = name)]
        key: String,
        /// The key of the new session [default: made from the old one]
        #[arg(long = "as", value_name = "KEY", value_parser = name)]
        new_key: Option<String>,
    },
    /// Go on without commits that are missing, from what is there
    AcceptLoss,
    /// Delete a session; at a terminal it is asked first
    Rm {
        /// The session
        #[arg(value_parser = name)]
        key: String,
        /// Delete it without asking
        #[arg(long, short)]
        yes: bool,
    },
}

// `windlass sessions list`.
#[derive(Debug, Default, Args)]
pub struct SessionListArgs {
    /// Also those that another session started for a step of its plan
    #[arg(long)]
    pub all: bool,
    /// Also those that are archived
    #[arg(long)]
    pub archived: bool,
    /// Only those with this text in their key, title, last prompt or folder
    #[arg(long, value_name = "TEXT")]
    pub search: Option<String>,
}

// `windlass sessions pin` and the like.
#[derive(Debug, Args)]
pub struct SessionKeyArgs {
    /// The session
    #[arg(value_parser = name)]
    pub key: String,
}

/// Returns the arguments that override the environment and the settings files.
#[must_use]
pub fn flags(data_dir: Option<PathBuf>, rules: &RuleFlags, common: &CommonFlags) -> Flags {
    Flags {
        data_dir,
        model: common.model.clone(),
        base_url: common.base_url.clone(),
        preset: rules.preset.clone(),
        agent: common.agent.clone(),
        session_agent: None,
        system: rules.system.clone(),
        workspace: common.workspace.clone(),
        plan: rules.plan,
        max_turns: rules.max_turns,
        max_cost: rules.max_cost,
        max_run_tokens: rules.max_run_tokens,
        dialects: rules.dialect.clone(),
        mode: common.mode,
        durability: common.durability,
        allow: common.allow.clone(),
        deny: common.deny.clone(),
        sandbox: common.sandbox,
        fetch_private: common.fetch_private.clone(),
        mcp_config: common.mcp_config.clone(),
        tags: rules.tags.clone(),
    }
}

#[cfg(test)]
mod tests;
