//! The events of a remote session, one after the other, over as many connections as it takes.
//!
//! The protocol: a task reads the events and passes them on. When the connection is lost it says so, asks again with the last
//! record it has (`Last-Event-ID`) until the server answers, and says that too: no record is missed, and none comes twice.
//! Fragments that were streamed into a lost connection can't be had again; the reply that was being written is withdrawn
//! ([`DeltaBody::Cleared`]), and comes whole with its record.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use windlass_vocab::{Delta, DeltaBody, Envelope, Event, QuestionId, SessionId};

use super::activity::RemoteActivity;
use super::event_lines::{EventLines, SentEvent};
use super::requests::of_session;
use crate::remote_server::{RemoteClient, RemoteError};

/// The longest event.
const LONGEST: usize = 64 * 1024 * 1024;
/// A server says something every 15 seconds; one that is silent for this long is gone.
const SILENCE: Duration = Duration::from_secs(50);
/// Between two attempts to connect.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Fragments that wait to be shown; further ones are dropped, since their record has the whole text.
const MOST_WAITING: usize = 10_000;

/// What comes from a feed.
#[derive(Debug)]
pub(super) enum FeedItem {
    Event(Event),
    /// The connection was lost; the feed tries again.
    Lost(String),
    /// It is back.
    Back,
    /// The server refuses; nothing more comes.
    Refused(RemoteError),
}

/// The events of a session.
#[derive(Debug)]
pub(super) struct EventFeed {
    items: mpsc::UnboundedReceiver<FeedItem>,
    questions: watch::Receiver<BTreeSet<QuestionId>>,
    /// How many items wait.
    unread: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Drop for EventFeed {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl EventFeed {
    /// Follows a session from the record after `after` on. `activity` is what it does there.
    pub(super) fn start(client: RemoteClient, session: SessionId, after: u64, activity: RemoteActivity) -> Self {
        let (sender, items) = mpsc::unbounded_channel();
        let (asked, questions) = watch::channel(activity.open_questions());
        let unread = Arc::<AtomicUsize>::default();
        let passed = Arc::clone(&unread);
        let reader = FeedReader { client, session, after, activity, sender, unread: passed, asked, streamed: None };
        Self { items, questions, unread, task: tokio::spawn(reader.read()) }
    }

    /// Returns the next item; `None` when nothing more comes. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Option<FeedItem> {
        let item = self.items.recv().await;
        self.unread.fetch_sub(usize::from(item.is_some()), Ordering::Relaxed);
        item
    }

    /// Returns the next item if it is there.
    pub(super) fn try_next(&mut self) -> Option<FeedItem> {
        let item = self.items.try_recv().ok();
        self.unread.fetch_sub(usize::from(item.is_some()), Ordering::Relaxed);
        item
    }

    /// Waits until the question is asked no more, or nothing more comes.
    pub(super) async fn wait_past_question(&self, question: QuestionId) {
        let mut questions = self.questions.clone();
        // An error means that nothing more comes.
        let _ = questions.wait_for(|open| !open.contains(&question)).await;
    }
}

/// Reads the events in a task of its own.
struct FeedReader {
    client: RemoteClient,
    session: SessionId,
    /// The last record passed on.
    after: u64,
    activity: RemoteActivity,
    sender: mpsc::UnboundedSender<FeedItem>,
    unread: Arc<AtomicUsize>,
    asked: watch::Sender<BTreeSet<QuestionId>>,
    /// The last fragment of the reply that is being written.
    streamed: Option<Delta>,
}

/// Why a connection ended.
enum EventsEnd {
    /// It may work again.
    Lost(String),
    Refused(RemoteError),
    /// Nobody reads the feed any more.
    Unread,
}

/// Nobody reads the feed any more.
struct Unread;

/// Whether the server is to be asked again after its first answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Contact {
    Kept,
    Lost,
}

impl FeedReader {
    async fn read(mut self) {
        let (mut contact, mut pause) = (Contact::Kept, FIRST_PAUSE);
        loop {
            let (before, began) = (self.after, Instant::now());
            let reason = match self.connection(&mut contact).await {
                EventsEnd::Lost(reason) => reason,
                EventsEnd::Refused(error) => {
                    let _ = self.pass_on(FeedItem::Refused(error));
                    return;
                }
                EventsEnd::Unread => return,
            };
            if contact == Contact::Kept {
                contact = Contact::Lost;
                self.withdraw_reply();
                if self.pass_on(FeedItem::Lost(reason)).is_err() {
                    return;
                }
            }
            // A server that answers and breaks off at once, again and again, is left alone for longer and longer.
            if self.after > before || began.elapsed() > LONGEST_PAUSE {
                pause = FIRST_PAUSE;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Reads one connection to its end.
    async fn connection(&mut self, contact: &mut Contact) -> EventsEnd {
        let path = of_session(self.session, "/events");
        let mut response = match self.client.events(&path, self.after).await {
            Ok(response) => response,
            Err(error) if error.may_pass() => return EventsEnd::Lost(error.to_string()),
            Err(error) => return EventsEnd::Refused(error),
        };
        if std::mem::replace(contact, Contact::Kept) == Contact::Lost && self.pass_on(FeedItem::Back).is_err() {
            return EventsEnd::Unread;
        }
        let mut lines = EventLines::new(LONGEST);
        loop {
            let bytes = match tokio::time::timeout(SILENCE, response.chunk()).await {
                Ok(Ok(Some(bytes))) => bytes,
                Ok(Ok(None)) => return EventsEnd::Lost("the server closed the connection".to_owned()),
                Ok(Err(_)) => return EventsEnd::Lost("the connection broke".to_owned()),
                Err(_) => return EventsEnd::Lost("the server is silent".to_owned()),
            };
            let Ok(events) = lines.push(&bytes) else {
                return EventsEnd::Refused(self.client.not_windlass());
            };
            for event in events {
                if let Some(end) = self.event(&event) {
                    return end;
                }
            }
        }
    }

    /// Passes on an event; returns the end of the connection if it is none to go on after.
    fn event(&mut self, event: &SentEvent) -> Option<EventsEnd> {
        if event.name == "error" {
            // The server can't read the session now.
            return Some(EventsEnd::Lost("the server can't read the session".to_owned()));
        }
        let event = match Envelope::decode(&event.data) {
            Ok(envelope) if envelope.seq <= self.after => return None,
            Ok(envelope) if envelope.seq != self.after + 1 => {
                return Some(EventsEnd::Lost("a record is missing".to_owned()));
            }
            Ok(envelope) => {
                self.after = envelope.seq;
                self.activity.record(&envelope);
                self.asked.send_replace(self.activity.open_questions());
                self.streamed = None;
                Event::Record(Arc::new(envelope))
            }
            Err(_) => match serde_json::from_str::<Delta>(&event.data) {
                Ok(_) if self.unread.load(Ordering::Relaxed) > MOST_WAITING => return None,
                Ok(delta) => {
                    self.streamed = Some(delta.clone()).filter(is_of_reply).or(self.streamed.take());
                    Event::Delta(delta)
                }
                // A fragment of a later version.
                Err(_) => return None,
            },
        };
        self.pass_on(FeedItem::Event(event)).is_err().then_some(EventsEnd::Unread)
    }

    /// Passes on an item; an error means that nobody reads any more.
    fn pass_on(&self, item: FeedItem) -> Result<(), Unread> {
        self.unread.fetch_add(1, Ordering::Relaxed);
        self.sender.send(item).map_err(|_| Unread)
    }

    /// Withdraws the reply that was being written: what follows of it may not fit what came.
    fn withdraw_reply(&mut self) {
        if let Some(delta) = self.streamed.take() {
            let cleared = Delta { body: DeltaBody::Cleared {}, ..delta };
            // Whoever reads no more needs nothing withdrawn.
            let _ = self.pass_on(FeedItem::Event(Event::Delta(cleared)));
        }
    }
}

fn is_of_reply(delta: &Delta) -> bool {
    matches!(delta.body, DeltaBody::TextDelta { .. } | DeltaBody::ThinkingDelta { .. })
}
