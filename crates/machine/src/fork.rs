//! Where a fork leaves its origin in mid-run (J8): the run that was open goes on only there. Here its
//! open calls are interrupted and it ends, so that the fork can be told something else, or try the run
//! again.

use windlass_vocab::{CancelAsked, EndReason, OutcomeKind, StopBy};

use crate::draft::Draft;
use crate::texts;

impl Draft<'_> {
    /// Closes what is open. A run that was being stopped already is ended as that stop would have.
    pub(crate) fn fork(&mut self) {
        let Some(run) = self.run() else { return self.leave_undo(texts::UNDO_LEFT_TO_ORIGIN) };
        if run.stop.is_none() {
            self.push(CancelAsked { by: StopBy::Fork });
        }
        for call in self.open_calls() {
            self.finish(call, OutcomeKind::Interrupted, texts::FORKED);
        }
        self.end(EndReason::Cancelled, "", None);
    }
}
