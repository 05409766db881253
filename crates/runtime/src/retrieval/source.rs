//! What a source of passages is.

use windlass_provider::BoxFuture;
use windlass_vocab::TextOrigin;

/// A text that may be about a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage {
    /// Where it is, as the model can name it: `src/main.rs:41-80`.
    pub source: String,
    /// The text. Secrets are replaced before it is sent.
    pub text: String,
    /// How well it fits: more is better. Compared only with passages of the same source.
    pub score: f64,
    /// Where it came from, unless it is certainly text that the person has checked (X4).
    pub origin: Option<TextOrigin>,
}

impl Passage {
    /// Returns a passage of a text that nobody has checked.
    #[must_use]
    pub fn new(source: impl Into<String>, text: impl Into<String>, score: f64) -> Self {
        let (source, text) = (source.into(), text.into());
        let origin = Some(TextOrigin::File { path: source.clone() });
        Self { source, text, score, origin }
    }
}

/// Why a source has no passages for a turn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SourceError(pub String);

/// A source of passages.
pub trait ContextSource: Send + Sync {
    /// Returns the source's name, for people: `the workspace`.
    fn name(&self) -> &str;

    /// Finds at most `most` passages that may be about `message`, best first. None is a good answer: every passage costs
    /// tokens. A future that is not ready after 200 ms is dropped.
    fn find(&self, message: &str, most: usize) -> BoxFuture<'static, Result<Vec<Passage>, SourceError>>;
}
