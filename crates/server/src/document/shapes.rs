//! The shapes of what is read and written by other crates, as the document describes them. Tests compare them.

use std::collections::BTreeMap;

use utoipa::ToSchema;

/// The session that the address names.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "it only describes the address")]
pub(crate) struct SessionInAddress {
    /// The session's id.
    #[param(format = "uuid", example = "0198f3a0-0000-7000-8000-00000000000a")]
    session: String,
}

/// The record that the address names.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "it only describes the address")]
pub(crate) struct RecordInAddress {
    /// The number of the record in its session.
    #[param(minimum = 0, maximum = 9_007_199_254_740_991_u64, example = 7)]
    record: u64,
}

/// The question that the address names.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "it only describes the address")]
pub(crate) struct QuestionInAddress {
    /// The number of the question in its session.
    #[param(minimum = 0, maximum = 4_294_967_295_u32, example = 1)]
    question: u32,
}

/// The rule that the address names.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "it only describes the address")]
pub(crate) struct RuleInAddress {
    /// The number of the rule.
    #[param(minimum = 1, maximum = 4_294_967_295_u32, example = 1)]
    rule: u64,
}

/// The answer to a question: `windlass_vocab::Answer`.
#[derive(ToSchema)]
#[schema(example = json!({"option": "once"}))]
#[expect(dead_code, reason = "it only describes the body")]
pub(crate) struct QuestionAnswer {
    option: AnswerWord,
    /// With `edit`: the new arguments. With `submit`: the content of the form. With `once` to a limit: its new value.
    #[schema(value_type = Option<Object>)]
    arguments: Option<()>,
    /// With `no`: why, for the model.
    reason: Option<String>,
}

/// What is answered; the question says which of these it offers.
#[derive(ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "it only describes the body")]
pub(crate) enum AnswerWord {
    No,
    Once,
    Session,
    Always,
    Edit,
    RunAgain,
    Interrupt,
    Submit,
    Dismiss,
}

/// A call: run, turn and place, each a number.
#[derive(ToSchema)]
#[schema(pattern = r"^[0-9]{1,9}\.[0-9]{1,9}\.[0-9]{1,9}$", example = "2.1.0")]
#[expect(dead_code, reason = "it only describes the body")]
pub(crate) struct CallName(String);

/// The title of a session: text on one line, not only spaces.
#[derive(ToSchema)]
#[schema(
    min_length = 1,
    max_length = 200,
    pattern = r"^[^\u0000-\u001f\u007f-\u009f]*[^\u0000-\u0020\u007f-\u00a0][^\u0000-\u001f\u007f-\u009f]*$"
)]
#[expect(dead_code, reason = "it only describes the body")]
pub(crate) struct SessionTitle(String);

/// What can be undone: `windlass_vocab::Undoable`.
#[derive(ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(example = json!({"call": "2.1.0"}))]
#[expect(dead_code, reason = "it only describes the body")]
pub(crate) enum UndoneThing {
    /// A call, named by run, turn and place: `2.1.0`.
    Call(CallName),
    /// An earlier undo, by its number.
    Undo(u32),
}

/// A record of a session, as it is stored; `docs/events.md` lists every kind with its body.
#[derive(ToSchema)]
#[schema(example = json!({
    "v": 1, "id": "0198f3a1.4", "session": "0198f3a0-0000-7000-8000-00000000000a", "seq": 6, "batch": [3, 4], "prev": "6a2e1972",
    "epoch": 1, "run": 1, "turn": 1, "at": "2026-11-15T03:00:01.499Z", "kind": "TurnStarted", "body": {"turn": 1, "mode": "tools"}
}))]
#[expect(dead_code, reason = "it only describes what is sent")]
pub(crate) struct RecordEnvelope {
    v: u32,
    id: String,
    #[schema(format = "uuid")]
    session: String,
    /// Its number in the session, from 1, without gaps; the `id` of its server-sent event.
    seq: u64,
    /// Its place among the records of one input, and how many they are.
    batch: Vec<u32>,
    /// The hash of the batch before.
    prev: String,
    epoch: u64,
    #[schema(nullable = false)]
    run: Option<u32>,
    #[schema(nullable = false)]
    turn: Option<u32>,
    #[schema(format = "date-time")]
    at: String,
    kind: String,
    #[schema(value_type = Object)]
    body: BTreeMap<String, String>,
    /// The text of the record as HTML without anything that acts, where it has a text to read.
    #[schema(nullable = false)]
    html: Option<String>,
}

/// A fragment that is only sent live; `docs/events.md` lists every kind with its body.
#[derive(ToSchema)]
#[schema(example = json!({"run": 1, "turn": 1, "attempt": 1, "offset": 0, "kind": "TextDelta", "body": {"text": "Let me "}}))]
#[expect(dead_code, reason = "it only describes what is sent")]
pub(crate) struct DeltaEnvelope {
    run: u32,
    turn: u32,
    attempt: u32,
    offset: u64,
    kind: String,
    #[schema(value_type = Object)]
    body: BTreeMap<String, String>,
}

/// A session's journal as JSON lines: a head, then a line for each record.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it only describes what is sent")]
pub(crate) struct JournalLines(String);

/// One server-sent event of a stream. A record has its `seq` as `id` and a `RecordEnvelope` as `data`; a delta has no `id` and a
/// `DeltaEnvelope` as `data`. An event called `error`, with an error's fields as `data`, ends a stream whose session can't be
/// read any more.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it only describes what is sent")]
pub(crate) struct ServerSentEvent {
    #[schema(nullable = false, pattern = "^[0-9]+$")]
    id: Option<String>,
    #[schema(nullable = false, pattern = "^(message|error)$")]
    event: Option<String>,
    #[schema(content_media_type = "application/json")]
    data: String,
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use utoipa::PartialSchema;
    use windlass_vocab::{Answer, QuestionOption, SessionId, Undoable};

    use super::{AnswerWord, UndoneThing};

    fn words<T: PartialSchema>() -> Value {
        serde_json::to_value(T::schema()).unwrap()
    }

    // proves W3: the document names exactly the answers that questions take
    #[test]
    fn the_documents_answers_are_those_of_questions() {
        let words = words::<AnswerWord>();
        let words: Vec<&str> = words["enum"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        for word in &words {
            let answer: Answer = serde_json::from_value(json!({ "option": word })).unwrap();
            match answer.option {
                QuestionOption::No
                | QuestionOption::Once
                | QuestionOption::Session
                | QuestionOption::Always
                | QuestionOption::Edit
                | QuestionOption::RunAgain
                | QuestionOption::Interrupt
                | QuestionOption::Submit
                | QuestionOption::Dismiss => {}
            }
        }
        assert_eq!(words.len(), 9, "as many as the arms above");
    }

    // proves W3
    #[test]
    fn the_documents_ids_are_read() {
        let example = words::<UndoneThing>()["example"].clone();
        assert!(serde_json::from_value::<Undoable>(example).is_ok());
        assert!(serde_json::from_value::<Undoable>(json!({"undo": 1})).is_ok());
        assert!(serde_json::from_value::<SessionId>(json!("0198f3a0-0000-7000-8000-00000000000a")).is_ok());
    }
}
