//! Reads from the journal which questions of a session are unanswered, and how one was answered.

use windlass_narrate::{answer_words, expiry_words};
use windlass_store::{ReverseRecords, Store, StoreError};
use windlass_vocab::{AnsweredBy, QuestionAnswered, QuestionAsked, QuestionId, QuestionOption, Record, SessionId};

/// Returns the questions of the open run that were neither answered nor withdrawn, in the order they were asked.
pub(super) async fn unanswered_questions(
    store: &dyn Store,
    session: SessionId,
) -> Result<Vec<QuestionAsked>, StoreError> {
    let (mut questions, mut past) = (Vec::new(), Vec::new());
    let mut records = ReverseRecords::new(store, session);
    while let Some(envelope) = records.next().await? {
        match envelope.record {
            Record::QuestionAnswered(answer) => past.push(answer.question),
            Record::RunResumed(resumed) => past.extend(resumed.withdrawn.into_iter().flatten()),
            Record::QuestionAsked(asked) if !past.contains(&asked.question) => questions.push(asked),
            Record::RunStarted(_) | Record::RunEnded(_) => break,
            _ => {}
        }
    }
    questions.reverse();
    Ok(questions)
}

/// Returns the answer to a question, if it has one.
pub(crate) async fn find_answer(
    store: &dyn Store,
    session: SessionId,
    question: QuestionId,
) -> Result<Option<QuestionAnswered>, StoreError> {
    let found = |record| match record {
        Record::QuestionAnswered(answered) if answered.question == question => Some(Some(answered)),
        Record::QuestionAsked(asked) if asked.question == question => Some(None),
        _ => None,
    };
    Ok(ReverseRecords::new(store, session).find_map(|envelope| found(envelope.record)).await?.flatten())
}

/// Describes how a question that was not answered here ended.
pub(super) async fn how_it_ended(
    store: &dyn Store,
    session: SessionId,
    question: QuestionId,
) -> Result<String, StoreError> {
    let answered = find_answer(store, session, question).await?;
    Ok(answered.map_or_else(|| "(no longer asked)".to_owned(), |answered| answered_elsewhere(&answered)))
}

/// Describes an answer that was given elsewhere.
pub(crate) fn answered_elsewhere(answered: &QuestionAnswered) -> String {
    let option = answered.answer.option;
    match answered.by {
        AnsweredBy::Person if option == QuestionOption::Submit => "(answered elsewhere)".to_owned(),
        AnsweredBy::Person => format!("(answered elsewhere: {})", answer_words(option)),
        AnsweredBy::Expiry => format!("({})", expiry_words(option)),
    }
}
