//! Decides what follows a reply without calls (S2): whether there is text, whether it was cut off, and, where the policy
//! has runs end by judged text, what the judge says of it (S1).

use windlass_vocab::{EndReason, EndsBy, Nudge, NudgeCause, Nudged, ReplyFault, StopReason, ToolSpec, TurnMode};

use crate::blank::is_blank;
use crate::control::Run;
use crate::draft::Draft;
use crate::judge::{ANSWERS, CALLS, JUDGE_NUDGES, JudgedReply, Judgement, SCRIPTS, is_mere_call, judge, nudge_text};
use crate::script_result::writes_scripts;
use crate::texts;

const CONTINUATIONS: u32 = 3;
/// Consecutive paused replies that are continued; the next one is taken as it is.
const PAUSES: u32 = 5;

/// What follows a reply without calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AfterTextReply {
    /// It is the answer.
    Complete,
    /// It is accepted, but something that was asked for is not done.
    Unfinished,
    /// The model gets a nudge to continue.
    Nudge(Nudge),
    /// The judge sends it back.
    SendBack(Nudge, Vec<ReplyFault>),
    /// The judge would send it back, but the model repeats itself: it must wrap up.
    Halt,
    /// It is empty again: one call without tools must report what was done.
    Summarise,
    /// It is empty, and the policy has no nudge for that: the run ends without an answer.
    NoAnswer,
}

/// Decides what follows the reply that `run` has just recorded, apart from the judge.
fn after_text_reply(run: &Run, mode: TurnMode, stop: StopReason, text: &str) -> AfterTextReply {
    let policy = run.policy();
    let on = |nudge: Nudge| policy.nudges.contains(&nudge);
    if policy.ends_by == EndsBy::EndingTool && mode == TurnMode::Tools && on(Nudge::NoToolCall) {
        return AfterTextReply::Nudge(Nudge::NoToolCall);
    }
    if is_blank(text) {
        return match (on(Nudge::Empty), run.empties) {
            (false, _) => AfterTextReply::NoAnswer,
            (true, 0) => AfterTextReply::Nudge(Nudge::Empty),
            (true, _) => AfterTextReply::Summarise,
        };
    }
    if stop == StopReason::Length && on(Nudge::CutOff) && run.continued < CONTINUATIONS {
        return AfterTextReply::Nudge(Nudge::CutOff);
    }
    AfterTextReply::Complete
}

/// Whether the judge reads the text of a run's turns: only where tools could do the work, and where the answer has no
/// form that is checked anyway.
pub(crate) fn is_judged(run: &Run, mode: TurnMode) -> bool {
    run.policy().ends_by == EndsBy::JudgedText && mode == TurnMode::Tools && run.started.output.is_none()
}

/// Whether the answer of a turn without tools is a call, which nobody makes.
fn is_call_without_tools(run: &Run, mode: TurnMode) -> bool {
    mode == TurnMode::Talk
        && run.policy().ends_by == EndsBy::JudgedText
        && run.started.output.is_none()
        && is_mere_call(run.answer.as_ref())
}

/// Whether the judge may send a reply back once more.
fn may_send_back(run: &Run, nudge: Nudge) -> bool {
    run.rejected_replies < JUDGE_NUDGES && run.policy().nudges.contains(&nudge)
}

impl Run {
    /// Whether the reply that was just recorded, if it is a paused one, is to be continued.
    pub(crate) fn continues_paused_reply(&self) -> bool {
        (1..=PAUSES).contains(&self.pauses)
    }
}

impl Draft<'_> {
    /// Starts a turn that continues a paused reply, on the same history.
    pub(crate) fn continue_paused_reply(&mut self, mode: TurnMode) {
        match mode {
            TurnMode::Tools | TurnMode::Talk => self.next_turn_in(mode),
            // Neither of these counts for the cap.
            TurnMode::WrapUp
            | TurnMode::Summary
            | TurnMode::Title
            | TurnMode::Plan
            | TurnMode::Synthesis
            | TurnMode::Route => {
                self.start_turn(mode);
            }
        }
    }

    /// Handles a reply without calls: it is the answer, or the run continues.
    pub(crate) fn take_text_reply(&mut self, mode: TurnMode, stop: StopReason, text: &str, misfit: Option<String>) {
        let Some(run) = self.run() else { return };
        let follows = match after_text_reply(run, mode, stop, text) {
            AfterTextReply::Complete if is_judged(run, mode) => self.after_judgement(run),
            AfterTextReply::Complete if is_call_without_tools(run, mode) => {
                if may_send_back(run, Nudge::Incomplete) {
                    AfterTextReply::SendBack(Nudge::Incomplete, vec![ReplyFault::CallAsText {}])
                } else {
                    AfterTextReply::Unfinished
                }
            }
            follows => follows,
        };
        // Messages that arrived meanwhile are not answered yet (L7); at the turn cap the answer takes precedence.
        let goes_on = !run.unseen.is_empty() && run.counted_turns() < run.policy().turn_cap;
        match follows {
            AfterTextReply::Complete | AfterTextReply::Unfinished | AfterTextReply::NoAnswer if goes_on => {
                self.next_turn();
            }
            AfterTextReply::Unfinished => {
                let answer = run.answer.to_string();
                self.end(EndReason::Unfinished, answer, None);
            }
            AfterTextReply::SendBack(nudge, faults) => self.send_reply_back(nudge, faults),
            AfterTextReply::Halt => self.halt(0),
            AfterTextReply::Complete => self.complete(misfit),
            AfterTextReply::NoAnswer if run.started.output.is_some() => self.complete(misfit),
            AfterTextReply::NoAnswer => self.end_without_answer(),
            AfterTextReply::Nudge(Nudge::NoToolCall) => self.send_call_back("no tool call", texts::NO_TOOL_CALL),
            AfterTextReply::Nudge(nudge) => {
                let (evidence, text) = match nudge {
                    Nudge::Empty => ("no text and no call", texts::EMPTY),
                    Nudge::CutOff => ("stopped by the length limit", texts::CUT_OFF),
                    Nudge::Incomplete | Nudge::Deflection | Nudge::NoToolCall => ("", ""),
                };
                self.nudge(NudgeCause::Reply(nudge), evidence, text);
                self.next_turn();
            }
            AfterTextReply::Summarise => self.wrap_up(NudgeCause::Summarise, texts::SUMMARISE),
        }
    }

    /// Decides what follows a reply that is text, by what the judge says of it.
    fn after_judgement(&self, run: &Run) -> AfterTextReply {
        let (nudge, faults) = match self.judged(run, run.answer.as_ref()) {
            Judgement::Complete => return AfterTextReply::Complete,
            Judgement::Incomplete(faults) => (Nudge::Incomplete, faults),
            Judgement::Deflecting(faults) => (Nudge::Deflection, faults),
        };
        if !may_send_back(run, nudge) {
            let is_certain = faults.iter().any(ReplyFault::is_shown_by_records) || is_mere_call(run.answer.as_ref());
            return if is_certain { AfterTextReply::Unfinished } else { AfterTextReply::Complete };
        }
        if run.watch.repeats_last_turn() { AfterTextReply::Halt } else { AfterTextReply::SendBack(nudge, faults) }
    }

    /// Ends a run whose model asks for the last change again and again, though it is made: the records say whether all is
    /// done. If not, the model is told what is missing, once.
    pub(crate) fn end_after_repeated_change(&mut self) {
        let Some(run) = self.run() else { return };
        if !is_judged(run, TurnMode::Tools) {
            self.nudge(NudgeCause::Cycle, "the same change three times", texts::CYCLE);
            return self.next_turn();
        }
        let text = texts::DONE_BY_RECORDS;
        let faults = match self.judged(run, text) {
            Judgement::Complete => return self.end(EndReason::Completed, text, None),
            Judgement::Incomplete(faults) | Judgement::Deflecting(faults) => faults,
        };
        if run.watch.repeats_change_after_nudge() {
            return self.end(EndReason::Unfinished, texts::STOPPED_REPEATING, None);
        }
        let missing = self.nudge_about(run, &faults);
        self.nudge(NudgeCause::Cycle, "the same change three times", &missing);
        self.next_turn();
    }

    /// Returns what the model is told of these faults, in the words of its dialect.
    fn nudge_about(&self, run: &Run, faults: &[ReplyFault]) -> String {
        let wording = if self.usual_mode() == TurnMode::Talk {
            ANSWERS
        } else if writes_scripts(run) {
            SCRIPTS
        } else {
            CALLS
        };
        nudge_text(faults, self.offered(), &wording, run.rejected_replies)
    }

    /// Sends a reply back: it leaves the history if it has no calls, and the model is told why, for one turn.
    pub(crate) fn send_reply_back(&mut self, nudge: Nudge, faults: Vec<ReplyFault>) {
        let Some(run) = self.run() else { return };
        let text = self.nudge_about(run, &faults);
        self.push(Nudged { why: NudgeCause::Reply(nudge), evidence: String::new(), text, faults });
        self.next_turn();
    }

    /// Judges this text as the reply of the run.
    pub(crate) fn judged(&self, run: &Run, text: &str) -> Judgement {
        let history = &self.state.transcript.history;
        let (evidence, offer) = (run.evidence.as_ref(), self.offered());
        let (writes_scripts, is_unclear_order) = (writes_scripts(run), run.is_unclear_order());
        judge(&JudgedReply { text, evidence, offer, writes_scripts, is_unclear_order, history })
    }

    /// Returns the tools that the run offers.
    pub(crate) fn offered(&self) -> &[ToolSpec] {
        self.state.transcript.context.as_ref().map(|context| context.offer.as_slice()).unwrap_or_default()
    }

    /// Ends the run as unfinished, because its last reply is empty: whatever was done, it was not reported (S2).
    pub(crate) fn end_without_answer(&mut self) {
        let said = self.run().map(|run| run.answer.to_string()).filter(|answer| !is_blank(answer));
        self.end(EndReason::Unfinished, said.unwrap_or_else(|| texts::EMPTY_ANSWER.to_owned()), None);
    }
}

/// How much warmer a reply is sampled for each that the judge sent back or that repeats the one before, and up to what, in
/// thousandths.
const WARMER: u32 = 300;
const WARMEST: u32 = 900;

impl Run {
    /// Returns the temperature of a turn, in thousandths. The turn after a reply that the judge sent back, or after the same
    /// call with the same result, is sampled more freely, so that the model does not write the same again.
    #[must_use]
    pub fn temperature_milli(&self, mode: TurnMode) -> Option<u32> {
        let sampling = &self.policy().sampling;
        match mode {
            TurnMode::Tools => {
                let again = match (&self.judge_nudge, self.policy().ends_by) {
                    (Some(_), _) => self.rejected_replies,
                    (None, EndsBy::JudgedText) => self.watch.repetitions(),
                    (None, EndsBy::Text | EndsBy::EndingTool) => 0,
                };
                let warmer = |usual: u32| usual.saturating_add(WARMER.saturating_mul(again)).min(WARMEST.max(usual));
                sampling.tool_temperature_milli.map(warmer)
            }
            TurnMode::Talk
            | TurnMode::WrapUp
            | TurnMode::Summary
            | TurnMode::Title
            | TurnMode::Plan
            | TurnMode::Synthesis
            | TurnMode::Route => sampling.talk_temperature_milli,
        }
    }
}
