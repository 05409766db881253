//! What was said and done in a session, for a reader who was not there.

use serde::Serialize;
use windlass_vocab::{AnsweredBy, Envelope, Part, QuestionAnswered, Record, StopBy};

use crate::output::show_call;
use crate::output::wording::{self, took, tool_name};

/// Characters of one entry; the rest is in the journal.
const LONGEST: usize = 4_000;

/// Something that was said or done.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Entry {
    pub(super) seq: u64,
    pub(super) at: String,
    pub(super) who: Who,
    pub(super) text: String,
}

/// Who said or did it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Who {
    Person,
    Model,
    Tool,
    Windlass,
}

impl Who {
    const fn word(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Model => "model",
            Self::Tool => "tool",
            Self::Windlass => "windlass",
        }
    }
}

impl Entry {
    /// `12 2026-01-02T03:04:05Z model: Hello.`
    pub(super) fn line(&self) -> String {
        format!("{} {} {}: {}\n", self.seq, self.at, self.who.word(), self.text)
    }
}

/// The entry a record is worth.
pub(super) fn entry(envelope: &Envelope) -> Option<Entry> {
    let (who, text) = told(envelope)?;
    let text = match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}… (cut; {} bytes in all)", &text[..end], text.len()),
        None => text,
    };
    Some(Entry { seq: envelope.seq, at: envelope.at.to_string(), who, text })
}

fn told(envelope: &Envelope) -> Option<(Who, String)> {
    match &envelope.record {
        Record::MessageAccepted(accepted) => Some((Who::Person, accepted.text.clone())),
        Record::ModelReplied(reply) => said(&reply.parts).map(|text| (Who::Model, text)),
        Record::CallRequested(call) => {
            Some((Who::Model, format!("calls {} {}", call.call, show_call(tool_name(call), &call.arguments))))
        }
        Record::CallFinished(call) => {
            let problem = wording::problem(call.outcome, call.exit).map(|word| format!(", {word}")).unwrap_or_default();
            Some((Who::Tool, format!("result of {} ({}{problem}): {}", call.call, took(call.took_ms), call.text)))
        }
        Record::QuestionAsked(asked) => {
            let title = asked.preview.as_ref().map_or("a question", |preview| preview.title.as_str());
            Some((Who::Windlass, format!("asks: {title}")))
        }
        Record::QuestionAnswered(answered) => Some(answer(answered)),
        Record::RunStarted(started) => {
            let models: Vec<&str> = started.chain.iter().map(|model| model.as_str()).collect();
            Some((Who::Windlass, format!("run {} begins with {}", started.run, models.join(", "))))
        }
        Record::RunResumed(_) => Some((Who::Windlass, wording::RESUMED.to_owned())),
        Record::AttemptFailed(attempt) => Some((Who::Windlass, wording::attempt_problem(attempt))),
        Record::Nudged(nudge) => Some((Who::Windlass, wording::nudged(nudge))),
        Record::ToolWithheld(tool) => Some((Who::Windlass, wording::withheld(tool))),
        Record::Compacted(compacted) => Some((Who::Windlass, wording::compacted(compacted).to_owned())),
        Record::CancelAsked(asked) => {
            let who = match asked.by {
                StopBy::Person => Who::Person,
                StopBy::Deadline | StopBy::Fork => Who::Windlass,
            };
            Some((who, wording::cancel_asked(asked).to_owned()))
        }
        Record::RunEnded(ended) => {
            let reason = wording::explanation(ended).unwrap_or_else(|| "done".to_owned());
            Some((Who::Windlass, format!("the run ended: {reason}")))
        }
        Record::SessionOpened(_)
        | Record::SessionChanged(_)
        | Record::LeaseTaken(_)
        | Record::ContextPinned(_)
        | Record::TurnStarted(_)
        | Record::CallStarted(_)
        | Record::CallPaused(_)
        | Record::CallSettled(_)
        | Record::PlanChanged(_)
        | Record::SnapshotTaken(_)
        | Record::FilesChanged(_)
        | Record::UndoStarted(_)
        | Record::Undone(_)
        | Record::Unknown(_) => None,
    }
}

fn answer(answered: &QuestionAnswered) -> (Who, String) {
    let who = match answered.by {
        AnsweredBy::Person => Who::Person,
        AnsweredBy::Expiry => Who::Windlass,
    };
    (who, format!("answers: {:?}", answered.answer.option).to_lowercase())
}

fn said(parts: &[Part]) -> Option<String> {
    let texts: Vec<&str> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Text { text } if !text.trim().is_empty() => Some(text.as_str()),
            Part::Text { .. } | Part::Thinking { .. } | Part::Call { .. } => None,
        })
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}
