//! One message to a session of a server, without a terminal: the answer alone goes to standard output.

use std::time::{Duration, Instant};

use tokio::signal::unix::{SignalKind, signal};
use windlass::Event;
use windlass_narrate::preview_text;
use windlass_runtime::{SendOutcome, SessionActivity};
use windlass_vocab::{QuestionAsked, Record, RunEnded, RunId};

use super::remote_session::RemoteSession;
use crate::chat::chat_session::{ChatSession as _, SessionNews};
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::interrupts::{self, OnInterrupt};
use crate::output::{RunView, quoted};
use crate::streams::StandardStream;

/// How often waiting is shown.
const TICK: Duration = Duration::from_millis(500);

type View = RunView<StandardStream, StandardStream>;

/// Sends a message and follows its run to the end, whose exit code is returned. Ctrl-C stops the run.
pub(crate) async fn send_one(mut talk: RemoteSession, text: &str, mut view: View) -> CommandResult {
    let _ends = interrupts::set_action(OnInterrupt::CommandEnds(Exit::Cancelled));
    let mut stops = signal(SignalKind::interrupt()).map_err(|error| CommandError::output(&error))?;
    let mut ours = match talk.say(text, Vec::new()).await? {
        (SendOutcome::TakenUp(run) | SendOutcome::Known(run), _) => RunOfMessage::Known(run),
        (SendOutcome::Queued, _) => RunOfMessage::None,
    };
    let begun = Instant::now();
    loop {
        let news = tokio::select! {
            biased;
            _ = stops.recv() => {
                talk.stop_run().await?;
                continue;
            }
            news = talk.next() => news,
            () = tokio::time::sleep(TICK) => {
                view.tick(Instant::now());
                continue;
            }
        };
        match news {
            SessionNews::Event(event) => {
                view.event(&event).map_err(|error| CommandError::output(&error))?;
                if let Some(ended) = ours.end(&talk, &event) {
                    view.ended(ended).map_err(|error| CommandError::output(&error))?;
                    view.spent(ended, begun.elapsed());
                    return Ok(Exit::from(ended));
                }
            }
            SessionNews::Notice(text) => view.notice(&text),
            SessionNews::Failed(error) => return Err(error),
            SessionNews::Settled(SessionActivity::Waiting(questions)) => return Err(waits(&talk, &questions)),
            SessionNews::Settled(_) => break,
        }
    }
    Err(CommandError::new(Exit::Cancelled, "the message was dropped before a run took it up"))
}

/// Which run took up our message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunOfMessage {
    /// None yet.
    None,
    /// The one whose start comes next.
    Next,
    Known(RunId),
}

impl RunOfMessage {
    /// Takes an event; returns the end of our run.
    fn end<'event>(&mut self, talk: &RemoteSession, event: &'event Event) -> Option<&'event RunEnded> {
        let Event::Record(envelope) = event else { return None };
        match (&envelope.record, *self) {
            (Record::MessageAccepted(message), Self::None) if talk.has_sent(&message.message_id) => {
                *self = envelope.run.map_or(Self::Next, Self::Known);
            }
            (Record::RunStarted(started), Self::Next) => *self = Self::Known(started.run),
            (Record::RunEnded(ended), Self::Known(run)) if envelope.run.is_some_and(|over| over >= run) => {
                return Some(ended);
            }
            // The others say nothing of whose run it is.
            _ => {}
        }
        None
    }
}

/// Returns the error for a run that waits for a person: nobody can answer here.
fn waits(talk: &RemoteSession, questions: &[QuestionAsked]) -> CommandError {
    let mut text = String::from("the run waits for a person:");
    for asked in questions {
        let preview = asked.preview.as_ref().map(|preview| preview_text(preview, "    "));
        text.push_str(&format!("\n  {}", preview.as_deref().unwrap_or("a question")));
    }
    let session = talk.key().map(|key| format!(" --session {}", quoted(key))).unwrap_or_default();
    text.push_str(&format!("\n    answer at a terminal: windlass attach {}{session}", talk.client.base()));
    CommandError::new(Exit::Waiting, text)
}
