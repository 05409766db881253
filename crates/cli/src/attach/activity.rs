//! What a remote session does now, folded from its records.

use std::collections::BTreeSet;

use windlass_runtime::SessionActivity;
use windlass_vocab::{Envelope, MessageId, QuestionAsked, QuestionId, Record, RunId};

/// What a session does, as far as its records were seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RemoteActivity {
    open: Option<RunId>,
    /// The last run that ended.
    ended: Option<RunId>,
    /// A run that the server has begun for us, whose records may not have come yet.
    begun: Option<RunId>,
    questions: Vec<QuestionAsked>,
    /// Questions that were answered from here, before the record of it came.
    answered: BTreeSet<QuestionId>,
    /// Our messages that wait.
    queued: BTreeSet<MessageId>,
}

impl RemoteActivity {
    /// Takes a record.
    pub(super) fn record(&mut self, envelope: &Envelope) {
        match &envelope.record {
            Record::RunStarted(started) => {
                self.open = Some(started.run);
                self.forget_questions();
            }
            Record::RunEnded(_) => {
                self.ended = envelope.run.or(self.open).max(self.ended);
                self.open = None;
                self.forget_questions();
            }
            Record::QuestionAsked(asked) => {
                // A restarted server asks again under the same number.
                self.withdraw(asked.question);
                self.questions.push(asked.clone());
            }
            Record::QuestionAnswered(answered) => self.withdraw(answered.question),
            Record::RunResumed(resumed) => {
                for question in resumed.withdrawn.iter().flatten() {
                    self.withdraw(*question);
                }
            }
            Record::MessageAccepted(message) => {
                self.queued.remove(&message.message_id);
            }
            // The others change nothing of what the session waits for.
            _ => {}
        }
    }

    /// The server began this run for us, or our message joined it.
    pub(super) fn begun(&mut self, run: RunId) {
        self.begun = self.begun.max(Some(run));
    }

    /// A message of ours waits.
    pub(super) fn queued(&mut self, message: MessageId) {
        self.queued.insert(message);
    }

    /// None of our messages waits any more.
    pub(super) fn drop_queued(&mut self) {
        self.queued.clear();
    }

    /// Whether nothing but a queued message keeps the session from being idle.
    pub(super) fn waits_for_queue(&self) -> bool {
        self.open.is_none() && self.begun <= self.ended && !self.queued.is_empty()
    }

    /// We have answered this question.
    pub(super) fn answered(&mut self, question: QuestionId) {
        self.answered.insert(question);
    }

    /// The questions that nobody has answered.
    pub(super) fn open_questions(&self) -> BTreeSet<QuestionId> {
        self.questions.iter().map(|asked| asked.question).collect()
    }

    /// What the session does.
    pub(super) fn now(&self) -> SessionActivity {
        let asked = self.questions.iter().filter(|asked| !self.answered.contains(&asked.question));
        let questions: Vec<QuestionAsked> = asked.cloned().collect();
        if self.open.is_some() && !questions.is_empty() {
            SessionActivity::Waiting(questions)
        } else if self.open.is_some() || self.begun > self.ended || !self.queued.is_empty() {
            SessionActivity::Working
        } else {
            SessionActivity::Idle
        }
    }

    fn withdraw(&mut self, question: QuestionId) {
        self.questions.retain(|asked| asked.question != question);
        self.answered.remove(&question);
    }

    fn forget_questions(&mut self) {
        self.questions.clear();
        self.answered.clear();
    }
}

#[cfg(test)]
mod tests {
    use windlass_runtime::SessionActivity;
    use windlass_vocab::{EndReason, Event, MessageAccepted, RunId, TurnId};

    use super::RemoteActivity;
    use crate::sample::{ended, event};

    fn take(activity: &mut RemoteActivity, event: Event) {
        let Event::Record(envelope) = event else { return };
        activity.record(&envelope);
    }

    // proves W3: a chat waits for the run that the server has named, though no record of it came yet
    #[test]
    fn a_run_that_was_begun_for_us_is_under_way_until_its_end_comes() {
        let mut activity = RemoteActivity::default();
        assert_eq!(activity.now(), SessionActivity::Idle);
        activity.begun(RunId(1));
        assert_eq!(activity.now(), SessionActivity::Working);
        take(&mut activity, event(TurnId(1), ended(EndReason::Completed, "Aye.", None)));
        assert_eq!(activity.now(), SessionActivity::Idle);
    }

    // proves L7: a message of ours that waits keeps the chat waiting until it is taken up, or dropped
    #[test]
    fn a_message_that_waits_is_waited_for() {
        let mut activity = RemoteActivity::default();
        activity.begun(RunId(1));
        activity.queued("m-2".into());
        assert!(!activity.waits_for_queue(), "a run is open");
        take(&mut activity, event(TurnId(1), ended(EndReason::Completed, "Aye.", None)));
        assert!(activity.waits_for_queue());
        assert_eq!(activity.now(), SessionActivity::Working);
        let mut dropped = activity.clone();
        dropped.drop_queued();
        assert_eq!(dropped.now(), SessionActivity::Idle);
        take(&mut activity, event(TurnId(1), MessageAccepted::new("m-2", "and then?")));
        assert!(!activity.waits_for_queue());
    }
}
