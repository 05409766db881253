//! The chat without a terminal: each line of standard input is a message, its answer goes unstyled to standard output,
//! and the exit code is that of the last run.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use windlass::door::AwaitedEnd;
use windlass_tools::ToolServers as _;
use windlass_vocab::RunId;

use super::conversation::Conversation;
use super::follow_up::CommandFollowUp;
use super::performing;
use super::slash::{self, ParsedInput};
use crate::commands::follow;
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::interrupts::{self, OnInterrupt};
use crate::prompt::{LONGEST, PromptError};
use crate::streams::{StandardStream, print_notice};

/// Runs the chat line by line until standard input ends.
pub(crate) async fn by_lines(mut talk: Conversation) -> CommandResult {
    let done = converse(&mut talk).await;
    talk.close().await;
    talk.prepared_run.setup.servers.close().await;
    done
}

async fn converse(talk: &mut Conversation) -> CommandResult {
    let mut exit = None;
    if let Some(servers) = talk.prepared_run.setup.servers.servers() {
        servers.wake();
    }
    if let Some(row) = talk.row().await?
        && row.status.is_open()
    {
        talk.open().await?;
        exit = Some(follow_run(talk, AwaitedEnd::Run(RunId(row.runs))).await?);
    }
    loop {
        let _leaves = interrupts::set_action(OnInterrupt::CommandEnds(Exit::Cancelled));
        let line = tokio::select! {
            biased;
            line = next_line() => line?,
            // A run handles Ctrl-C itself; between runs Ctrl-C leaves the chat.
            _ = tokio::signal::ctrl_c() => return Ok(exit.unwrap_or(Exit::Cancelled)),
        };
        let Some(line) = line else { break };
        if line.trim().is_empty() {
            continue;
        }
        exit = match take_line(talk, &line).await? {
            LineOutcome::RunEnded(heard) => Some(heard),
            LineOutcome::Answered => exit.or(Some(Exit::Done)),
            LineOutcome::Leave => return Ok(exit.unwrap_or(Exit::Done)),
        };
    }
    match (exit, io::stdin().is_terminal()) {
        (Some(exit), _) => Ok(exit),
        (None, true) => Ok(Exit::Done),
        (None, false) => Err(PromptError::Empty.into()),
    }
}

/// The result of a line.
enum LineOutcome {
    /// A run ended with this exit code.
    RunEnded(Exit),
    /// The chat itself handled the line.
    Answered,
    Leave,
}

async fn take_line(talk: &mut Conversation, line: &str) -> Result<LineOutcome, CommandError> {
    let command = match slash::read(line) {
        ParsedInput::Message(text) => {
            let (sent, id) = talk.send_message(text).await?;
            return Ok(LineOutcome::RunEnded(follow_run(talk, AwaitedEnd::after(sent, id)).await?));
        }
        // A person can type the line again; a script can't, and its next lines may depend on this one.
        ParsedInput::Invalid(text) if io::stdin().is_terminal() => {
            print_notice(&text);
            return Ok(LineOutcome::Answered);
        }
        ParsedInput::Invalid(text) => return Err(CommandError::new(Exit::Usage, text)),
        ParsedInput::Command(command, _) => command,
    };
    match performing::perform(talk, command).await? {
        CommandFollowUp::Tell(text) | CommandFollowUp::Moved(text) => {
            // If standard error is closed, nobody reads the text.
            let _ = StandardStream::Error.write_all(text.as_bytes());
            Ok(LineOutcome::Answered)
        }
        CommandFollowUp::TurnThinking => Ok(LineOutcome::Answered),
        CommandFollowUp::Leave => Ok(LineOutcome::Leave),
        CommandFollowUp::Follow => {
            let run = RunId(talk.row().await?.map_or(1, |row| row.runs));
            Ok(LineOutcome::RunEnded(follow_run(talk, AwaitedEnd::Run(run)).await?))
        }
    }
}

/// Follows a run as `windlass run` does.
async fn follow_run(talk: &mut Conversation, awaited: AwaitedEnd) -> CommandResult {
    let (prepared_run, agent, live) = talk.parts();
    let Some(live) = live else { return Ok(Exit::Done) };
    follow::follow(prepared_run, agent, &live.session, &mut live.events, awaited).await
}

/// Whether standard input has a line. Does not wait for a keyboard.
pub(crate) async fn has_input() -> Result<bool, CommandError> {
    Ok(!io::stdin().is_terminal() && next_line().await?.is_some())
}

/// Returns the next line of standard input, without its line break; `None` at the end of input.
async fn next_line() -> Result<Option<String>, CommandError> {
    let read = tokio::task::spawn_blocking(read_line).await;
    Ok(read.unwrap_or_else(|error| Err(PromptError::Unreadable(io::Error::other(error))))?)
}

fn read_line() -> Result<Option<String>, PromptError> {
    if io::stdin().is_terminal() {
        // If standard error is closed, nobody reads the prompt.
        let _ = StandardStream::Error.write_all(b"> ");
    }
    let mut bytes = Vec::new();
    let mut input = io::Read::take(io::stdin().lock(), LONGEST as u64 + 1);
    input.read_until(b'\n', &mut bytes)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    if bytes.len() > LONGEST {
        return Err(PromptError::TooLong);
    }
    let text =
        String::from_utf8(bytes).map_err(|error| PromptError::NotUtf8 { offset: error.utf8_error().valid_up_to() })?;
    Ok(Some(text.trim_end_matches(['\n', '\r']).to_owned()))
}
