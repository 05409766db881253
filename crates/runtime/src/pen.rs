//! The pen: one input becomes records of the journal and then state, in this order (I1). Whoever writes
//! to a session does it with this, be it a driver or not.

use std::sync::Arc;

use windlass_machine::{Fact, Input, State, apply, decide};
use windlass_store::{Batch, Store, StoreError, Writer};
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
    pub(crate) async fn step(self, mut fact: Fact, batch: Batch) -> Result<Vec<Arc<Envelope>>, StoreError> {
        scrub(self.secrets, &mut fact);
        let at = self.clock.now();
        let records = decide(self.state, Input { at, fact });
        if records.is_empty() {
            return Ok(Vec::new());
        }
        let sealed = self.writer.seal(Batch { at, entries: placed(self.state, records), ..batch })?;
        let envelopes = sealed.envelopes.clone();
        self.store.append(sealed).await?;
        envelopes.iter().for_each(|envelope| apply(self.state, &envelope.record));
        Ok(envelopes)
    }
}
