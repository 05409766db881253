//! Follows a session wherever it is driven: from its journal while it is not live here, from its feed while it is.

use std::collections::VecDeque;
use std::sync::Arc;

use windlass_store::{Store, StoreError};
use windlass_vocab::{Event, SessionId};

use crate::clock::Clock;
use crate::feed::{Interest, PAGE_BYTES, PublishedEvent};
use crate::live::LiveSessions;
use crate::stored_sessions::{StoredNews, StoredWatch};
use crate::subscription::{FollowedEvent, Subscription};

/// Follows one session, past and present. It never ends, because a session may continue at any time, until the session
/// is removed: then the next event is [`StoreError::Missing`].
pub struct Follow {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    live: LiveSessions,
    session: SessionId,
    /// The last record returned.
    seq: u64,
    past: VecDeque<Arc<PublishedEvent>>,
    events: Option<Subscription>,
    /// While the session is not live here and all stored records were returned.
    stored: Option<StoredWatch>,
}

impl std::fmt::Debug for Follow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Follow").field("session", &self.session).field("seq", &self.seq).finish_non_exhaustive()
    }
}

impl Follow {
    /// Follows a session from the record after `after_seq` on: first stored records, then live events if it is or becomes
    /// one of these live sessions.
    #[must_use]
    pub fn among(
        live: &LiveSessions,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        session: SessionId,
        after_seq: u64,
    ) -> Self {
        Self {
            store,
            clock,
            live: live.clone(),
            session,
            seq: after_seq,
            past: VecDeque::new(),
            events: None,
            stored: None,
        }
    }

    /// Follows a session without a hub: another process may drive it. Only its records are returned, no deltas.
    #[must_use]
    pub fn of_store(store: Arc<dyn Store>, clock: Arc<dyn Clock>, session: SessionId, after_seq: u64) -> Self {
        Self::among(&LiveSessions::default(), store, clock, session, after_seq)
    }

    /// Returns the number of the last record returned: a client that reconnects continues from there.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.seq
    }

    /// Returns the next event, whenever it comes. Cancel-safe: nothing is lost if the future is dropped.
    pub async fn next(&mut self) -> Result<FollowedEvent, StoreError> {
        loop {
            if let Some(event) = self.past.pop_front() {
                if let Event::Record(record) = event.event() {
                    self.seq = record.seq;
                }
                return Ok(FollowedEvent::Event(event));
            }
            if let Some(events) = &mut self.events {
                let next = events.next_followed().await?;
                self.seq = events.position();
                match next {
                    Some(followed) => return Ok(followed),
                    None => self.events = None,
                }
            }
            self.look().await?;
        }
    }

    /// Joins the session if it is live here; otherwise reads the next records, or waits for either.
    async fn look(&mut self) -> Result<(), StoreError> {
        let store = &self.store;
        let began = self.live.next_opening();
        if let Some(feed) = self.live.feed(self.session) {
            let store = Arc::clone(store);
            self.events = Some(Subscription::new(self.session, store, feed, Interest::Everything, self.seq));
            self.stored = None;
            return Ok(());
        }
        let records = store.read_some(self.session, self.seq, PAGE_BYTES).await?;
        if records.is_empty() {
            let watch = || self.live.stored().watch(store, &self.clock, self.session);
            let stored = self.stored.get_or_insert_with(watch);
            tokio::select! {
                () = began => {}
                news = stored.longer_than(self.seq) => match news? {
                    StoredNews::Longer => {}
                    // The store may have been asked before the session began.
                    StoredNews::NotThere if store.head(self.session).await?.seq > 0 => self.stored = None,
                    StoredNews::NotThere => return Err(StoreError::Missing),
                },
            }
        }
        self.past = records.into_iter().map(|record| PublishedEvent::new(Event::Record(Arc::new(record)))).collect();
        Ok(())
    }
}

#[cfg(test)]
#[path = "follow_tests.rs"]
mod tests;
