//! Compares a decided record with a recorded one (J8). Some decided records carry a text that the loop words itself, for
//! the model or a person. A later version may word it otherwise without deciding anything else, so such a text is not
//! compared; what it is about is: the outcome of the call, the cause of the nudge, the kind of the question.

use windlass_vocab::{CallFinished, OutcomeKind, QuestionAsked, QuestionKind, Record};

/// Whether this version decides the same fact as was recorded, however each words it.
pub(crate) fn is_same_fact(recorded: &Record, decided: &Record) -> bool {
    recorded == decided || *recorded == worded_as(decided.clone(), recorded)
}

/// Returns the decided record in the recorded wording.
fn worded_as(decided: Record, recorded: &Record) -> Record {
    let mut record = decided;
    if let (Record::CallFinished(decided), Record::CallFinished(recorded)) = (&mut record, recorded)
        && is_in_our_words(decided)
    {
        decided.text.clone_from(&recorded.text);
        // Before remedies were recorded, the text said what would let the call run.
        decided.remedy = decided.remedy.take().filter(|_| recorded.remedy.is_some());
    }
    if let (Record::ToolWithheld(decided), Record::ToolWithheld(recorded)) = (&mut record, recorded) {
        decided.reason.clone_from(&recorded.reason);
    }
    if let (Record::Nudged(decided), Record::Nudged(recorded)) = (&mut record, recorded) {
        decided.text.clone_from(&recorded.text);
        decided.evidence.clone_from(&recorded.evidence);
        if decided.rejects_reply() == recorded.rejects_reply() {
            decided.faults.clone_from(&recorded.faults);
        }
    }
    if let (Record::TurnStarted(decided), Record::TurnStarted(recorded)) = (&mut record, recorded) {
        // Another version may count otherwise, or not at all.
        decided.budget = recorded.budget;
    }
    if let (Record::ModelReplied(decided), Record::ModelReplied(recorded)) = (&mut record, recorded) {
        // Another version may expect otherwise of the cache, or nothing at all.
        decided.cache.clone_from(&recorded.cache);
    }
    if let (Record::RunEnded(decided), Record::RunEnded(recorded)) = (&mut record, recorded) {
        // Before the cost was recorded, it was not decided.
        decided.cost = decided.cost.filter(|_| recorded.cost.is_some());
        // What words a request and an answer are read by may differ from version to version.
        decided.changes.clone_from(&recorded.changes);
    }
    if let (Record::Compacted(decided), Record::Compacted(recorded)) = (&mut record, recorded) {
        decided.notes.clone_from(&recorded.notes);
        decided.summary.clone_from(&recorded.summary);
    }
    if let (Record::QuestionAsked(decided), Record::QuestionAsked(recorded)) = (&mut record, recorded)
        && is_our_question(decided)
    {
        decided.preview.clone_from(&recorded.preview);
    }
    record
}

/// Whether the loop gave the call its result: then the text is its own.
fn is_in_our_words(finished: &CallFinished) -> bool {
    match finished.outcome {
        OutcomeKind::Denied | OutcomeKind::Cancelled | OutcomeKind::Interrupted => true,
        OutcomeKind::Ok
        | OutcomeKind::ToolError
        | OutcomeKind::NotFound
        | OutcomeKind::InfrastructureError
        | OutcomeKind::Unknown
        | OutcomeKind::InvalidArguments
        | OutcomeKind::TimedOut => false,
    }
}

/// Whether the loop asks about the run itself: then the question is in its own words.
fn is_our_question(asked: &QuestionAsked) -> bool {
    match asked.kind {
        QuestionKind::Cycle | QuestionKind::Stuck | QuestionKind::Purse { .. } => true,
        QuestionKind::Approval { .. }
        | QuestionKind::Settlement { .. }
        | QuestionKind::Elicitation { .. }
        | QuestionKind::Step { .. } => false,
    }
}
