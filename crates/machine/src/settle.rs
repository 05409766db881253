//! Taking up a run that another process left (J3, J4): the effect class of each unfinished call
//! decides first, then the policy's row.

use windlass_vocab::{
    Answer, AnsweredBy, At, Attendance, CallId, CallRequested, CallSettled, EffectClass, OutcomeKind, Preview,
    QuestionAnswered, QuestionAsked, QuestionKind, QuestionOption, RunResumed, Settlement, UnfinishedCall,
};

use crate::control::{CallState, Run};
use crate::draft::Draft;
use crate::texts;

/// Resumes without progress after which a run is parked.
const IDLE_RESUMES: u32 = 3;

impl Draft<'_> {
    /// This process takes the run up.
    pub(crate) fn resume(&mut self, attendance: Attendance, deadline: Option<At>) {
        if self.run().is_none() {
            return;
        }
        self.push(RunResumed { attendance, deadline });
        let Some(run) = self.run() else { return };
        if run.parked.is_some() || run.stop.is_some() {
            return;
        }
        if run.idle_resumes > IDLE_RESUMES {
            return self.park();
        }
        self.take_up();
    }

    /// Settles what was cut short and goes on.
    pub(crate) fn take_up(&mut self) {
        if self.is_calling() {
            self.settle_calls();
            if !self.is_attended() {
                self.give_up_on_approvals();
            }
            self.go_on_with_calls();
        }
    }

    fn park(&mut self) {
        let title = "This run was resumed three times without getting any further. Try once more?";
        self.push(QuestionAsked {
            question: self.control.next_question(),
            kind: QuestionKind::Stuck,
            preview: Some(Preview { title: title.to_owned(), body: String::new(), rule: None }),
            options: vec![QuestionOption::Once, QuestionOption::No],
            expires: None,
            default: QuestionOption::No,
        });
    }

    fn settle_calls(&mut self) {
        let started = |call: &&crate::control::Call| match call.state {
            CallState::Started | CallState::Verifying => true,
            CallState::Ready | CallState::Asking(_) | CallState::Finished(_) => false,
        };
        let cut_short: Vec<_> = self
            .run()
            .map(Run::calls)
            .unwrap_or_default()
            .iter()
            .filter(started)
            .map(|call| call.request.clone())
            .collect();
        for request in cut_short {
            match request.effect {
                EffectClass::ReadOnly | EffectClass::Idempotent => self.settled(request.call, Settlement::RunAgain),
                EffectClass::Verifiable => self.settled(request.call, Settlement::Verify),
                EffectClass::Once => self.settle_by_policy(&request),
            }
        }
    }

    /// No class decides, so the policy's row does.
    pub(crate) fn settle_by_policy(&mut self, request: &CallRequested) {
        let row = self.run().map_or(UnfinishedCall::Interrupt, |run| run.policy().unfinished_call);
        match (row, self.is_attended()) {
            (UnfinishedCall::RunAgain, _) => self.settled(request.call, Settlement::RunAgain),
            (UnfinishedCall::Interrupt, _) | (UnfinishedCall::AskOrInterrupt, false) => {
                self.settled(request.call, Settlement::Interrupt);
                self.finish(request.call, OutcomeKind::Interrupted, texts::INTERRUPTED);
            }
            (UnfinishedCall::Ask, _) | (UnfinishedCall::AskOrInterrupt, true) => {
                self.settled(request.call, Settlement::Ask);
                self.ask_settlement(request);
            }
        }
    }

    fn ask_settlement(&mut self, request: &CallRequested) {
        let tool = request.tool.as_ref().map_or(request.name.as_str(), |tool| tool.bare());
        let body = request
            .preview
            .as_ref()
            .map_or_else(|| request.arguments.as_str().to_owned(), |preview| preview.title.clone());
        self.push(QuestionAsked {
            question: self.control.next_question(),
            kind: QuestionKind::Settlement { call: request.call },
            preview: Some(Preview {
                title: format!("{tool} was cut short by a crash and may or may not have taken effect. Run it again?"),
                body,
                rule: None,
            }),
            options: vec![QuestionOption::RunAgain, QuestionOption::Interrupt],
            expires: None,
            default: QuestionOption::Interrupt,
        });
    }

    fn settled(&mut self, call: CallId, settlement: Settlement) {
        self.push(CallSettled { call, settlement });
    }

    /// Approvals that wait for a person who is no longer there count as "no" at once (T8).
    fn give_up_on_approvals(&mut self) {
        let approvals: Vec<(CallId, QuestionAsked)> = self
            .run()
            .map(Run::calls)
            .unwrap_or_default()
            .iter()
            .filter_map(|call| match &call.state {
                CallState::Asking(asked) => Some((call.request.call, asked.as_ref().clone())),
                CallState::Ready | CallState::Started | CallState::Verifying | CallState::Finished(_) => None,
            })
            .filter(|(_, asked)| matches!(asked.kind, QuestionKind::Approval { .. }))
            .collect();
        for (call, asked) in approvals {
            let answer = Answer { option: asked.default, arguments: None };
            self.push(QuestionAnswered { question: asked.question, answer, by: AnsweredBy::Expiry, grant: None });
            let rule = asked.preview.as_ref().and_then(|preview| preview.rule.as_deref());
            self.finish(call, OutcomeKind::Denied, texts::nobody_to_ask(rule));
        }
    }
}
