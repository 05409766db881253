//! Makes untrusted text safe to display: nothing in it can move a terminal's cursor, change colours, reverse the
//! reading direction or ring the bell.

use std::borrow::Cow;

/// Most characters of a text that a brief line quotes.
pub(crate) const TEXT: usize = 200;

/// Returns `text` on one line: line breaks and tabs become blanks.
#[must_use]
pub fn harmless_line(text: &str) -> String {
    made_harmless(text, |c| matches!(c, '\n' | '\r' | '\t').then_some(' '))
}

/// Returns harmless `text`; line breaks and tabs stay.
#[must_use]
pub fn harmless_lines(text: &str) -> String {
    harmless_chars(&text.replace("\r\n", "\n"))
}

/// Returns `text` for a file or a program: unchanged except for control codes, which would affect a terminal that
/// displays it later. Line breaks of either kind and tabs stay.
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

/// Returns equivalent JSON with DEL and the C1 control codes escaped, which JSON also allows unescaped.
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

/// Returns harmless `text`, one character for each; line breaks and tabs stay.
#[must_use]
pub fn harmless_chars(text: &str) -> String {
    made_harmless(text, |c| matches!(c, '\n' | '\t').then_some(c))
}

/// Replaces every harmful character, except those for which `kept` returns a character.
fn made_harmless(text: &str, kept: impl Fn(char) -> Option<char>) -> String {
    let mut before = '\0';
    let mut shown = |c| {
        let joins = matches!(c, '\u{200c}' | '\u{200d}');
        // Joiners belong to non-ASCII scripts and emoji; elsewhere they only hide something.
        let safe = if joins && !before.is_ascii() { c } else { harmless(c) };
        before = c;
        kept(c).unwrap_or(safe)
    };
    text.chars().map(&mut shown).collect()
}

/// Returns at most `limit` characters of `text` on one line, with `…` if it was cut.
#[must_use]
pub fn short_line(text: &str, limit: usize) -> String {
    // Only the displayed part is processed: a text may be megabytes long.
    match text.char_indices().nth(limit) {
        None => harmless_line(text),
        Some((end, _)) => harmless_line(text[..end].trim_end()) + "…",
    }
}

const fn harmless(c: char) -> char {
    match c {
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' => '\u{fffd}',
        // Bidirectional controls can make a command look like another.
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

    // proves X4 at the terminal: untrusted text is displayed and can't control the terminal
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

    // proves X4 at the terminal: invisible characters are made visible
    #[test]
    fn what_takes_no_room_is_shown_unless_its_script_needs_it() {
        for text in ["rm\u{200b} x", "a\u{200d}b", "a\u{2060}b", "\u{feff}a", "a\u{e0041}", "a\u{3164}", "a\u{2028}b"] {
            assert!(harmless_line(text).contains('\u{fffd}'), "{text:?}");
        }
        for text in ["👨\u{200d}👩", "می\u{200c}خواهم", "e\u{301}", "❤\u{fe0f}"] {
            assert_eq!(harmless_line(text), text);
        }
    }

    // proves X4: piped text may later reach a terminal
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
