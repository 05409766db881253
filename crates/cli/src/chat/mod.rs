//! The chat: a person and an agent, turn by turn.
//!
//! The protocol: a [`Conversation`] is the session that is talked with. At a terminal a [`desk`] has
//! the keyboard and the screen; between runs a line is asked for ([`line`]), and while a run works it
//! is followed ([`follow`]): shown, steered by what is typed, asked about ([`ask`]). Without a
//! terminal each line of standard input is a message ([`plain`]). What a line means is a table
//! ([`slash`]), what it does is in [`performing`].

mod ask;
mod complete;
mod console;
mod conversation;
mod cost;
mod desk;
mod edit;
mod follow;
mod gate;
mod keys;
mod line;
mod pastes;
mod performing;
mod permissions;
mod plain;
mod recap;
mod slash;
mod terminal;
mod title;
mod typed;

use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use windlass_setup::models::shown_name;
use windlass_setup::settings::{Endpoint, Env};
use windlass_tools::ToolServers as _;

pub(crate) use self::conversation::Conversation;
use self::desk::Desk;
use self::follow::{Left, follow};
use self::line::{Line, joined};
use self::performing::Sequel;
pub(crate) use self::plain::{by_lines, is_spoken_to};
use self::recap::recap;
use self::slash::Meaning;
use crate::commands::session;
use crate::error::{CommandError, Done};
use crate::exit::Exit;
use crate::output::wording::loosened;
use crate::output::{harmless_line, quoted, short_line};
use crate::screen::{Glyphs, Look};
use crate::tty;

/// Two Ctrl-C within this time leave, though the first one was for the run.
const TWICE: Duration = Duration::from_secs(2);

/// Said where a chat opens without any model.
const DEMO_BEGINS: &str = "\
No model is configured or found, so a scripted one shows a job.
The loop, the journal, the tools and the files are real; nothing leaves this machine.
";

/// What the terminal can do; `None` where there is none to talk at.
pub(crate) fn look(env: &Env) -> Option<Look> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() || tty::is_dumb(env) {
        return None;
    }
    let (width, height) = tty::size().unwrap_or(tty::USUAL_SIZE);
    Some(Look { width, height, colour: tty::colour(env), glyphs: tty::glyphs(env) })
}

/// Talks at a terminal until the person leaves. `opening` is what they would say first.
pub(crate) async fn at_terminal(mut talk: Conversation, look: Look, opening: Option<&str>) -> Done {
    let place = &talk.job.setup.settings.place;
    let home = talk.job.setup.env.raw("HOME").map(Into::into);
    let mut desk = Desk::take(look, place.workspace.clone(), home, &place.data_dir.value)?;
    let done = match converse(&mut desk, &mut talk, opening).await {
        // Whoever closes the window leaves.
        Err(_) if desk.is_gone() => Ok(Exit::Done),
        done => done,
    };
    let bye = match &done {
        Err(error) if error.is_final() => String::new(),
        Ok(_) | Err(_) => farewell(&mut talk).await,
    };
    talk.close().await;
    talk.job.setup.servers.close().await;
    // A terminal that is gone can't be told anything.
    let _ = desk.end_typing().and_then(|()| desk.console.whisper(&bye));
    done
}

async fn converse(desk: &mut Desk, talk: &mut Conversation, opening: Option<&str>) -> Done {
    // While the person types, servers have time to come up.
    if let Some(servers) = talk.job.setup.servers.servers() {
        servers.wake();
    }
    let banner = banner(talk, desk.console.look()).await?;
    desk.console.whisper(&banner)?;
    let mut left = take_up(desk, talk).await?;
    if let Some(opening) = opening {
        desk.console.print(&format!("{DEMO_BEGINS}\n{}{opening}\n", desk.prompt()))?;
        left = said(desk, talk, opening).await?;
    }
    let mut interrupted: Option<Instant> = None;
    loop {
        match left {
            Left::Chat => return Ok(Exit::Done),
            Left::Stopped => interrupted = Some(Instant::now()),
            Left::Idle => {}
        }
        left = Left::Idle;
        let (prompt, begun) = (desk.prompt(), desk.console.typed.take());
        match desk.line(prompt, begun).await? {
            Line::Ended => return Ok(Exit::Done),
            Line::Interrupted => {
                if interrupted.is_some_and(|before| before.elapsed() < TWICE) {
                    return Ok(Exit::Done);
                }
                interrupted = Some(Instant::now());
                desk.console.whisper("Ctrl-C again leaves\n")?;
            }
            Line::Text(line) => left = said(desk, talk, &joined(&line)).await?,
        }
    }
}

/// A line said between runs.
async fn said(desk: &mut Desk, talk: &mut Conversation, line: &str) -> Result<Left, CommandError> {
    if line.trim().is_empty() {
        return Ok(Left::Idle);
    }
    let whole = desk.pastes.put_back(line);
    desk.keep(&talk.scrubbed(&whole));
    let command = match slash::read(&whole) {
        Meaning::Command(command, _) => command,
        Meaning::Wrong(text) => {
            desk.console.print(&format!("{text}\n"))?;
            return Ok(Left::Idle);
        }
        Meaning::Message(text) => {
            return match talk.say(text).await {
                Ok(_) => followed(desk, talk).await,
                Err(error) => survive(desk, talk, error).await,
            };
        }
    };
    match performing::perform(talk, command).await {
        Ok(sequel) => after(desk, talk, sequel).await,
        Err(error) => survive(desk, talk, error).await,
    }
}

/// What is left of a command to do at the terminal.
async fn after(desk: &mut Desk, talk: &mut Conversation, sequel: Sequel) -> Result<Left, CommandError> {
    match sequel {
        Sequel::Leave => return Ok(Left::Chat),
        Sequel::Follow => return followed(desk, talk).await,
        Sequel::Tell(text) => desk.console.print(&text)?,
        Sequel::TurnThinking => {
            let text = desk.console.turn_thinking();
            desk.console.print(&format!("{text}\n"))?;
        }
        Sequel::Moved(text) => {
            desk.console.print(&text)?;
            return take_up(desk, talk).await;
        }
    }
    Ok(Left::Idle)
}

/// Follows what works in the session.
async fn followed(desk: &mut Desk, talk: &mut Conversation) -> Result<Left, CommandError> {
    match follow(desk, talk).await {
        Ok(left) => Ok(left),
        Err(error) => {
            desk.end_typing()?;
            survive(desk, talk, error).await
        }
    }
}

/// A session that can't be had is said and left; the chat goes on, while there is a store to have others of.
async fn survive(desk: &mut Desk, talk: &mut Conversation, error: CommandError) -> Result<Left, CommandError> {
    if error.is_final() {
        return Err(error);
    }
    talk.close().await;
    desk.console.tell(&error.message)?;
    Ok(Left::Idle)
}

/// Shows what was said before in the session, and goes on with a run that was left.
async fn take_up(desk: &mut Desk, talk: &mut Conversation) -> Result<Left, CommandError> {
    let Some(row) = talk.row().await? else { return Ok(Left::Idle) };
    let before = recap(&talk.records().await?, desk.prompt());
    desk.console.whisper(&before)?;
    let waits = !talk.store.waiting(row.session).await?.is_empty();
    if !session::is_open(&row) && !waits {
        return Ok(Left::Idle);
    }
    match talk.open().await {
        Ok(_) => followed(desk, talk).await,
        Err(error) => survive(desk, talk, error).await,
    }
}

/// Model, folder, session, and what is held less than usual.
async fn banner(talk: &Conversation, look: Look) -> Result<String, CommandError> {
    let dot = match look.glyphs {
        Glyphs::Ascii => "-",
        Glyphs::Unicode => "·",
    };
    let folder = talk.job.setup.settings.place.workspace.display();
    let title = talk.row().await?.and_then(|row| row.title).map(|title| format!(": {title}")).unwrap_or_default();
    let found_at = talk.job.setup.settings.endpoint.as_ref().and_then(Endpoint::found_at);
    let at = found_at.map(|server| format!(" at {server}")).unwrap_or_default();
    let model = shown_name(&talk.model);
    let mut lines = vec![
        format!("Windlass {} {dot} {model}{at} {dot} {folder}", env!("CARGO_PKG_VERSION")),
        format!("session {}{title}", talk.key),
        format!("/help {dot} Ctrl-C stops a run {dot} Ctrl-D leaves"),
    ];
    lines.extend(loosened(&talk.job.setup.settings).into_iter().map(str::to_owned));
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
