//! Imported sessions (J8, X6). An imported journal may contain anything its writer chose, so nothing that is open in it
//! continues here: an open run ends with its calls interrupted, and an undo in progress leaves the files alone.
//! `Transcript` drops the grants from before the import, and the ledger the undoable effects.

use windlass_vocab::{EndReason, OutcomeKind, SessionChanged};

use crate::draft::Draft;
use crate::texts;

impl Draft<'_> {
    /// Records a change of the session as a whole; an import also ends what is open. A summary that was asked for already
    /// is not asked for twice.
    pub(crate) fn change(&mut self, changed: SessionChanged) {
        let known = SessionChanged { compact: Some(self.control.compaction_wanted), ..SessionChanged::default() };
        if changed == known {
            return;
        }
        let imported = changed.imported.is_some();
        self.push(changed);
        if imported {
            self.end_what_came_in();
        }
    }

    fn end_what_came_in(&mut self) {
        for call in self.open_calls() {
            self.finish(call, OutcomeKind::Interrupted, texts::IMPORTED);
        }
        self.end(EndReason::Cancelled, "", None);
        self.leave_undo(texts::UNDO_OF_IMPORT);
    }
}
