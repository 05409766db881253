//! Follows a live session: first its journal, then live events, without gaps or duplicates.
//!
//! The protocol: read the journal in pages, so that a follower that stops reading holds only one; when the rest fits one
//! page, take a place in the session's feed, read the journal up to the feed's last record at that moment, return those
//! records, then what the current attempt has streamed, then the feed's events. A follower that falls too far behind
//! repeats this from its position. Each record must have a higher number than the last, so none repeats.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::Arc;

use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use windlass_store::{Store, StoreError};
use windlass_vocab::{Envelope, Event, SessionId};

use crate::feed::{Feed, FeedPlace, Interest, PAGE_BYTES, PublishedEvent};
use crate::streaming::{GivenSoFar, UnseenPart};

/// What a follower receives.
#[derive(Clone, Debug)]
pub enum FollowedEvent {
    /// An event of the session.
    Event(Arc<PublishedEvent>),
    /// The follower was too slow. Missed records are read from the journal next; some events that are not stored, such
    /// as the progress of a call, are lost.
    FellBehind,
}

/// The next event, or what was waited for beside it.
#[derive(Clone, Debug)]
pub enum EventOr<T> {
    /// An event.
    Event(Event),
    /// The other, with all events before it returned.
    Other(T),
}

/// Whether a subscription has more events.
enum MoreEvents {
    ToCome,
    Nothing,
}

/// The events of a live session from some record on, until it is closed. Dropping it unsubscribes.
pub struct Subscription {
    session: SessionId,
    store: Arc<dyn Store>,
    feed: Feed,
    interest: Interest,
    /// The last record returned.
    seq: u64,
    given: GivenSoFar,
    /// Events from the journal or streamed before the place in the feed was taken.
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
        // A follower that has all records so far needs no journal.
        if let Some(joined) = subscription.feed.join(interest).filter(|joined| joined.head <= seq) {
            subscription.take_place(Vec::new(), joined);
        }
        subscription
    }

    /// Returns the number of the last record returned.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.seq
    }

    /// Returns the next event; `None` when the session is closed, or its journal can't be read any more.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            match self.next_followed().await {
                Ok(Some(FollowedEvent::Event(event))) => return Some(event.event().clone()),
                Ok(Some(FollowedEvent::FellBehind)) => {}
                Ok(None) | Err(_) => return None,
            }
        }
    }

    /// Like [`Self::next`], with the shared event; `None` when the session is closed and all events were returned.
    /// Cancel-safe: nothing is lost if the future is dropped.
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

    /// Returns the next event; once `other` is there, the events that were published before it, and then `other`.
    /// Cancel-safe as far as `other` is.
    pub async fn next_before<T>(&mut self, other: impl Future<Output = T>) -> EventOr<T> {
        tokio::select! {
            biased;
            Some(event) = self.next() => EventOr::Event(event),
            // Events may have come since this looked for one.
            other = other => self.next_published().await.map_or(EventOr::Other(other), EventOr::Event),
        }
    }

    /// Returns the next event that is published already.
    async fn next_published(&mut self) -> Option<Event> {
        let event = self.try_next();
        if event.is_none() && self.events.is_none() && matches!(self.join().await, Ok(MoreEvents::ToCome)) {
            return self.try_next();
        }
        event
    }

    /// Returns the next event if it is available already.
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

    /// Takes a place in the feed and reads the records stored before. Returns whether there are more events.
    async fn join(&mut self) -> Result<MoreEvents, StoreError> {
        let joined = self.feed.join(self.interest);
        let head = joined.as_ref().map_or_else(|| self.feed.head(), |joined| joined.head);
        let mut records = Vec::new();
        if head > self.seq {
            records = self.store.read_some(self.session, self.seq, PAGE_BYTES).await?;
            records.retain(|record| record.seq <= head);
        }
        // More pages follow: the place is taken with the last one.
        let is_behind = records.last().is_some_and(|record| record.seq < head);
        match joined.filter(|_| !is_behind) {
            Some(joined) => self.take_place(records, joined),
            // The feed is closed, and these records are all there are, or more follow.
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

    /// Returns the part of an event that was not returned yet.
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

#[cfg(test)]
mod tests {
    use std::future::ready;
    use std::sync::Arc;

    use windlass_store::MemoryStore;
    use windlass_vocab::{Delta, DeltaBody, RunId, SessionId, TurnId};

    use super::{EventOr, Subscription};
    use crate::feed::{Feed, Interest};

    // proves E1: the end of a run is shown after everything that led to it, even if both come at the same moment
    #[tokio::test]
    async fn no_event_is_overtaken_by_what_is_waited_for_beside_it() {
        let (feed, store) = (Feed::new(0), Arc::new(MemoryStore::new()));
        let mut events = Subscription::new(SessionId(uuid::Uuid::nil()), store, feed.clone(), Interest::Everything, 0);
        let comes_late = async {
            let body = DeltaBody::TextDelta { text: "Aye.".to_owned() };
            feed.publish_delta(Delta { run: RunId::default(), turn: TurnId::default(), attempt: 0, offset: 0, body });
        };
        assert!(matches!(events.next_before(comes_late).await, EventOr::Event(_)));
        assert!(matches!(events.next_before(ready(())).await, EventOr::Other(())));
        feed.close();
        assert!(matches!(events.next_before(ready(())).await, EventOr::Other(())));
    }
}
