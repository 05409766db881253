//! The records of a run: begun, resumed, sent on, shortened, stopped, ended.

use windlass_vocab::{
    Attendance, CancelAsked, Compacted, CompactionMethod, EndReason, ListPrices, LongInputPrices, MissingChange,
    ModelRole, ModelSoftware, MovedPath, NanoMoney, NudgeCause, Nudged, OutputSpec, Prices, PromptCache, QuestionId,
    Record, ReplyFault, RunChanges, RunEnded, RunId, RunModel, RunResumed, RunStarted, Spending, StopBy, Usage,
};

use super::{TIME, every, failures, json, policy, tool, vary};

pub(super) fn usage() -> Usage {
    Usage { input: 9, output: 8, cached: 7, cache_written: 6, reasoning: 5, calls: 4, estimated: true }
}

pub(super) fn spending() -> Spending {
    Spending { cost: NanoMoney(9), tokens: 8 }
}

pub(super) fn software() -> Vec<ModelSoftware> {
    every!(ModelSoftware: Ollama, LlamaCpp, LmStudio, Vllm)
}

pub(super) fn roles() -> Vec<ModelRole> {
    every!(ModelRole: Turn, Summary, Title, Router, Planner, Step, Synthesis, Judge)
}

pub(super) fn end_reasons() -> Vec<EndReason> {
    every!(EndReason: Completed, Asked, Conversed, Unfinished, Cancelled, TurnCap, BudgetSpent, Failed)
}

fn prices() -> Prices {
    let price = |billionths| Some(NanoMoney(billionths));
    Prices { input: NanoMoney(9), output: NanoMoney(8), cached: price(7), cache_written: price(6) }
}

fn model(software: ModelSoftware) -> RunModel {
    RunModel {
        name: "small".into(),
        server: Some("http://127.0.0.1:11434".into()),
        window: Some(32_768),
        max_output: Some(4_096),
        prices: Some(ListPrices { usual: prices(), long: Some(LongInputPrices { above: 200_000, prices: prices() }) }),
        cache: Some(PromptCache { keeps_ms: Some(300_000), least_tokens: 1_024, counts_writes: true }),
        software: Some(software),
        toolless: true,
        dialect: policy::dialects().pop(),
        tools_offered: Some(15),
        constrained: true,
        images: true,
    }
}

fn started() -> RunStarted {
    RunStarted {
        run: RunId(1),
        policy: policy::full(),
        agent: "default".into(),
        chain: vec!["small".into()],
        deadline: Some(TIME),
        attendance: Attendance::Attended,
        retry_of: Some(RunId(0)),
        output: Some(Box::new(OutputSpec { name: "report".into(), schema: json() })),
        server: Some("http://127.0.0.1".into()),
        models: software().into_iter().map(model).collect(),
        role_chains: Box::new([(ModelRole::Summary, vec!["small".into()])].into()),
        compact: true,
        began: Some(TIME),
        spent_today: Some(Box::new(spending())),
        spent_by_agent: Some(Box::new(spending())),
        system: Some("You are of help.".into()),
    }
}

fn nudged() -> Nudged {
    let files = || vec!["a.txt".to_owned()];
    Nudged {
        why: NudgeCause::Cycle,
        evidence: "no text".into(),
        text: "Go on.".into(),
        faults: every!(ReplyFault:
            NoCall { files: files() },
            NotWritten { files: files() },
            NotComputed {},
            CallsFailed {},
            NothingChanged {},
            Untouched { files: files() },
            NotChanged { files: files() },
            Repeated {},
            StepsOpen { steps: files() },
            CallAsText {},
            StepAnnounced {},
            HandedBack {},
        ),
    }
}

fn nudge_causes() -> Vec<NudgeCause> {
    let mut all: Vec<NudgeCause> = policy::nudges().into_iter().map(NudgeCause::Reply).collect();
    all.extend(every!(NudgeCause:
        Reply(policy::nudges()[0]),
        ErrorTurns,
        Cycle,
        TurnCap,
        Summarise,
        Halt,
        Misfit,
        Withheld,
        ContextFull,
        PlanLeft,
    ));
    all
}

fn compacted() -> Compacted {
    Compacted {
        epoch: 1,
        method: CompactionMethod::Shrunk,
        through: 3,
        result_chars: Some(400),
        whole_from: Some(5),
        summary: Some("Notes were read.".into()),
        notes: Some("Asked: tidy.".into()),
    }
}

fn changes(missing: MissingChange) -> Box<RunChanges> {
    let files = || vec!["a.txt".to_owned()];
    Box::new(RunChanges {
        created: files(),
        changed: files(),
        deleted: files(),
        moved: vec![MovedPath { from: "a".into(), to: "b".into() }],
        more: 2,
        commands: files(),
        elsewhere: [tool()].into(),
        not_changed: files(),
        missing: Some(missing),
        restored: files(),
        lost: [("b.txt".to_owned(), "deleted".to_owned())].into(),
    })
}

fn ended() -> RunEnded {
    RunEnded {
        reason: EndReason::Completed,
        answer: "Done.".into(),
        failure: failures::all().pop(),
        tools: [tool()].into(),
        turns: 2,
        output: Some(json()),
        cut_off: true,
        dropped: vec!["m2".into()],
        usage: usage(),
        cost: Some(NanoMoney(9)),
        wants_title: true,
        changes: Some(changes(MissingChange::Claimed)),
    }
}

pub(super) fn records() -> Vec<Record> {
    let attendance = || every!(Attendance: Attended, Unattended);
    let resumed =
        || RunResumed { attendance: Attendance::Attended, deadline: Some(TIME), withdrawn: Some(vec![QuestionId(1)]) };
    let mut all = vec![started().into()];
    vary!(all, started(), RunStarted.policy, policy::all());
    vary!(all, started(), RunStarted.attendance, attendance());
    vary!(all, resumed(), RunResumed.attendance, attendance());
    vary!(all, nudged(), Nudged.why, nudge_causes());
    let methods = every!(CompactionMethod: Pruned, Shrunk, Summarised, Plain, Restored);
    vary!(all, compacted(), Compacted.method, methods);
    all.extend(every!(StopBy: Person, Deadline, Fork).into_iter().map(|by| CancelAsked { by }.into()));
    vary!(all, ended(), RunEnded.reason, end_reasons());
    vary!(all, ended(), RunEnded.failure, failures::all().into_iter().map(Some));
    let missing = every!(MissingChange: Claimed, NotClaimed).into_iter().map(|missing| Some(changes(missing)));
    vary!(all, ended(), RunEnded.changes, missing);
    all
}
