//! Recognises texts without visible content.

/// Whether a text has no visible content: only whitespace and zero-width characters.
pub(crate) fn is_blank(text: &str) -> bool {
    let takes_no_room = |c: char| matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}');
    text.chars().all(|c| c.is_whitespace() || takes_no_room(c))
}

#[cfg(test)]
mod tests {
    use super::is_blank;

    #[test]
    fn blanks_and_characters_that_take_no_room_say_nothing() {
        // proves S2
        for text in ["", " \n\t", "\u{a0}\u{3000}", "\u{200b}\u{feff}\n"] {
            assert!(is_blank(text), "{text:?}");
        }
        for text in [".", "\u{200b}0", "\u{2800}x"] {
            assert!(!is_blank(text), "{text:?}");
        }
    }
}
