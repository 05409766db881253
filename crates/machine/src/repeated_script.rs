//! Scripts that the model repeats word for word (L11, S2). A small model copies what stands in the conversation: once a script
//! of its own is there twice, it never writes another. So a repeated script is not run. Where nothing was changed yet, the run
//! starts over: its scripts and their results leave the history, and the model is told what came of them. Where something was
//! changed, the records say whether all is done.

use windlass_vocab::{
    CallRequested, EndReason, Guard, Message, Nudge, NudgeCause, Nudged, OutcomeKind, ReplyFault, TurnMode,
};

use crate::control::{Call, CallState, Run};
use crate::draft::Draft;
use crate::judge::{ChangeStage, JUDGE_NUDGES, JudgedReply, Judgement, SCRIPTS, judge, nudge_text};
use crate::script_result::writes_scripts;
use crate::text_reply::is_judged;
use crate::texts;
use crate::transcript::Transcript;

/// How much of the last result the model is told when it starts over, in characters.
const RESULT_CHARS: usize = 400;

impl Run {
    /// Whether a call is a script that would bring the same again.
    pub(crate) fn repeats_script(&self, request: &CallRequested) -> bool {
        self.policy().guards.contains(&Guard::RepeatedChange)
            && is_judged(self, TurnMode::Tools)
            && writes_scripts(self)
            && self.watch.repeats_script(request)
    }

    /// Whether all calls of the turn were scripts that were not run because they are repeated.
    pub(crate) fn has_repeated_scripts_only(&self) -> bool {
        let is_repeated =
            |call: &Call| call.state == CallState::Finished(OutcomeKind::Denied) && self.repeats_script(&call.request);
        !self.calls().is_empty() && self.calls().iter().all(is_repeated)
    }
}

impl Draft<'_> {
    /// Decides what follows a turn whose scripts were all repeated.
    pub(crate) fn after_repeated_script(&mut self) {
        let Some(run) = self.run() else { return };
        if run.evidence.has_effects() {
            return self.after_repeated_changing_script();
        }
        if run.rejected_replies >= JUDGE_NUDGES {
            return self.halt(0);
        }
        let text = start_over_text(run, last_result(&self.state.transcript));
        self.push(Nudged {
            why: NudgeCause::Cycle,
            evidence: "the same script again".to_owned(),
            text,
            faults: vec![ReplyFault::Repeated {}],
        });
        self.next_turn();
    }

    /// The same where files were changed: if all is done, the run ends; else the model is told what is missing.
    fn after_repeated_changing_script(&mut self) {
        let Some(run) = self.run() else { return };
        let (text, evidence) = (texts::DONE_BY_RECORDS, run.evidence.as_ref());
        let (offer, history) = (self.offered(), &self.state.transcript.history[..]);
        let judged = JudgedReply { text, evidence, offer, writes_scripts: true, history };
        let faults = match judge(&judged) {
            Judgement::Complete => return self.end(EndReason::Completed, text, None),
            Judgement::Incomplete(faults) | Judgement::Deflecting(faults) => faults,
        };
        if run.rejected_replies >= JUDGE_NUDGES {
            return self.end(EndReason::Unfinished, texts::STOPPED_REPEATING, None);
        }
        let text = nudge_text(&faults, offer, &SCRIPTS, run.rejected_replies);
        self.push(Nudged { why: NudgeCause::Reply(Nudge::Incomplete), evidence: String::new(), text, faults });
        self.next_turn();
    }
}

/// Returns the text of the open run's newest result that is still sent.
fn last_result(transcript: &Transcript) -> Option<&str> {
    let begin = transcript.goal().map_or(0, |goal| goal + 1);
    let sent = transcript.history.get(begin..).unwrap_or_default();
    sent.iter().rev().find_map(|message| match message {
        Message::Tool { text, .. } => Some(text.as_str()),
        Message::User { .. } | Message::Assistant { .. } => None,
    })
}

/// Returns what the model is told when the run starts over: what came of its last script, and what to do.
fn start_over_text(run: &Run, result: Option<&str>) -> String {
    let result: String = result.unwrap_or_default().chars().take(RESULT_CHARS).collect();
    let order = match run.progress().stage {
        ChangeStage::Nothing { to_rewrite } => match &to_rewrite[..] {
            [path] => format!("Write a script that opens {path}, changes its text and writes it back."),
            [] | [..] => "Write another script, one that makes the change.".to_owned(),
        },
        ChangeStage::NotAsked | ChangeStage::Begun { .. } | ChangeStage::Unclear => {
            "If that answers the request, answer in plain words. If not, write another script.".to_owned()
        }
    };
    // The run has started over before, and nothing was run since.
    let result = if result.is_empty() { String::new() } else { format!(" Its result:\n{result}\n") };
    format!("A script was run already, and running it again brings the same.{result}\n{order}")
}
