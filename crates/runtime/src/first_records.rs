//! The first records of a session: the opening, and the message it is opened for.

use windlass_machine::Fact;
use windlass_store::{Batch, StoreError};

use crate::attaching::PreparedAttachments;
use crate::driver::Driver;
use crate::session::{FirstMessage, SendOutcome};

impl Driver {
    /// Starts the journal with the opening, and the message the session is opened for.
    pub(crate) async fn begin(
        &mut self,
        opened: Fact,
        words: Option<&FirstMessage>,
    ) -> Result<Option<SendOutcome>, StoreError> {
        let owner = if let Fact::Opened(opened, _) = &opened { opened.owner.clone() } else { String::new() };
        let mut facts = vec![(opened, Batch::default())];
        if let Some(FirstMessage { message_id, message }) = words.cloned() {
            let run_settings = Box::new(self.run_settings_for(&owner).await?);
            let PreparedAttachments { attachments, blobs } = self.attachments(message.files);
            let fact = Fact::Message { message_id, text: message.text, attachments, run_settings };
            facts.push((fact, Batch { blobs, ..Batch::default() }));
        }
        let envelopes = self.session_writer().begin(facts.into_iter()).await?;
        self.publish_stored(&envelopes);
        Ok(self.open_run().map(SendOutcome::TakenUp))
    }
}
