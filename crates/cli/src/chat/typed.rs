//! The line typed while a run works: its text, its cursor, and the part of it that fits on the screen.

use unicode_width::UnicodeWidthChar as _;

use super::keys::KeyPress;

/// A line being typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TypedLine {
    /// Text before the cursor.
    left: String,
    /// Text after the cursor.
    right: String,
}

/// The effect of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeyEffect {
    /// The line may have changed and is still being typed.
    Edited,
    /// The line was entered; a new one begins.
    Entered(String),
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D on an empty line.
    Leave,
}

impl TypedLine {
    /// Returns the text before and after the cursor, and empties the line.
    pub(crate) fn take(&mut self) -> (String, String) {
        (std::mem::take(&mut self.left), std::mem::take(&mut self.right))
    }

    /// Inserts text at the cursor.
    pub(crate) fn insert(&mut self, text: &str) {
        self.left.push_str(text);
    }

    /// Applies an editing key to the line, and returns the effect.
    pub(crate) fn press(&mut self, key: KeyPress) -> KeyEffect {
        match key {
            KeyPress::Interrupt => return KeyEffect::Interrupt,
            KeyPress::EndOfInput if self.left.is_empty() && self.right.is_empty() => return KeyEffect::Leave,
            KeyPress::Enter => {
                let (before, after) = self.take();
                return KeyEffect::Entered(before + &after);
            }
            KeyPress::Char(c) => self.left.push(c),
            KeyPress::Newline => self.left.push('\n'),
            KeyPress::Backspace => drop(self.left.pop()),
            KeyPress::Delete | KeyPress::EndOfInput => drop(first(&mut self.right)),
            KeyPress::WordBack => {
                let kept = self.left.trim_end().rfind(char::is_whitespace).map_or(0, |at| at + 1);
                self.left.truncate(kept);
            }
            KeyPress::KillToStart => self.left.clear(),
            KeyPress::KillToEnd => self.right.clear(),
            KeyPress::Left => {
                if let Some(c) = self.left.pop() {
                    self.right.insert(0, c);
                }
            }
            KeyPress::Right => self.left.extend(first(&mut self.right)),
            KeyPress::Home => {
                self.left.push_str(&self.right);
                self.right = std::mem::take(&mut self.left);
            }
            KeyPress::End => self.left.push_str(&std::mem::take(&mut self.right)),
        }
        KeyEffect::Edited
    }

    /// Returns the part around the cursor that fits `width` columns, and the cursor's column in it.
    pub(crate) fn window(&self, width: usize, newline: char) -> (String, usize) {
        let shown = |c: char| if c == '\n' { newline } else { c };
        let columns = |c: char| c.width().unwrap_or(0);
        let (mut before, mut used) = (Vec::new(), 0);
        for c in self.left.chars().rev().map(shown) {
            if used + columns(c) >= width {
                break;
            }
            used += columns(c);
            before.push(c);
        }
        let (cursor, mut text) = (used, before.into_iter().rev().collect::<String>());
        for c in self.right.chars().map(shown) {
            used += columns(c);
            if used >= width {
                break;
            }
            text.push(c);
        }
        (text, cursor)
    }
}

fn first(text: &mut String) -> Option<char> {
    if text.is_empty() { None } else { Some(text.remove(0)) }
}

#[cfg(test)]
mod tests {
    use super::{KeyEffect, TypedLine};
    use crate::chat::keys::KeyPress;

    fn at_end(text: &str) -> TypedLine {
        let mut typed = TypedLine::default();
        typed.insert(text);
        typed
    }

    fn typed(keys: &[KeyPress]) -> (String, String) {
        let mut typed = at_end("one two");
        for key in keys {
            assert_eq!(typed.press(*key), KeyEffect::Edited, "{key:?}");
        }
        typed.take()
    }

    #[test]
    fn the_line_can_be_edited() {
        for (keys, left, right) in [
            (&[KeyPress::Char('!')][..], "one two!", ""),
            (&[KeyPress::Left, KeyPress::Left, KeyPress::Backspace], "one ", "wo"),
            (&[KeyPress::Home, KeyPress::Delete, KeyPress::Right], "n", "e two"),
            (&[KeyPress::WordBack, KeyPress::WordBack], "", ""),
            (&[KeyPress::Left, KeyPress::KillToEnd, KeyPress::Newline], "one tw\n", ""),
            (&[KeyPress::Left, KeyPress::KillToStart, KeyPress::End], "o", ""),
            (&[KeyPress::Left, KeyPress::EndOfInput], "one tw", ""),
        ] {
            assert_eq!(typed(keys), (left.to_owned(), right.to_owned()), "{keys:?}");
        }
    }

    #[test]
    fn some_keys_are_not_about_the_text() {
        let mut typed = at_end("one two");
        typed.press(KeyPress::Left);
        assert_eq!(typed.press(KeyPress::Interrupt), KeyEffect::Interrupt);
        assert_eq!(typed.press(KeyPress::Enter), KeyEffect::Entered("one two".into()));
        assert_eq!((typed.press(KeyPress::EndOfInput), typed), (KeyEffect::Leave, TypedLine::default()));
    }

    #[test]
    fn a_long_line_shows_the_part_around_the_cursor() {
        let mut typed = at_end("0123456789");
        assert_eq!(typed.window(5, ' '), ("6789".into(), 4));
        typed.press(KeyPress::Home);
        assert_eq!(typed.window(5, ' '), ("0123".into(), 0));
        assert_eq!(at_end("中文字").window(5, ' '), ("文字".into(), 4));
        assert_eq!(at_end("a\nb").window(9, '+'), ("a+b".into(), 3));
    }
}
