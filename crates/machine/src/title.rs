//! The title of a session (M9): where the policy says so, a model is asked for it once, when the first run that has an
//! answer is over. The call has the retries, the chain, the limits and the records of any other; if none answers, the
//! session keeps the title it has.
//!
//! The run is over by then, so nobody waits for the title. A message starts the next run at once, and the call is made
//! after that one.

use std::sync::Arc;

use windlass_vocab::{
    AttemptFailed, EndReason, Failure, ModelName, ModelRole, NextAttempt, Part, RunEnded, SessionChanged, Spending,
    StopReason, Titles, TurnMode, Usage,
};

use crate::AttemptKey;
use crate::control::{Attempt, LoopState, Phase, Run};
use crate::draft::Draft;
use crate::notes::cut_text;
use crate::retry::next_attempt;
use crate::state::State;

/// The most characters of a title.
const TITLE_CHARS: usize = 80;
/// The most bytes of the request and of the answer that a model is shown.
const SHOWN: usize = 2_000;

/// Returns the message that asks a model for a title of the session.
#[must_use]
pub fn title_request(state: &State) -> String {
    let asked = state.transcript.newest_words().unwrap_or_default();
    let answered = state.control.last.as_ref().map_or("", |(_, ended)| &ended.answer);
    let (asked, answered) = (cut_text(asked.trim(), SHOWN), cut_text(answered.trim(), SHOWN));
    format!(
        "Write a title for this conversation: three to eight words in its language that say what it is about. Reply with \
         the title alone.\n\n<request>\n{asked}\n</request>\n\n<answer>\n{answered}\n</answer>"
    )
}

/// Returns the title in a model's reply: its first line with words, without the marks that models put around it.
fn title_in(text: &str) -> Option<String> {
    let is_mark = |c: char| c.is_whitespace() || c.is_control() || "\"'`*#_“”„«»".contains(c);
    let line = text.lines().map(|line| line.trim_matches(is_mark)).find(|line| !line.is_empty())?;
    let line = line.strip_prefix("Title:").unwrap_or(line).trim_matches(is_mark).trim_end_matches('.');
    let words: Vec<&str> =
        line.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()).collect();
    let line = words.join(" ");
    let mut title: String = line.chars().take(TITLE_CHARS).collect();
    if title.len() < line.len() {
        title.push('…');
    }
    title.chars().any(char::is_alphanumeric).then_some(title)
}

impl Run {
    /// Returns the model that is asked for a title first.
    fn title_model(&self) -> ModelName {
        self.started.chain_of(ModelRole::Title).first().cloned().unwrap_or_default()
    }
}

impl LoopState {
    /// Ends the open run, and owes a title where its end says so.
    pub(crate) fn end_run(&mut self, ended: &RunEnded) {
        let Some(run) = self.run.take() else { return };
        self.last = Some((run.id, Arc::new(ended.clone())));
        if ended.wants_title {
            self.ask_for_title(run);
        }
    }

    fn ask_for_title(&mut self, mut run: Run) {
        run.turn = run.turn.next();
        (run.deadline, run.stop, run.parked, run.summary) = (None, None, None, None);
        run.phase = Phase::Modelling(Attempt {
            number: 1,
            tries: 1,
            model: 0,
            mode: TurnMode::Title,
            whole: false,
            not_before: None,
            unpinned: false,
        });
        self.titled = true;
        self.title = Some(Box::new(run));
    }

    /// Applies the failure of a call that was to write a title.
    pub(crate) fn title_failed(&mut self, failed: &AttemptFailed) {
        if let Some(run) = &mut self.title {
            run.attempt_failed(failed);
        }
        if failed.next == NextAttempt::End {
            self.title = None;
        }
    }
}

impl Draft<'_> {
    /// Whether a model is asked for a title when the run ends so. Where a limit forbids the call, nobody is asked about it.
    pub(crate) fn wants_title(&self, reason: EndReason) -> bool {
        let Some(run) = self.run() else { return false };
        let has_answer = match reason {
            EndReason::Completed | EndReason::Asked | EndReason::Conversed | EndReason::Unfinished => true,
            EndReason::Cancelled | EndReason::TurnCap | EndReason::BudgetSpent | EndReason::Failed => false,
        };
        let asks = run.policy().titles == Titles::Model && !self.control.titled;
        has_answer && asks && self.breach(&run.title_model(), Spending::default()).is_none()
    }

    /// Whether this is the call that a title waits for.
    pub(crate) fn is_for_title(&self, key: AttemptKey) -> bool {
        self.control.title.as_ref().is_some_and(|run| run.attempt_key() == Some(key))
    }

    /// Records the failure of a call that was to write a title, and whether another follows.
    pub(crate) fn fail_title(&mut self, key: AttemptKey, failure: Failure, usage: Option<Usage>) {
        let Some(run) = self.control.title.as_deref() else { return };
        let Phase::Modelling(attempt) = &run.phase else { return };
        let model = run.model_of(attempt);
        let next = next_attempt(self.state.session, run, attempt, &failure, self.at);
        let called = if let NextAttempt::Model { model } = &next { model } else { &model };
        let charged = usage.map(|usage| Spending::of_call(&usage, run.cost(&model, &usage))).unwrap_or_default();
        let next = if self.breach_of(run, called, charged).is_some() { NextAttempt::End } else { next };
        self.push(AttemptFailed { attempt: key.attempt, model, failure, next, usage, role: ModelRole::Title });
    }

    /// Records a model's reply, and the title where it holds one.
    pub(crate) fn take_title(&mut self, key: AttemptKey, parts: Vec<Part>, stop: StopReason, usage: Usage) {
        let Some(run) = self.control.title.as_deref() else { return };
        let Phase::Modelling(attempt) = &run.phase else { return };
        let replied = run.plain_reply((key, attempt), parts, stop, usage);
        let title = match stop {
            StopReason::Stop | StopReason::Calls | StopReason::Length | StopReason::Paused => {
                title_in(&Part::joined_text(&replied.parts))
            }
            StopReason::Filtered | StopReason::Refused | StopReason::Error => None,
        };
        self.push(replied);
        if title.is_some() {
            self.push(SessionChanged { title, ..SessionChanged::default() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{TITLE_CHARS, title_in};

    // proves M9
    #[test]
    fn a_title_is_one_line_without_marks() {
        for (reply, title) in [
            ("Mending the parser", Some("Mending the parser")),
            ("\n\n**\"Mending the parser.\"**\nIt is about…", Some("Mending the parser")),
            ("# Title: The  parser\u{7}", Some("The parser")),
            ("„Der Parser“", Some("Der Parser")),
            ("", None),
            ("\n \"\" \n…", None),
        ] {
            assert_eq!(title_in(reply).as_deref(), title, "{reply:?}");
        }
        let long = title_in(&"ß".repeat(500)).unwrap();
        assert_eq!(long.chars().count(), TITLE_CHARS + 1);
    }
}
