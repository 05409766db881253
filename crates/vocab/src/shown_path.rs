//! Paths for lists, diffs and sentences: on one line, and in a form that a caller can use as an argument.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Returns the first of these paths, as they are shown, and how many more there are; `None` if there is none.
#[must_use]
pub fn first_paths<'p>(paths: impl IntoIterator<Item = &'p String>, most: usize) -> Option<String> {
    let paths: Vec<&String> = paths.into_iter().collect();
    let first = paths.iter().take(most).map(|path| shown_path(path)).collect::<Vec<_>>().join(", ");
    match paths.len().saturating_sub(most) {
        0 => (!paths.is_empty()).then_some(first),
        more => Some(format!("{first} and {more} more")),
    }
}

/// Returns `path` as it is, or as a JSON string where it contains a line break or another character that would not look
/// like part of a name. The quoted form can be passed as an argument unchanged.
///
/// ```
/// use windlass_vocab::shown_path;
///
/// assert_eq!(shown_path("src/main.rs"), "src/main.rs");
/// assert_eq!(shown_path("two\nlines"), r#""two\nlines""#);
/// ```
#[must_use]
pub fn shown_path(path: &str) -> Cow<'_, str> {
    let plain = !path.chars().any(is_misleading) && !path.starts_with(['"', ' ']) && !path.ends_with(' ');
    if plain {
        return Cow::Borrowed(path);
    }
    let mut quoted = String::with_capacity(path.len() + 8);
    quoted.push('"');
    for c in path.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if is_misleading(c) => {
                // Writing to a string can't fail; all of these characters have four hex digits.
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    Cow::Owned(quoted)
}

/// Whether a character ends a line, moves the cursor or reverses the text around it.
fn is_misleading(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}')
}

#[cfg(test)]
mod tests {
    use super::shown_path;

    // proves X4: one name can't look like two names, or like another line of the output
    #[test]
    fn a_name_with_a_line_break_is_one_line_and_can_be_given_back() {
        for (path, shown) in [
            ("a b/ü.txt", "a b/ü.txt"),
            ("a\nb", r#""a\nb""#),
            ("\u{1b}[2J", r#""\u001b[2J""#),
            ("\u{9b}2J\u{202e}", r#""\u009b2J\u202e""#),
            ("\"a\"", r#""\"a\"""#),
            ("a\\b", "a\\b"),
            ("a\\\nb", r#""a\\\nb""#),
            ("end ", r#""end ""#),
        ] {
            assert_eq!(shown_path(path), shown);
        }
    }
}
