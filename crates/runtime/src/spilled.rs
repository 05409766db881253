//! Reads results that were too long for the model: `call:ID` (T6). The permission of the original call is checked
//! again, because the rules may forbid by now what it read (X5).

use std::sync::Arc;

use windlass_store::{ReverseRecords, Store, StoreError};
use windlass_tools::{BoxFuture, Offer, Permissions, Secrets, SpilledResult, SpilledResults};
use windlass_vocab::{Attachment, CallFinished, CallId, Cut, Record, SessionId, TextOrigin};

use crate::attaching::is_named;

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
        Box::pin(async move { self.find(wanted).await.unwrap_or_else(|error| unreadable(&error)) })
    }

    fn read_attached<'a>(&'a self, id: &'a str) -> BoxFuture<'a, SpilledResult> {
        Box::pin(async move { self.find_attached(id).await.unwrap_or_else(|error| unreadable(&error)) })
    }
}

fn unreadable(error: &StoreError) -> SpilledResult {
    SpilledResult::Unreadable(format!("The records can't be read: {error}"))
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

    /// Returns a text that the person attached: what they named themselves is allowed.
    async fn find_attached(&self, id: &str) -> Result<SpilledResult, StoreError> {
        let mut records = ReverseRecords::new(self.store.as_ref(), self.session);
        while let Some(envelope) = records.next().await? {
            let Record::MessageAccepted(accepted) = envelope.record else { continue };
            for attachment in accepted.attachments {
                if let Attachment::Text(text) = attachment
                    && is_named(&text, id)
                {
                    return self.whole_text(text.text, text.cut, None).await;
                }
            }
        }
        Ok(SpilledResult::Absent)
    }

    async fn whole(&self, finished: CallFinished) -> Result<SpilledResult, StoreError> {
        self.whole_text(finished.text, finished.cut, finished.origin).await
    }

    async fn whole_text(
        &self,
        shown: String,
        cut: Option<Cut>,
        origin: Option<TextOrigin>,
    ) -> Result<SpilledResult, StoreError> {
        let text = match cut.and_then(|cut| cut.blob) {
            None => Some(shown),
            Some(hash) => self.store.blob(hash).await?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        };
        Ok(text.map_or(SpilledResult::Absent, |text| SpilledResult::Whole {
            text: self.secrets.scrub(&text).into_owned(),
            origin,
        }))
    }
}
