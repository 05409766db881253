//! A line: what is said, by whom, and how it is meant.

use std::fmt;

use windlass_vocab::{CallId, PlanItem, PlanStatus, Remedy};

/// Who said or did it.
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

/// How a line is meant; a door chooses by it what to show, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// For whoever reads every record.
    Bookkeeping,
    /// What goes on now, as it should; the next line takes its place.
    Passing,
    /// What the run is held up by; the next line takes its place, but where nothing passes it is worth a line.
    Delay,
    /// By the way.
    Quiet,
    /// Worth a line.
    Plain,
    /// Something went wrong.
    Failure,
    /// What a person or the model said, in their words.
    Said,
    /// What a person is asked.
    Question,
    /// What a person answered, or what silence was taken for.
    Answer,
    /// A step of the plan.
    Step(PlanStatus),
    /// Below another line: text that was put in.
    Added,
    /// Below another line: text that was taken out.
    Removed,
    /// Below another line: more about it.
    Note,
}

/// Something to show. Displayed it is its words, without colour or width; the text may have several lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NarratedLine {
    /// Who said or did it.
    pub by: LineSpeaker,
    /// How it is meant.
    pub tone: Tone,
    /// What is said. Of a call that has ended, what it was about: this gives way where there is too little room.
    pub text: String,
    /// How the call ended, where the line tells that.
    pub end: Option<NarratedCallEnd>,
    /// The call it is about.
    pub call: Option<CallId>,
    /// What a person could change to let the call run. How that is done here is for the door to say.
    pub remedy: Option<Remedy>,
}

/// How a call ended, as it stands behind what the call was about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NarratedCallEnd {
    /// How long it took; nothing where it was cut off from outside.
    pub took: Option<String>,
    /// `, as before` where an earlier result came out again.
    pub again: &'static str,
    /// What was wrong, if anything was.
    pub problem: Option<Problem>,
}

/// What was wrong with a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// In a word or two.
    pub word: String,
    /// The line of its result that says most about it; may be empty.
    pub detail: String,
}

impl NarratedLine {
    /// A line of the loop's own.
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
            Tone::Step(status) => return PlanItem { step: self.text.clone(), status }.fmt(f),
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

/// ` 12 ms, as before, error: no such file`, as it follows the text of a line.
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
