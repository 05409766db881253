//! Patterns of texts: `*` stands for any run of characters, `\*` for a star, `\\` for a backslash. `git *`
//! covers `git` alone as well.

/// Returns `text` as a pattern that matches nothing else.
pub(crate) fn escape(text: &str) -> String {
    text.replace('\\', r"\\").replace('*', r"\*")
}

/// Literal pieces with stars between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    pieces: Vec<String>,
}

impl Pattern {
    pub(crate) fn new(text: &str) -> Self {
        if !text.contains('\\') {
            return Self { pieces: text.split('*').map(str::to_owned).collect() };
        }
        let mut pieces = vec![String::with_capacity(text.len())];
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match (c, chars.peek(), pieces.last_mut()) {
                ('*', _, _) => pieces.push(String::new()),
                ('\\', Some(&next @ ('*' | '\\')), Some(piece)) => {
                    piece.push(next);
                    chars.next();
                }
                (_, _, Some(piece)) => piece.push(c),
                (_, _, None) => {}
            }
        }
        Self { pieces }
    }

    /// Returns the literal pieces; any characters may be between them.
    pub(crate) fn pieces(&self) -> &[String] {
        &self.pieces
    }

    pub(crate) fn is_everything(&self) -> bool {
        self.pieces.len() > 1 && self.pieces.iter().all(String::is_empty)
    }

    pub(crate) fn is_exactly(&self, text: &str) -> bool {
        matches!(self.pieces.as_slice(), [only] if only == text)
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        let [first, middle @ .., last] = self.pieces.as_slice() else {
            return self.is_exactly(text);
        };
        if let ([], "") = (middle, last.as_str())
            && first.strip_suffix(' ') == Some(text)
        {
            return true;
        }
        // Most of two hundred rules differ in the first byte; comparing the rest is a call into the C library.
        if !first.is_empty() && first.as_bytes().first() != text.as_bytes().first() {
            return false;
        }
        let Some(mut rest) = text.strip_prefix(first.as_str()) else {
            return false;
        };
        for piece in middle {
            match rest.find(piece.as_str()) {
                Some(at) => rest = &rest[at + piece.len()..],
                None => return false,
            }
        }
        rest.ends_with(last.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves T8
    #[test]
    fn a_pattern_matches_what_it_says() {
        for (pattern, text, want) in [
            ("git *", "git status", true),
            ("git *", "git", true),
            ("git *", "gitk", false),
            ("git*", "gitk", true),
            ("*", "", true),
            ("a*b*c", "a1b2c", true),
            ("a*b*c", "acb", false),
            ("ab*ba", "aba", false),
            ("*--force*", "git push --force x", true),
            (r"rm \*.o", "rm *.o", true),
            (r"rm \*.o", "rm x.o", false),
            (r"a\\b", r"a\b", true),
            (r"a\b", r"a\b", true),
            ("git status", "git status", true),
            ("git status", "git status -s", false),
        ] {
            assert_eq!(Pattern::new(pattern).matches(text), want, "{pattern} on {text}");
        }
        for text in ["a*b", r"\*", r"a\\*", "plain", ""] {
            assert!(Pattern::new(&escape(text)).is_exactly(text), "{text}");
        }
    }
}
