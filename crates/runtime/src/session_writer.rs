//! The session writer: turns one input into journal records and then into state, in this order (I1). Everything that
//! writes to a session uses it, with or without a driver.

use std::sync::Arc;

use tracing::Instrument;
use windlass_machine::{DecidedState, Fact, Input, State, apply_decided, decide_for};
use windlass_store::{
    AppendError, Batch, BoxFuture, SealedBatch, Store, StoreError, Writer, append_again, restore_for_certain,
};
use windlass_tools::Secrets;
use windlass_vocab::Envelope;

use crate::clock::Clock;
use crate::place::placed;
use crate::scrub::scrub;
use crate::spans;

/// The stored records.
pub(crate) type StoredEnvelopes = Vec<Arc<Envelope>>;

/// The consequences of a fact: its records, ready to store, and the state of the loop after them.
pub(crate) struct DecidedBatch {
    sealed: SealedBatch,
    after: DecidedState,
}

/// What is needed to write to one session.
pub(crate) struct SessionWriter<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) secrets: &'a Secrets,
    pub(crate) clock: &'a dyn Clock,
    pub(crate) state: &'a mut State,
    pub(crate) writer: &'a mut Writer,
}

impl SessionWriter<'_> {
    /// Decides, stores, applies. Returns the stored records: none where the fact changes nothing.
    pub(crate) async fn step(mut self, fact: Fact, batch: Batch) -> Result<StoredEnvelopes, StoreError> {
        match self.decided(fact, batch)? {
            Some(decided) => self.store(decided).await,
            None => Ok(StoredEnvelopes::new()),
        }
    }

    /// Stores and applies a decided batch.
    pub(crate) fn store(self, decided: DecidedBatch) -> impl Future<Output = Result<StoredEnvelopes, StoreError>> {
        let DecidedBatch { sealed, after } = decided;
        let span = spans::append(self.state.session, sealed.envelopes.len());
        let appended = self.store.append(sealed.clone()).instrument(span);
        async move {
            let envelopes = sealed.envelopes.clone();
            match appended.await {
                // Append the same batch again: the store recognises one that it has already.
                Err(AppendError::Unknown { .. }) => {
                    append_again(self.store, sealed, |tried| pause(self.clock, tried)).await?;
                }
                appended => appended?,
            }
            apply_decided(self.state, after, envelopes.iter().map(|envelope| &envelope.record));
            Ok(envelopes)
        }
    }

    /// Starts a journal with these facts, each a batch of its own, all in one transaction. Nobody has seen the state
    /// yet, so here it may be ahead of the store.
    pub(crate) async fn begin(
        mut self,
        facts: impl Iterator<Item = (Fact, Batch)>,
    ) -> Result<StoredEnvelopes, StoreError> {
        let mut batches = Vec::new();
        for (fact, batch) in facts {
            let Some(DecidedBatch { sealed, after }) = self.decided(fact, batch)? else { continue };
            apply_decided(self.state, after, sealed.envelopes.iter().map(|envelope| &envelope.record));
            batches.push(sealed);
        }
        let envelopes = batches.iter().flat_map(|sealed| sealed.envelopes.clone()).collect();
        restore_for_certain(self.store, batches, |tried| pause(self.clock, tried)).await?;
        Ok(envelopes)
    }

    /// Decides a fact; `None` where it changes nothing.
    pub(crate) fn decided(&mut self, mut fact: Fact, batch: Batch) -> Result<Option<DecidedBatch>, StoreError> {
        scrub(self.secrets, &mut fact);
        let at = self.clock.now();
        let Some((records, after)) = decide_for(self.state, Input { at, fact }) else { return Ok(None) };
        let sealed = self.writer.seal(Batch { at, entries: placed(self.state, records), ..batch })?;
        Ok(Some(DecidedBatch { sealed, after }))
    }
}

/// The first wait before an append that got no answer is repeated; the longest is 1.6 s.
const PAUSE_MS: u64 = 100;

fn pause(clock: &dyn Clock, tried: u32) -> BoxFuture<'static, ()> {
    clock.until(clock.now().plus_ms(PAUSE_MS << tried.min(4)))
}
