//! The answers and errors of a typed tool. The model reads either one and goes on.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use windlass_tools::{LARGEST_IMAGE, image};
use windlass_vocab::{Json, Outcome, OutcomeKind};

/// A value a tool can answer with.
pub trait ToolAnswer: Send + 'static {
    /// Converts the answer into the outcome of the call.
    fn into_outcome(self) -> Outcome;
}

impl ToolAnswer for Outcome {
    fn into_outcome(self) -> Outcome {
        self
    }
}

impl ToolAnswer for String {
    fn into_outcome(self) -> Outcome {
        Outcome::ok(self)
    }
}

impl ToolAnswer for &'static str {
    fn into_outcome(self) -> Outcome {
        Outcome::ok(self)
    }
}

/// The tool is done and has nothing to report.
impl ToolAnswer for () {
    fn into_outcome(self) -> Outcome {
        Outcome::ok("Done.")
    }
}

/// Data of any kind, given to the model as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data<T>(pub T);

impl<T: Serialize + Send + 'static> ToolAnswer for Data<T> {
    fn into_outcome(self) -> Outcome {
        match serde_json::to_value(&self.0) {
            Ok(value) => Outcome { structured: Some(Json::from(&value)), ..Outcome::ok(value.to_string()) },
            Err(error) => ToolError::broken(format!("The answer can't be written as JSON: {error}.")).into_outcome(),
        }
    }
}

/// A text with images. A model that can't see is told of each image in its place.
///
/// ```
/// use windlass::{TextWithImages, ToolError};
///
/// async fn chart() -> Result<TextWithImages, ToolError> {
///     let png = std::fs::read("chart.png")?;
///     Ok(TextWithImages::new("The temperature of this week.").image("chart.png", png))
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextWithImages {
    text: String,
    images: Vec<(String, Arc<[u8]>)>,
}

impl TextWithImages {
    /// Returns an answer with this text and no image yet.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), images: Vec::new() }
    }

    /// Adds an image: the name it has for the model, and the content of its file, a PNG, JPEG, GIF or WebP image of at
    /// most 20 MB. Any other file fails the call, and the model is told why.
    #[must_use]
    pub fn image(mut self, name: impl Into<String>, content: impl Into<Arc<[u8]>>) -> Self {
        self.images.push((name.into(), content.into()));
        self
    }
}

impl ToolAnswer for TextWithImages {
    fn into_outcome(self) -> Outcome {
        let mut images = Vec::new();
        for (name, content) in self.images {
            let is_too_large = u64::try_from(content.len()).is_ok_and(|bytes| bytes > LARGEST_IMAGE);
            let found = if is_too_large { None } else { image(&name, content) };
            match found {
                Some(found) => images.push(found),
                None => {
                    let said = format!("`{name}` is not a PNG, JPEG, GIF or WebP image of at most 20 MB.");
                    return ToolError::broken(said).into_outcome();
                }
            }
        }
        Outcome { images: images.into(), ..Outcome::ok(self.text) }
    }
}

impl<T: ToolAnswer, E: Into<ToolError> + Send + 'static> ToolAnswer for Result<T, E> {
    fn into_outcome(self) -> Outcome {
        match self {
            Ok(answer) => answer.into_outcome(),
            Err(error) => error.into().into_outcome(),
        }
    }
}

/// A tool's error. It is an answer too: the model reads it and tries something else.
///
/// Any error converts into one with `?`; the message then includes all causes, down to the first.
///
/// ```
/// use windlass::ToolError;
///
/// fn port(text: &str) -> Result<u16, ToolError> {
///     let port = text.parse()?;
///     if port < 1024 {
///         return Err(ToolError::new("ports below 1024 are taken; choose a higher one"));
///     }
///     Ok(port)
/// }
/// assert_eq!(port("x").unwrap_err().to_string(), "invalid digit found in string");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolError {
    kind: OutcomeKind,
    message: String,
}

impl ToolError {
    /// The tool refuses the call: says what is wrong, and what would work. A tool that does so three times in a row may
    /// be withheld for the rest of a run.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self { kind: OutcomeKind::ToolError, message: message.into() }
    }

    /// The tool could not be reached or is broken. That is not the call's fault, and doesn't count against the tool.
    #[must_use]
    pub fn broken(message: impl Into<String>) -> Self {
        Self { kind: OutcomeKind::InfrastructureError, message: message.into() }
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// `ToolError` itself does not implement `std::error::Error`, so that all types which do can convert into one.
impl<E: std::error::Error> From<E> for ToolError {
    fn from(error: E) -> Self {
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            let text = error.to_string();
            // Many errors already include the text of their cause.
            if !message.contains(&text) {
                message = format!("{message}: {text}");
            }
            cause = error.source();
        }
        Self::new(message)
    }
}

impl ToolAnswer for ToolError {
    fn into_outcome(self) -> Outcome {
        Outcome::new(self.kind, self.message)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use windlass_vocab::{Outcome, OutcomeKind};

    use super::{Data, ToolAnswer, ToolError};

    #[derive(Debug, thiserror::Error)]
    #[error("the station is silent")]
    struct SilentTool(#[source] std::io::Error);

    // proves W1, T5
    #[test]
    fn everything_a_tool_says_is_an_outcome() {
        let outcome = |answer: Result<&'static str, SilentTool>| answer.into_outcome();
        assert_eq!(outcome(Ok("warm")), Outcome::ok("warm"));
        let error = SilentTool(std::io::Error::other("no route"));
        assert_eq!(outcome(Err(error)), Outcome::error("the station is silent: no route"));
        assert_eq!(ToolError::broken("down").into_outcome().kind, OutcomeKind::InfrastructureError);
        assert_eq!(().into_outcome().kind, OutcomeKind::Ok);
    }

    // proves W1
    #[test]
    fn data_is_shown_as_json_and_kept_beside_the_text() {
        let outcome = Data(json!({"warm": true})).into_outcome();
        assert_eq!(outcome.text, r#"{"warm":true}"#);
        assert_eq!(outcome.structured.map(|json| json.to_value()), Some(json!({"warm": true})));
        let no_json = std::collections::HashMap::from([((1, 2), 3)]);
        assert_eq!(Data(no_json).into_outcome().kind, OutcomeKind::InfrastructureError);
    }
}
