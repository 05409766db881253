//! Reconstructs the input that caused a recorded batch, so that a journal can be decided again and differences
//! reported.

use windlass_vocab::{
    CallFinished, CallRequested, CompactionMethod, ModelReplied, ModelRole, Pause, PreparedCall, QuestionAsked,
    QuestionKind, Record, RunResumed, RunStarted, StopBy, UndoStarted,
};

use crate::AttemptKey;
use crate::control::{CallState, Run};
use crate::fact::{CallResult, Fact, OpenApprovals, RunSettings, VerifiedCall};
use crate::plan::PlannedStep;
use crate::settle::open_approvals;
use crate::state::State;
use crate::undo::CheckedUndo;

/// Returns the fact that caused `batch`, given the state before it. `None` for a batch that no input of this version
/// causes.
#[must_use]
pub fn causing_fact(state: &State, batch: &[Record]) -> Option<Fact> {
    let run = state.control.run.as_ref();
    match batch.first()? {
        Record::SessionOpened(opened) => match batch.get(1) {
            Some(Record::LeaseTaken(taken)) => Some(Fact::Opened(opened.clone(), taken.clone())),
            _ => None,
        },
        Record::SessionChanged(changed) => Some(Fact::Changed(changed.clone())),
        Record::LeaseTaken(taken) => Some(Fact::LeaseTaken(taken.clone())),
        Record::MessageAccepted(accepted) => {
            let started = batch.get(1).and_then(started).or_else(|| run.map(|run| run.started.as_ref()))?;
            Some(Fact::Message {
                message_id: accepted.message_id.clone(),
                text: accepted.text.clone(),
                attachments: accepted.attachments.clone(),
                run_settings: Box::new(run_settings(started)),
            })
        }
        Record::RunStarted(started) => Some(Fact::Retried(Box::new(run_settings(started)))),
        Record::RunResumed(resumed) => Some(resumed_fact(run, resumed)),
        Record::ContextPinned(pinned) => {
            let context = pinned.context.clone().or_else(|| state.transcript.context.as_deref().cloned())?;
            let pins = run.is_some_and(Run::wants_context);
            let (joined, overview) = (pinned.joined.clone(), pinned.overview.clone());
            Some(if pins { Fact::Pinned(context, overview) } else { Fact::OfferChanged { context, joined } })
        }
        Record::AttemptFailed(failed) => {
            let attempt = attempt_key(state, failed.role)?;
            Some(Fact::Failed { attempt, failure: failed.failure.clone(), usage: failed.usage })
        }
        Record::ModelReplied(replied) if replied.role == ModelRole::Planner && !replied.partial => {
            Some(planned_fact(attempt_key(state, replied.role)?, replied, batch))
        }
        Record::ChildReported(reported) => Some(Fact::StepReported(reported.clone())),
        Record::ModelReplied(replied) => Some(replied_fact(attempt_key(state, replied.role)?, replied, batch)),
        Record::CallFinished(finished) => Some(finished_fact(state, finished, batch)),
        Record::CallPaused(paused) => {
            let pause = Pause { state: paused.state.clone(), asks: paused.asks.clone() };
            Some(Fact::CallPaused { call: paused.call, pause })
        }
        Record::QuestionAsked(asked) => asked_fact(asked),
        Record::CallSettled(settled) => {
            let verified = match settled.settlement {
                windlass_vocab::Settlement::RunAgain => VerifiedCall::NotDone,
                windlass_vocab::Settlement::Verify
                | windlass_vocab::Settlement::Interrupt
                | windlass_vocab::Settlement::Ask => VerifiedCall::Unknown,
            };
            Some(Fact::CallVerified { call: settled.call, verified })
        }
        Record::QuestionAnswered(answered) => {
            Some(Fact::Answered { question: answered.question, answer: answered.answer.clone(), by: answered.by })
        }
        Record::CancelAsked(asked) => match asked.by {
            StopBy::Person | StopBy::Deadline => Some(Fact::Stopped(asked.by)),
            StopBy::Fork => Some(Fact::Forked),
        },
        Record::RunEnded(_) => {
            let (text, usage) = (String::new(), windlass_vocab::Usage::default());
            Some(Fact::HandedBack { attempt: run?.attempt_key()?, text, usage })
        }
        Record::SnapshotTaken(taken) => Some(Fact::Snapshot(taken.clone())),
        Record::FilesChanged(changed) => Some(Fact::FilesChanged(changed.clone())),
        Record::UndoStarted(started) => Some(Fact::Undo(Box::new(checked_undo(started)))),
        Record::Undone(undone) => Some(Fact::Restored { undo: undone.undo, left_alone: undone.left_alone.clone() }),
        Record::CallStarted(started) => Some(Fact::CallAllowed { call: started.call }),
        Record::Compacted(compacted) if compacted.method == CompactionMethod::Restored => {
            Some(Fact::CompactionUndone(None))
        }
        Record::TurnStarted(_)
        | Record::CallRequested(_)
        | Record::Nudged(_)
        | Record::ToolWithheld(_)
        | Record::PlanChanged(_)
        | Record::ChildSpawned(_)
        | Record::Compacted(_)
        | Record::Unknown(_) => None,
    }
}

/// Returns the fact of a call that asked a question. All other questions follow from other facts.
fn asked_fact(asked: &QuestionAsked) -> Option<Fact> {
    match &asked.kind {
        QuestionKind::Elicitation { call } => {
            Some(Fact::Elicited { call: *call, elicitation: asked.elicitation.clone()? })
        }
        QuestionKind::Approval { call } => Some(Fact::CallNeedsApproval {
            call: *call,
            preview: asked.preview.clone(),
            because: asked.because.clone(),
        }),
        QuestionKind::Step { child, question, subject, .. } => {
            let asked = QuestionAsked { question: *question, kind: subject.as_ref().clone(), ..asked.clone() };
            Some(Fact::StepAsked { child: *child, asked: Box::new(asked) })
        }
        QuestionKind::Settlement { .. } | QuestionKind::Cycle | QuestionKind::Stuck | QuestionKind::Purse { .. } => {
            None
        }
    }
}

/// Returns the attempt under way that a call in this role belongs to.
fn attempt_key(state: &State, role: ModelRole) -> Option<AttemptKey> {
    let run = if role == ModelRole::Title { state.control.title.as_deref() } else { state.control.run.as_ref() };
    run?.attempt_key()
}

fn resumed_fact(run: Option<&Run>, resumed: &RunResumed) -> Fact {
    let approvals = match &resumed.withdrawn {
        Some(withdrawn) if run.is_some_and(|run| open_approvals(run) != *withdrawn) => OpenApprovals::Answered,
        Some(_) => OpenApprovals::CheckedAgain,
        None => OpenApprovals::LeftAlone,
    };
    Fact::Resumed { attendance: resumed.attendance, deadline: resumed.deadline, approvals }
}

fn checked_undo(started: &UndoStarted) -> CheckedUndo {
    CheckedUndo {
        of: started.of,
        tool: started.tool.clone(),
        changes: started.changes.clone(),
        unable: started.unable.clone(),
    }
}

fn started(record: &Record) -> Option<&RunStarted> {
    if let Record::RunStarted(started) = record { Some(started) } else { None }
}

fn run_settings(started: &RunStarted) -> RunSettings {
    RunSettings {
        policy: started.policy.clone(),
        agent: started.agent.clone(),
        chain: started.chain.clone(),
        deadline: started.deadline,
        attendance: started.attendance,
        output: started.output.as_deref().cloned(),
        server: started.server.as_deref().map(str::to_owned),
        models: started.models.clone(),
        role_chains: started.role_chains.as_ref().clone(),
        compact: started.compact,
        spent_today: started.spent_today.as_deref().copied(),
        spent_by_agent: started.spent_by_agent.as_deref().copied(),
        system: started.system.as_deref().map(str::to_owned),
    }
}

fn replied_fact(attempt: AttemptKey, replied: &ModelReplied, batch: &[Record]) -> Fact {
    if replied.partial {
        let text = windlass_vocab::Part::joined_text(&replied.parts);
        return Fact::HandedBack { attempt, text, usage: replied.usage };
    }
    let calls = batch.iter().filter_map(|record| match record {
        Record::CallRequested(requested) => Some(prepared(requested)),
        _ => None,
    });
    Fact::Replied {
        attempt,
        parts: replied.parts.clone(),
        stop: replied.stop,
        usage: replied.usage,
        calls: calls.collect(),
        misfit: replied.misfit.clone(),
        malformed: replied.malformed.clone(),
        retrieved: replied.retrieved,
    }
}

/// Returns the fact of a planner's reply; its steps are those of the plan in the same batch.
fn planned_fact(attempt: AttemptKey, replied: &ModelReplied, batch: &[Record]) -> Fact {
    let items = batch.iter().find_map(|record| match record {
        Record::PlanChanged(changed) => Some(changed.items.clone()),
        _ => None,
    });
    let step = |item: windlass_vocab::PlanItem| PlannedStep { step: item.step, file: item.file };
    Fact::Planned {
        attempt,
        parts: replied.parts.clone(),
        stop: replied.stop,
        usage: replied.usage,
        steps: items.unwrap_or_default().into_iter().map(step).collect(),
    }
}

fn prepared(requested: &CallRequested) -> PreparedCall {
    PreparedCall {
        provider_id: requested.provider_id.clone(),
        name: requested.name.clone(),
        tool: requested.tool.clone(),
        arguments: requested.arguments.clone(),
        raw: requested.raw.clone(),
        repairs: requested.repairs.clone(),
        effect: requested.effect,
        ending: requested.ending,
        repeatable: requested.repeatable,
        reads_files: requested.reads_files,
        verdict: requested.verdict.clone(),
        preview: requested.preview.clone(),
        snapshot: requested.snapshot,
        because: requested.because.clone(),
    }
}

fn finished_fact(state: &State, finished: &CallFinished, batch: &[Record]) -> Fact {
    let plan = batch.get(1).and_then(|record| match record {
        Record::PlanChanged(changed) => Some(changed.items.clone()),
        _ => None,
    });
    let files = batch.iter().find_map(|record| match record {
        Record::FilesChanged(files) if files.call == finished.call => Some(files.clone()),
        _ => None,
    });
    let calls = state.control.run.as_ref().map(Run::calls).unwrap_or_default();
    let known = calls.iter().find(|known| known.request.call == finished.call);
    // `decide` puts the note about edited arguments in front again.
    let text = match known.and_then(|known| known.edited.as_ref()) {
        Some(edited) => finished.text.strip_prefix(&crate::texts::edited(edited.as_str())).unwrap_or(&finished.text),
        // A result that only reports "unchanged" stands for the earlier one.
        None => finished.answered_from.and_then(|earlier| state.transcript.result(earlier)).unwrap_or(&finished.text),
    };
    let result = CallResult {
        outcome: finished.outcome,
        text: text.to_owned(),
        cut: finished.cut.clone(),
        took_ms: finished.took_ms,
        structured: finished.structured.clone(),
        images: match finished.answered_from {
            Some(earlier) => state.transcript.result_images(earlier).to_vec(),
            None => finished.images.clone(),
        },
        exit: finished.exit,
        origin: finished.origin.clone(),
        remedy: finished.remedy.clone(),
        plan,
        files,
    };
    match known.map(|known| &known.state) {
        Some(CallState::Verifying) => {
            Fact::CallVerified { call: finished.call, verified: VerifiedCall::Done(Box::new(result)) }
        }
        _ => Fact::CallDone { call: finished.call, finished: result },
    }
}
