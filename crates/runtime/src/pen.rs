//! The pen: one input becomes records of the journal and then state, in this order (I1). Whoever writes
//! to a session does it with this, be it a driver or not.

use std::sync::Arc;

use windlass_machine::{Fact, Input, State, apply, decide};
use windlass_store::{Batch, Sealed, Store, StoreError, Writer};
use windlass_tools::Secrets;
use windlass_vocab::Envelope;

use crate::clock::Clock;
use crate::place::placed;
use crate::scrub::scrub;

/// What it takes to write to one session.
pub(crate) struct Pen<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) secrets: &'a Secrets,
    pub(crate) clock: &'a dyn Clock,
    pub(crate) state: &'a mut State,
    pub(crate) writer: &'a mut Writer,
}

impl Pen<'_> {
    /// Decides, stores, applies. Says what was stored: nothing where the fact changes nothing.
    pub(crate) async fn step(mut self, fact: Fact, batch: Batch) -> Result<Vec<Arc<Envelope>>, StoreError> {
        let Some(sealed) = self.decided(fact, batch)? else { return Ok(Vec::new()) };
        let envelopes = sealed.envelopes.clone();
        self.store.append(sealed).await?;
        envelopes.iter().for_each(|envelope| apply(self.state, &envelope.record));
        Ok(envelopes)
    }

    /// Begins a journal with these facts, each a batch of its own, all in one transaction. Nobody has
    /// seen the state yet, so it may run ahead of the store for once.
    pub(crate) async fn begin(mut self, facts: impl Iterator<Item = Fact>) -> Result<Vec<Arc<Envelope>>, StoreError> {
        let mut batches = Vec::new();
        for fact in facts {
            let Some(sealed) = self.decided(fact, Batch::default())? else { continue };
            sealed.envelopes.iter().for_each(|envelope| apply(self.state, &envelope.record));
            batches.push(sealed);
        }
        let envelopes = batches.iter().flat_map(|sealed| sealed.envelopes.clone()).collect();
        match self.store.restore(batches).await {
            // A commit whose end was not heard of is tried again, and is there already then.
            Err(StoreError::Exists { session }) if self.store.head(session).await? == self.writer.head => {}
            stored => stored?,
        }
        Ok(envelopes)
    }

    /// What a fact leads to, as it will be stored; nothing where it changes nothing.
    fn decided(&mut self, mut fact: Fact, batch: Batch) -> Result<Option<Sealed>, StoreError> {
        scrub(self.secrets, &mut fact);
        let at = self.clock.now();
        let records = decide(self.state, Input { at, fact });
        if records.is_empty() {
            return Ok(None);
        }
        self.writer.seal(Batch { at, entries: placed(self.state, records), ..batch }).map(Some)
    }
}
