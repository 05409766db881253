//! Questions to a person, and their answers.

use windlass_vocab::{AnsweredBy, Preview, QuestionAnswered, QuestionAsked, QuestionKind, QuestionOption};

use crate::line::{LineSpeaker, NarratedLine, Tone};

/// Returns the full preview, so that a person sees every line before they approve. A title that the body repeats as
/// its first line is written once.
#[must_use]
pub fn preview_text(preview: &Preview, indent: &str) -> String {
    let (title, body) = (preview.title.trim_end(), preview.body.trim_end());
    let mut lines = body.lines();
    if lines.clone().next().is_some_and(|first| first.trim() == title.trim()) {
        lines.next();
    }
    lines.fold(title.to_owned(), |text, line| text + "\n" + indent + line)
}

/// Returns the heading of a question without a preview.
#[must_use]
pub const fn about(kind: &QuestionKind) -> &'static str {
    match kind {
        QuestionKind::Approval { .. } => "May this call run?",
        QuestionKind::Settlement { .. } => "A crash cut this call short; it may have taken effect.",
        QuestionKind::Elicitation { .. } => "A tool needs an answer before it can go on.",
        QuestionKind::Step { .. } => "A step of the plan needs an answer before it can go on.",
        QuestionKind::Cycle => "The model runs in circles. Go on?",
        QuestionKind::Stuck => "The run was taken up again and again without progress. Try once more?",
        QuestionKind::Purse { .. } => "The next model call would exceed a limit. Raise the limit and go on?",
    }
}

/// Returns the words for a given answer, for a later reader.
#[must_use]
pub const fn answer_words(option: QuestionOption) -> &'static str {
    match option {
        QuestionOption::No => "no",
        QuestionOption::Once => "yes",
        QuestionOption::Session => "yes, for this session",
        QuestionOption::Always => "always",
        QuestionOption::Edit => "yes, with other arguments",
        QuestionOption::RunAgain => "run again",
        QuestionOption::Interrupt => "leave it interrupted",
        QuestionOption::Submit => "answered",
        QuestionOption::Dismiss => "no answer",
    }
}

/// Returns the words for the default of an expired question.
#[must_use]
pub fn expiry_words(option: QuestionOption) -> String {
    let taken = match option {
        QuestionOption::No => "taken as no",
        QuestionOption::Once | QuestionOption::Session | QuestionOption::Always | QuestionOption::Edit => {
            "taken as yes"
        }
        QuestionOption::RunAgain => "the call is run again",
        QuestionOption::Interrupt => "the call is taken as interrupted",
        QuestionOption::Submit | QuestionOption::Dismiss => "its tool is told so",
    };
    format!("no answer came: {taken}")
}

/// Returns the line of a question, in full.
pub(crate) fn asked(asked: &QuestionAsked) -> NarratedLine {
    let text = asked.preview.as_ref().map(|preview| preview_text(preview, "  "));
    with_call(NarratedLine::new(Tone::Question, text.unwrap_or_else(|| about(&asked.kind).to_owned())), &asked.kind)
}

fn with_call(line: NarratedLine, kind: &QuestionKind) -> NarratedLine {
    match kind {
        QuestionKind::Approval { call } | QuestionKind::Settlement { call } | QuestionKind::Elicitation { call } => {
            line.about(*call)
        }
        QuestionKind::Step { .. } | QuestionKind::Cycle | QuestionKind::Stuck | QuestionKind::Purse { .. } => line,
    }
}

/// Returns the line of an answer.
pub(crate) fn answered(answered: &QuestionAnswered) -> NarratedLine {
    let option = answered.answer.option;
    match answered.by {
        AnsweredBy::Person => NarratedLine::new(Tone::Answer, answer_words(option)).by(LineSpeaker::Person),
        AnsweredBy::Expiry => NarratedLine::new(Tone::Answer, expiry_words(option)),
    }
}
