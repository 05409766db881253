//! A call that is certain to fail is not asked about (T8): the model gets the reason, and the person is not disturbed.

use serde_json::json;
use windlass_vocab::{EffectClass, Grant, PreparedCall, ReplyCall, Verdict};

use crate::call_permission::certain_failure_of;
use crate::{CertainFailure, FailureSource, Offer, Permissions};

/// The tool that reads the file an edit is about.
const READER: &str = "read_file";

impl Offer {
    /// Refuses those of a reply's calls that a person would be asked about and that can't succeed for the present
    /// content of a file, unless an earlier call of the reply may change it. Calls whose arguments can't be used were
    /// refused when they were prepared.
    pub fn refuse_certain_failures(&self, calls: &mut [PreparedCall], permissions: &Permissions, grants: &[Grant]) {
        let mut is_as_it_was = true;
        for call in calls {
            if call.verdict == Verdict::Ask
                && is_as_it_was
                && let Some(failure) = self.failure_by_content(call, permissions, grants)
            {
                let CertainFailure { reason, remedy, .. } = failure;
                (call.verdict, call.preview, call.because) = (Verdict::Invalid { reason, remedy }, None, None);
            }
            let may_run = matches!(call.verdict, Verdict::Allow | Verdict::Ask);
            is_as_it_was &= !may_run || call.effect == EffectClass::ReadOnly;
        }
    }

    /// Returns why a call can't succeed for the content of a file, if the model may read that file without asking: the
    /// reason reveals its content.
    fn failure_by_content(
        &self,
        call: &PreparedCall,
        permissions: &Permissions,
        grants: &[Grant],
    ) -> Option<CertainFailure> {
        let entry = self.entry(call.tool.as_ref()?)?;
        let arguments = call.arguments.to_value();
        let failure =
            certain_failure_of(entry, &arguments).filter(|failure| failure.source == FailureSource::FileContent)?;
        let read = json!({"path": arguments.get("path")?}).to_string();
        let read = ReplyCall { name: READER.to_owned(), arguments: read, ..ReplyCall::default() };
        let read = self.prepare(&read, permissions, grants);
        let is_ours = read.tool.is_some_and(|tool| tool.is_local());
        (is_ours && read.verdict == Verdict::Allow).then_some(failure)
    }
}
