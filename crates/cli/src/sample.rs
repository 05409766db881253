//! Builds records for tests: all of run 1, with default values for what does not matter.

use std::collections::BTreeSet;
use std::sync::Arc;

use windlass_vocab::{
    AttemptFailed, BatchPosition, CallFinished, CallId, CallRequested, CommandExit, EffectClass, EndReason, Envelope,
    Event, Failure, FailureClass, Hash, Json, ModelReplied, NextAttempt, OutcomeKind, Part, Record, RunEnded, RunId,
    SessionId, SnapshotKind, StopReason, Timestamp, TurnId, Usage, Verdict,
};

/// Returns a record as subscribers receive it.
pub(crate) fn event(turn: TurnId, record: impl Into<Record>) -> Event {
    Event::Record(Arc::new(Envelope {
        v: 1,
        id: "r".into(),
        session: SessionId(uuid::Uuid::nil()),
        seq: 1,
        batch: BatchPosition(0, 1),
        prev: Hash::default(),
        epoch: 1,
        run: Some(RunId(1)),
        turn: Some(turn),
        at: Timestamp(0),
        record: record.into(),
    }))
}

pub(crate) fn call(index: u32) -> CallId {
    CallId { run: RunId(1), turn: TurnId(1), index }
}

pub(crate) fn requested(index: u32, tool: &str, arguments: &str) -> CallRequested {
    CallRequested {
        call: call(index),
        provider_id: None,
        name: tool.into(),
        tool: Some(tool.into()),
        arguments: Json::parse(arguments).expect("JSON"),
        raw: None,
        repairs: Vec::new(),
        effect: EffectClass::Once,
        effect_id: "e".into(),
        ending: None,
        repeatable: false,
        reads_files: false,
        verdict: Verdict::Allow,
        preview: None,
        snapshot: SnapshotKind::None,
        because: None,
    }
}

pub(crate) fn finished(index: u32, outcome: OutcomeKind, text: &str, took_ms: u64) -> CallFinished {
    let text = text.into();
    CallFinished {
        call: call(index),
        outcome,
        text,
        cut: None,
        took_ms,
        answered_from: None,
        structured: None,
        images: Vec::new(),
        exit: None,
        origin: None,
        remedy: None,
    }
}

/// Returns the record of a finished command with this exit.
pub(crate) fn exited(index: u32, exit: CommandExit, text: &str, took_ms: u64) -> CallFinished {
    CallFinished { exit: Some(exit), ..finished(index, OutcomeKind::Ok, text, took_ms) }
}

pub(crate) fn failed(status: Option<u16>, message: &str, next: NextAttempt) -> AttemptFailed {
    let failure = Failure { status, ..Failure::new(FailureClass::Transient, message) };
    AttemptFailed { attempt: 1, model: "m".into(), failure, next, usage: None, role: windlass_vocab::ModelRole::Turn }
}

pub(crate) fn replied(attempt: u32, parts: Vec<Part>) -> ModelReplied {
    ModelReplied {
        attempt,
        model: "m".into(),
        parts,
        stop: StopReason::Stop,
        usage: Usage::default(),
        cost: None,
        partial: false,
        misfit: None,
        malformed: None,
        role: windlass_vocab::ModelRole::Turn,
        cache: None,
        cut: None,
        retrieved: 0,
        intent: None,
    }
}

pub(crate) fn ended(reason: EndReason, answer: &str, failure: Option<Failure>) -> RunEnded {
    RunEnded {
        reason,
        answer: answer.into(),
        failure,
        tools: BTreeSet::new(),
        turns: 1,
        output: None,
        cut_off: false,
        dropped: Vec::new(),
        usage: Usage::default(),
        cost: None,
        wants_title: false,
        changes: None,
    }
}
