//! The judge: decides what follows a reply without calls (S1, S2), by evidence alone: whether there is text, and
//! whether it was cut off.

use windlass_vocab::{EndReason, EndsBy, Nudge, NudgeCause, StopReason, TurnMode};

use crate::blank::is_blank;
use crate::control::Run;
use crate::draft::Draft;
use crate::texts;

const CONTINUATIONS: u32 = 3;
/// Consecutive paused replies that are continued; the next one is taken as it is.
const PAUSES: u32 = 5;

/// What follows a reply without calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterTextReply {
    /// It is the answer.
    Complete,
    /// The model gets a nudge to continue.
    Nudge(Nudge),
    /// It is empty again: one call without tools must report what was done.
    Summarise,
    /// It is empty, and the policy has no nudge for that: the run ends without an answer.
    NoAnswer,
}

/// Decides what follows the reply that `run` has just recorded.
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
            TurnMode::WrapUp | TurnMode::Summary | TurnMode::Title => self.start_turn(mode),
        }
    }

    /// Handles a reply without calls: it is the answer, or the run continues.
    pub(crate) fn take_text_reply(&mut self, mode: TurnMode, stop: StopReason, text: &str, misfit: Option<String>) {
        let Some(run) = self.run() else { return };
        let follows = after_text_reply(run, mode, stop, text);
        // Messages that arrived meanwhile are not answered yet (L7); at the turn cap the answer takes precedence.
        let goes_on = !run.unseen.is_empty() && run.counted_turns() < run.policy().turn_cap;
        match follows {
            AfterTextReply::Complete | AfterTextReply::NoAnswer if goes_on => self.next_turn(),
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

    /// Ends the run as unfinished, because its last reply is empty: whatever was done, it was not reported (S2).
    pub(crate) fn end_without_answer(&mut self) {
        let said = self.run().map(|run| run.answer.to_string()).filter(|answer| !is_blank(answer));
        self.end(EndReason::Unfinished, said.unwrap_or_else(|| texts::EMPTY_ANSWER.to_owned()), None);
    }
}
