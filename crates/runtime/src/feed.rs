//! What a live session tells its followers.
//!
//! Every record, once it is stored, and every delta goes into the feed once, whoever follows. Each follower takes events
//! at its own pace. The feed holds a bounded number of them for the slowest: whoever falls further behind has lost its
//! place, is told so, and reads the journal instead (`follower`). What the attempt under way has streamed so far is
//! kept as well, for whoever joins in mid-turn (E1).

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::broadcast;
use windlass_vocab::{Delta, Envelope, Event, Record};

use crate::streaming::StreamedSoFar;

/// How many events wait for the slowest follower. A turn of a fast model is some thousand deltas, so a follower may
/// miss the better part of a second and not notice.
pub(crate) const KEPT: usize = 512;

/// The same for those who follow runs only: there are three records of a run for them.
const KEPT_OF_RUNS: usize = 16;

/// An event as all its followers share it.
#[derive(Debug)]
pub struct PublishedEvent {
    event: Event,
    json: OnceLock<Box<str>>,
}

impl PublishedEvent {
    pub(crate) fn new(event: Event) -> Arc<Self> {
        Arc::new(Self { event, json: OnceLock::new() })
    }

    /// What happened.
    #[must_use]
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// The event as JSON on one line; written out once, however many ask.
    #[must_use]
    pub fn json(&self) -> &str {
        self.json.get_or_init(|| serde_json::to_string(&self.event).unwrap_or_default().into())
    }
}

/// What a follower is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// Every record and every delta.
    Everything,
    /// Messages taken up, and how runs begin and end: cheaper where nobody watches.
    Runs,
}

impl Interest {
    pub(crate) fn wants(self, record: &Record) -> bool {
        match self {
            Self::Everything => true,
            Self::Runs => {
                matches!(record, Record::MessageAccepted(_) | Record::RunStarted(_) | Record::RunEnded(_))
            }
        }
    }
}

/// A place in the feed, taken at one moment: everything up to the record `head` is in the journal, `streamed` is what the
/// attempt under way has streamed by then, and `events` gives what comes after both.
pub(crate) struct FeedPlace {
    pub(crate) events: broadcast::Receiver<Arc<PublishedEvent>>,
    pub(crate) head: u64,
    pub(crate) streamed: Vec<Delta>,
}

/// The feed of one session.
#[derive(Clone, Debug)]
pub(crate) struct Feed(Arc<Mutex<FeedState>>);

#[derive(Debug)]
struct FeedState {
    /// Made for the first follower: most sessions of a large program have none.
    everything: Option<broadcast::Sender<Arc<PublishedEvent>>>,
    runs: Option<broadcast::Sender<Arc<PublishedEvent>>>,
    head: u64,
    streaming: StreamedSoFar,
    phase: FeedPhase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FeedPhase {
    Open,
    Closed,
}

impl Feed {
    /// The feed of a session whose journal ends with the record `head`.
    pub(crate) fn new(head: u64) -> Self {
        let inner = FeedState {
            everything: None,
            runs: None,
            head,
            streaming: StreamedSoFar::default(),
            phase: FeedPhase::Open,
        };
        Self(Arc::new(Mutex::new(inner)))
    }

    /// Takes a place in it; none where the session is closed.
    pub(crate) fn join(&self, interest: Interest) -> Option<FeedPlace> {
        let mut inner = self.inner();
        if inner.phase == FeedPhase::Closed {
            return None;
        }
        let (channel, kept) = match interest {
            Interest::Everything => (&mut inner.everything, KEPT),
            Interest::Runs => (&mut inner.runs, KEPT_OF_RUNS),
        };
        let events = channel.get_or_insert_with(|| broadcast::channel(kept).0).subscribe();
        let streamed = match interest {
            Interest::Everything => inner.streaming.so_far(),
            Interest::Runs => Vec::new(),
        };
        Some(FeedPlace { events, head: inner.head, streamed })
    }

    /// The number of the last record that went through it.
    pub(crate) fn head(&self) -> u64 {
        self.inner().head
    }

    pub(crate) fn publish(&self, record: &Arc<Envelope>) {
        let mut inner = self.inner();
        inner.head = record.seq;
        if matches!(record.record, Record::ModelReplied(_) | Record::AttemptFailed(_) | Record::RunEnded(_)) {
            inner.streaming = StreamedSoFar::default();
        }
        let runs = inner.runs.as_ref().filter(|_| Interest::Runs.wants(&record.record));
        let mut followed = inner.everything.iter().chain(runs).filter(|channel| channel.receiver_count() > 0);
        let Some(first) = followed.next() else { return };
        let event = PublishedEvent::new(Event::Record(Arc::clone(record)));
        // An error means that the last follower has just left.
        for channel in followed {
            let _ = channel.send(Arc::clone(&event));
        }
        let _ = first.send(event);
    }

    pub(crate) fn publish_delta(&self, delta: Delta) {
        let mut inner = self.inner();
        inner.streaming.add(&delta);
        if let Some(channel) = inner.everything.as_ref().filter(|channel| channel.receiver_count() > 0) {
            let _ = channel.send(PublishedEvent::new(Event::Delta(delta)));
        }
    }

    /// Lets followers go once they have what is there.
    pub(crate) fn close(&self) {
        let mut inner = self.inner();
        (inner.everything, inner.runs, inner.phase) = (None, None, FeedPhase::Closed);
    }

    fn inner(&self) -> MutexGuard<'_, FeedState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use windlass_vocab::{Delta, DeltaBody, Event, RunId, TurnId};

    use super::{Feed, Interest, KEPT};

    fn progress(text: String) -> Delta {
        let body = DeltaBody::CallDelta { call: windlass_vocab::CallId::default(), name: None, text };
        Delta { run: RunId::default(), turn: TurnId::default(), attempt: 0, offset: 0, body }
    }

    // proves E1: whoever does not read costs no more than what is kept for everybody
    #[tokio::test]
    async fn a_follower_that_never_reads_costs_bounded_memory() {
        let feed = Feed::new(0);
        let (asleep, mut awake) =
            (feed.join(Interest::Everything).unwrap().events, feed.join(Interest::Everything).unwrap().events);
        let mut published = Vec::new();
        for number in 0..10 * KEPT {
            feed.publish_delta(progress(number.to_string()));
            published.push(Arc::downgrade(&awake.recv().await.unwrap()));
        }
        let held = published.iter().filter(|event| event.strong_count() > 0).count();
        assert!(held <= KEPT, "{held} events are held");
        drop(asleep);
    }

    // proves E1: an event is written out once for all who follow
    #[tokio::test]
    async fn followers_share_one_event_and_its_json() {
        let feed = Feed::new(0);
        let join = || feed.join(Interest::Everything).unwrap().events;
        let (mut one, mut other) = (join(), join());
        feed.publish_delta(progress("x".to_owned()));
        let (one, other) = (one.recv().await.unwrap(), other.recv().await.unwrap());
        assert!(std::ptr::eq(one.json(), other.json()));
        let written = serde_json::to_string(&Event::Delta(progress("x".to_owned()))).unwrap();
        assert_eq!(one.json(), written);
    }
}
