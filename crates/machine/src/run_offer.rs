//! What a run offers (T2): the context that was pinned for it, and the tools that its model has looked for since.

use std::sync::Arc;

use windlass_vocab::{CallFinished, ContextPinned, FoundTools, TurnMode};

use crate::control::{Phase, Run};

impl Run {
    /// Applies a pinned context.
    pub(crate) fn pinned(&mut self, pinned: &ContextPinned) {
        self.idle_resumes = 0;
        self.joined.extend(pinned.joined.iter().cloned());
        if let Some(overview) = &pinned.overview {
            self.evidence().add_overview(overview);
        }
        match &mut self.phase {
            Phase::Pinning => self.phase = Phase::Between,
            Phase::Modelling(attempt) => {
                attempt.unpinned = false;
                // No tool was available when the turn began, but now there is one (L1).
                if attempt.mode == TurnMode::Talk && !pinned.joined.is_empty() {
                    attempt.mode = TurnMode::Tools;
                }
            }
            Phase::Calling(_) | Phase::Stepping(_) | Phase::Between => {}
        }
    }

    /// Keeps the tools that a call has found: they join the offer at the next turn.
    pub(crate) fn keep_found_tools(&mut self, finished: &CallFinished) {
        let call = self.calls().iter().find(|call| call.request.call == finished.call);
        let tool = call.and_then(|call| call.request.tool.as_ref());
        let found = tool.map(|tool| FoundTools::by_call(tool, finished)).unwrap_or_default();
        if !found.is_empty() {
            Arc::make_mut(&mut self.found).extend(found);
        }
    }
}
