//! The server of a model, as messages name it.

use windlass_vocab::{Failure, FailureCause, FailureClass};

use super::base_url::BaseUrl;
use crate::secret::Secret;

/// The longest quote of a server's text.
const QUOTED_CHARS: usize = 300;

/// The server and the model, for error messages. Holds the key only to keep it out of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The base URL without credentials.
    pub base_url: String,
    /// The model's id on the wire.
    pub model: String,
    /// The API key, if any.
    pub key: Option<Secret>,
}

impl Endpoint {
    /// Makes a server's text fit for a message: one line, no control characters, no key, not too long.
    #[must_use]
    pub fn quote(&self, text: &str) -> String {
        let scrubbed = self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.scrub(text));
        let visible = |c: char| if c.is_control() || is_invisible(c) { ' ' } else { c };
        let mut quoted = String::new();
        for word in scrubbed.chars().map(visible).collect::<String>().split_whitespace() {
            let gap = if quoted.is_empty() { "" } else { " " };
            quoted.extend([gap, word]);
            if quoted.chars().nth(QUOTED_CHARS).is_some() {
                return quoted.chars().take(QUOTED_CHARS).chain(['…']).collect();
            }
        }
        quoted
    }

    /// Whether the server is on this machine.
    #[must_use]
    pub fn is_on_this_machine(&self) -> bool {
        BaseUrl::parse(&self.base_url).is_some_and(|base| base.is_on_this_machine())
    }

    /// Returns a failure of this server. `said` follows "The server at URL".
    pub(crate) fn failure(&self, class: FailureClass, said: &str) -> Failure {
        Failure::new(class, format!("The server at {} {said}", self.base_url))
    }

    /// Returns a failure of something at this address that is not the expected server.
    pub(crate) fn wrong_address(&self, class: FailureClass, said: &str) -> Failure {
        Failure { cause: Some(FailureCause::WrongAddress), ..self.failure(class, said) }
    }
}

/// Characters that reorder or hide text on a terminal.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}')
}
