//! Following a live session: its journal first, then what happens, with no gap and nothing twice.
//!
//! The protocol: take a place in the session's feed, read the journal up to the record the feed had come to by then, give
//! that out, then what the attempt under way has streamed, then what the feed has. Whoever falls too far behind does the
//! same again from where it stands. A record is given out once because its number is above the last one given.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use windlass_store::{Store, StoreError};
use windlass_vocab::{Envelope, Event, SessionId};

use crate::feed::{Feed, FeedPlace, Interest, PublishedEvent};
use crate::streaming::{GivenSoFar, UnseenPart};

/// What a follower is given.
#[derive(Clone, Debug)]
pub enum FollowedEvent {
    /// Something happened.
    Event(Arc<PublishedEvent>),
    /// The follower was too slow. Records it has not seen are read from the journal next; of what was not stored,
    /// such as the progress of a call, some is gone.
    FellBehind,
}

/// Whether a subscription has anything more to give.
enum MoreEvents {
    ToCome,
    Nothing,
}

/// The events of a live session from some record on, until it is closed. Dropping it ends that.
pub struct Subscription {
    session: SessionId,
    store: Arc<dyn Store>,
    feed: Feed,
    interest: Interest,
    /// The last record given out.
    seq: u64,
    given: GivenSoFar,
    /// Read or streamed before the place in the feed was taken.
    past: VecDeque<Arc<PublishedEvent>>,
    events: Option<Receiver<Arc<PublishedEvent>>>,
}

impl std::fmt::Debug for Subscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subscription").field("session", &self.session).field("seq", &self.seq).finish_non_exhaustive()
    }
}

impl Subscription {
    /// Follows a live session from the record after `seq` on.
    pub(crate) fn new(session: SessionId, store: Arc<dyn Store>, feed: Feed, interest: Interest, seq: u64) -> Self {
        let mut subscription = Self {
            session,
            store,
            feed,
            interest,
            seq,
            given: GivenSoFar::default(),
            past: VecDeque::new(),
            events: None,
        };
        // Whoever is here from the first has nothing to read.
        if let Some(joined) = subscription.feed.join(interest).filter(|joined| joined.head <= seq) {
            subscription.take_place(Vec::new(), joined);
        }
        subscription
    }

    /// The number of the last record given out.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.seq
    }

    /// The next event; `None` when the session is closed, or its journal can't be read any more.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            match self.next_followed().await {
                Ok(Some(FollowedEvent::Event(event))) => return Some(event.event().clone()),
                Ok(Some(FollowedEvent::FellBehind)) => {}
                Ok(None) | Err(_) => return None,
            }
        }
    }

    /// The same as followers share it; `None` when the session is closed and all of it was given out. Nothing is lost if
    /// the future is dropped.
    pub async fn next_followed(&mut self) -> Result<Option<FollowedEvent>, StoreError> {
        loop {
            while let Some(event) = self.past.pop_front() {
                if let Some(event) = self.unseen(event) {
                    return Ok(Some(FollowedEvent::Event(event)));
                }
            }
            let Some(events) = &mut self.events else {
                match self.join().await? {
                    MoreEvents::ToCome => continue,
                    MoreEvents::Nothing => return Ok(None),
                }
            };
            match events.recv().await {
                Ok(event) => self.past.push_back(event),
                Err(RecvError::Lagged(_)) => {
                    self.events = None;
                    return Ok(Some(FollowedEvent::FellBehind));
                }
                Err(RecvError::Closed) => self.events = None,
            }
        }
    }

    /// The next event if it is there already.
    pub fn try_next(&mut self) -> Option<Event> {
        loop {
            let event = match (self.past.pop_front(), &mut self.events) {
                (Some(event), _) => event,
                (None, None) => return None,
                (None, Some(events)) => match events.try_recv() {
                    Ok(event) => event,
                    Err(TryRecvError::Empty | TryRecvError::Closed) => return None,
                    Err(TryRecvError::Lagged(_)) => {
                        self.events = None;
                        return None;
                    }
                },
            };
            if let Some(event) = self.unseen(event) {
                return Some(event.event().clone());
            }
        }
    }

    /// Takes a place in the feed and reads what was stored before. Says whether there is anything more to come.
    async fn join(&mut self) -> Result<MoreEvents, StoreError> {
        let joined = self.feed.join(self.interest);
        let head = joined.as_ref().map_or_else(|| self.feed.head(), |joined| joined.head);
        let mut records = Vec::new();
        if head > self.seq {
            records = self.store.read(self.session, self.seq).await?;
            records.retain(|record| record.seq <= head);
        }
        match joined {
            Some(joined) => self.take_place(records, joined),
            // Closed: what is read now is the end.
            None if records.is_empty() => return Ok(MoreEvents::Nothing),
            None => self.past = records.into_iter().map(shared).collect(),
        }
        Ok(MoreEvents::ToCome)
    }

    fn take_place(&mut self, records: Vec<Envelope>, joined: FeedPlace) {
        let streamed = joined.streamed.into_iter().map(|delta| PublishedEvent::new(Event::Delta(delta)));
        self.past = records.into_iter().map(shared).chain(streamed).collect();
        self.events = Some(joined.events);
    }

    /// The part of an event that was not given out yet.
    fn unseen(&mut self, event: Arc<PublishedEvent>) -> Option<Arc<PublishedEvent>> {
        match event.event() {
            Event::Record(record) => {
                let is_new = record.seq > self.seq;
                self.seq = self.seq.max(record.seq);
                (is_new && self.interest.wants(&record.record)).then_some(event)
            }
            Event::Delta(delta) => match self.given.take(delta) {
                UnseenPart::All => Some(event),
                UnseenPart::Rest(rest) => Some(PublishedEvent::new(Event::Delta(rest))),
                UnseenPart::Nothing => None,
            },
        }
    }
}

fn shared(record: Envelope) -> Arc<PublishedEvent> {
    PublishedEvent::new(Event::Record(Arc::new(record)))
}
