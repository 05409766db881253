//! Tells the followers of sessions that are not live here when another process has added records.
//!
//! The protocol: a follower watches a session ([`StoredSessions::watch`]) and waits until its journal is longer than what it
//! has. While anybody watches, one task asks the store for the last records of all watched sessions at once; it ends with
//! the last watcher. So many idle followers cost one read of the store, not one each.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use windlass_store::{Store, StoreError};
use windlass_vocab::SessionId;

use crate::clock::Clock;

/// How often the store is asked.
const LOOK_MS: u64 = 150;

/// How far a session's journal goes, as far as the store said.
#[derive(Clone, Debug)]
enum StoredEnd {
    /// The store was not asked yet.
    Unknown,
    /// The number of its last record.
    At(u64),
    /// The store can't be read.
    Unreadable(StoreError),
}

/// The sessions that are watched, of all followers that share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct StoredSessions(Arc<Mutex<Watched>>);

#[derive(Debug, Default)]
struct Watched {
    ends: HashMap<SessionId, watch::Sender<StoredEnd>>,
    polling: Polling,
}

/// Whether the task that asks the store runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Polling {
    #[default]
    Stopped,
    Running,
}

/// A place among the watchers of a session.
#[derive(Debug)]
pub(crate) struct StoredWatch(watch::Receiver<StoredEnd>);

impl StoredSessions {
    /// Watches a session of this store.
    pub(crate) fn watch(&self, store: &Arc<dyn Store>, clock: &Arc<dyn Clock>, session: SessionId) -> StoredWatch {
        let mut watched = self.watched();
        let receiver = watched.ends.entry(session).or_insert_with(|| watch::channel(StoredEnd::Unknown).0).subscribe();
        if watched.polling == Polling::Stopped {
            watched.polling = Polling::Running;
            tokio::spawn(self.clone().poll(Arc::clone(store), Arc::clone(clock)));
        }
        StoredWatch(receiver)
    }

    async fn poll(self, store: Arc<dyn Store>, clock: Arc<dyn Clock>) {
        loop {
            clock.until(clock.now().plus_ms(LOOK_MS)).await;
            let Some(sessions) = self.still_watched() else { return };
            let ends = store.last_records(sessions.clone()).await;
            let watched = self.watched();
            for (place, session) in sessions.iter().enumerate() {
                let Some(sender) = watched.ends.get(session) else { continue };
                let end = match &ends {
                    Ok(ends) => ends.get(place).map_or(StoredEnd::Unknown, |end| StoredEnd::At(*end)),
                    Err(error) => StoredEnd::Unreadable(error.clone()),
                };
                sender.send_if_modified(|known| {
                    let is_new = !matches!((&*known, &end), (StoredEnd::At(known), StoredEnd::At(end)) if known == end);
                    *known = end;
                    is_new
                });
            }
        }
    }

    /// Returns the sessions that somebody still watches; `None` if there is none, and then the task must end.
    fn still_watched(&self) -> Option<Vec<SessionId>> {
        let mut watched = self.watched();
        watched.ends.retain(|_, end| end.receiver_count() > 0);
        if watched.ends.is_empty() {
            *watched = Watched::default();
            return None;
        }
        Some(watched.ends.keys().copied().collect())
    }

    fn watched(&self) -> MutexGuard<'_, Watched> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a watcher of a session is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoredNews {
    /// It has more records, or may have.
    Longer,
    /// It has no records, though it had some: it was removed.
    NotThere,
}

impl StoredWatch {
    /// Waits until the session has records after this one, or none any more. Cancel-safe.
    pub(crate) async fn longer_than(&mut self, seq: u64) -> Result<StoredNews, StoreError> {
        let is_told = |end: &StoredEnd| match end {
            StoredEnd::Unknown => false,
            StoredEnd::At(0) => seq > 0,
            StoredEnd::At(end) => *end > seq,
            StoredEnd::Unreadable(_) => true,
        };
        match self.0.wait_for(is_told).await.as_deref() {
            Ok(StoredEnd::Unreadable(error)) => Err(error.clone()),
            Ok(StoredEnd::At(0)) => Ok(StoredNews::NotThere),
            // The task that told ended with this runtime; whoever asks next finds out.
            Ok(StoredEnd::Unknown | StoredEnd::At(_)) | Err(_) => Ok(StoredNews::Longer),
        }
    }
}
