//! Counts mistakes in turns that the model has seen (L11): several failing calls of one reply are one mistake, because
//! the model reads none of their errors before it has written them all.
//!
//! A turn is counted once every call has a result. It is compared with the turns directly before it, and any turn in
//! which something worked resets the counts.

use std::collections::{BTreeMap, BTreeSet};

use windlass_vocab::{CallRequested, OutcomeKind, ToolName};

/// What a result means for the progress of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ResultClass {
    /// The tool worked. A command's non-zero exit is such a result.
    Worked,
    /// The tool failed.
    Failed,
    /// The model can correct it by itself: wrong arguments, an unknown name, something that does not exist.
    Correctable,
    /// The tool could not be called.
    Unreachable,
    /// A rule or a person forbade it.
    Refused,
    /// A stop or a crash interrupted it.
    CutShort,
}

fn bearing(outcome: OutcomeKind) -> ResultClass {
    match outcome {
        OutcomeKind::Ok => ResultClass::Worked,
        OutcomeKind::ToolError | OutcomeKind::TimedOut => ResultClass::Failed,
        OutcomeKind::NotFound | OutcomeKind::InvalidArguments | OutcomeKind::Unknown => ResultClass::Correctable,
        OutcomeKind::InfrastructureError => ResultClass::Unreachable,
        OutcomeKind::Denied => ResultClass::Refused,
        OutcomeKind::Cancelled | OutcomeKind::Interrupted => ResultClass::CutShort,
    }
}

impl ResultClass {
    /// Whether it is an error that the model should react to.
    fn is_error(self) -> bool {
        match self {
            Self::Failed | Self::Correctable | Self::Unreachable => true,
            Self::Worked | Self::Refused | Self::CutShort => false,
        }
    }
}

/// A result of the current turn.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TurnResult {
    /// The tool, where failures are counted for it.
    tool: Option<ToolName>,
    bearing: ResultClass,
    /// The hash of the text the model sees.
    text: u64,
    /// A poll: it may prove that something works, but its errors are expected.
    poll: bool,
}

/// Consecutive turns in which all calls of one tool failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct FailedTurns {
    /// Only by errors of the tool; counts towards withholding it.
    by_tool: u32,
    /// By errors of the tool or mistakes the model can correct; counts towards a correction.
    by_any: u32,
}

/// What went wrong in recent turns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mistakes {
    turn: Vec<TurnResult>,
    tools: BTreeMap<ToolName, FailedTurns>,
    /// Consecutive turns in which every call failed.
    error_turns: u32,
    /// Consecutive turns with the same error, by the hash of its text.
    same_errors: BTreeMap<u64, u32>,
}

impl Mistakes {
    /// Adds the result of a call.
    pub(crate) fn call_finished(&mut self, request: &CallRequested, outcome: OutcomeKind, text: u64) {
        // A loop-ending tool is never withheld: without it the run could not end.
        let tool = request.tool.clone().filter(|_| request.ending.is_none());
        self.turn.push(TurnResult { tool, bearing: bearing(outcome), text, poll: request.repeatable });
    }

    /// Updates the counts once every call of the turn has a result.
    pub(crate) fn turn_finished(&mut self) {
        let turn = std::mem::take(&mut self.turn);
        // An interrupted call may have worked.
        let worked = turn.iter().any(|seen| matches!(seen.bearing, ResultClass::Worked | ResultClass::CutShort));
        let counted: Vec<&TurnResult> = turn.iter().filter(|seen| !seen.poll).collect();
        if counted.is_empty() && !worked {
            return;
        }
        if worked {
            // A tool that was not called while something else works is no longer being retried.
            self.tools.retain(|tool, _| counted.iter().any(|seen| seen.tool.as_ref() == Some(tool)));
        }
        self.count_failed_tools(&counted);
        let failed = |seen: &&TurnResult| seen.bearing.is_error() || seen.bearing == ResultClass::Refused;
        let all_failed = counted.iter().all(failed) && counted.iter().any(|seen| seen.bearing.is_error());
        self.error_turns = if all_failed && !worked { self.error_turns + 1 } else { 0 };
        let errors = counted.iter().filter(|seen| seen.bearing.is_error() && !worked).map(|seen| seen.text);
        let again = |error| (error, self.same_errors.get(&error).copied().unwrap_or_default() + 1);
        self.same_errors = errors.map(again).collect();
    }

    fn count_failed_tools(&mut self, counted: &[&TurnResult]) {
        let called: BTreeSet<&ToolName> = counted.iter().filter_map(|seen| seen.tool.as_ref()).collect();
        for tool in called {
            let of_tool = || counted.iter().filter(|seen| seen.tool.as_ref() == Some(tool)).map(|seen| seen.bearing);
            let by_tool = of_tool().all(|bearing| bearing == ResultClass::Failed);
            let by_any = of_tool().all(|bearing| matches!(bearing, ResultClass::Failed | ResultClass::Correctable));
            if !by_any {
                self.tools.remove(tool);
                continue;
            }
            let turns = self.tools.entry(tool.clone()).or_default();
            turns.by_any += 1;
            turns.by_tool = if by_tool { turns.by_tool + 1 } else { 0 };
        }
    }

    /// Returns the tools whose calls all failed in this many consecutive turns, by their own errors.
    pub(crate) fn failed_tools(&self, turns: u32) -> impl Iterator<Item = &ToolName> {
        self.tools.iter().filter(move |(_, failed)| failed.by_tool >= turns).map(|(tool, _)| tool)
    }

    /// Returns the tools whose calls all failed in this many consecutive turns, some by correctable mistakes.
    pub(crate) fn misused_tools(&self, turns: u32) -> impl Iterator<Item = &ToolName> {
        let misused = move |failed: &FailedTurns| failed.by_any >= turns && failed.by_tool < turns;
        self.tools.iter().filter(move |(_, failed)| misused(failed)).map(|(tool, _)| tool)
    }

    /// Returns the number of consecutive turns in which every call failed.
    pub(crate) fn error_turns(&self) -> u32 {
        self.error_turns
    }

    /// Returns in how many consecutive turns the most frequent error occurred.
    pub(crate) fn same_error_turns(&self) -> u32 {
        self.same_errors.values().copied().max().unwrap_or_default()
    }

    /// The model got a correction: resets the counts, so that the same mistakes don't cause another one.
    pub(crate) fn corrected(&mut self) {
        self.error_turns = 0;
        self.tools.values_mut().for_each(|failed| failed.by_any = 0);
    }

    /// A person sent a message: resets the counts, because the task may have changed.
    pub(crate) fn forgive(&mut self) {
        self.tools.clear();
        self.error_turns = 0;
        self.same_errors.clear();
    }
}
