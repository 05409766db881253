//! A text that must not be displayed.

use std::fmt;

/// A key. Its debug output shows that there is one, never its value.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a key. Surrounding white space is dropped: keys are often read from a file with a final line break.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    /// The key itself, for the one place that sends it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Replaces the key in `text`.
    #[must_use]
    pub fn scrub(&self, text: &str) -> String {
        if self.0.is_empty() { text.to_owned() } else { text.replace(&self.0, "[key]") }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    // proves X1
    #[test]
    fn a_key_is_neither_printed_nor_left_in_a_text() {
        let secret = Secret::new(" sk-123\n");
        assert_eq!(format!("{secret:?}"), "Secret");
        assert_eq!(secret.expose(), "sk-123");
        assert_eq!(secret.scrub("wrong key sk-123!"), "wrong key [key]!");
    }
}
