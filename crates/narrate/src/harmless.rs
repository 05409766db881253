//! Text from outside made fit to be shown: nothing in it can move a terminal's cursor, change colours,
//! reverse the direction of reading or ring a bell.

use std::borrow::Cow;

/// Characters of any text that is told in passing.
pub(crate) const TEXT: usize = 200;

/// `text` on one line: line breaks and tabs become blanks.
#[must_use]
pub fn harmless_line(text: &str) -> String {
    made_harmless(text, |c| matches!(c, '\n' | '\r' | '\t').then_some(' '))
}

/// `text` with its line breaks and tabs.
#[must_use]
pub fn harmless_lines(text: &str) -> String {
    harmless_chars(&text.replace("\r\n", "\n"))
}

/// `text` for a file or a program: as it is, but for the codes that would steer a terminal it is shown on later.
/// Line breaks of either kind and tabs stay.
#[must_use]
pub fn harmless_codes(text: &str) -> Cow<'_, str> {
    if !text.chars().any(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut characters = text.chars().peekable();
    let mut safe = String::with_capacity(text.len());
    while let Some(c) = characters.next() {
        let stays = !c.is_control() || matches!(c, '\n' | '\t') || (c == '\r' && characters.peek() == Some(&'\n'));
        safe.push(if stays { c } else { '\u{fffd}' });
    }
    Cow::Owned(safe)
}

/// JSON that means the same and holds no control code: those beyond the first thirty-two may stand in it as they are.
#[must_use]
pub fn harmless_json(json: String) -> String {
    let is_code = |c: char| matches!(c, '\u{7f}'..='\u{9f}');
    if !json.chars().any(is_code) {
        return json;
    }
    json.chars().fold(String::with_capacity(json.len() + 8), |mut safe, c| {
        if is_code(c) {
            safe.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            safe.push(c);
        }
        safe
    })
}

/// `text` with its line breaks and tabs, character for character.
#[must_use]
pub fn harmless_chars(text: &str) -> String {
    made_harmless(text, |c| matches!(c, '\n' | '\t').then_some(c))
}

/// Every character made harmless, but for those that `kept` has a say on.
fn made_harmless(text: &str, kept: impl Fn(char) -> Option<char>) -> String {
    let mut before = '\0';
    let mut shown = |c| {
        let joins = matches!(c, '\u{200c}' | '\u{200d}');
        // Joiners belong to scripts and pictures beyond ASCII; anywhere else they only hide something.
        let safe = if joins && !before.is_ascii() { c } else { harmless(c) };
        before = c;
        kept(c).unwrap_or(safe)
    };
    text.chars().map(&mut shown).collect()
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
        // Zero-width characters and blank-looking letters too, and line breaks that only some terminals know.
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{180b}'..='\u{180e}' | '\u{200b}'..='\u{200d}' => {
            '\u{fffd}'
        }
        '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{3164}' => '\u{fffd}',
        '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}' => '\u{fffd}',
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::{harmless_codes, harmless_json, harmless_line, harmless_lines, short_line};

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

    // proves X4 at the terminal: what can't be seen can't hide either
    #[test]
    fn what_takes_no_room_is_shown_unless_its_script_needs_it() {
        for text in ["rm\u{200b} x", "a\u{200d}b", "a\u{2060}b", "\u{feff}a", "a\u{e0041}", "a\u{3164}", "a\u{2028}b"] {
            assert!(harmless_line(text).contains('\u{fffd}'), "{text:?}");
        }
        for text in ["👨\u{200d}👩", "می\u{200c}خواهم", "e\u{301}", "❤\u{fe0f}"] {
            assert_eq!(harmless_line(text), text);
        }
    }

    // proves X4: what goes into a pipe may end on a terminal
    #[test]
    fn a_text_for_a_pipe_is_as_it_was_without_codes() {
        for (text, piped) in [
            ("plain ü\ttext\r\nmore\n", "plain ü\ttext\r\nmore\n"),
            ("a\u{1b}[31mb", "a\u{fffd}[31mb"),
            ("a\rb\u{9b}2J\u{7f}\u{0}", "a\u{fffd}b\u{fffd}2J\u{fffd}\u{fffd}"),
            ("مرحبا\u{200f}! 👨\u{200d}👩", "مرحبا\u{200f}! 👨\u{200d}👩"),
        ] {
            assert_eq!(harmless_codes(text), piped);
        }
        let value = serde_json::json!({"a": "\u{9b}2J\u{7f}\u{1b}ü"});
        let json = harmless_json(value.to_string());
        assert!(!json.chars().any(char::is_control), "{json:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap(), value);
    }

    #[test]
    fn a_long_text_is_cut_at_a_character() {
        assert_eq!(short_line("grüße", 3), "grü…");
        assert_eq!(short_line("grüße", 5), "grüße");
        assert_eq!(short_line("a b", 2), "a…");
    }
}
