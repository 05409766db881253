//! Reading results that were too long to show: `call:ID` (T6).

use std::sync::Arc;

use windlass_store::Store;
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
            let records = self.store.read(self.session, 0).await.ok()?;
            let finished = records.into_iter().find_map(|envelope| match envelope.record {
                Record::CallFinished(finished) if finished.call == wanted => Some(finished),
                _ => None,
            })?;
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
