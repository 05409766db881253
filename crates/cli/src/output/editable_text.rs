//! Text from outside that is edited at a terminal. What would steer the terminal has a stand-in while it
//! is edited: a character nobody writes, as wide as the mark that is shown for it, so that the cursor is
//! where it seems to be. What was not edited comes back as it was.

use std::borrow::Cow;

use windlass_narrate::harmless_chars;

/// The last plane for private use: no script and no font of symbols has characters there.
const STAND_INS: std::ops::RangeInclusive<char> = '\u{100000}'..='\u{10fffd}';

/// A text with stand-ins, and what they stand for.
#[derive(Debug)]
pub(crate) struct EditableText {
    text: String,
    /// Each stand-in and the character it stands for.
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
            // There are fewer characters that do harm than there are stand-ins.
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

    /// What was made of the text, with the characters it had.
    pub(crate) fn put_back(&self, edited: &str) -> String {
        let original = |c: char| self.pairs.iter().find(|(stand_in, _)| *stand_in == c).map_or(c, |(_, c)| *c);
        edited.chars().map(original).collect()
    }
}

/// A line as it is shown: with the usual mark for every stand-in.
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

    // proves X4 at the terminal: what is edited is shown, never obeyed
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
