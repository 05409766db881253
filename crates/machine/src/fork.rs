//! A fork taken during a run (J8): the open run continues only in the original session. In the fork its open calls are
//! interrupted and it ends, so that the fork can accept another message, or retry the run.

use windlass_vocab::{CancelAsked, EndReason, OutcomeKind, StopBy};

use crate::draft::Draft;
use crate::texts;

impl Draft<'_> {
    /// Ends the open run or undo. A run that was being stopped already ends as that stop would have ended it.
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
