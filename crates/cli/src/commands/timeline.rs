//! One line per record, for people.

use windlass_store::{Waiting, repairs};
use windlass_tools::shown_path;
use windlass_vocab::{Coverage, Envelope, Part, Record};

use crate::output::wording::{problem, took};
use crate::output::{short_line, show_call};

const WIDTH: usize = 100;

/// `seq  time  kind  what`.
pub(super) fn line(envelope: &Envelope) -> String {
    let at = envelope.at.to_string();
    format!(
        "{:>5}  {}  {:<16}  {}\n",
        envelope.seq,
        time(&at),
        envelope.record.kind(),
        short_line(&what(&envelope.record), WIDTH)
    )
}

/// A message that is not taken up: it has no number yet.
pub(super) fn waiting(message: &Waiting) -> String {
    let at = message.at.to_string();
    format!("{:>5}  {}  {:<16}  {}\n", "-", time(&at), "waits", short_line(&message.text, WIDTH))
}

fn time(at: &str) -> &str {
    at.get(11..19).unwrap_or(at)
}

/// How often calls had to be mended, and why; nothing where none had to.
pub(super) fn mended(envelopes: &[Envelope]) -> Option<String> {
    let counts = repairs(envelopes.iter().map(|envelope| &envelope.record));
    let parts: Vec<String> = counts.iter().map(|(repair, count)| format!("{count} × {}", repair.as_str())).collect();
    (!parts.is_empty()).then(|| format!("calls mended: {}\n", parts.join(", ")))
}

fn what(record: &Record) -> String {
    match record {
        Record::SessionOpened(opened) => {
            let folder = opened.workspace.as_deref().unwrap_or("no folder");
            let fork = opened
                .forked_from
                .last()
                .map(|origin| format!(", forked from {} at record {}", origin.session, origin.seq));
            format!("{} in {folder}{}", opened.key, fork.unwrap_or_default())
        }
        Record::SessionChanged(changed) => {
            let imported = changed
                .imported
                .as_ref()
                .map(|imported| format!("imported into {}", imported.workspace.as_deref().unwrap_or("no folder")));
            let said = [changed.title.clone(), changed.key.clone(), imported];
            said.into_iter().flatten().collect::<Vec<_>>().join(", ")
        }
        Record::LeaseTaken(taken) => format!("{} (epoch {})", taken.holder, taken.epoch),
        Record::MessageAccepted(accepted) => accepted.text.clone(),
        Record::RunStarted(started) => {
            let models: Vec<&str> = started.chain.iter().map(|model| model.as_str()).collect();
            format!("run {} under {} with {}", started.run, started.policy.preset, models.join(", "))
        }
        Record::RunResumed(_) | Record::ContextPinned(_) => String::new(),
        Record::TurnStarted(started) => format!("turn {}", started.turn),
        Record::AttemptFailed(failed) => format!("{}: {}", failed.model, failed.failure),
        Record::ModelReplied(replied) => said(&replied.parts),
        Record::CallRequested(requested) => {
            let mended: Vec<&str> = requested.repairs.iter().map(|repair| repair.as_str()).collect();
            let mended = if mended.is_empty() { String::new() } else { format!(" (mended: {})", mended.join(", ")) };
            format!("{}{mended} {}", requested.call, show_call(&requested.name, &requested.arguments))
        }
        Record::CallStarted(started) => started.call.to_string(),
        Record::CallPaused(paused) => format!("{} waits for {} answers", paused.call, paused.asks.len()),
        Record::CallSettled(settled) => format!("{} {:?}", settled.call, settled.settlement),
        Record::CallFinished(finished) => {
            let problem = problem(finished.outcome, finished.exit);
            let result = problem.map_or_else(|| "ok".to_owned(), |problem| format!("✗ {problem}"));
            format!("{} {result}, {}: {}", finished.call, took(finished.took_ms), finished.text)
        }
        Record::QuestionAsked(asked) => asked.preview.as_ref().map(|preview| preview.title.clone()).unwrap_or_default(),
        Record::QuestionAnswered(answered) => format!("{:?} by {:?}", answered.answer.option, answered.by),
        Record::Nudged(nudged) => nudged.text.clone(),
        Record::ToolWithheld(withheld) => withheld.reason.clone(),
        Record::PlanChanged(changed) => format!("{} steps", changed.items.len()),
        Record::Compacted(compacted) => format!("{:?} through message {}", compacted.method, compacted.through),
        Record::CancelAsked(asked) => format!("by {:?}", asked.by),
        Record::RunEnded(ended) => format!("{:?}: {}", ended.reason, ended.answer),
        Record::SnapshotTaken(taken) => {
            let coverage = match &taken.coverage {
                Coverage::Full => "kept",
                Coverage::Partial { left_out } => left_out,
                Coverage::None { why } => why,
            };
            format!("{} {} files: {coverage}", taken.call, taken.files.len())
        }
        Record::FilesChanged(changed) => {
            let paths: Vec<_> = changed.changes.keys().map(|path| shown_path(path)).collect();
            format!("{} {}", changed.call, paths.join(", "))
        }
        Record::UndoStarted(started) => {
            let paths: Vec<_> = started.changes.keys().map(|path| shown_path(path)).collect();
            format!("{} of {}: {}", started.undo, started.of, paths.join(", "))
        }
        Record::Undone(undone) => format!("{} {}", undone.undo, undone.told),
        Record::Unknown(unknown) => unknown.body.as_str().to_owned(),
    }
}

fn said(parts: &[Part]) -> String {
    let words: Vec<String> = parts
        .iter()
        .map(|part| match part {
            Part::Text { text } => text.clone(),
            Part::Thinking { .. } => "(thinking)".to_owned(),
            Part::Call { index } => format!("(call {index})"),
        })
        .collect();
    words.join(" ")
}
