//! Changes of a session as a whole, whichever process drives it: its title, its place in the list, a summary that is made
//! before its next answer.

use windlass_runtime::ControlDelivery;
use windlass_vocab::{SessionEdit, SessionId};

use crate::error::{ApiError, ErrorKind};
use crate::state::HttpServer;

impl HttpServer {
    /// Changes a session. One that no process has open is claimed for a moment, and nothing of it is resumed.
    pub(crate) async fn edit(&self, session: SessionId, edit: SessionEdit) -> Result<(), ApiError> {
        let (store, clock) = (self.store(), self.clock.as_ref());
        match self.live().edit(store, &self.secrets, clock, session, edit).await? {
            ControlDelivery::Done(_) => Ok(()),
            ControlDelivery::NobodyThere
            | ControlDelivery::OwnerLeft
            | ControlDelivery::NoAnswer
            | ControlDelivery::StillAtIt => {
                let error = ApiError::new(ErrorKind::Busy, "the process that has the session does not react");
                Err(ApiError { retry_after: Some(2), ..error })
            }
        }
    }
}
