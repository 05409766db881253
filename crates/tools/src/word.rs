//! A word of a command line, as a shell passes it to a program, and how much of it is certain.

/// A word without its quotes, and how the shell would still expand it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word {
    text: String,
    /// Positions of unquoted pattern characters: `*`, `?`, `[`.
    patterns: Vec<usize>,
    quoting: Quoting,
    tilde: Tilde,
}

/// Whether a part of a word was quoted, and whether the quotes changed its meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Quoting {
    #[default]
    None,
    Needless,
    Needed,
}

/// Whether a word begins with an unquoted `~`, a home folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Tilde {
    #[default]
    None,
    Home,
}

impl Word {
    /// A word of which only the characters are known: each pattern character may be unquoted.
    pub(crate) fn uncertain(text: &str) -> Self {
        let mut word = Self::default();
        text.chars().for_each(|c| word.push(c));
        word.finished()
    }

    /// Returns the complete word: a `[` without a closing `]` is an ordinary character.
    pub(crate) fn finished(mut self) -> Self {
        let (text, last) = (&self.text, self.text.rfind(']'));
        self.patterns.retain(|&at| !text[at..].starts_with('[') || last.is_some_and(|last| last > at + 1));
        self
    }

    /// Adds an unquoted character.
    pub(crate) fn push(&mut self, c: char) {
        match c {
            '*' | '?' | '[' => self.patterns.push(self.text.len()),
            // After an empty quote it is an ordinary character.
            '~' | '#' if self.text.is_empty() && self.is_quoted() => self.quoting = Quoting::Needed,
            '~' if self.text.is_empty() => self.tilde = Tilde::Home,
            _ => {}
        }
        self.text.push(c);
    }

    /// Adds a quoted character.
    pub(crate) fn push_quoted(&mut self, c: char) {
        if self.is_special(c) {
            self.quoting = Quoting::Needed;
        }
        self.quote();
        self.text.push(c);
    }

    /// Records a quote, which may be empty.
    pub(crate) fn quote(&mut self) {
        self.quoting = self.quoting.max(Quoting::Needless);
    }

    /// Whether this character, unquoted and next in the word, has a special meaning to a shell.
    fn is_special(&self, c: char) -> bool {
        let begins = self.text.is_empty() && "~#".contains(c);
        begins || c.is_whitespace() || c.is_control() || "'\"\\;&|<>(){}$`*?[".contains(c)
    }

    /// Returns the text passed to the program, if the shell does not expand the word.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the positions of the unquoted pattern characters.
    pub(crate) fn patterns(&self) -> &[usize] {
        &self.patterns
    }

    /// Whether the shell may replace the word by file names.
    pub(crate) fn is_pattern(&self) -> bool {
        !self.patterns.is_empty()
    }

    pub(crate) fn is_quoted(&self) -> bool {
        self.quoting != Quoting::None
    }

    /// Whether the word has both a `~` and quotes, which shells treat differently.
    pub(crate) fn is_unclear(&self) -> bool {
        self.tilde == Tilde::Home && self.is_quoted()
    }

    /// Whether the word must be quoted, so that its written form differs from the text passed to the program.
    pub(crate) fn needs_quotes(&self) -> bool {
        self.quoting == Quoting::Needed || self.text.is_empty()
    }

    /// Appends the word so that a shell reads exactly this word, and no other word is written the same.
    pub(crate) fn write(&self, out: &mut String) {
        if !self.needs_quotes() {
            out.push_str(&self.text);
        } else if self.patterns.is_empty() {
            out.push('\'');
            out.push_str(&self.text.replace('\'', r"'\''"));
            out.push('\'');
        } else {
            for (at, c) in self.text.char_indices() {
                if !c.is_alphanumeric() && self.patterns.binary_search(&at).is_err() {
                    out.push('\\');
                }
                out.push(c);
            }
        }
    }
}

/// Returns a simple command as text, each word written by [`Word::write`].
pub(crate) fn command_text(words: &[Word]) -> String {
    let mut text = String::new();
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            text.push(' ');
        }
        word.write(&mut text);
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy, prop};
    use proptest::{prop_assert_eq, proptest};

    use super::*;
    use crate::command_line::{ParsedLine, parse};

    fn lines() -> impl Strategy<Value = String> {
        let piece = proptest::sample::select(vec![
            "a", "b c", "'", "\"", "\\", " ", "*", "?", "[x]", "[", "]", "~", "#", "$", "\n", ";", "=", "{", "é",
            "\u{a0}", "-", "!", "''", "'*'", "'~'", "\\ ", "\\'",
        ]);
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        // proves X5
        #[test]
        fn a_command_as_it_is_written_reads_as_the_same_words(line in lines()) {
            if let ParsedLine::Clear(commands) = parse(&line) {
                for words in commands {
                    let again = parse(&command_text(&words));
                    let texts = |words: &[Word]| words.iter().map(|word| (word.text.clone(), word.patterns.clone())).collect::<Vec<_>>();
                    let ParsedLine::Clear(again) = again else { panic!("{line:?} is written {:?}", command_text(&words)) };
                    prop_assert_eq!(again.iter().map(|words| texts(words)).collect::<Vec<_>>(), vec![texts(&words)]);
                }
            }
        }
    }
}
