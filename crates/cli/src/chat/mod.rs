//! The chat between a person and an agent.
//!
//! The protocol: a [`ChatSession`] is the session of the chat, a [`Conversation`] of this process or one of a server. At a
//! terminal, [`terminal`] owns the keyboard and the screen; between runs the line editor reads a line ([`line`]), and while
//! a run works the chat follows it ([`follow`]): shows it, passes typed lines on to it and asks its questions ([`ask`]).
//! Without a terminal each line of standard input is a message ([`plain`]). A table defines the slash commands
//! ([`slash`]); [`performing`] executes them.

mod ask;
mod cache_line;
pub(crate) mod chat_session;
mod complete;
mod console;
pub(crate) mod context;
mod conversation;
pub(crate) mod cost;
mod edit;
mod follow;
pub(crate) mod follow_up;
mod input_splitter;
mod keys;
mod line;
mod local_session;
pub(crate) mod mentions;
mod models;
mod pastes;
mod performing;
pub(crate) mod permissions;
mod plain;
mod raw_terminal;
mod recap;
pub(crate) mod slash;
mod terminal;
pub(crate) mod title;
mod typed;

use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use windlass_setup::settings::Env;

use self::chat_session::{ChatSession, OpenWork};
pub(crate) use self::conversation::Conversation;
use self::follow::{FollowEnd, follow};
use self::follow_up::CommandFollowUp;
use self::line::{PromptLine, joined};
pub(crate) use self::local_session::requested;
use self::pastes::EnteredLine;
pub(crate) use self::plain::{by_lines, has_input};
use self::recap::recap;
use self::slash::ParsedInput;
use self::terminal::Terminal;
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::interrupts::{self, OnInterrupt};
use crate::screen::TerminalLook;
use crate::tty;

/// Two presses of Ctrl-C within this time leave the chat, even if the first one stopped a run.
const TWICE: Duration = Duration::from_secs(2);

/// Printed when a chat opens without any model.
const DEMO_BEGINS: &str = "\
No model is configured or found, so a scripted one shows a job.
The loop, the journal, the tools and the files are real; nothing leaves this machine.
";

/// Returns the terminal's capabilities; `None` if there is no usable terminal.
pub(crate) fn look(env: &Env) -> Option<TerminalLook> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() || tty::is_dumb(env) {
        return None;
    }
    let (width, height) = tty::size().unwrap_or(tty::USUAL_SIZE);
    Some(TerminalLook { width, height, colour: tty::colour(env), glyphs: tty::glyphs(env) })
}

/// Runs the chat at a terminal until the person leaves. `opening` is the suggested first message.
pub(crate) async fn at_terminal(
    mut talk: impl ChatSession,
    look: TerminalLook,
    opening: Option<&str>,
) -> CommandResult {
    let home = talk.env().raw("HOME").map(Into::into);
    let mut terminal = Terminal::take(look, talk.workspace().to_path_buf(), home, talk.data_dir())?;
    let _interrupts = interrupts::set_action(OnInterrupt::ChatHandles(None));
    interrupts::end_on_terminate();
    let done = match converse(&mut terminal, &mut talk, opening).await {
        // Closing the window leaves the chat.
        Err(_) if terminal.is_gone() => Ok(Exit::Done),
        done => done,
    };
    let bye = match &done {
        Err(error) if error.is_final() => String::new(),
        Ok(_) | Err(_) => talk.farewell().await,
    };
    talk.leave().await;
    // Nothing can be printed on a closed terminal.
    let _ = terminal.end_typing().and_then(|()| terminal.console.print_dimmed(&bye));
    done
}

async fn converse(terminal: &mut Terminal, talk: &mut impl ChatSession, opening: Option<&str>) -> CommandResult {
    talk.warm_up();
    let banner = talk.banner(terminal.console.look()).await?;
    terminal.console.print_dimmed(&banner)?;
    let mut end = take_up(terminal, talk).await?;
    if let Some(opening) = opening {
        terminal.console.print(&format!("{DEMO_BEGINS}\n{}{opening}\n", terminal.prompt()))?;
        end = take_line(terminal, talk, opening).await?;
    }
    let mut interrupted: Option<Instant> = None;
    loop {
        match end {
            FollowEnd::Chat => return Ok(Exit::Done),
            FollowEnd::Stopped => interrupted = Some(Instant::now()),
            FollowEnd::Idle => {}
        }
        end = FollowEnd::Idle;
        let (prompt, begun) = (terminal.prompt(), terminal.console.typed.take());
        match terminal.line(prompt, begun).await? {
            PromptLine::Ended => return Ok(Exit::Done),
            PromptLine::Interrupted => {
                if interrupted.is_some_and(|before| before.elapsed() < TWICE) {
                    return Ok(Exit::Done);
                }
                interrupted = Some(Instant::now());
                terminal.console.print_dimmed("Ctrl-C again leaves\n")?;
            }
            PromptLine::Text(line) => end = take_line(terminal, talk, &joined(&line)).await?,
        }
    }
}

/// Handles a line entered between runs.
async fn take_line(
    terminal: &mut Terminal,
    talk: &mut impl ChatSession,
    line: &str,
) -> Result<FollowEnd, CommandError> {
    if line.trim().is_empty() {
        return Ok(FollowEnd::Idle);
    }
    let EnteredLine { whole, pasted } = terminal.pastes.entered(line);
    terminal.keep(&talk.scrubbed(&whole));
    let command = match slash::read(&whole) {
        ParsedInput::Command(command, _) => command,
        ParsedInput::Invalid(text) => {
            terminal.console.print_lines(&text)?;
            return Ok(FollowEnd::Idle);
        }
        ParsedInput::Message(text) => {
            let asked = talk.attaching(line, pasted);
            for document in asked.documents() {
                terminal.console.print_dimmed(&format!("reading {document}\n"))?;
            }
            let attached = match talk.attach(asked).await {
                Ok(attached) => {
                    let lines = attached.lines();
                    if !lines.is_empty() {
                        terminal.console.print_dimmed(&lines)?;
                    }
                    attached
                }
                Err(refused) => {
                    terminal.console.print_wrapped(&refused)?;
                    return Ok(FollowEnd::Idle);
                }
            };
            return match talk.send(text, attached).await {
                Ok(_) => follow_run(terminal, talk).await,
                Err(error) => survive(terminal, talk, error).await,
            };
        }
    };
    match talk.perform(command).await {
        Ok(follow_up) => after(terminal, talk, follow_up).await,
        Err(error) => survive(terminal, talk, error).await,
    }
}

/// Does the part of a command that needs the terminal.
async fn after(
    terminal: &mut Terminal,
    talk: &mut impl ChatSession,
    follow_up: CommandFollowUp,
) -> Result<FollowEnd, CommandError> {
    match follow_up {
        CommandFollowUp::Leave => return Ok(FollowEnd::Chat),
        CommandFollowUp::Follow => return follow_run(terminal, talk).await,
        CommandFollowUp::Tell(text) => terminal.console.print_lines(&text)?,
        CommandFollowUp::TurnThinking => {
            let text = terminal.console.turn_thinking();
            terminal.console.print(&format!("{text}\n"))?;
        }
        CommandFollowUp::Moved(text) => {
            terminal.console.print_lines(&text)?;
            return take_up(terminal, talk).await;
        }
    }
    Ok(FollowEnd::Idle)
}

/// Follows the session's run.
async fn follow_run(terminal: &mut Terminal, talk: &mut impl ChatSession) -> Result<FollowEnd, CommandError> {
    match follow(terminal, talk).await {
        Ok(end) => Ok(end),
        Err(error) => {
            terminal.end_typing()?;
            survive(terminal, talk, error).await
        }
    }
}

/// Reports a session that can't be opened and closes it; the chat continues unless the error concerns the whole store.
async fn survive(
    terminal: &mut Terminal,
    talk: &mut impl ChatSession,
    error: CommandError,
) -> Result<FollowEnd, CommandError> {
    if error.is_final() {
        return Err(error);
    }
    talk.close().await;
    terminal.console.print_wrapped(&error.message)?;
    Ok(FollowEnd::Idle)
}

/// Shows the last messages of the session, and continues a run that was left open.
async fn take_up(terminal: &mut Terminal, talk: &mut impl ChatSession) -> Result<FollowEnd, CommandError> {
    let Some(session) = talk.take_up().await? else { return Ok(FollowEnd::Idle) };
    let before = recap(&session.records, terminal.prompt(), terminal.console.look());
    terminal.console.print(&before)?;
    if session.open == OpenWork::None {
        return Ok(FollowEnd::Idle);
    }
    match talk.open_work().await {
        Ok(()) => follow_run(terminal, talk).await,
        Err(error) => survive(terminal, talk, error).await,
    }
}
