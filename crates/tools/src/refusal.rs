//! Why a tool could not do what a call asked, or can't, and whether the arguments or the execution is at fault.

use windlass_vocab::{Outcome, OutcomeKind, Remedy};

/// Why a call failed, for the model. Distinguishes wrong arguments from failures (L11).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    kind: OutcomeKind,
    text: String,
}

impl Refusal {
    /// The arguments name something that does not exist.
    pub(crate) fn not_found(text: impl Into<String>) -> Self {
        Self { kind: OutcomeKind::NotFound, text: text.into() }
    }

    /// A rule forbids the call.
    pub(crate) fn denied(text: impl Into<String>) -> Self {
        Self { kind: OutcomeKind::Denied, text: text.into() }
    }

    /// Whether the arguments name something that does not exist.
    pub(crate) fn is_not_found(&self) -> bool {
        self.kind == OutcomeKind::NotFound
    }

    /// Whether the arguments name something the tool can't accept.
    pub(crate) fn is_about_arguments(&self) -> bool {
        self.kind == OutcomeKind::InvalidArguments
    }

    /// The same with another sentence at its end.
    pub(crate) fn with_sentence(mut self, sentence: &str) -> Self {
        self.text.push(' ');
        self.text.push_str(sentence);
        self
    }

    /// The arguments name something this tool can't accept, and the model can name something else.
    pub(crate) fn wrong_argument(text: impl Into<String>) -> Self {
        Self { kind: OutcomeKind::InvalidArguments, text: text.into() }
    }
}

impl From<String> for Refusal {
    fn from(text: String) -> Self {
        Self { kind: OutcomeKind::ToolError, text }
    }
}

impl From<Refusal> for String {
    fn from(refusal: Refusal) -> Self {
        refusal.text
    }
}

impl From<Refusal> for Outcome {
    fn from(refusal: Refusal) -> Self {
        Self::new(refusal.kind, refusal.text)
    }
}

/// Why a call can't succeed, known before it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertainFailure {
    /// The reason, for the model.
    pub reason: String,
    /// What a person could change to make it succeed.
    pub remedy: Option<Remedy>,
    /// What the reason was found in.
    pub source: FailureSource,
}

/// What shows that a call can't succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureSource {
    /// The arguments, without looking at a file, whatever other calls do: a URL that is none, a path outside the
    /// workspace, a private host.
    Arguments,
    /// The present content of the file that the argument `path` names. The reason reveals that content, and an earlier
    /// call of the same reply may change it.
    FileContent,
}

impl CertainFailure {
    /// The arguments can't be used: known from them alone, without looking at a file.
    pub fn by_arguments(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), remedy: None, source: FailureSource::Arguments }
    }

    /// The arguments name a private host that nobody has allowed; a person could.
    pub fn private_host(reason: impl Into<String>, host: String) -> Self {
        Self { remedy: Some(Remedy::FetchPrivate { host }), ..Self::by_arguments(reason) }
    }

    /// The content of the file that `path` names does not fit the call.
    pub fn by_file_content(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), remedy: None, source: FailureSource::FileContent }
    }
}
