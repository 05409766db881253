//! Reading a journal from its end, for callers that search for one record and need not read the rest.

use std::vec;

use windlass_vocab::{Envelope, SessionId};

use crate::{Store, StoreError};

/// Batches in the first page; each later page has twice as many as the previous one.
const FIRST_PAGE: u32 = 16;
const LARGEST_PAGE: u32 = 1024;

/// A session's records, the newest first, read page by page.
pub struct ReverseRecords<'a> {
    store: &'a dyn Store,
    session: SessionId,
    page: vec::IntoIter<Envelope>,
    /// Number of the first record in the pages read so far.
    before: u64,
    batches: u32,
}

impl<'a> ReverseRecords<'a> {
    /// Starts at the end of the journal.
    #[must_use]
    pub fn new(store: &'a dyn Store, session: SessionId) -> Self {
        Self { store, session, page: Vec::new().into_iter(), before: u64::MAX, batches: FIRST_PAGE }
    }

    /// Returns the next record towards the beginning; `None` when the first record was returned already.
    pub async fn next(&mut self) -> Result<Option<Envelope>, StoreError> {
        if self.page.as_slice().is_empty() && self.before > 1 {
            let page = self.store.read_before(self.session, self.before, self.batches).await?;
            self.before = page.first().map_or(0, |first| first.seq);
            self.batches = (self.batches * 2).min(LARGEST_PAGE);
            self.page = page.into_iter();
        }
        Ok(self.page.next_back())
    }

    /// Returns the first `Some` that `wanted` gives, asked from the newest record backwards.
    pub async fn find_map<T>(mut self, mut wanted: impl FnMut(Envelope) -> Option<T>) -> Result<Option<T>, StoreError> {
        while let Some(envelope) = self.next().await? {
            if let Some(found) = wanted(envelope) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

impl std::fmt::Debug for ReverseRecords<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReverseRecords").field("session", &self.session).finish_non_exhaustive()
    }
}
