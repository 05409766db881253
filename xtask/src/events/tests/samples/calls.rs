//! The records of a call.

use windlass_vocab::{
    CallFinished, CallPaused, CallRequested, CallSettled, CallStarted, CommandExit, EffectClass, Elicitation,
    ElicitationKind, ModelSoftware, OutcomeKind, Preview, Record, Remedy, Repair, Settlement, SnapshotKind,
    ToolWithheld, UnaskedChange, Verdict, VerdictReason, WithheldFor,
};

use super::sessions::{cut, image};
use super::{CALL, context, every, json, session, text_origins, tool, vary};

pub(super) fn preview() -> Preview {
    Preview { title: "read_file".into(), body: "notes.md".into(), rule: Some("read(notes.md)".into()) }
}

pub(super) fn elicitations() -> Vec<Elicitation> {
    let wants = every!(ElicitationKind: Form { schema: json() }, Visit { url: "https://example.org/".into() });
    let asked = |wants| Elicitation { key: "1".into(), from: "docs".into(), message: "Who are you?".into(), wants };
    wants.into_iter().map(asked).collect()
}

fn remedies() -> Vec<Remedy> {
    every!(Remedy:
        Allow { rule: "read(a)".into() },
        Unprotect { path: "a".into() },
        FetchPrivate { host: "a:1".into() },
        MendSandbox,
        LargerWindow { software: Some(ModelSoftware::Ollama), tokens: 9 },
    )
}

pub(super) fn verdict_reasons() -> Vec<VerdictReason> {
    let path = || "a.txt".to_owned();
    let changes = every!(UnaskedChange:
        InAnswer {},
        Unclear {},
        Deletes { path: path() },
        NotNamed { path: path() },
        AfterDeniedDelete { path: path() },
    );
    let mut all: Vec<VerdictReason> = changes.into_iter().map(|change| VerdictReason::Unasked { change }).collect();
    all.extend(every!(VerdictReason:
        Mode { mode: "default".into() },
        Rule { rule: "read(a)".into() },
        Grant { rule: "read(a)".into() },
        Protected { path: path(), pattern: "a.*".into() },
        OutsideText { origin: text_origins().remove(0) },
        Unasked { change: UnaskedChange::Unclear {} },
        Unconfined {},
    ));
    all
}

fn requested() -> CallRequested {
    CallRequested {
        call: CALL,
        provider_id: Some("call_1".into()),
        name: "read_file".into(),
        tool: Some(tool()),
        arguments: json(),
        raw: Some("{path:".into()),
        repairs: every!(Repair:
            Syntax,
            Unquoted,
            Missing,
            Name,
            Alias,
            Nearest,
            Escape,
            Coerced,
            Wrapped,
            Dropped,
            Renamed,
            Imports,
            FileText,
        ),
        effect: EffectClass::Once,
        effect_id: CALL.effect_id(session()),
        ending: context::endings().pop(),
        repeatable: true,
        reads_files: true,
        verdict: Verdict::Allow,
        preview: Some(preview()),
        snapshot: SnapshotKind::Paths,
        because: verdict_reasons().pop(),
    }
}

fn verdicts() -> Vec<Verdict> {
    let (reason, remedy) = (|| "No.".to_owned(), || remedies().pop());
    every!(Verdict:
        Allow,
        Ask,
        Deny { reason: reason(), remedy: remedy() },
        Invalid { reason: reason(), remedy: remedy() },
        Unknown { reason: reason(), unavailable: Some("docs".into()) },
    )
}

fn finished() -> CallFinished {
    CallFinished {
        call: CALL,
        outcome: OutcomeKind::Ok,
        text: "# Notes".into(),
        cut: Some(cut()),
        took_ms: 12,
        answered_from: Some(CALL),
        structured: Some(json()),
        images: vec![image()],
        exit: Some(CommandExit::Code(0)),
        origin: text_origins().pop(),
        remedy: remedies().pop(),
    }
}

fn outcomes() -> Vec<OutcomeKind> {
    every!(OutcomeKind:
        Ok,
        ToolError,
        NotFound,
        InfrastructureError,
        Unknown,
        InvalidArguments,
        Denied,
        Cancelled,
        TimedOut,
        Interrupted,
    )
}

pub(super) fn records() -> Vec<Record> {
    let mut all: Vec<Record> = vec![
        CallStarted { call: CALL, arguments: Some(json()) }.into(),
        CallPaused { call: CALL, state: json(), asks: elicitations() }.into(),
    ];
    vary!(all, requested(), CallRequested.verdict, verdicts());
    vary!(all, requested(), CallRequested.effect, context::effects());
    vary!(all, requested(), CallRequested.ending, context::endings().into_iter().map(Some));
    vary!(all, requested(), CallRequested.snapshot, every!(SnapshotKind: None, Paths, Workspace));
    vary!(all, requested(), CallRequested.because, verdict_reasons().into_iter().map(Some));
    let settlements = every!(Settlement: RunAgain, Verify, Interrupt, Ask);
    all.extend(settlements.into_iter().map(|settlement| CallSettled { call: CALL, settlement }.into()));
    vary!(all, finished(), CallFinished.outcome, outcomes());
    vary!(all, finished(), CallFinished.exit, every!(CommandExit: Code(3), Signal(9)).into_iter().map(Some));
    vary!(all, finished(), CallFinished.origin, text_origins().into_iter().map(Some));
    vary!(all, finished(), CallFinished.remedy, remedies().into_iter().map(Some));
    let causes = every!(WithheldFor: Failures, Cycle);
    let withheld = |cause| ToolWithheld { cause, tool: tool(), reason: "It failed.".into() }.into();
    all.extend(causes.into_iter().map(withheld));
    all
}
