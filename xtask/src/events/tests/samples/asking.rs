//! Questions and answers.

use windlass_vocab::{
    Answer, AnsweredBy, Grant, QuestionAnswered, QuestionAsked, QuestionId, QuestionKind, QuestionOption, Record,
    SpendingLimit,
};

use super::{CALL, TIME, calls, every, json, turns, vary};

fn options() -> Vec<QuestionOption> {
    every!(QuestionOption: No, Once, Session, Always, Edit, RunAgain, Interrupt, Submit, Dismiss)
}

fn asked() -> QuestionAsked {
    QuestionAsked {
        question: QuestionId(1),
        kind: QuestionKind::Cycle,
        preview: Some(calls::preview()),
        options: options(),
        expires: Some(TIME),
        default: QuestionOption::No,
        elicitation: calls::elicitations().pop(),
        because: calls::verdict_reasons().pop(),
    }
}

fn kinds() -> Vec<QuestionKind> {
    let limits = every!(SpendingLimit:
        RunCost,
        RunTokens,
        RunTime,
        SessionCost,
        SessionTokens,
        DayCost,
        DayTokens,
        AgentCost,
        AgentTokens,
    );
    let purse = |(limit, turn)| QuestionKind::Purse { limit, raised_to: 9, turn: Some(turn) };
    let mut all: Vec<QuestionKind> = limits.into_iter().zip(turns::modes().into_iter().cycle()).map(purse).collect();
    all.extend(every!(QuestionKind:
        Approval { call: CALL },
        Settlement { call: CALL },
        Elicitation { call: CALL },
        Step { child: CALL, step: 1, question: QuestionId(2), subject: Box::new(QuestionKind::Stuck) },
        Cycle,
        Stuck,
        Purse { limit: SpendingLimit::RunCost, raised_to: 9, turn: None },
    ));
    all
}

fn answered() -> QuestionAnswered {
    QuestionAnswered {
        question: QuestionId(1),
        answer: Answer { option: QuestionOption::Edit, arguments: Some(json()), reason: Some("use pnpm".into()) },
        by: AnsweredBy::Person,
        grant: Some(Grant { rule: "read(a)".into() }),
    }
}

pub(super) fn records() -> Vec<Record> {
    let mut all: Vec<Record> = Vec::new();
    vary!(all, asked(), QuestionAsked.kind, kinds());
    vary!(all, asked(), QuestionAsked.elicitation, calls::elicitations().into_iter().map(Some));
    vary!(all, asked(), QuestionAsked.because, calls::verdict_reasons().into_iter().map(Some));
    vary!(all, answered(), QuestionAnswered.by, every!(AnsweredBy: Person, Expiry));
    all
}
