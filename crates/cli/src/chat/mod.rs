//! The chat: a person and an agent, turn by turn.
//!
//! The protocol: a [`Conversation`] is the session that is talked with. At a terminal a [`terminal`] has
//! the keyboard and the screen; between runs a line is asked for ([`line`]), and while a run works it
//! is followed ([`follow`]): shown, steered by what is typed, asked about ([`ask`]). Without a
//! terminal each line of standard input is a message ([`plain`]). What a line means is a table
//! ([`slash`]), what it does is in [`performing`].

mod ask;
mod complete;
mod console;
mod conversation;
mod cost;
mod edit;
mod follow;
mod input_splitter;
mod keys;
mod line;
mod pastes;
mod performing;
mod permissions;
mod plain;
mod raw_terminal;
mod recap;
mod slash;
mod terminal;
mod title;
mod typed;

use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use windlass_setup::models::display_name;
use windlass_setup::settings::{Env, ModelEndpoint};
use windlass_tools::ToolServers as _;

pub(crate) use self::conversation::Conversation;
use self::follow::{FollowEnd, follow};
use self::line::{PromptLine, joined};
use self::performing::CommandFollowUp;
pub(crate) use self::plain::{by_lines, has_input};
use self::recap::recap;
use self::slash::Meaning;
use self::terminal::Terminal;
use crate::commands::session;
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::output::wording::loosened;
use crate::output::{harmless_line, quoted, short_line};
use crate::screen::{Glyphs, TerminalLook};
use crate::tty;

/// Two Ctrl-C within this time leave, though the first one was for the run.
const TWICE: Duration = Duration::from_secs(2);

/// Said where a chat opens without any model.
const DEMO_BEGINS: &str = "\
No model is configured or found, so a scripted one shows a job.
The loop, the journal, the tools and the files are real; nothing leaves this machine.
";

/// What the terminal can do; `None` where there is none to talk at.
pub(crate) fn look(env: &Env) -> Option<TerminalLook> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() || tty::is_dumb(env) {
        return None;
    }
    let (width, height) = tty::size().unwrap_or(tty::USUAL_SIZE);
    Some(TerminalLook { width, height, colour: tty::colour(env), glyphs: tty::glyphs(env) })
}

/// Talks at a terminal until the person leaves. `opening` is what they would say first.
pub(crate) async fn at_terminal(mut talk: Conversation, look: TerminalLook, opening: Option<&str>) -> CommandResult {
    let place = &talk.prepared_run.setup.settings.place;
    let home = talk.prepared_run.setup.env.raw("HOME").map(Into::into);
    let mut terminal = Terminal::take(look, place.workspace.clone(), home, &place.data_dir.value)?;
    let done = match converse(&mut terminal, &mut talk, opening).await {
        // Whoever closes the window leaves.
        Err(_) if terminal.is_gone() => Ok(Exit::Done),
        done => done,
    };
    let bye = match &done {
        Err(error) if error.is_final() => String::new(),
        Ok(_) | Err(_) => farewell(&mut talk).await,
    };
    talk.close().await;
    talk.prepared_run.setup.servers.close().await;
    // A terminal that is gone can't be told anything.
    let _ = terminal.end_typing().and_then(|()| terminal.console.print_dimmed(&bye));
    done
}

async fn converse(terminal: &mut Terminal, talk: &mut Conversation, opening: Option<&str>) -> CommandResult {
    // While the person types, servers have time to come up.
    if let Some(servers) = talk.prepared_run.setup.servers.servers() {
        servers.wake();
    }
    let banner = banner(talk, terminal.console.look()).await?;
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

/// A line said between runs.
async fn take_line(terminal: &mut Terminal, talk: &mut Conversation, line: &str) -> Result<FollowEnd, CommandError> {
    if line.trim().is_empty() {
        return Ok(FollowEnd::Idle);
    }
    let whole = terminal.pastes.put_back(line);
    terminal.keep(&talk.scrubbed(&whole));
    let command = match slash::read(&whole) {
        Meaning::Command(command, _) => command,
        Meaning::Wrong(text) => {
            terminal.console.print(&format!("{text}\n"))?;
            return Ok(FollowEnd::Idle);
        }
        Meaning::Message(text) => {
            return match talk.send_message(text).await {
                Ok(_) => follow_run(terminal, talk).await,
                Err(error) => survive(terminal, talk, error).await,
            };
        }
    };
    match performing::perform(talk, command).await {
        Ok(follow_up) => after(terminal, talk, follow_up).await,
        Err(error) => survive(terminal, talk, error).await,
    }
}

/// What is left of a command to do at the terminal.
async fn after(
    terminal: &mut Terminal,
    talk: &mut Conversation,
    follow_up: CommandFollowUp,
) -> Result<FollowEnd, CommandError> {
    match follow_up {
        CommandFollowUp::Leave => return Ok(FollowEnd::Chat),
        CommandFollowUp::Follow => return follow_run(terminal, talk).await,
        CommandFollowUp::Tell(text) => terminal.console.print(&text)?,
        CommandFollowUp::TurnThinking => {
            let text = terminal.console.turn_thinking();
            terminal.console.print(&format!("{text}\n"))?;
        }
        CommandFollowUp::Moved(text) => {
            terminal.console.print(&text)?;
            return take_up(terminal, talk).await;
        }
    }
    Ok(FollowEnd::Idle)
}

/// Follows what works in the session.
async fn follow_run(terminal: &mut Terminal, talk: &mut Conversation) -> Result<FollowEnd, CommandError> {
    match follow(terminal, talk).await {
        Ok(end) => Ok(end),
        Err(error) => {
            terminal.end_typing()?;
            survive(terminal, talk, error).await
        }
    }
}

/// A session that can't be had is said and left; the chat goes on, while there is a store to have others of.
async fn survive(
    terminal: &mut Terminal,
    talk: &mut Conversation,
    error: CommandError,
) -> Result<FollowEnd, CommandError> {
    if error.is_final() {
        return Err(error);
    }
    talk.close().await;
    terminal.console.tell(&error.message)?;
    Ok(FollowEnd::Idle)
}

/// Shows what was said before in the session, and goes on with a run that was left.
async fn take_up(terminal: &mut Terminal, talk: &mut Conversation) -> Result<FollowEnd, CommandError> {
    let Some(row) = talk.row().await? else { return Ok(FollowEnd::Idle) };
    let before = recap(&talk.records().await?, terminal.prompt());
    terminal.console.print_dimmed(&before)?;
    let waits = !talk.store.waiting(row.session).await?.is_empty();
    if !session::is_open(&row) && !waits {
        return Ok(FollowEnd::Idle);
    }
    match talk.open().await {
        Ok(_) => follow_run(terminal, talk).await,
        Err(error) => survive(terminal, talk, error).await,
    }
}

/// Model, folder, session, and what is held less than usual.
async fn banner(talk: &Conversation, look: TerminalLook) -> Result<String, CommandError> {
    let dot = match look.glyphs {
        Glyphs::Ascii => "-",
        Glyphs::Unicode => "·",
    };
    let folder = talk.prepared_run.setup.settings.place.workspace.display();
    let title = talk.row().await?.and_then(|row| row.title).map(|title| format!(": {title}")).unwrap_or_default();
    let found_at = talk.prepared_run.setup.settings.endpoint.as_ref().and_then(ModelEndpoint::found_at);
    let at = found_at.map(|server| format!(" at {server}")).unwrap_or_default();
    let model = display_name(&talk.model);
    let mut lines = vec![
        format!("Windlass {} {dot} {model}{at} {dot} {folder}", env!("CARGO_PKG_VERSION")),
        format!("session {}{title}", talk.key),
        format!("/help {dot} Ctrl-C stops a run {dot} Ctrl-D leaves"),
    ];
    lines.extend(loosened(&talk.prepared_run.setup.settings).into_iter().map(str::to_owned));
    Ok(lines.iter().map(|line| format!("{}\n", short_line(line, look.width.saturating_sub(1)))).collect())
}

/// How to come back.
async fn farewell(talk: &mut Conversation) -> String {
    let Ok(Some(row)) = talk.row().await else { return String::new() };
    let key = quoted(&harmless_line(&row.key));
    if session::is_open(&row) {
        format!("The run stays as it is; `windlass --resume {key}` goes on with it.\n")
    } else {
        format!("`windlass --resume {key}` takes this session up again.\n")
    }
}
