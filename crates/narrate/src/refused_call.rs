//! Why a call did not run, or was cut short, in words for people. The text of such a result is the loop's own and tells
//! the model what to do next; what a person reads is made from the records' data.

use windlass_vocab::{
    AnsweredBy, CallFinished, CallRequested, OutcomeKind, QuestionAnswered, QuestionAsked, QuestionOption, Remedy,
    ToolName, UnaskedChange, Verdict, VerdictReason, WithheldFor,
};

const NEEDS_APPROVAL: &str = "it needs approval, and nobody was there to give it";

/// What the records say about the permission of a call.
#[derive(Clone, Debug)]
pub(crate) struct CallPermissionFacts {
    tool: Option<ToolName>,
    verdict: Verdict,
    because: Option<VerdictReason>,
    no: Option<String>,
    begun: CallBegun,
}

/// Whether a call was started, so that it may have taken effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallBegun {
    Yes,
    No,
}

impl CallPermissionFacts {
    pub(crate) fn of(call: &CallRequested) -> Self {
        Self {
            tool: call.tool.clone(),
            verdict: call.verdict.clone(),
            because: call.because.clone(),
            no: None,
            begun: CallBegun::No,
        }
    }

    /// Takes in a question about the call, which may have another reason than the call was recorded with.
    pub(crate) fn asked(&mut self, asked: &QuestionAsked) {
        self.verdict = Verdict::Ask;
        self.because = asked.because.clone().or(self.because.take());
    }

    /// Takes in the answer to that question.
    pub(crate) fn answered(&mut self, answered: &QuestionAnswered) {
        self.no = match (answered.answer.option, answered.by, &answered.answer.reason) {
            (QuestionOption::No, AnsweredBy::Person, Some(reason)) => Some(format!("a person said no: {reason}")),
            (QuestionOption::No, AnsweredBy::Person, None) => Some("a person said no".to_owned()),
            (QuestionOption::No, AnsweredBy::Expiry, _) => Some("nobody answered the question".to_owned()),
            (
                QuestionOption::Once
                | QuestionOption::Session
                | QuestionOption::Always
                | QuestionOption::Edit
                | QuestionOption::RunAgain
                | QuestionOption::Interrupt
                | QuestionOption::Submit
                | QuestionOption::Dismiss,
                _,
                _,
            ) => None,
        };
    }

    /// Takes in that the call was started.
    pub(crate) fn started(&mut self) {
        self.begun = CallBegun::Yes;
    }

    pub(crate) fn tool(&self) -> Option<&ToolName> {
        self.tool.as_ref()
    }

    /// Returns why the call was denied. As in the loop, a verdict that denies comes first, and that the tool is withheld
    /// counts only for a call that could have run.
    fn denial(&self, withheld: Option<WithheldFor>, remedy: Option<&Remedy>) -> String {
        if let Some(no) = &self.no {
            return no.clone();
        }
        match (&self.verdict, &self.because, withheld) {
            (Verdict::Deny { .. }, because, _) => deny_reason(because.as_ref()),
            (Verdict::Ask | Verdict::Allow, _, Some(cause)) => {
                format!("its tool is withheld: {}", withheld_cause(cause))
            }
            (Verdict::Ask, Some(because), None) => ask_reason(because),
            (Verdict::Ask | Verdict::Allow, _, None) | (Verdict::Invalid { .. } | Verdict::Unknown { .. }, _, _) => {
                denial_by_remedy(remedy)
            }
        }
    }
}

/// Returns why a call was denied when it was requested.
fn deny_reason(because: Option<&VerdictReason>) -> String {
    match because {
        Some(VerdictReason::Rule { rule }) => format!("the rule `{rule}` forbids it"),
        Some(
            VerdictReason::Mode { .. }
            | VerdictReason::Protected { .. }
            | VerdictReason::OutsideText { .. }
            | VerdictReason::Unasked { .. }
            | VerdictReason::Unconfined {}
            | VerdictReason::Grant { .. },
        ) => "it needs approval, and can't be shown to whoever would give it".to_owned(),
        None => "it is not available here".to_owned(),
    }
}

/// Returns why a call had to be approved where nobody could do that.
fn ask_reason(because: &VerdictReason) -> String {
    match because {
        VerdictReason::Protected { path, pattern } => format!("{path} is protected ({pattern})"),
        VerdictReason::OutsideText { origin } => {
            format!("it carries text from {origin} to a protected path or the network")
        }
        VerdictReason::Unasked { change: UnaskedChange::InAnswer {} } => "the request is a question".to_owned(),
        VerdictReason::Unasked { change: UnaskedChange::Unclear {} } => {
            "the request does not say exactly what to change".to_owned()
        }
        VerdictReason::Unasked { change: UnaskedChange::Deletes { path } } => {
            format!("the request does not name {path}, which would be lost")
        }
        VerdictReason::Unasked { change: UnaskedChange::NotNamed { path } } => {
            format!("the request does not ask to change {path}")
        }
        VerdictReason::Unasked { change: UnaskedChange::AfterDeniedDelete { path } } => {
            format!("deleting {path} was refused in this run")
        }
        VerdictReason::Unconfined {} => "no sandbox confines scripts here".to_owned(),
        VerdictReason::Mode { .. } | VerdictReason::Rule { .. } | VerdictReason::Grant { .. } => {
            NEEDS_APPROVAL.to_owned()
        }
    }
}

/// Returns why a call was denied right before it ran, as far as its result says.
fn denial_by_remedy(remedy: Option<&Remedy>) -> String {
    match remedy {
        Some(Remedy::Allow { .. }) => NEEDS_APPROVAL.to_owned(),
        Some(Remedy::Unprotect { path }) => format!("{path} is protected"),
        Some(Remedy::FetchPrivate { host }) => format!("{host} is a private address"),
        Some(Remedy::MendSandbox) => "there is no sandbox for it".to_owned(),
        Some(Remedy::LargerWindow { .. }) | None => "the rules of this run do not allow it".to_owned(),
    }
}

/// Returns why a call was denied or interrupted, or that it was cancelled before it began; `None` for every other
/// outcome, whose text says it.
pub(crate) fn refusal(
    finished: &CallFinished,
    facts: Option<&CallPermissionFacts>,
    withheld: Option<WithheldFor>,
) -> Option<String> {
    match finished.outcome {
        OutcomeKind::Denied => Some(match facts {
            Some(facts) => facts.denial(withheld, finished.remedy.as_ref()),
            None => denial_by_remedy(finished.remedy.as_ref()),
        }),
        OutcomeKind::Interrupted => Some("it may have taken effect".to_owned()),
        OutcomeKind::Cancelled => {
            let unbegun = |facts: &&CallPermissionFacts| facts.begun == CallBegun::No && finished.took_ms == 0;
            facts.filter(unbegun).map(|_| "not run".to_owned())
        }
        OutcomeKind::Ok
        | OutcomeKind::ToolError
        | OutcomeKind::NotFound
        | OutcomeKind::InfrastructureError
        | OutcomeKind::Unknown
        | OutcomeKind::InvalidArguments
        | OutcomeKind::TimedOut => None,
    }
}

/// Returns why a tool is withheld.
pub(crate) const fn withheld_cause(cause: WithheldFor) -> &'static str {
    match cause {
        WithheldFor::Failures => "it failed in several turns in a row",
        WithheldFor::Cycle => "it was called again and again with the same result",
    }
}
