//! Repeated file reads (L11). A read always runs; when its result equals that of an earlier read that is still in the
//! history, the model gets a note instead of the content again. So no result can be stale, and this crate needs no
//! clock and no file system.

use windlass_vocab::{CallFinished, Guard, OutcomeKind};

use crate::call::Call;
use crate::draft::Draft;
use crate::texts;

impl Draft<'_> {
    /// Returns the short result to use in place of `finished`, where it repeats the result of an earlier read of this
    /// run that is still in the history.
    pub(crate) fn shortened(&self, call: &Call, finished: &CallFinished) -> Option<CallFinished> {
        let run = self.run().filter(|run| run.policy().guards.contains(&Guard::RepeatedRead))?;
        if finished.outcome != OutcomeKind::Ok || finished.cut.is_some() || call.edited.is_some() {
            return None;
        }
        let earlier = run.watch.earlier_read(&call.request)?;
        let transcript = &self.state.transcript;
        let unchanged = transcript.result(earlier) == Some(finished.text.as_str())
            && transcript.result_images(earlier) == finished.images;
        unchanged.then(|| CallFinished {
            text: texts::unchanged_since(earlier),
            answered_from: Some(earlier),
            images: Vec::new(),
            ..finished.clone()
        })
    }
}
