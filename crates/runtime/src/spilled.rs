//! Reading results that were too long to show: `call:ID` (T6).

use std::sync::Arc;

use windlass_store::{Backwards, Store};
use windlass_tools::{BoxFuture, SpilledResults};
use windlass_vocab::{CallId, Record, SessionId};

/// The spilled results of one session.
pub(crate) struct Spilled {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) session: SessionId,
}

impl SpilledResults for Spilled {
    fn read(&self, wanted: CallId) -> BoxFuture<'_, Option<String>> {
        Box::pin(async move {
            let records = Backwards::new(self.store.as_ref(), self.session);
            let found = records.find_map(|envelope| match envelope.record {
                Record::CallFinished(finished) if finished.call == wanted => Some(finished),
                _ => None,
            });
            let finished = found.await.ok()??;
            match finished.cut.and_then(|cut| cut.blob) {
                Some(hash) => {
                    let bytes = self.store.blob(hash).await.ok()??;
                    Some(String::from_utf8_lossy(&bytes).into_owned())
                }
                None => Some(finished.text),
            }
        })
    }
}
