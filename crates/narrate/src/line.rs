//! A line: its text, its speaker and its tone.

use std::fmt;

use windlass_vocab::{CallId, PlanItem, PlanStatus, Remedy};

/// Who said or did something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LineSpeaker {
    /// A person.
    Person,
    /// The model.
    Model,
    /// A tool.
    Tool,
    /// The loop itself.
    Windlass,
}

/// The purpose of a line; a door uses it to choose which lines to show, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Internal detail, for a reader of every record.
    Bookkeeping,
    /// Current normal activity; the next line replaces it.
    Passing,
    /// Something delays the run. The next line replaces it; a door that can't replace lines prints it.
    Delay,
    /// Minor information.
    Quiet,
    /// Worth a line.
    Plain,
    /// Something went wrong.
    Failure,
    /// The literal words of a person or the model.
    Said,
    /// A question to a person.
    Question,
    /// A person's answer, or the default of an expired question.
    Answer,
    /// A step of the plan.
    Step(PlanStatus),
    /// Below another line: inserted text.
    Added,
    /// Below another line: removed text.
    Removed,
    /// Below another line: more about it.
    Note,
}

/// A line to show. `Display` writes its words, without colour or wrapping; the text may have several lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NarratedLine {
    /// Who said or did it.
    pub by: LineSpeaker,
    /// The purpose of the line.
    pub tone: Tone,
    /// The words. For a finished call, its name and arguments: a door shortens this if there is too little room.
    pub text: String,
    /// How the call ended, if the line reports that.
    pub end: Option<NarratedCallEnd>,
    /// The call that the line is about.
    pub call: Option<CallId>,
    /// A change that would let the call run. The door says how to make it.
    pub remedy: Option<Remedy>,
}

/// The outcome of a call, displayed after its name and arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NarratedCallEnd {
    /// The call's duration; `None` if it was cancelled or interrupted.
    pub took: Option<String>,
    /// `, as before` if an earlier result was reused.
    pub again: &'static str,
    /// The problem, if the call was not successful.
    pub problem: Option<Problem>,
}

/// The problem of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The problem in a word or two.
    pub word: String,
    /// The most informative line of the result; may be empty.
    pub detail: String,
}

impl NarratedLine {
    /// Creates a line spoken by the loop itself.
    #[must_use]
    pub fn new(tone: Tone, text: impl Into<String>) -> Self {
        Self { by: LineSpeaker::Windlass, tone, text: text.into(), end: None, call: None, remedy: None }
    }

    pub(crate) fn by(self, by: LineSpeaker) -> Self {
        Self { by, ..self }
    }

    pub(crate) fn about(self, call: CallId) -> Self {
        Self { call: Some(call), ..self }
    }
}

impl fmt::Display for NarratedLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.tone {
            Tone::Step(status) => return PlanItem::new(self.text.clone(), status).fmt(f),
            Tone::Question => f.write_str("asks: ")?,
            Tone::Answer if self.by == LineSpeaker::Person => f.write_str("answers: ")?,
            Tone::Bookkeeping
            | Tone::Passing
            | Tone::Delay
            | Tone::Quiet
            | Tone::Plain
            | Tone::Failure
            | Tone::Said
            | Tone::Answer
            | Tone::Added
            | Tone::Removed
            | Tone::Note => {}
        }
        f.write_str(&self.text)?;
        self.end.as_ref().map_or(Ok(()), |end| end.fmt(f))
    }
}

/// ` 12 ms, as before, error: no such file`: follows the text of a line.
impl fmt::Display for NarratedCallEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(took) = &self.took {
            write!(f, " {took}")?;
        }
        f.write_str(self.again)?;
        match &self.problem {
            Some(Problem { word, detail }) if detail.is_empty() => write!(f, ", {word}"),
            Some(Problem { word, detail }) => write!(f, ", {word}: {detail}"),
            None => Ok(()),
        }
    }
}
