//! Follows a run at the terminal: shows its events, passes typed lines on to it, and asks its questions.

use std::io::{self, Write as _};
use std::time::Duration;

use tokio::time::{Interval, MissedTickBehavior, interval};
use windlass::door::FollowError;
use windlass::{Event, Record};
use windlass_runtime::{SendOutcome, SessionActivity};
use windlass_vocab::{MessageId, QuestionAsked};

use super::ask::{self, QuestionOutcome};
use super::chat_session::{ChatSession, MessageSender, SessionNews};
use super::follow_up::CommandFollowUp;
use super::input_splitter::InputPiece;
use super::keys::KeyPress;
use super::mentions::LineAttachments;
use super::pastes::EnteredLine;
use super::slash::{self, ParsedInput, SlashCommand, SlashTiming};
use super::terminal::{Terminal, TerminalInput, TerminalSignal};
use super::typed::KeyEffect;
use crate::error::CommandError;
use crate::interrupts::{self, OnInterrupt};
use crate::output::short_line;
use crate::output::wording::stopped_runs;
use crate::screen::{NEXT_LINE, Screen};

/// How often the live region is repainted.
const FRAME: Duration = Duration::from_millis(50);

/// Characters of a queued message that are printed again when the run takes it up.
const ECHO: usize = 200;

/// How following ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FollowEnd {
    /// No run is open: the person is asked for the next line.
    Idle,
    /// The person stopped the run with Ctrl-C.
    Stopped,
    /// The person leaves the chat; an open run stays open.
    Chat,
}

/// Something that happens while a run works.
enum ChatEvent {
    Input(TerminalInput),
    News(SessionNews),
    Frame,
}

/// Follows until no run is open or the person leaves.
pub(crate) async fn follow(terminal: &mut Terminal, talk: &mut impl ChatSession) -> Result<FollowEnd, CommandError> {
    let _interrupts = interrupts::set_action(OnInterrupt::ChatHandles(talk.stopped_when_blocked()));
    terminal.begin_typing()?;
    let end = follow_until_idle(terminal, talk).await?;
    terminal.end_typing()?;
    Ok(end)
}

async fn follow_until_idle(terminal: &mut Terminal, talk: &mut impl ChatSession) -> Result<FollowEnd, CommandError> {
    let mut end = FollowEnd::Idle;
    let mut frames = interval(FRAME);
    frames.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        match next(terminal, talk, &mut frames).await {
            ChatEvent::News(SessionNews::Event(event)) => show(terminal, talk, event).await?,
            ChatEvent::News(SessionNews::Failed(error)) => return Err(error),
            ChatEvent::News(SessionNews::Notice(text)) => terminal.console.print_wrapped(&text)?,
            ChatEvent::Frame => {
                print_news(terminal, talk)?;
                let now = talk.now();
                terminal.console.show(|screen| screen.tick(now))?;
            }
            ChatEvent::News(SessionNews::Settled(activity)) => match activity {
                SessionActivity::Idle | SessionActivity::Working => return Ok(end),
                SessionActivity::Closed(why) => return Err(FollowError::from(why).into()),
                SessionActivity::Waiting(questions) => match ask_all(terminal, talk, &questions).await? {
                    QuestionOutcome::Answered => {}
                    QuestionOutcome::Stopped => end = FollowEnd::Stopped,
                    QuestionOutcome::Left => return Ok(FollowEnd::Chat),
                },
            },
            ChatEvent::Input(input) => match take_input(terminal, talk, input, end).await? {
                FollowEnd::Chat => return Ok(FollowEnd::Chat),
                still @ (FollowEnd::Idle | FollowEnd::Stopped) => end = still,
            },
        }
    }
}

/// Waits for the next event. Session events come before `Settled`, so that all of them are shown.
async fn next(terminal: &mut Terminal, talk: &mut impl ChatSession, frames: &mut Interval) -> ChatEvent {
    tokio::select! {
        biased;
        input = terminal.next_input() => ChatEvent::Input(input),
        news = talk.next() => ChatEvent::News(news),
        _ = frames.tick() => ChatEvent::Frame,
    }
}

/// Prints the notices of the MCP servers.
pub(crate) fn print_news(terminal: &mut Terminal, talk: &mut impl ChatSession) -> Result<(), CommandError> {
    for news in talk.server_news() {
        terminal.console.print_wrapped(&news)?;
    }
    Ok(())
}

/// Shows an event and all further events already received, in one write.
async fn show(terminal: &mut Terminal, talk: &mut impl ChatSession, first: Event) -> Result<(), CommandError> {
    let now = talk.now();
    let mut events = vec![first];
    while let Some(event) = talk.try_next() {
        events.push(event);
    }
    let calls = if events.iter().any(goes_on) { talk.calls_of_last_run().await? } else { Vec::new() };
    let others: Vec<MessageId> = events.iter().filter_map(|event| from_elsewhere(talk, event)).collect();
    let above = [terminal.queued.as_slice(), &others].concat();
    let known = PaintContext { prompt: terminal.prompt(), repeated: &above, calls: &calls };
    Ok(terminal.console.show(|screen| events.iter().try_for_each(|event| paint(screen, event, now, &known)))?)
}

fn goes_on(event: &Event) -> bool {
    matches!(event, Event::Record(envelope) if matches!(envelope.record, Record::RunResumed(_)))
}

/// Returns the id of a message that somebody else sent.
fn from_elsewhere(talk: &impl ChatSession, event: &Event) -> Option<MessageId> {
    let Event::Record(envelope) = event else { return None };
    match &envelope.record {
        Record::MessageAccepted(message) if talk.sender(&message.message_id) == MessageSender::Elsewhere => {
            Some(message.message_id.clone())
        }
        _ => None,
    }
}

/// Facts needed to paint an event that the event does not contain.
struct PaintContext<'a> {
    prompt: &'a str,
    /// Messages that are not typed right above: those that were queued, and those of others.
    repeated: &'a [MessageId],
    /// The calls that a resumed run had requested before, and the questions about them.
    calls: &'a [Record],
}

fn paint(screen: &mut Screen<Vec<u8>>, event: &Event, now: u64, known: &PaintContext<'_>) -> io::Result<()> {
    let Event::Record(envelope) = event else { return screen.event(event, now) };
    match &envelope.record {
        Record::MessageAccepted(message) => {
            // A message taken up at once was typed right above; a queued one is printed again above its answer.
            if known.repeated.contains(&message.message_id) {
                screen.pause()?;
                write!(screen.out(), "{}{}{NEXT_LINE}", known.prompt, short_line(&message.text, ECHO))?;
            }
            Ok(())
        }
        Record::RunResumed(_) => {
            screen.event(event, now)?;
            known.calls.iter().for_each(|call| screen.recall(call));
            Ok(())
        }
        Record::RunEnded(ended) => {
            screen.event(event, now)?;
            screen.ended(ended)
        }
        _ => screen.event(event, now),
    }
}

async fn ask_all(
    terminal: &mut Terminal,
    talk: &mut impl ChatSession,
    questions: &[QuestionAsked],
) -> Result<QuestionOutcome, CommandError> {
    for asked in questions {
        match ask::ask(terminal, talk, asked).await? {
            QuestionOutcome::Answered => {}
            asked @ (QuestionOutcome::Stopped | QuestionOutcome::Left) => return Ok(asked),
        }
    }
    Ok(QuestionOutcome::Answered)
}

async fn take_input(
    terminal: &mut Terminal,
    talk: &mut impl ChatSession,
    input: TerminalInput,
    mut end: FollowEnd,
) -> Result<FollowEnd, CommandError> {
    match input {
        TerminalInput::Signal(TerminalSignal::End) => return Ok(FollowEnd::Chat),
        TerminalInput::Signal(TerminalSignal::Resized) => terminal.resize()?,
        TerminalInput::Signal(TerminalSignal::Interrupt) => return stop_or_leave(terminal, talk, end).await,
        TerminalInput::Typed(pieces) => {
            for piece in pieces {
                match piece {
                    InputPiece::Keys(bytes) => {
                        for key in terminal.keys.read(&bytes) {
                            end = take_key(terminal, talk, key, end).await?;
                            if end == FollowEnd::Chat {
                                return Ok(end);
                            }
                        }
                    }
                    InputPiece::Paste(text) => {
                        let shown = terminal.pastes.take(&text);
                        terminal.console.typed.insert(&shown);
                    }
                    InputPiece::Suspend => terminal.suspend()?,
                }
            }
            terminal.console.refresh()?;
        }
    }
    Ok(end)
}

/// Handles Ctrl-C: the first stops the run and tells which messages that drops, the second leaves the chat.
async fn stop_or_leave(
    terminal: &mut Terminal,
    talk: &mut impl ChatSession,
    end: FollowEnd,
) -> Result<FollowEnd, CommandError> {
    if end == FollowEnd::Stopped {
        return Ok(FollowEnd::Chat);
    }
    let stopped = talk.stop().await?;
    if stopped.dropped > 0 {
        terminal.console.print_dimmed(&format!("{}\n", stopped_runs(stopped.runs, stopped.dropped)))?;
    }
    Ok(FollowEnd::Stopped)
}

async fn take_key(
    terminal: &mut Terminal,
    talk: &mut impl ChatSession,
    key: KeyPress,
    end: FollowEnd,
) -> Result<FollowEnd, CommandError> {
    match terminal.console.typed.press(key) {
        KeyEffect::Edited => Ok(end),
        KeyEffect::Interrupt => stop_or_leave(terminal, talk, end).await,
        KeyEffect::Leave => Ok(FollowEnd::Chat),
        KeyEffect::Entered(line) if line.trim().is_empty() => Ok(end),
        KeyEffect::Entered(line) => take_line(terminal, talk, line, end).await,
    }
}

/// Handles a line typed while a run works: a slash command for the chat, or a message for the run.
async fn take_line(
    terminal: &mut Terminal,
    talk: &mut impl ChatSession,
    line: String,
    end: FollowEnd,
) -> Result<FollowEnd, CommandError> {
    let echo = format!("{}{line}\n", terminal.console.prompt);
    terminal.console.print(&echo)?;
    let EnteredLine { whole, pasted } = terminal.pastes.entered(&line);
    terminal.keep(&talk.scrubbed(&whole));
    let text = match slash::read(&whole) {
        ParsedInput::Command(SlashCommand::Quit, _) => return Ok(FollowEnd::Chat),
        ParsedInput::Command(_, SlashTiming::Idle) => "not while a run works; /stop stops it\n".to_owned(),
        ParsedInput::Command(command, SlashTiming::Always) => match talk.perform(command).await? {
            CommandFollowUp::Tell(text) | CommandFollowUp::Moved(text) => text,
            CommandFollowUp::TurnThinking => format!("{}\n", terminal.console.turn_thinking()),
            CommandFollowUp::Follow | CommandFollowUp::Leave => String::new(),
        },
        ParsedInput::Invalid(text) => format!("{text}\n"),
        ParsedInput::Message(text) => {
            let asked = talk.attaching(&line, pasted);
            for document in asked.documents() {
                terminal.console.print_dimmed(&format!("reading {document}\n"))?;
            }
            match talk.attach(asked).await {
                Ok(attached) => {
                    let lines = attached.lines();
                    lines + send(terminal, talk, text, attached).await?
                }
                Err(refused) => format!("{refused}\n"),
            }
        }
    };
    terminal.console.print_dimmed(&text)?;
    Ok(end)
}

/// Sends a message to the run; returns what becomes of it.
async fn send(
    terminal: &mut Terminal,
    talk: &mut impl ChatSession,
    text: String,
    attached: LineAttachments,
) -> Result<&'static str, CommandError> {
    Ok(match talk.send(text, attached).await? {
        (SendOutcome::TakenUp(_) | SendOutcome::Known(_), _) => "the model reads this at its next step\n",
        (SendOutcome::Queued, id) => {
            terminal.queued.push(id);
            "this waits until the run is done (/stop drops it)\n"
        }
    })
}
