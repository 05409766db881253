//! What the judge sees of a finished script. The exit code of a command may be an answer, as that of `grep` is; a script that
//! ends with an error has failed, and an answer after it is not founded on anything. What a script changed is what the
//! comparison of the workspace shows, whatever files its text names.

use std::borrow::Cow;

use windlass_vocab::{CallFinished, Dialect, OutcomeKind};

use crate::control::Run;
use crate::judge::EffectsShownBy;

/// Returns a result as evidence (a script that ended with an error is a failure), and what shows its effects.
pub(crate) fn judged_result<'f>(run: &Run, finished: &'f CallFinished) -> (Cow<'f, CallFinished>, EffectsShownBy) {
    if !writes_scripts(run) {
        return (Cow::Borrowed(finished), EffectsShownBy::Arguments);
    }
    let effects = if run.evidence.ignores_files() { EffectsShownBy::Arguments } else { EffectsShownBy::Comparison };
    let has_failed = finished.exit.is_some_and(|exit| !exit.is_success());
    let result = if has_failed && finished.outcome == OutcomeKind::Ok {
        Cow::Owned(CallFinished { outcome: OutcomeKind::ToolError, ..finished.clone() })
    } else {
        Cow::Borrowed(finished)
    };
    (result, effects)
}

/// Whether the model of the newest reply writes scripts; others of the run may not.
pub(crate) fn writes_scripts(run: &Run) -> bool {
    let model = run.replied_by.clone().unwrap_or_else(|| run.model(0));
    let own = run.started.model(&model).and_then(|model| model.dialect);
    own.or_else(|| run.policy().dialects.first().copied()) == Some(Dialect::Script)
}
