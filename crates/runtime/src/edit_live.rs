//! Changes something about a session as a whole, which may be live in this process.

use std::sync::Arc;

use windlass_store::{Store, StoreError};
use windlass_tools::Secrets;
use windlass_vocab::{ControlOutcome, SessionEdit, SessionId};

use crate::clock::Clock;
use crate::edit_session::edit_session;
use crate::live::LiveSessions;
use crate::opening::OpenError;
use crate::send_control::ControlDelivery;

impl LiveSessions {
    /// Changes something about a session as a whole, whether this process drives it, another one, or none. A session
    /// that is as the edit makes it is left alone.
    pub async fn edit(
        &self,
        store: &Arc<dyn Store>,
        secrets: &Secrets,
        clock: &dyn Clock,
        session: SessionId,
        edit: SessionEdit,
    ) -> Result<ControlDelivery, OpenError> {
        // Whoever opens the session here meanwhile waits, instead of finding it claimed.
        let _turn = self.turn(session).await;
        let row = store.row(session).await?.ok_or(StoreError::Missing)?;
        if let Some(epoch) = self.epoch(session)
            && let Some(live) = self.visit(session, epoch, store)
            && (row.has(&edit) || live.edit(edit.clone()).await.is_ok())
        {
            return Ok(ControlDelivery::Done(ControlOutcome::Edited {}));
        }
        edit_session(store.as_ref(), secrets, clock, session, &edit).await
    }
}
