//! Repeated file reads (L11). A read always runs; when its result is the same as that of an earlier read that is
//! still in the history, the model is told so instead of being sent the content again. So no result can be
//! stale, and no clock and no file system are needed here.

use windlass_vocab::{CallFinished, Guard, OutcomeKind};

use crate::call::Call;
use crate::draft::Draft;
use crate::texts;

impl Draft<'_> {
    /// The short result in place of `finished`, where that repeats what an earlier read of this run brought and the
    /// model still has before it.
    pub(crate) fn shortened(&self, call: &Call, finished: &CallFinished) -> Option<CallFinished> {
        let run = self.run().filter(|run| run.policy().guards.contains(&Guard::RepeatedRead))?;
        if finished.outcome != OutcomeKind::Ok || finished.cut.is_some() || call.edited.is_some() {
            return None;
        }
        let earlier = run.watch.earlier_read(&call.request)?;
        let unchanged = self.state.transcript.result(earlier) == Some(finished.text.as_str());
        unchanged.then(|| CallFinished {
            text: texts::unchanged_since(earlier),
            answered_from: Some(earlier),
            ..finished.clone()
        })
    }
}
