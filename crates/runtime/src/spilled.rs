//! Reads results that were too long for the model: `call:ID` (T6). The permission of the original call is checked
//! again, because the rules may forbid by now what it read (X5).

use std::sync::Arc;

use windlass_store::{ReverseRecords, Store, StoreError};
use windlass_tools::{BoxFuture, Offer, Permissions, Secrets, SpilledResult, SpilledResults};
use windlass_vocab::{CallFinished, CallId, Record, SessionId};

/// The spilled results of one session.
pub(crate) struct SessionSpill {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) session: SessionId,
    pub(crate) offer: Offer,
    pub(crate) permissions: Arc<Permissions>,
    /// Checked again, because secrets may have become known since a result was stored.
    pub(crate) secrets: Arc<Secrets>,
}

impl SpilledResults for SessionSpill {
    fn read(&self, wanted: CallId) -> BoxFuture<'_, SpilledResult> {
        Box::pin(async move { self.find(wanted).await.unwrap_or(SpilledResult::Absent) })
    }
}

impl SessionSpill {
    async fn find(&self, wanted: CallId) -> Result<SpilledResult, StoreError> {
        let mut records = ReverseRecords::new(self.store.as_ref(), self.session);
        let (mut result, mut edited) = (None, None);
        while let Some(envelope) = records.next().await? {
            match envelope.record {
                Record::CallFinished(finished) if finished.call == wanted => result = Some(finished),
                Record::CallStarted(started) if started.call == wanted => edited = edited.or(started.arguments),
                Record::CallRequested(request) if request.call == wanted => {
                    let arguments = edited.as_ref().unwrap_or(&request.arguments);
                    let judge = |tool| self.offer.forbidden(tool, arguments, &self.permissions);
                    return match (result, request.tool.as_ref().and_then(judge)) {
                        (Some(_), Some(reason)) => Ok(SpilledResult::Forbidden(reason)),
                        (Some(finished), None) => self.whole(finished).await,
                        (None, _) => Ok(SpilledResult::Absent),
                    };
                }
                _ => {}
            }
        }
        Ok(SpilledResult::Absent)
    }

    async fn whole(&self, finished: CallFinished) -> Result<SpilledResult, StoreError> {
        let text = match finished.cut.and_then(|cut| cut.blob) {
            None => Some(finished.text),
            Some(hash) => self.store.blob(hash).await?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        };
        Ok(text.map_or(SpilledResult::Absent, |text| SpilledResult::Whole {
            text: self.secrets.scrub(&text).into_owned(),
            origin: finished.origin,
        }))
    }
}
