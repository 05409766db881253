//! Calls that change files although the request did not ask for that: which files a call changes, and the question about it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value;
use windlass_vocab::{Json, PreparedCall, Preview, SnapshotKind, ToolName, UnaskedChange, Verdict, VerdictReason};

use crate::call_permission::{CallPermission, insert_warning, unasked_warning, verdict_on_this_call};
use crate::offer::Offer;
use crate::registry::RegisteredTool;
use crate::{CheckedPaths, Mode, Permissions, PlannedChange};

/// The files that a call changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedFiles {
    /// All of them.
    pub changes: Vec<String>,
    /// Those whose content is lost.
    pub loses: Vec<String>,
}

impl Offer {
    /// Returns the files that a call of a built-in tool changes, and of these the ones whose content is lost.
    #[must_use]
    pub fn changed_files(&self, tool: &ToolName, arguments: &Json) -> ChangedFiles {
        let Some(entry) = self.entry(tool).filter(|entry| entry.tool.snapshot_kind() == SnapshotKind::Paths) else {
            return ChangedFiles::default();
        };
        let arguments = arguments.to_value();
        let planned = catch_unwind(AssertUnwindSafe(|| entry.tool.planned_changes(&arguments))).unwrap_or_default();
        let loses = catch_unwind(AssertUnwindSafe(|| entry.tool.lost_files(&arguments))).unwrap_or_default();
        ChangedFiles { changes: planned.into_iter().map(PlannedChange::into_path).collect(), loses }
    }

    /// Requires approval for a call that changes files although the request did not ask for that. Not in bypass mode.
    pub fn ask_about_unasked_change(&self, call: &mut PreparedCall, permissions: &Permissions, change: UnaskedChange) {
        let Some(entry) = call.tool.as_ref().and_then(|tool| self.entry(tool)) else { return };
        if permissions.mode == Mode::Bypass || call.verdict != Verdict::Allow {
            return;
        }
        let arguments = call.arguments.to_value();
        (call.verdict, call.preview, call.because) = unasked_verdict(entry, &arguments, change);
    }

    /// The same for a call whose permission is checked right before it runs.
    #[must_use]
    pub fn check_unasked_change(&self, tool: &ToolName, arguments: &Json, change: UnaskedChange) -> CallPermission {
        let Some(entry) = self.entry(tool) else { return CallPermission::Run(CheckedPaths::default()) };
        let (verdict, preview, because) = unasked_verdict(entry, &arguments.to_value(), change);
        match verdict {
            Verdict::Deny { reason, remedy } => CallPermission::Refused { reason, remedy },
            Verdict::Allow | Verdict::Ask | Verdict::Invalid { .. } | Verdict::Unknown { .. } => {
                CallPermission::Ask { preview, because }
            }
        }
    }
}

/// Returns the verdict on a call that changes files although the request did not ask for that.
fn unasked_verdict(
    entry: &RegisteredTool,
    arguments: &Value,
    change: UnaskedChange,
) -> (Verdict, Option<Preview>, Option<VerdictReason>) {
    let warning = unasked_warning(&change);
    let (verdict, mut preview, because) = verdict_on_this_call(entry, arguments, VerdictReason::Unasked { change });
    if let Some(preview) = &mut preview {
        insert_warning(entry, arguments, preview, &warning);
    }
    (verdict, preview, because)
}
