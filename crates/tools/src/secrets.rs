//! Secrets (X1): values that Windlass knows and must not disclose.
//!
//! Before anything is recorded, streamed, logged or sent to a model, every known value in it is
//! replaced by `⟦secret:NAME⟧`; also in its encodings in JSON, URLs and base64. Values
//! shorter than eight characters are not replaced, because that would garble ordinary text.
//!
//! ```
//! use windlass_tools::Secrets;
//!
//! let secrets = Secrets::new([("API_KEY", "sk-12345678")]);
//! assert_eq!(secrets.scrub("key=sk-12345678."), "key=⟦secret:API_KEY⟧.");
//! ```

mod finder;
mod forms;
mod stream;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::Read;
use std::sync::Arc;

use serde_json::Value;
use windlass_vocab::Json;

use self::finder::SecretForms;
use self::forms::forms_of;
pub(crate) use self::stream::ScrubbedReader;
pub use self::stream::StreamScrubber;
use crate::{is_secret_name, passwords_in};

/// The minimum length of a secret, in characters: shorter values would match ordinary text by chance, and keys of local
/// servers are often a mere "x".
pub const SHORTEST_SECRET: usize = 8;
const MARK: &str = "⟦secret:";

/// The known secrets. Cheap to clone; `Debug` prints their names and no values.
#[derive(Clone, Default)]
pub struct Secrets {
    inner: Option<Arc<SecretForms>>,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.inner.iter().flat_map(|inner| &inner.names)).finish()
    }
}

impl Secrets {
    /// Creates the set from names and values. Whitespace around a value is ignored.
    pub fn new<N: Into<String>, V: AsRef<str>>(secrets: impl IntoIterator<Item = (N, V)>) -> Self {
        let (mut names, mut forms, mut placeholders) = (BTreeSet::new(), Vec::new(), Vec::new());
        for (name, value) in secrets {
            let (name, value) = (name.into(), value.as_ref().trim());
            if value.chars().count() < SHORTEST_SECRET {
                continue;
            }
            for form in forms_of(value) {
                forms.push(form);
                placeholders.push(placeholder(&name));
            }
            names.insert(name);
        }
        if forms.is_empty() {
            return Self::default();
        }
        Self { inner: finder::shared(names, forms, placeholders) }
    }

    /// Returns `text` with every known secret replaced.
    #[must_use]
    pub fn scrub<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match &self.inner {
            Some(inner) if inner.finder.is_match(text) => {
                Cow::Owned(inner.finder.replace_all(text, &inner.placeholders))
            }
            Some(_) | None => Cow::Borrowed(text),
        }
    }

    /// Whether a secret is in these bytes.
    #[must_use]
    pub fn is_in(&self, bytes: &[u8]) -> bool {
        self.inner.as_ref().is_some_and(|inner| inner.finder.is_match(bytes))
    }

    /// Returns `json` with every known secret replaced; still JSON, even if a secret is a bare number.
    #[must_use]
    pub fn scrub_json(&self, json: &Json) -> Json {
        match self.scrub(json.as_str()) {
            Cow::Borrowed(_) => json.clone(),
            Cow::Owned(text) => Json::parse(&text).unwrap_or_else(|_| Json::from(&self.scrub_value(json.to_value()))),
        }
    }

    fn scrub_value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.scrub(&text).into_owned()),
            Value::Array(items) => items.into_iter().map(|item| self.scrub_value(item)).collect(),
            Value::Object(members) => members
                .into_iter()
                .map(|(key, member)| (self.scrub(&key).into_owned(), self.scrub_value(member)))
                .collect(),
            Value::Number(number) => match self.scrub(&number.to_string()) {
                Cow::Borrowed(_) => Value::Number(number),
                Cow::Owned(text) => Value::String(text),
            },
            Value::Null | Value::Bool(_) => value,
        }
    }

    /// Returns the environment variables that child processes must not inherit: those with the name of a secret, those
    /// whose name says that they contain one, and those with a secret or a password in their value.
    pub fn scrubbed_names(&self, environment: impl IntoIterator<Item = (OsString, OsString)>) -> BTreeSet<OsString> {
        let holds = |name: &OsStr, value: &OsStr| {
            self.is_in(value.as_encoded_bytes())
                || is_secret_name(&name.to_string_lossy())
                || !passwords_in(&value.to_string_lossy()).is_empty()
        };
        let named = self.inner.iter().flat_map(|inner| &inner.names).map(OsString::from);
        environment.into_iter().filter(|(name, value)| holds(name, value)).map(|(name, _)| name).chain(named).collect()
    }

    /// Returns a scrubber for text that arrives in pieces.
    #[must_use]
    pub fn stream(&self) -> StreamScrubber {
        StreamScrubber::new(self)
    }

    /// Returns bytes with every known secret replaced.
    #[must_use]
    pub fn scrub_bytes(&self, bytes: &[u8]) -> Vec<u8> {
        self.stream().whole(bytes)
    }

    /// Scrubs the beginning of a text whose rest is unknown: leaves out characters at its end that may begin a
    /// secret.
    #[must_use]
    pub fn scrub_beginning(&self, text: &str) -> String {
        self.stream().push(text).into_owned()
    }

    /// Returns a reader of the scrubbed content of `source`.
    pub(crate) fn reader<R: Read>(&self, source: R) -> ScrubbedReader<R> {
        ScrubbedReader::new(source, self)
    }
}

/// Whether a text contains a placeholder: it does not contain the secret itself, so writing the text would not
/// write the intended content.
#[must_use]
pub fn contains_placeholder(text: &str) -> bool {
    text.contains(MARK)
}

/// Names come from outside; remove characters that could break out of the placeholder or of JSON.
fn placeholder(name: &str) -> String {
    let name: String = name.chars().filter(|c| c.is_alphanumeric() || "_-.:/ ".contains(*c)).collect();
    format!("{MARK}{name}⟧")
}

#[cfg(test)]
mod tests;
