//! Whether a call may run, by the rules of this process: it may not be the one that recorded the call (X6).

use windlass_machine::{Agreed, Fact, Finished, Run, State};
use windlass_tools::{Clearance, Offer, Permissions, Secrets};
use windlass_vocab::{CallId, Json, OutcomeKind, OutsideText, Preview, ToolName};

use crate::scrub::scrub_preview;

/// What calls are judged by.
pub(crate) struct Judge<'a> {
    pub(crate) state: &'a State,
    pub(crate) offer: &'a Offer,
    pub(crate) permissions: &'a Permissions,
    pub(crate) secrets: &'a Secrets,
}

impl Judge<'_> {
    /// What the rules say. What a person said yes to stays so unless a rule forbids it; if they said so to another
    /// process, only if they would be shown the same now.
    pub(crate) fn cleared(&self, tool: &ToolName, arguments: &Json, agreed: &Agreed) -> Clearance {
        let Self { state, offer, permissions, .. } = self;
        if *agreed == Agreed::Yes {
            return offer.cleared_by_person(tool, arguments, permissions);
        }
        let asks =
            state.control.run.as_ref().map(Run::policy).is_some_and(|rows| rows.outside_text == OutsideText::Ask);
        let texts = state.book.outside_texts().filter(|_| asks);
        match (offer.cleared(tool, arguments, permissions, &state.book.grants, texts), agreed) {
            (Clearance::Ask { preview: Some(preview), .. }, Agreed::IfShown(seen)) if self.shows(&preview, seen) => {
                offer.cleared_by_person(tool, arguments, permissions)
            }
            (clearance, _) => clearance,
        }
    }

    /// Whether a person would be shown what they have seen, whatever rule is offered with it.
    fn shows(&self, preview: &Preview, seen: &Preview) -> bool {
        let mut shown = preview.clone();
        scrub_preview(self.secrets, &mut shown);
        (&shown.title, &shown.body) == (&seen.title, &seen.body)
    }
}

/// What it means for a call that was waiting to be judged.
pub(crate) fn judged(call: CallId, clearance: Clearance) -> Fact {
    match clearance {
        Clearance::Run(_) => Fact::CallCleared { call },
        Clearance::Ask { preview, because } => Fact::CallHeld { call, preview, because },
        Clearance::Refused { reason, remedy } => {
            Fact::CallDone { call, finished: Finished { remedy, ..Finished::new(OutcomeKind::Denied, reason) } }
        }
    }
}
