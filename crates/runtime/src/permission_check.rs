//! Checks calls against the permission rules of this process, which may not have recorded the call (X6).

use windlass_machine::{CallApproval, CallResult, Fact, Run, State};
use windlass_tools::{CallPermission, Mode, Offer, Permissions, Secrets};
use windlass_vocab::{CallId, Json, OutcomeKind, OutsideText, Preview, ToolName, UnaskedChange};

use crate::retrieval::turn_passages::TurnPassages;
use crate::script_run::writes_scripts;
use crate::scrub::scrub_preview;

/// What the permissions of calls are checked against.
pub(crate) struct PermissionCheck<'a> {
    pub(crate) state: &'a State,
    pub(crate) offer: &'a Offer,
    pub(crate) permissions: &'a Permissions,
    pub(crate) secrets: &'a Secrets,
    /// Passages that were sent: text from outside that is in no record (C10).
    pub(crate) passages: &'a TurnPassages,
}

impl PermissionCheck<'_> {
    /// Checks a call. A call that a person approved stays approved unless a rule forbids it; an approval given in
    /// another process counts only if the preview is the same now.
    pub(crate) fn check_permission(
        &self,
        tool: &ToolName,
        arguments: &Json,
        approved: &CallApproval,
    ) -> CallPermission {
        let Self { state, offer, permissions, .. } = self;
        if *approved == CallApproval::Yes {
            return offer.check_approved_call(tool, arguments, permissions);
        }
        let asks =
            state.control.run.as_ref().map(Run::policy).is_some_and(|rows| rows.outside_text == OutsideText::Ask);
        let texts = state.transcript.outside_texts().chain(self.passages.outside_texts()).filter(|_| asks);
        let permission = match offer.check_permission(tool, arguments, permissions, &state.transcript.grants, texts) {
            CallPermission::Run(paths) => match self.unasked_change(tool, arguments) {
                Some(change) => offer.check_unasked_change(tool, arguments, change),
                None => self.unconfined_script(tool, arguments).unwrap_or(CallPermission::Run(paths)),
            },
            other @ (CallPermission::Ask { .. } | CallPermission::Refused { .. }) => other,
        };
        match (permission, approved) {
            (CallPermission::Ask { preview: Some(preview), .. }, CallApproval::IfShown(seen))
                if self.shows(&preview, seen) =>
            {
                offer.check_approved_call(tool, arguments, permissions)
            }
            (permission, _) => permission,
        }
    }

    /// Returns the permission of a script that no sandbox confines.
    fn unconfined_script(&self, tool: &ToolName, arguments: &Json) -> Option<CallPermission> {
        let is_asked = self.permissions.mode != Mode::Bypass && writes_scripts(self.state);
        is_asked.then(|| self.offer.check_unconfined_script(tool, arguments))?
    }

    /// Returns what a call would change although the request did not ask for it.
    fn unasked_change(&self, tool: &ToolName, arguments: &Json) -> Option<UnaskedChange> {
        let run = self.state.control.run.as_ref().filter(|_| self.permissions.mode != Mode::Bypass)?;
        let files = self.offer.changed_files(tool, arguments);
        run.unasked_change(&files.changes, &files.loses)
    }

    /// Whether the preview equals the one the person has seen, except for the offered rule.
    fn shows(&self, preview: &Preview, seen: &Preview) -> bool {
        let mut shown = preview.clone();
        scrub_preview(self.secrets, &mut shown);
        (&shown.title, &shown.body) == (&seen.title, &seen.body)
    }
}

/// Returns the fact for a call that was waiting for its permission check.
pub(crate) fn permission_fact(call: CallId, permission: CallPermission) -> Fact {
    match permission {
        CallPermission::Run(_) => Fact::CallAllowed { call },
        CallPermission::Ask { preview, because } => Fact::CallNeedsApproval { call, preview, because },
        CallPermission::Refused { reason, remedy } => {
            Fact::CallDone { call, finished: CallResult { remedy, ..CallResult::new(OutcomeKind::Denied, reason) } }
        }
    }
}
