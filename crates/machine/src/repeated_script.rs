//! Scripts that the model repeats word for word (L11, S2). A small model copies what stands in the conversation: once a
//! script of its own is there twice, it never writes another. So a script is not run again where nothing was changed yet: the
//! run starts over, its scripts and their results leave the history, and the model is told what came of this one. Nor is
//! the script that made the last change: the records say whether all is done.

use windlass_vocab::{CallRequested, EndReason, Guard, Nudge, NudgeCause, Nudged, OutcomeKind, ReplyFault, TurnMode};

use crate::control::{Call, CallState, Run};
use crate::draft::Draft;
use crate::judge::{ChangeStage, JUDGE_NUDGES, Judgement};
use crate::script_result::writes_scripts;
use crate::text_reply::is_judged;
use crate::texts;

/// The last sentence of each start of a run, in order.
const CLOSINGS: [&str; 3] = [
    "Write another script.",
    "Write a script that does it in another way.",
    "If it can't be done, say in one sentence why; otherwise write a new script.",
];

impl Run {
    /// Whether a call is a script that is not run again.
    pub(crate) fn repeats_script(&self, request: &CallRequested) -> bool {
        let is_guarded = self.policy().guards.contains(&Guard::RepeatedChange);
        let is_repeated = if self.evidence.may_have_changed_files() {
            self.watch.is_last_changer(request)
        } else {
            self.watch.script_result(request).is_some()
        };
        is_guarded && is_repeated && is_judged(self, TurnMode::Tools) && writes_scripts(self)
    }

    /// Returns the first call of a turn whose calls were all scripts that are not run again.
    fn repeated_script(&self) -> Option<&Call> {
        let is_refused = |call: &&Call| {
            call.state == CallState::Finished(OutcomeKind::InvalidArguments) && self.repeats_script(&call.request)
        };
        let first = self.calls().first();
        first.filter(|_| self.calls().iter().filter(is_refused).count() == self.calls().len())
    }
}

impl Draft<'_> {
    /// Decides what follows a turn whose scripts were all repeated; `false` where it was another turn.
    pub(crate) fn answers_repeated_script(&mut self) -> bool {
        let Some(run) = self.run() else { return false };
        let Some(request) = run.repeated_script().map(|call| call.request.clone()) else { return false };
        if run.watch.is_last_changer(&request) {
            self.after_repeated_change();
        } else if run.rejected_replies >= JUDGE_NUDGES {
            self.halt(0);
        } else {
            let text = start_over_text(run, run.watch.script_result(&request).unwrap_or_default());
            let evidence = "the same script again".to_owned();
            self.push(Nudged { why: NudgeCause::Cycle, evidence, text, faults: vec![ReplyFault::Repeated {}] });
            self.next_turn();
        }
        true
    }

    /// Ends a run whose model writes the last change again, if the records show that all is done; else tells the model what
    /// is missing.
    fn after_repeated_change(&mut self) {
        let Some(run) = self.run() else { return };
        let faults = match self.judged(run, texts::DONE_BY_RECORDS) {
            Judgement::Complete => return self.end(EndReason::Completed, texts::DONE_BY_RECORDS, None),
            Judgement::Incomplete(faults) | Judgement::Deflecting(faults) => faults,
        };
        if run.rejected_replies >= JUDGE_NUDGES {
            return self.end(EndReason::Unfinished, texts::STOPPED_REPEATING, None);
        }
        self.send_reply_back(Nudge::Incomplete, faults);
    }
}

/// Returns what the model is told when the run starts over: what came of its script, and what to do. No two starts of a
/// run are told the same.
fn start_over_text(run: &Run, result: &str) -> String {
    let order = match run.progress().stage {
        ChangeStage::Nothing { to_rewrite } => match &to_rewrite[..] {
            [path] => format!("Nothing is changed yet: {path} has to be opened, its text changed and written back."),
            [] | [..] => "Nothing is changed yet.".to_owned(),
        },
        ChangeStage::NotAsked | ChangeStage::Begun { .. } | ChangeStage::Unclear => {
            "If that answers the request, answer in plain words.".to_owned()
        }
    };
    let place = usize::try_from(run.rejected_replies).unwrap_or(usize::MAX).min(CLOSINGS.len() - 1);
    let result = if result.is_empty() { String::new() } else { format!(" Its result:\n{result}\n") };
    format!("This script was run already, and brings the same again.{result}\n{order} {}", CLOSINGS[place])
}
