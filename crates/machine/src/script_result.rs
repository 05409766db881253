//! What the judge sees of a finished script. The exit code of a command may be an answer, as that of `grep` is; a script that
//! ends with an error has failed, and an answer after it is not founded on anything.

use std::borrow::Cow;

use windlass_vocab::{CallFinished, Dialect, OutcomeKind};

use crate::control::Run;

/// Returns a result as evidence: that of a script that ended with an error is a failure.
pub(crate) fn judged_result<'f>(run: &Run, finished: &'f CallFinished) -> Cow<'f, CallFinished> {
    let has_failed = finished.exit.is_some_and(|exit| !exit.is_success());
    if has_failed && finished.outcome == OutcomeKind::Ok && has_scripts(run) {
        return Cow::Owned(CallFinished { outcome: OutcomeKind::ToolError, ..finished.clone() });
    }
    Cow::Borrowed(finished)
}

/// Whether a model of the run writes scripts.
pub(crate) fn has_scripts(run: &Run) -> bool {
    let by_model = run.started.models.iter().any(|model| model.dialect == Some(Dialect::Script));
    by_model || run.policy().dialects.first() == Some(&Dialect::Script)
}
