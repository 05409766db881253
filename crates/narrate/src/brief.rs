//! The lines of each record for a person who watches: short.

use windlass_vocab::{Intent, ModelReplied, ModelRole, PlanChanged, Record, Timestamp, TurnMode};

use crate::activity::Activity;
use crate::harmless::{TEXT, short_line};
use crate::line::{NarratedLine, Tone};
use crate::memory::NarratorMemory;
use crate::{message, nudge, question, reply, run, step};

/// Returns the lines of a record. The end of a run has none: a door shows the answer in its own form, or else
/// [`crate::RunEndWords`].
pub(crate) fn lines(memory: &mut NarratorMemory, record: &Record, at: Timestamp) -> Vec<NarratedLine> {
    let line = match record {
        Record::MessageAccepted(accepted) => message::line(accepted),
        // What is under way goes on without a record of its own: only the passing line tells that somebody waits for it.
        Record::RunResumed(_) => {
            return vec![
                NarratedLine::new(Tone::Quiet, run::RESUMED),
                NarratedLine::new(Tone::Passing, "going on where it was"),
            ];
        }
        Record::ContextPinned(pinned) => match run::without_servers(pinned) {
            Some(text) => NarratedLine::new(Tone::Plain, text),
            None => return Vec::new(),
        },
        Record::TurnStarted(started) => {
            let what = match started.mode {
                TurnMode::Tools
                | TurnMode::Talk
                | TurnMode::WrapUp
                | TurnMode::Title
                | TurnMode::Synthesis
                | TurnMode::Route => Activity::Model,
                TurnMode::Summary => Activity::Summary,
                TurnMode::Plan => Activity::Plan,
            };
            NarratedLine::new(Tone::Passing, format!("turn {}: {what}", started.turn))
        }
        // Nobody waits for a title.
        Record::AttemptFailed(failed) if failed.role == ModelRole::Title => return Vec::new(),
        Record::AttemptFailed(failed) => return memory.last_retry.brief(failed, at).into_iter().collect(),
        Record::ModelReplied(ModelReplied { intent: Some(intent @ Intent::Direct), .. }) => {
            NarratedLine::new(Tone::Quiet, run::routed(*intent))
        }
        // Summaries, titles and plans do not belong to the conversation.
        Record::ModelReplied(replied) if !replied.role.is_of_conversation() => return Vec::new(),
        Record::ModelReplied(replied) => {
            let cut = memory.new_cut(replied);
            return cut.into_iter().chain(reply::beside_calls(&replied.parts)).collect();
        }
        Record::CallStarted(started) if memory.knows(started.call) => {
            memory.started(started);
            let name = memory.name(started.call);
            NarratedLine::new(Tone::Passing, Activity::Calls(&[&name]).to_string()).about(started.call)
        }
        Record::CallSettled(settled) => {
            NarratedLine::new(Tone::Quiet, run::settled(settled, &memory.name(settled.call))).about(settled.call)
        }
        Record::CallFinished(finished) => return memory.finished(finished),
        Record::QuestionAsked(asked) => question::asked(asked),
        Record::QuestionAnswered(answered) => question::answered(answered),
        Record::Nudged(nudged) => NarratedLine::new(Tone::Quiet, nudge::nudged(nudged)),
        Record::ToolWithheld(withheld) => NarratedLine::new(Tone::Plain, nudge::withheld(withheld)),
        // The lines about its child sessions say how a plan gets on.
        Record::PlanChanged(plan) if memory.has_plan(plan) => return Vec::new(),
        Record::PlanChanged(plan) => return steps(plan),
        Record::ChildSpawned(spawned) => NarratedLine::new(Tone::Passing, memory.step_words(spawned.step)),
        Record::ChildReported(reported) => return step::reported(memory, reported),
        Record::Compacted(compacted) => NarratedLine::new(Tone::Quiet, run::compacted(compacted)),
        Record::CancelAsked(asked) => NarratedLine::new(Tone::Plain, run::cancel_asked(asked)),
        Record::Unknown(unknown) => {
            let kind = short_line(&unknown.kind, TEXT);
            NarratedLine::new(Tone::Quiet, format!("{kind}: a record of a newer version of Windlass, not shown"))
        }
        Record::SessionOpened(_)
        | Record::SessionChanged(_)
        | Record::LeaseTaken(_)
        | Record::RunStarted(_)
        | Record::CallRequested(_)
        | Record::CallStarted(_)
        | Record::CallPaused(_)
        | Record::SnapshotTaken(_)
        | Record::FilesChanged(_)
        | Record::UndoStarted(_)
        | Record::Undone(_)
        | Record::RunEnded(_) => return Vec::new(),
    };
    vec![line]
}

/// Returns the plan, a line per step.
pub(crate) fn steps(plan: &PlanChanged) -> Vec<NarratedLine> {
    plan.items.iter().map(|item| NarratedLine::new(Tone::Step(item.status), step::title(item))).collect()
}
