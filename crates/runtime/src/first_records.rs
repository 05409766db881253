//! The first records of a session: the opening, and the message it is opened for.

use windlass_machine::Fact;
use windlass_store::StoreError;

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
        let mut message = None;
        if let Some(FirstMessage { message_id, text }) = words {
            let run_settings = Box::new(self.run_settings_for(&owner).await?);
            message = Some(Fact::Message { message_id: message_id.clone(), text: text.clone(), run_settings });
        }
        let envelopes = self.session_writer().begin(std::iter::once(opened).chain(message)).await?;
        self.publish_stored(&envelopes);
        Ok(self.open_run().map(SendOutcome::TakenUp))
    }
}
