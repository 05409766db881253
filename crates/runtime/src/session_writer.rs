//! The pen: one input becomes records of the journal and then state, in this order (I1). Whoever writes
//! to a session does it with this, be it a driver or not.

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

/// What was stored.
pub(crate) type StoredEnvelopes = Vec<Arc<Envelope>>;

/// What a fact leads to: records as they will be stored, and where the loop stands after them.
pub(crate) struct DecidedBatch {
    sealed: SealedBatch,
    after: DecidedState,
}

/// What it takes to write to one session.
pub(crate) struct SessionWriter<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) secrets: &'a Secrets,
    pub(crate) clock: &'a dyn Clock,
    pub(crate) state: &'a mut State,
    pub(crate) writer: &'a mut Writer,
}

impl SessionWriter<'_> {
    /// Decides, stores, applies. Says what was stored: nothing where the fact changes nothing.
    pub(crate) async fn step(mut self, fact: Fact, batch: Batch) -> Result<StoredEnvelopes, StoreError> {
        match self.decided(fact, batch)? {
            Some(decided) => self.store(decided).await,
            None => Ok(StoredEnvelopes::new()),
        }
    }

    /// Stores and applies what was decided.
    pub(crate) fn store(self, decided: DecidedBatch) -> impl Future<Output = Result<StoredEnvelopes, StoreError>> {
        let DecidedBatch { sealed, after } = decided;
        let span = spans::append(self.state.session, sealed.envelopes.len());
        let appended = self.store.append(sealed.clone()).instrument(span);
        async move {
            let envelopes = sealed.envelopes.clone();
            match appended.await {
                // The same batch again: one that is stored already answers so.
                Err(AppendError::Unknown { .. }) => {
                    append_again(self.store, sealed, |tried| pause(self.clock, tried)).await?;
                }
                appended => appended?,
            }
            apply_decided(self.state, after, envelopes.iter().map(|envelope| &envelope.record));
            Ok(envelopes)
        }
    }

    /// Begins a journal with these facts, each a batch of its own, all in one transaction. Nobody has
    /// seen the state yet, so it may run ahead of the store for once.
    pub(crate) async fn begin(mut self, facts: impl Iterator<Item = Fact>) -> Result<StoredEnvelopes, StoreError> {
        let mut batches = Vec::new();
        for fact in facts {
            let Some(DecidedBatch { sealed, after }) = self.decided(fact, Batch::default())? else { continue };
            apply_decided(self.state, after, sealed.envelopes.iter().map(|envelope| &envelope.record));
            batches.push(sealed);
        }
        let envelopes = batches.iter().flat_map(|sealed| sealed.envelopes.clone()).collect();
        restore_for_certain(self.store, batches, |tried| pause(self.clock, tried)).await?;
        Ok(envelopes)
    }

    /// What a fact leads to; nothing where it changes nothing.
    pub(crate) fn decided(&mut self, mut fact: Fact, batch: Batch) -> Result<Option<DecidedBatch>, StoreError> {
        scrub(self.secrets, &mut fact);
        let at = self.clock.now();
        let Some((records, after)) = decide_for(self.state, Input { at, fact }) else { return Ok(None) };
        let sealed = self.writer.seal(Batch { at, entries: placed(self.state, records), ..batch })?;
        Ok(Some(DecidedBatch { sealed, after }))
    }
}

/// The wait before a store that did not answer is asked again; the longest is 1.6 s.
const PAUSE_MS: u64 = 100;

fn pause(clock: &dyn Clock, tried: u32) -> BoxFuture<'static, ()> {
    clock.until(clock.now().plus_ms(PAUSE_MS << tried.min(4)))
}
