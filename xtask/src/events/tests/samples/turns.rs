//! The records of a turn.

use windlass_vocab::{
    AttemptFailed, CacheMissCause, CacheReport, CacheResult, ContextBudget, CutInput, Dialect, Intent, ModelReplied,
    ModelRole, NanoMoney, NextAttempt, OutputForm, Part, Record, StopReason, SummaryTask, TurnId, TurnMode,
    TurnStarted,
};

use super::{TIME, every, failures, json, policy, runs, vary};

pub(super) fn modes() -> Vec<TurnMode> {
    every!(TurnMode: Tools, Talk, WrapUp, Summary, Title, Plan, Synthesis, Route)
}

fn started() -> TurnStarted {
    TurnStarted {
        turn: TurnId(2),
        mode: TurnMode::Summary,
        budget: Some(ContextBudget {
            window: Some(32_768),
            prefix: 9,
            tools: 8,
            history: 7,
            retrieved: 6,
            reserve: 5,
            safety: 4,
            remaining: Some(3),
        }),
        summary: Some(SummaryTask { through: 4, then: TurnMode::Tools }),
    }
}

fn failed() -> AttemptFailed {
    AttemptFailed {
        attempt: 1,
        model: "small".into(),
        failure: failures::all().remove(0),
        next: NextAttempt::End,
        usage: Some(runs::usage()),
        role: ModelRole::Planner,
    }
}

fn next_attempts() -> Vec<NextAttempt> {
    let forms = every!(OutputForm: Schema, Tool, Prompt).into_iter().map(|form| NextAttempt::Output { form });
    let dialects = policy::dialects().into_iter().map(|dialect| NextAttempt::Dialect { dialect });
    let mut all: Vec<NextAttempt> = forms.chain(dialects).collect();
    all.extend(every!(NextAttempt:
        Retry { at: TIME },
        Model { model: "large".into() },
        Whole,
        Shorter,
        Dialect { dialect: Dialect::Lines },
        Output { form: OutputForm::Tool },
        PlainSummary,
        End,
    ));
    all
}

fn cache(result: CacheResult, why: CacheMissCause) -> Option<Box<CacheReport>> {
    let cost = Some(NanoMoney(9));
    Some(Box::new(CacheReport { at: TIME, result, expected: 9, missed: 8, why: Some(why), cost }))
}

fn replied() -> ModelReplied {
    ModelReplied {
        attempt: 1,
        model: "small".into(),
        parts: every!(Part:
            Text { text: "hi".into() },
            Thinking { text: "hm".into(), signature: Some("c2ln".into()) },
            Call { index: 0 },
            Opaque { item: json() },
        ),
        stop: StopReason::Calls,
        usage: runs::usage(),
        cost: Some(NanoMoney(9)),
        partial: true,
        misfit: Some("No `title`.".into()),
        malformed: Some("Write it again.".into()),
        role: ModelRole::Router,
        cache: cache(CacheResult::Hit, CacheMissCause::Expired),
        cut: Some(CutInput { counted: 9, read: 4, software: runs::software().pop() }),
        retrieved: 5,
        intent: Some(Intent::Agent),
    }
}

pub(super) fn records() -> Vec<Record> {
    let mut all: Vec<Record> = Vec::new();
    vary!(all, started(), TurnStarted.mode, modes());
    vary!(all, failed(), AttemptFailed.next, next_attempts());
    vary!(all, failed(), AttemptFailed.role, runs::roles());
    vary!(all, failed(), AttemptFailed.failure, failures::all());
    let stops = every!(StopReason: Stop, Calls, Length, Filtered, Refused, Error, Paused);
    vary!(all, replied(), ModelReplied.stop, stops);
    vary!(all, replied(), ModelReplied.role, runs::roles());
    vary!(all, replied(), ModelReplied.intent, every!(Intent: Direct, Agent).into_iter().map(Some));
    let results = every!(CacheResult: Hit, Partial, Missed, NotReported);
    let results = results.into_iter().map(|result| cache(result, CacheMissCause::Unknown));
    vary!(all, replied(), ModelReplied.cache, results);
    let causes = every!(CacheMissCause:
        FirstRequest,
        ModelSwitched,
        Compaction,
        OfferChanged,
        PrefixChanged,
        ToolChoiceChanged,
        Expired,
        TooShort,
        Unknown,
    );
    vary!(all, replied(), ModelReplied.cache, causes.into_iter().map(|why| cache(CacheResult::Missed, why)));
    all
}
