//! Each record for whoever watches: what happens, in short lines.

use windlass_vocab::{At, PlanChanged, Record};

use crate::activity::Activity;
use crate::harmless::{TEXT, short_line};
use crate::known::Known;
use crate::line::{Line, Speaker, Tone};
use crate::{nudge, question, reply, run};

/// The lines of a record. How a run ended is not among them: a door shows the answer in its own way, or else
/// [`crate::RunEndWords`].
pub(crate) fn lines(known: &mut Known, record: &Record, at: At) -> Vec<Line> {
    let line = match record {
        Record::MessageAccepted(accepted) => Line::new(Tone::Said, &accepted.text).by(Speaker::Person),
        Record::RunResumed(_) => Line::new(Tone::Quiet, run::RESUMED),
        Record::ContextPinned(pinned) => match run::without_servers(pinned) {
            Some(text) => Line::new(Tone::Plain, text),
            None => return Vec::new(),
        },
        Record::TurnStarted(started) => Line::new(Tone::Passing, format!("turn {}: {}", started.turn, Activity::Model)),
        Record::AttemptFailed(failed) => return known.told_retry.brief(failed, at).into_iter().collect(),
        Record::ModelReplied(replied) => return reply::beside_calls(&replied.parts),
        Record::CallStarted(started) if known.knows(started.call) => {
            known.started(started);
            let name = known.name(started.call);
            Line::new(Tone::Passing, Activity::Calls(&[&name]).to_string()).about(started.call)
        }
        Record::CallSettled(settled) => {
            Line::new(Tone::Quiet, run::settled(settled, &known.name(settled.call))).about(settled.call)
        }
        Record::CallFinished(finished) => return known.finished(finished),
        Record::QuestionAsked(asked) => question::asked(asked),
        Record::QuestionAnswered(answered) => question::answered(answered),
        Record::Nudged(nudged) => Line::new(Tone::Quiet, nudge::nudged(nudged)),
        Record::ToolWithheld(withheld) => Line::new(Tone::Plain, nudge::withheld(withheld)),
        Record::PlanChanged(plan) => return steps(plan),
        Record::Compacted(compacted) => Line::new(Tone::Quiet, run::compacted(compacted)),
        Record::CancelAsked(asked) => Line::new(Tone::Plain, run::cancel_asked(asked)),
        Record::Unknown(unknown) => {
            let kind = short_line(&unknown.kind, TEXT);
            Line::new(Tone::Quiet, format!("{kind}: a record of a newer version of Windlass, not shown"))
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

/// The plan, a line for each step.
pub(crate) fn steps(plan: &PlanChanged) -> Vec<Line> {
    plan.items.iter().map(|item| Line::new(Tone::Step(item.status), short_line(&item.step, TEXT))).collect()
}
