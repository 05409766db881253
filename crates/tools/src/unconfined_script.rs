//! Scripts that no sandbox confines: a person approves each one, whatever rules allow, except in the mode that asks nothing
//! (X3).

use windlass_vocab::{Json, PreparedCall, ToolName, Verdict, VerdictReason};

use crate::call_permission::{CallPermission, about_call, verdict_on_this_call};
use crate::offer::Offer;
use crate::registry::RegisteredTool;
use crate::sandbox_use::SandboxUse;
use crate::{Mode, Permissions};

impl Offer {
    /// Requires approval for a script that would run without a sandbox.
    pub fn ask_about_unconfined_script(&self, call: &mut PreparedCall, permissions: &Permissions) {
        let Some(entry) = call.tool.as_ref().and_then(|tool| self.entry(tool)) else { return };
        let arguments = call.arguments.to_value();
        if call.verdict == Verdict::Allow && permissions.mode != Mode::Bypass && is_unconfined(entry, &arguments) {
            (call.verdict, call.preview, call.because) =
                verdict_on_this_call(entry, &arguments, VerdictReason::Unconfined {});
        }
    }

    /// The same for a call whose permission is checked right before it runs; `None` where a sandbox confines it.
    #[must_use]
    pub fn check_unconfined_script(&self, tool: &ToolName, arguments: &Json) -> Option<CallPermission> {
        let arguments = arguments.to_value();
        let entry = self.entry(tool).filter(|entry| is_unconfined(entry, &arguments))?;
        let (verdict, preview, because) = verdict_on_this_call(entry, &arguments, VerdictReason::Unconfined {});
        Some(match verdict {
            Verdict::Deny { reason, remedy } => CallPermission::Refused { reason, remedy },
            Verdict::Allow | Verdict::Ask | Verdict::Invalid { .. } | Verdict::Unknown { .. } => {
                CallPermission::Ask { preview, because }
            }
        })
    }
}

fn is_unconfined(entry: &RegisteredTool, arguments: &serde_json::Value) -> bool {
    match about_call(entry, arguments).sandbox_use {
        SandboxUse::NoSandbox | SandboxUse::Outside => true,
        SandboxUse::Confined | SandboxUse::WithNetwork => false,
    }
}
