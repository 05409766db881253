//! A session that was brought in from elsewhere (J8, X6). Its journal says whatever its writer wanted it to say, so
//! nothing that is open there goes on here: an open run ends, its calls interrupted, and an undo under way leaves the
//! files alone. What it granted is forgotten by the fold (`Transcript`), what it could undo by the ledger.

use windlass_vocab::{EndReason, OutcomeKind, SessionChanged};

use crate::draft::Draft;
use crate::texts;

impl Draft<'_> {
    /// Something about the session as a whole changed.
    pub(crate) fn change(&mut self, changed: SessionChanged) {
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
