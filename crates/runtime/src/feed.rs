//! The feed of events from a live session to its followers.
//!
//! Every record, once stored, and every delta is published once, for all followers. Each follower reads at its own
//! pace. The feed buffers a bounded number of events: a follower that falls further behind loses its place, is
//! notified, and reads the journal instead (`subscription`). The feed also keeps what the current attempt has streamed
//! so far, for followers that join during a turn (E1).

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::Bytes;
use tokio::sync::broadcast;
use windlass_vocab::{Delta, Envelope, Event, Record};

use crate::streaming::StreamedSoFar;

/// How many events are buffered for the slowest follower. A turn of a fast model is some thousand deltas, so a follower
/// may pause for most of a second without losing any.
pub(crate) const KEPT: usize = 512;

/// The same for followers of runs only: a run has three records for them.
const KEPT_OF_RUNS: usize = 16;

/// How much of a journal a follower reads at a time, as stored: one that stops reading holds this much of it.
pub(crate) const PAGE_BYTES: usize = 64 * 1024;

/// An event that all followers share.
#[derive(Debug)]
pub struct PublishedEvent {
    event: Event,
    sent: OnceLock<Bytes>,
}

impl PublishedEvent {
    pub(crate) fn new(event: Event) -> Arc<Self> {
        Arc::new(Self { event, sent: OnceLock::new() })
    }

    /// Returns the event.
    #[must_use]
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// Returns the bytes in which the server sends the event; `make` makes them once, for any number of followers.
    #[must_use]
    pub fn sent(&self, make: impl FnOnce(&Event) -> Bytes) -> Bytes {
        self.sent.get_or_init(|| make(&self.event)).clone()
    }
}

/// Which events a follower receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// Every record and every delta.
    Everything,
    /// Accepted messages, and the start and end of runs: cheaper for followers that need no more.
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

/// A place in the feed, taken atomically: the journal contains everything up to the record `head`, `streamed` is what
/// the current attempt has streamed by then, and `events` yields what comes after both.
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
    /// Created for the first follower, and gone with the first event that has none: most sessions of a large program have none.
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
    /// Returns the feed of a session whose journal ends with the record `head`.
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

    /// Takes a place in the feed; `None` where the session is closed.
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

    /// Returns the number of the last published record.
    pub(crate) fn head(&self) -> u64 {
        self.inner().head
    }

    pub(crate) fn publish(&self, record: &Arc<Envelope>) {
        let mut inner = self.inner();
        inner.head = record.seq;
        if matches!(record.record, Record::ModelReplied(_) | Record::AttemptFailed(_) | Record::RunEnded(_)) {
            inner.streaming = StreamedSoFar::default();
        }
        inner.forget_the_unfollowed();
        let runs = inner.runs.as_ref().filter(|_| Interest::Runs.wants(&record.record));
        let mut followed = inner.everything.iter().chain(runs);
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
        inner.forget_the_unfollowed();
        if let Some(channel) = &inner.everything {
            let _ = channel.send(PublishedEvent::new(Event::Delta(delta)));
        }
    }

    /// Closes the feed; followers end once they have read the buffered events.
    pub(crate) fn close(&self) {
        let mut inner = self.inner();
        (inner.everything, inner.runs, inner.phase) = (None, None, FeedPhase::Closed);
    }

    fn inner(&self) -> MutexGuard<'_, FeedState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FeedState {
    fn forget_the_unfollowed(&mut self) {
        for channel in [&mut self.everything, &mut self.runs] {
            channel.take_if(|channel| channel.receiver_count() == 0);
        }
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

    // proves E1: a follower that does not read costs no more memory than the shared buffer
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

    // proves E1: sessions that nobody follows hold no buffer
    #[tokio::test]
    async fn the_buffer_goes_with_the_last_follower() {
        let feed = Feed::new(0);
        drop(feed.join(Interest::Everything).unwrap());
        feed.publish_delta(progress("unseen".to_owned()));
        assert!(feed.inner().everything.is_none());
        let mut follower = feed.join(Interest::Everything).unwrap();
        assert_eq!(follower.streamed.len(), 0, "a call's progress is not kept");
        feed.publish_delta(progress("seen".to_owned()));
        let Event::Delta(seen) = follower.events.recv().await.unwrap().event().clone() else { panic!("no delta") };
        assert_eq!(seen, progress("seen".to_owned()));
    }

    // proves E1: an event is serialized once for all followers
    #[tokio::test]
    async fn followers_share_one_event_and_the_bytes_that_are_sent() {
        let feed = Feed::new(0);
        let join = || feed.join(Interest::Everything).unwrap().events;
        let (mut one, mut other) = (join(), join());
        feed.publish_delta(progress("x".to_owned()));
        let (one, other) = (one.recv().await.unwrap(), other.recv().await.unwrap());
        let first = one.sent(|event| serde_json::to_vec(event).unwrap().into());
        assert_eq!(first, serde_json::to_vec(&Event::Delta(progress("x".to_owned()))).unwrap());
        assert_eq!(other.sent(|_| panic!("they are made again")).as_ptr(), first.as_ptr());
    }
}
