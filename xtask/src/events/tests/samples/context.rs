//! What a run sends before the conversation, and the plan.

use windlass_vocab::{
    ChildReported, ChildSpawned, ContextPinned, Dialect, EffectClass, EndReason, Ending, OverviewFile, PinnedContext,
    PlanChanged, PlanItem, PlanStatus, Record, TextCalls, ToolSpec, WorkspaceOverview,
};

use super::{CALL, every, json, policy, runs, session, text_origins, tool, vary};

pub(super) fn effects() -> Vec<EffectClass> {
    every!(EffectClass: ReadOnly, Idempotent, Verifiable, Once)
}

pub(super) fn endings() -> Vec<Ending> {
    every!(Ending: Completed, Asked, Conversed)
}

fn spec((effect, ending): (EffectClass, Ending)) -> ToolSpec {
    ToolSpec {
        name: tool(),
        wire_name: "read_file".into(),
        description: "Reads a file.".into(),
        schema: json(),
        effect,
        ending: Some(ending),
        repeatable: true,
        reads_files: true,
        tags: ["files".into()].into(),
    }
}

fn text_calls(dialect: Dialect) -> TextCalls {
    let (rules, prefix) = ("Write [tool()].".into(), Some("short".into()));
    TextCalls { dialect, rules, models: ["small".into()].into(), prefix }
}

fn pinned() -> ContextPinned {
    let file = |origin| OverviewFile { path: "a.txt".into(), size: 4, text: Some("text".into()), origin: Some(origin) };
    ContextPinned {
        context: Some(PinnedContext {
            prefix: "You are of help.".into(),
            offer: effects().into_iter().zip(endings().into_iter().cycle()).map(spec).collect(),
            dialect: Some(Dialect::Bracket),
            awaited: ["docs".into()].into(),
            text_calls: Some(text_calls(Dialect::Lines)),
            further_text_calls: policy::dialects().into_iter().map(text_calls).collect(),
            left_out: 3,
        }),
        joined: ["docs".into()].into(),
        overview: Some(Box::new(WorkspaceOverview {
            files: text_origins().into_iter().map(file).collect(),
            is_cut: true,
            is_for_judge: true,
        })),
    }
}

fn reported() -> ChildReported {
    ChildReported {
        child: CALL,
        session: Some(session()),
        reason: EndReason::Completed,
        answer: "Done.".into(),
        changed: vec!["a.txt".into()],
        origins: text_origins(),
        usage: runs::usage(),
        spent: runs::spending(),
    }
}

pub(super) fn records() -> Vec<Record> {
    let item = |status| PlanItem { step: "Sort".into(), status, file: Some("a.txt".into()) };
    let items = every!(PlanStatus: Open, Doing, Done, Failed).into_iter().map(item).collect();
    let mut all: Vec<Record> =
        vec![pinned().into(), PlanChanged { items }.into(), ChildSpawned { child: CALL, step: 1 }.into()];
    vary!(all, reported(), ChildReported.reason, runs::end_reasons());
    all
}
