//! The lines of each record for a later reader: all records, in full. Internal ones have the tone `Bookkeeping`.

use windlass_vocab::{
    CallFinished, CallRequested, Changes, Coverage, FilesChanged, ImportDetails, ModelReplied, ModelRole, Origin,
    Record, RunEnded, SessionChanged, SessionOpened, SnapshotTaken, StopBy, Timestamp, shown_path,
};

use crate::brief::steps;
use crate::call::{call_line, tool_name};
use crate::call_end::call_end;
use crate::count::counted;
use crate::line::{LineSpeaker, NarratedLine, Tone};
use crate::memory::NarratorMemory;
use crate::run_end::RunEndWords;
use crate::{attempt, cache, message, nudge, question, reply, run, step};

/// Returns the lines of a record: one, except for a plan and for a reply with more than text.
pub(crate) fn lines(memory: &NarratorMemory, record: &Record, at: Timestamp) -> Vec<NarratedLine> {
    let line = match record {
        Record::MessageAccepted(accepted) => message::line(accepted),
        Record::RunStarted(started) => NarratedLine::new(Tone::Quiet, run::started(started)),
        Record::RunResumed(_) => NarratedLine::new(Tone::Quiet, run::RESUMED),
        Record::AttemptFailed(failed) => attempt::full(failed, at),
        Record::ModelReplied(replied) if replied.role == ModelRole::Title => {
            bookkeeping(format!("{} wrote a title", replied.model))
        }
        // A stopped call of which only what it cost is known.
        Record::ModelReplied(replied) if replied.partial && replied.parts.is_empty() => return Vec::new(),
        Record::ModelReplied(replied) if replied.role == ModelRole::Planner => {
            let plan = reply::words(&replied.parts);
            bookkeeping(format!("{} wrote a plan: {plan}", replied.model))
        }
        Record::ModelReplied(ModelReplied { intent: Some(intent), model, .. }) => {
            bookkeeping(format!("{model} was asked whether tools are needed: {}", run::routed(*intent)))
        }
        Record::ModelReplied(replied) if !replied.role.is_of_conversation() => {
            bookkeeping(format!("{} wrote a summary", replied.model))
        }
        Record::ModelReplied(replied) => {
            let mut lines = reply::whole(&replied.parts);
            lines.extend(replied.cache.as_deref().map(|report| bookkeeping(cache::report(report))));
            lines.extend(memory.new_cut(replied));
            return lines;
        }
        Record::CallRequested(call) => {
            NarratedLine::new(Tone::Plain, requested(call)).by(LineSpeaker::Model).about(call.call)
        }
        Record::CallSettled(settled) => {
            NarratedLine::new(Tone::Quiet, run::settled(settled, &run::numbered(settled.call))).about(settled.call)
        }
        Record::CallFinished(finished) => result(finished, memory),
        Record::QuestionAsked(asked) => question::asked(asked),
        Record::QuestionAnswered(answered) => question::answered(answered),
        Record::Nudged(nudged) => {
            NarratedLine::new(Tone::Quiet, format!("{}; it is told: {}", nudge::nudged(nudged), nudged.text))
        }
        Record::ToolWithheld(withheld) => NarratedLine::new(
            Tone::Plain,
            format!("{}; the model is told: {}", nudge::withheld(withheld), withheld.reason),
        ),
        Record::PlanChanged(plan) => return steps(plan),
        Record::ChildSpawned(spawned) => {
            bookkeeping(format!("{} may have started: {}", spawned.child, memory.step_words(spawned.step)))
        }
        Record::ChildReported(reported) => return step::reported_in_full(memory, reported),
        Record::Compacted(compacted) => {
            let summary = compacted.summary.as_deref().map(|summary| format!(": {summary}")).unwrap_or_default();
            let text = format!("{} (through message {}){summary}", run::compacted(compacted), compacted.through);
            NarratedLine::new(Tone::Quiet, text)
        }
        Record::CancelAsked(asked) => {
            let line = NarratedLine::new(Tone::Plain, run::cancel_asked(asked));
            match asked.by {
                StopBy::Person => line.by(LineSpeaker::Person),
                StopBy::Deadline | StopBy::Fork => line,
            }
        }
        Record::RunEnded(ended) => end(ended, memory),
        Record::SessionOpened(opened) => bookkeeping(session_opened(opened)),
        Record::SessionChanged(changed) => bookkeeping(session_changed(changed)),
        Record::LeaseTaken(taken) => bookkeeping(format!("{} (epoch {})", taken.holder, taken.epoch)),
        Record::ContextPinned(pinned) => bookkeeping(run::pinned(pinned)),
        Record::TurnStarted(started) => bookkeeping(run::turn(started)),
        Record::CallStarted(started) => bookkeeping(format!("{} may have started", started.call)).about(started.call),
        Record::CallPaused(paused) => {
            bookkeeping(format!("{} waits for {}", paused.call, counted(paused.asks.len(), "answer", "answers")))
                .about(paused.call)
        }
        Record::SnapshotTaken(taken) => bookkeeping(snapshot(taken)).about(taken.call),
        Record::FilesChanged(changed) => files_changed(changed),
        Record::UndoStarted(started) => {
            bookkeeping(format!("{} undoes {}: {}", started.undo, started.of, paths(&started.changes)))
        }
        Record::Undone(undone) => bookkeeping(format!("{}: {}", undone.undo, undone.told)),
        Record::Unknown(unknown) => bookkeeping(unknown.body.as_str()),
    };
    vec![line]
}

fn files_changed(changed: &FilesChanged) -> NarratedLine {
    let line = format!("{} {}", changed.call, file_changes(changed));
    let tone = if changed.lost.is_empty() { Tone::Bookkeeping } else { Tone::Failure };
    NarratedLine::new(tone, line).about(changed.call)
}

fn bookkeeping(text: impl Into<String>) -> NarratedLine {
    NarratedLine::new(Tone::Bookkeeping, text)
}

fn session_opened(opened: &SessionOpened) -> String {
    let folder = opened.workspace.as_deref().unwrap_or("no folder");
    let fork = |origin: &Origin| format!(", forked from {} at record {}", origin.session, origin.seq);
    let fork = opened.forked_from.last().map(fork).unwrap_or_default();
    format!("{} in {folder}{fork}", opened.key)
}

fn session_changed(changed: &SessionChanged) -> String {
    let folder = |imported: &ImportDetails| imported.workspace.clone().unwrap_or_else(|| "no folder".to_owned());
    let imported = changed.imported.as_ref().map(|imported| format!("imported into {}", folder(imported)));
    let pinned = changed.pinned.map(|pinned| if pinned { "pinned" } else { "no longer pinned" }.to_owned());
    let archived = changed.archived.map(|archived| if archived { "archived" } else { "no longer archived" }.to_owned());
    let summary =
        |wanted| if wanted { "a summary before the next answer was asked for" } else { "no summary after all" };
    let compact = changed.compact.map(|wanted| summary(wanted).to_owned());
    let parts = [changed.title.clone(), changed.key.clone(), imported, pinned, archived, compact];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// `calls 1.1.0 read_file a.txt`.
fn requested(call: &CallRequested) -> String {
    let mended: Vec<&str> = call.repairs.iter().map(|repair| repair.as_str()).collect();
    let mended = if mended.is_empty() { String::new() } else { format!(" (mended: {})", mended.join(", ")) };
    format!("calls {}{mended} {}", call.call, call_line(tool_name(call), &call.arguments))
}

/// `result of 1.1.0 (12 ms, error): no such file`. A result in the loop's own words, which are for the model, says first
/// what they mean for a person.
fn result(finished: &CallFinished, memory: &NarratorMemory) -> NarratedLine {
    let refusal = memory.refusal(finished);
    let end = call_end(finished, refusal.as_deref());
    let tone = if end.problem.is_some() { Tone::Failure } else { Tone::Plain };
    let about =
        [end.took, end.problem.map(|problem| problem.word)].into_iter().flatten().collect::<Vec<_>>().join(", ");
    let told = refusal.map(|refusal| format!("{refusal}; the model is told: ")).unwrap_or_default();
    let text = format!("result of {} ({about}): {told}{}", finished.call, finished.text);
    NarratedLine {
        remedy: finished.remedy.clone(),
        ..NarratedLine::new(tone, text).by(LineSpeaker::Tool).about(finished.call)
    }
}

/// Returns why a run ended, and its answer unless the last reply contains it: it may come from a tool.
fn end(ended: &RunEnded, memory: &NarratorMemory) -> NarratedLine {
    if let Some(words) = RunEndWords::of(ended) {
        return NarratedLine::new(words.tone, format!("the run ended: {}", words.advised("")));
    }
    let answer = ended.answer.trim();
    let is_said = memory.last_reply.trim_end().ends_with(answer);
    let answer = if is_said { String::new() } else { format!(", with the answer: {answer}") };
    NarratedLine::new(Tone::Quiet, format!("the run ended: done{answer}"))
}

fn snapshot(taken: &SnapshotTaken) -> String {
    let files = counted(taken.files.len(), "file kept", "files kept");
    match &taken.coverage {
        Coverage::Full => format!("{}: {files}", taken.call),
        Coverage::Partial { left_out } => format!("{}: {files}; not covered: {left_out}", taken.call),
        Coverage::None { why } => format!("{}: nothing kept: {why}", taken.call),
    }
}

fn paths(changes: &Changes) -> String {
    changes.keys().map(|path| shown_path(path)).collect::<Vec<_>>().join(", ")
}

/// `changed a.txt; put back: b.txt; lost: y.jpg (deleted; it was too large to be kept)`.
fn file_changes(changed: &FilesChanged) -> String {
    let lost: Vec<String> = changed.lost.iter().map(|(path, why)| format!("{} ({why})", shown_path(path))).collect();
    let restored: Vec<_> = changed.restored.iter().map(|path| shown_path(path)).collect();
    let has_more = !(lost.is_empty() && restored.is_empty());
    let parts = [
        (!has_more || !changed.changes.is_empty()).then(|| format!("changed {}", paths(&changed.changes))),
        (!restored.is_empty()).then(|| format!("put back: {}", restored.join(", "))),
        (!lost.is_empty()).then(|| format!("lost: {}", lost.join(", "))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}
