//! Takes a compaction back (C5).

use windlass_machine::Fact;
use windlass_store::StoreError;
use windlass_vocab::SessionChanged;

use crate::driver::Driver;
use crate::session::{Acceptance, CompactionUndo};

impl Driver {
    pub(crate) async fn undo_compaction(&mut self) -> Result<CompactionUndo, StoreError> {
        if self.state.control.compaction_wanted {
            let withdrawn = SessionChanged { compact: Some(false), ..SessionChanged::default() };
            self.step(Fact::Changed(withdrawn)).await?;
            return Ok(CompactionUndo::Withdrawn);
        }
        if self.open_run().is_some() || self.state.control.undo.is_some() {
            return Ok(CompactionUndo::Busy);
        }
        if !self.state.transcript.can_restore() {
            return Ok(CompactionUndo::Nothing);
        }
        let next_run = Box::new(self.run_settings().await?);
        Ok(match self.step(Fact::CompactionUndone(Some(next_run))).await? {
            Acceptance::Yes => CompactionUndo::Restored,
            Acceptance::No => CompactionUndo::TooLong,
        })
    }
}
