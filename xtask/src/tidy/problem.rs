//! The findings of a check.

/// A violation of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) path: String,
    /// The line number from 1; 0 for the file as a whole.
    line: usize,
    what: String,
}

impl Problem {
    pub(super) fn in_file(path: &str, what: impl Into<String>) -> Self {
        Self::at(path, 0, what)
    }

    pub(super) fn at(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, what: what.into() }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.what),
            line => write!(f, "{}:{line}: {}", self.path, self.what),
        }
    }
}

/// The lines of a text with their numbers, from 1.
pub(super) fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines())
}
