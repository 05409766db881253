//! The judge reads a reply without calls and says what follows (S1, S2). It decides on evidence:
//! whether there is text, and whether it was cut off.

use windlass_vocab::{EndsBy, Nudge, StopReason, TurnMode};

use crate::control::Run;

const CONTINUATIONS: u32 = 3;

/// What follows a reply without calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// It is the answer.
    Complete,
    /// The model is sent on.
    Nudge(Nudge),
    /// Empty again: one call without tools must say what was done.
    Summarise,
}

/// Judges the reply that `run` has just recorded.
pub(crate) fn judge(run: &Run, mode: TurnMode, stop: StopReason, text: &str) -> Judgement {
    let policy = run.policy();
    let on = |nudge: Nudge| policy.nudges.contains(&nudge);
    if policy.ends_by == EndsBy::EndingTool && mode == TurnMode::Tools && on(Nudge::NoToolCall) {
        return Judgement::Nudge(Nudge::NoToolCall);
    }
    if text.trim().is_empty() {
        return match (on(Nudge::Empty), run.empties) {
            (false, _) => Judgement::Complete,
            (true, 0) => Judgement::Nudge(Nudge::Empty),
            (true, _) => Judgement::Summarise,
        };
    }
    if stop == StopReason::Length && on(Nudge::CutOff) && run.continued < CONTINUATIONS {
        return Judgement::Nudge(Nudge::CutOff);
    }
    Judgement::Complete
}
