//! Requests of a tool to the person in the middle of a call (P4).
//!
//! A running call may ask and wait; its question is void when the call ends. If the tool suspended its call with a
//! pause, its questions are asked one by one, however long that takes and even across crashes; then the call is run
//! again with the answers. Where nobody can answer, each question is dismissed at once (T8).

use windlass_vocab::{
    Answer, CallId, CallPaused, CallStarted, Elicitation, ElicitationKind, Pause, Preview, QuestionAsked, QuestionKind,
    QuestionOption,
};

use crate::calls::StartStep;
use crate::control::{Call, CallState, Run};
use crate::draft::Draft;

const OPTIONS: [QuestionOption; 3] = [QuestionOption::Submit, QuestionOption::No, QuestionOption::Dismiss];

impl Draft<'_> {
    /// Records that a tool suspended its call until the person has answered.
    pub(crate) fn call_paused(&mut self, call: CallId, pause: Pause) {
        if self.running(call).is_some() {
            self.push(CallPaused { call, state: pause.state, asks: pause.asks });
            self.go_on_with_calls();
        }
    }

    /// Records the question of a running call. Where nobody is available, or the call is asking already, it records
    /// nothing and the driver dismisses the question.
    pub(crate) fn elicit(&mut self, call: CallId, elicitation: Elicitation) {
        let asks = |known: &&Call| known.request.call == call && known.state == CallState::Started;
        let running = self.run().map(Run::calls).unwrap_or_default().iter().find(asks);
        if self.is_attended() && running.is_some_and(|running| running.asks.is_none()) {
            self.ask_for(call, elicitation);
        }
    }

    /// Asks the next question of a paused call, or starts the call again if all are answered.
    pub(crate) fn go_on_with_paused(&mut self, call: &Call) -> StartStep {
        let id = call.request.call;
        let open = call.pause.as_ref().and_then(|paused| paused.at.asks.get(paused.answers.len()));
        let Some(elicitation) = open.cloned() else {
            self.push(CallStarted { call: id, arguments: call.edited.clone() });
            return StartStep::Started;
        };
        let asked = self.ask_for(id, elicitation);
        if self.is_attended() {
            return StartStep::Asked;
        }
        self.take_default(&asked);
        StartStep::Refused
    }

    fn ask_for(&mut self, call: CallId, elicitation: Elicitation) -> QuestionAsked {
        let wait = self.run().map_or(0, |run| run.policy().approval_wait_ms);
        let body = match &elicitation.wants {
            ElicitationKind::Form { .. } => String::new(),
            ElicitationKind::Visit { url } => url.clone(),
        };
        let title = format!("{} asks: {}", elicitation.from, elicitation.message);
        let asked = QuestionAsked {
            question: self.control.next_question(),
            kind: QuestionKind::Elicitation { call },
            preview: Some(Preview { title, body, rule: None }),
            options: OPTIONS.to_vec(),
            expires: Some(self.at.plus_ms(wait)),
            default: QuestionOption::Dismiss,
            elicitation: Some(elicitation),
            because: None,
        };
        self.push(asked.clone());
        asked
    }
}

/// Whether an answer comes with the arguments it needs and no others: new ones for a call, the content of a form. A limit
/// may be raised to a number.
pub(crate) fn has_its_arguments(asked: &QuestionAsked, answer: &Answer) -> bool {
    let has = answer.arguments.is_some();
    match answer.option {
        QuestionOption::Edit => has,
        QuestionOption::Submit => asked.form().is_some() == has,
        QuestionOption::Once if matches!(asked.kind, QuestionKind::Purse { .. }) => {
            answer.arguments.as_ref().is_none_or(|amount| amount.as_str().parse::<u64>().is_ok())
        }
        QuestionOption::No
        | QuestionOption::Once
        | QuestionOption::Session
        | QuestionOption::Always
        | QuestionOption::RunAgain
        | QuestionOption::Interrupt
        | QuestionOption::Dismiss => !has,
    }
}
