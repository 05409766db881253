//! Untrusted text that is edited at a terminal. During editing, a stand-in replaces each character that would control
//! the terminal: a private-use character as wide as the mark displayed for it, so that the cursor is where it seems to
//! be. Parts that were not edited come back unchanged.

use std::borrow::Cow;

use windlass_narrate::harmless_chars;

/// The last private-use plane: no script and no symbol font has characters there.
const STAND_INS: std::ops::RangeInclusive<char> = '\u{100000}'..='\u{10fffd}';

/// A text with stand-ins, and the characters they replace.
#[derive(Debug)]
pub(crate) struct EditableText {
    text: String,
    /// Each stand-in and the character it replaces.
    pairs: Vec<(char, char)>,
}

impl EditableText {
    pub(crate) fn of(original: &str) -> Self {
        let mut free = STAND_INS.filter(|stand_in| !original.contains(*stand_in));
        let mut pairs: Vec<(char, char)> = Vec::new();
        let mut stand_in = |c: char| {
            if let Some((known, _)) = pairs.iter().find(|(_, original)| *original == c) {
                return *known;
            }
            // There are fewer harmful characters than stand-ins.
            let new = free.next().unwrap_or(char::REPLACEMENT_CHARACTER);
            pairs.push((new, c));
            new
        };
        let harmless = harmless_chars(original);
        let text =
            original.chars().zip(harmless.chars()).map(|(c, safe)| if c == safe { c } else { stand_in(c) }).collect();
        Self { text, pairs }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the edited text with the original characters in place of the stand-ins.
    pub(crate) fn put_back(&self, edited: &str) -> String {
        let original = |c: char| self.pairs.iter().find(|(stand_in, _)| *stand_in == c).map_or(c, |(_, c)| *c);
        edited.chars().map(original).collect()
    }
}

/// Returns a line for display: with the usual mark for every stand-in.
pub(crate) fn without_stand_ins(line: &str) -> Cow<'_, str> {
    if line.contains(|c| STAND_INS.contains(&c)) {
        Cow::Owned(line.replace(|c| STAND_INS.contains(&c), "\u{fffd}"))
    } else {
        Cow::Borrowed(line)
    }
}

#[cfg(test)]
mod tests {
    use windlass_narrate::harmless_line;

    use super::{EditableText, without_stand_ins};

    // proves X4 at the terminal: edited text is displayed and can't control the terminal
    #[test]
    fn what_would_steer_the_terminal_is_not_shown_and_comes_back() {
        let original = "rm a\u{202e}b\u{202e} \u{1b}[31m \u{200b}\r\n\tx \u{100000}";
        let editable_text = EditableText::of(original);
        let line = editable_text.text().replace(['\n', '\t'], " ");
        assert_eq!(harmless_line(&line), line);
        assert_eq!(without_stand_ins(&line), "rm a\u{fffd}b\u{fffd} \u{fffd}[31m \u{fffd}\u{fffd}  x \u{fffd}");
        assert_eq!(editable_text.put_back(editable_text.text()), original);
        let edited = editable_text.text().replace("rm a", "ls");
        assert_eq!(editable_text.put_back(&edited), original.replace("rm a", "ls"));
        assert_eq!(EditableText::of("ls \u{1f980}\n").text(), "ls \u{1f980}\n");
    }
}
