//! Text from outside made fit for a terminal: nothing in it can move the cursor, change colours,
//! reverse the direction of reading or ring a bell.

/// `text` on one line: line breaks and tabs become blanks.
#[must_use]
pub fn harmless_line(text: &str) -> String {
    text.chars().map(|c| if matches!(c, '\n' | '\r' | '\t') { ' ' } else { harmless(c) }).collect()
}

/// `text` with its line breaks and tabs.
#[must_use]
pub fn harmless_lines(text: &str) -> String {
    text.replace("\r\n", "\n").chars().map(|c| if matches!(c, '\n' | '\t') { c } else { harmless(c) }).collect()
}

/// At most `limit` characters of `text` on one line, with a mark where something is left out.
#[must_use]
pub fn short_line(text: &str, limit: usize) -> String {
    // Only what can be shown is looked at: a text may be megabytes long.
    match text.char_indices().nth(limit) {
        None => harmless_line(text),
        Some((end, _)) => harmless_line(text[..end].trim_end()) + "…",
    }
}

const fn harmless(c: char) -> char {
    match c {
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' => '\u{fffd}',
        // Marks that change the direction of what follows can make a command look like another.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}' => '\u{fffd}',
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::{harmless_line, harmless_lines, short_line};

    // proves X4 at the terminal: text from outside is shown, never obeyed
    #[test]
    fn nothing_in_a_text_can_steer_the_terminal() {
        for text in ["\u{1b}[2J", "\u{1b}]0;title\u{7}", "\u{9b}31m", "a\u{8}b", "x\u{202e}y", "\u{0}\u{7f}", "a\rb"] {
            for shown in [harmless_line(text), harmless_lines(text), short_line(text, 100)] {
                assert!(!shown.chars().any(|c| c.is_control() || c == '\u{202e}'), "{text:?} → {shown:?}");
            }
        }
        assert_eq!(harmless_lines("a\r\nb\tc"), "a\nb\tc");
        assert_eq!(harmless_line("a\nb\tc"), "a b c");
    }

    #[test]
    fn a_long_text_is_cut_at_a_character() {
        assert_eq!(short_line("grüße", 3), "grü…");
        assert_eq!(short_line("grüße", 5), "grüße");
        assert_eq!(short_line("a b", 2), "a…");
    }
}
