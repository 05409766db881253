//! Following a run at the terminal: it is shown as it goes, what is typed steers it, what only a
//! person can answer is asked.

use std::io::{self, Write as _};
use std::time::Duration;

use tokio::time::{Interval, MissedTickBehavior, interval};
use windlass::door::FollowError;
use windlass::{Event, Record};
use windlass_runtime::{Sent, Standing};
use windlass_vocab::{CallRequested, MessageId, QuestionAsked};

use super::ask::{self, Asked};
use super::conversation::Conversation;
use super::desk::{Desk, Sign, Touch};
use super::gate::Piece;
use super::keys::Key;
use super::performing::{self, Sequel};
use super::slash::{self, Meaning, Slash, When};
use super::typed::Pressed;
use crate::commands::recall;
use crate::consent::wording;
use crate::error::CommandError;
use crate::output::{harmless_line, short_line};
use crate::screen::{NEXT_LINE, Screen};

/// How often what moves is painted anew.
const FRAME: Duration = Duration::from_millis(50);

/// Characters of a message that waited, said again when its turn comes.
const ECHO: usize = 200;

/// Where following ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// No run is open: the person is asked for a line.
    Idle,
    /// The person stopped the run with Ctrl-C.
    Stopped,
    /// The person leaves; what is open stays open.
    Chat,
}

/// What happened while a run worked.
enum Happened {
    Touched(Touch),
    Event(Event),
    Settled(Standing),
    Frame,
}

/// Follows until no run is open or the person leaves.
pub(crate) async fn follow(desk: &mut Desk, talk: &mut Conversation) -> Result<Left, CommandError> {
    desk.begin_typing()?;
    let left = go_round(desk, talk).await?;
    desk.end_typing()?;
    Ok(left)
}

async fn go_round(desk: &mut Desk, talk: &mut Conversation) -> Result<Left, CommandError> {
    let mut left = Left::Idle;
    let mut frames = interval(FRAME);
    frames.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        match next(desk, talk, &mut frames).await {
            Happened::Event(event) => show(desk, talk, event).await?,
            Happened::Frame => {
                tell_news(desk, talk)?;
                let now = now(talk);
                desk.console.show(|screen| screen.tick(now))?;
            }
            Happened::Settled(Standing::Idle | Standing::Working) => return Ok(left),
            Happened::Settled(Standing::Closed(why)) => return Err(FollowError::from(why).into()),
            Happened::Settled(Standing::Waiting(questions)) => match ask_all(desk, talk, &questions).await? {
                Asked::Answered => {}
                Asked::Stopped => left = Left::Stopped,
                Asked::Left => return Ok(Left::Chat),
            },
            Happened::Touched(touch) => match touched(desk, talk, touch, left).await? {
                Left::Chat => return Ok(Left::Chat),
                still @ (Left::Idle | Left::Stopped) => left = still,
            },
        }
    }
}

/// What happens next. Events come before the news that nothing works any more, so that all are shown.
async fn next(desk: &mut Desk, talk: &mut Conversation, frames: &mut Interval) -> Happened {
    let Some(live) = talk.live() else { return Happened::Settled(Standing::Idle) };
    tokio::select! {
        biased;
        touch = desk.touched() => Happened::Touched(touch),
        Some(event) = live.events.next() => Happened::Event(event),
        standing = live.session.settled() => Happened::Settled(standing),
        _ = frames.tick() => Happened::Frame,
    }
}

/// What the MCP servers have to tell.
pub(crate) fn tell_news(desk: &mut Desk, talk: &Conversation) -> Result<(), CommandError> {
    for news in talk.job.setup.servers.news() {
        desk.console.tell(&harmless_line(&wording(&news)))?;
    }
    Ok(())
}

fn now(talk: &Conversation) -> u64 {
    u64::try_from(talk.agent().hub().now().0).unwrap_or(0)
}

/// Shows an event and all that came with it: many words are one write.
async fn show(desk: &mut Desk, talk: &mut Conversation, first: Event) -> Result<(), CommandError> {
    let now = now(talk);
    let Some(live) = talk.live() else { return Ok(()) };
    let session = live.session.id();
    let mut events = vec![first];
    while let Some(event) = live.events.try_next() {
        events.push(event);
    }
    let calls = if events.iter().any(goes_on) {
        recall::calls_of_last_run(talk.store.as_ref(), session).await?
    } else {
        Vec::new()
    };
    let known = Known { prompt: desk.prompt(), queued: &desk.queued, calls: &calls };
    Ok(desk.console.show(|screen| events.iter().try_for_each(|event| paint(screen, event, now, &known)))?)
}

fn goes_on(event: &Event) -> bool {
    matches!(event, Event::Record(envelope) if matches!(envelope.record, Record::RunResumed(_)))
}

/// What an event does not say itself.
struct Known<'a> {
    prompt: &'a str,
    /// Messages that had to wait.
    queued: &'a [MessageId],
    /// What a run that goes on had asked for before.
    calls: &'a [CallRequested],
}

fn paint(screen: &mut Screen<Vec<u8>>, event: &Event, now: u64, known: &Known<'_>) -> io::Result<()> {
    let Event::Record(envelope) = event else { return screen.event(event, now) };
    match &envelope.record {
        Record::MessageAccepted(message) => {
            // What is taken up at once was typed right above; what waited is said again over its answer.
            if known.queued.contains(&message.message_id) {
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

async fn ask_all(desk: &mut Desk, talk: &mut Conversation, questions: &[QuestionAsked]) -> Result<Asked, CommandError> {
    for asked in questions {
        match ask::ask(desk, talk, asked).await? {
            Asked::Answered => {}
            asked @ (Asked::Stopped | Asked::Left) => return Ok(asked),
        }
    }
    Ok(Asked::Answered)
}

async fn touched(desk: &mut Desk, talk: &mut Conversation, touch: Touch, mut left: Left) -> Result<Left, CommandError> {
    match touch {
        Touch::Sign(Sign::End) => return Ok(Left::Chat),
        Touch::Sign(Sign::Resized) => desk.resize()?,
        Touch::Sign(Sign::Interrupt) => return interrupted(talk, left).await,
        Touch::Typed(pieces) => {
            for piece in pieces {
                match piece {
                    Piece::Keys(bytes) => {
                        for key in desk.keys.read(&bytes) {
                            left = pressed(desk, talk, key, left).await?;
                            if left == Left::Chat {
                                return Ok(left);
                            }
                        }
                    }
                    Piece::Paste(text) => {
                        let shown = desk.pastes.take(&text);
                        desk.console.typed.insert(&shown);
                    }
                    Piece::Suspend => desk.suspend()?,
                }
            }
            desk.console.refresh()?;
        }
    }
    Ok(left)
}

/// Ctrl-C stops the run; another one leaves it as it is.
async fn interrupted(talk: &mut Conversation, left: Left) -> Result<Left, CommandError> {
    if left == Left::Stopped {
        return Ok(Left::Chat);
    }
    performing::stop(talk).await?;
    Ok(Left::Stopped)
}

async fn pressed(desk: &mut Desk, talk: &mut Conversation, key: Key, left: Left) -> Result<Left, CommandError> {
    match desk.console.typed.press(key) {
        Pressed::Edited => Ok(left),
        Pressed::Interrupt => interrupted(talk, left).await,
        Pressed::Leave => Ok(Left::Chat),
        Pressed::Entered(line) if line.trim().is_empty() => Ok(left),
        Pressed::Entered(line) => said(desk, talk, line, left).await,
    }
}

/// A line typed while a run works: told to the chat, or to the run.
async fn said(desk: &mut Desk, talk: &mut Conversation, line: String, left: Left) -> Result<Left, CommandError> {
    let echo = format!("{}{line}\n", desk.console.prompt);
    desk.console.print(&echo)?;
    let whole = desk.pastes.put_back(&line);
    desk.keep(&talk.scrubbed(&whole));
    let text = match slash::read(&whole) {
        Meaning::Command(Slash::Quit, _) => return Ok(Left::Chat),
        Meaning::Command(_, When::Idle) => "not while a run works; /stop stops it\n".to_owned(),
        Meaning::Command(command, When::Always) => match performing::perform(talk, command).await? {
            Sequel::Tell(text) | Sequel::Moved(text) => text,
            Sequel::TurnThinking => format!("{}\n", desk.console.turn_thinking()),
            Sequel::Follow | Sequel::Leave => String::new(),
        },
        Meaning::Wrong(text) => format!("{text}\n"),
        Meaning::Message(text) => match talk.say(text).await? {
            (Sent::TakenUp(_) | Sent::Known(_), _) => "the model reads this at its next step\n".to_owned(),
            (Sent::Queued, id) => {
                desk.queued.push(id);
                "this waits until the run is done (/stop drops it)\n".to_owned()
            }
        },
    };
    desk.console.whisper(&text)?;
    Ok(left)
}
