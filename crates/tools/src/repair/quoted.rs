//! Reads a string as models write it: where it ends, and what its backslashes mean.
//!
//! A quote ends the string only if a fitting token follows: after a key a colon, after a value a comma
//! and another member, a closing bracket that was not opened within the string, or the end. Any
//! other quote is part of the text.

use super::{Escapes, OpenBracket, write_char};

/// The role of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StringRole {
    Key,
    /// The value of an object's member.
    Member,
    /// A value of an array.
    Element,
}

impl StringRole {
    pub(super) fn of(open: OpenBracket) -> Self {
        match open {
            OpenBracket::Object => Self::Member,
            OpenBracket::Array => Self::Element,
        }
    }
}

/// A string that begins at `at`.
pub(super) struct QuotedString<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) role: StringRole,
}

/// The result of reading a string.
pub(super) struct ReadString {
    /// Position after the string.
    pub(super) end: usize,
    pub(super) escapes: Escapes,
}

/// The quotes around a string.
#[derive(Clone, Copy)]
struct Quotes {
    mark: char,
    /// How many quote characters are at each end.
    times: usize,
}

impl QuotedString<'_> {
    /// Writes the string as JSON; `None` if it does not end.
    pub(super) fn read(&self, out: &mut String) -> Option<ReadString> {
        let quotes = self.quotes()?;
        let mut at = self.at + quotes.times;
        out.push('"');
        if quotes.times == 2 && self.text[at..].starts_with("\"\"") {
            return None;
        }
        let (mut backslashes, mut drives_seen) = (Backslashes::Escape, at);
        let (mut escapes, mut within) = (Escapes::Sound, 0usize);
        while let Some(c) = self.text[at..].chars().next() {
            if c == quotes.mark
                && let Some(end) = self.end(at, quotes, within)
            {
                out.push('"');
                return Some(ReadString { end, escapes });
            }
            match c {
                '{' | '[' => within += 1,
                '}' | ']' => within = within.saturating_sub(1),
                _ => {}
            }
            if c == '\\' {
                let taken = self.backslash(at, quotes, backslashes, out)?;
                if taken.literal {
                    escapes = Escapes::Literal;
                    backslashes = Backslashes::Literal;
                }
                at += taken.bytes;
                continue;
            }
            if c.is_whitespace() {
                backslashes = Backslashes::Escape;
            } else if at >= drives_seen
                && let Some(path) = self.path(at)
            {
                drives_seen = path.end;
                backslashes = path.backslashes;
            }
            write_char(out, c);
            at += c.len_utf8();
        }
        None
    }

    /// Returns three, two or one quote at the beginning. Two are an empty string if a fitting token follows.
    fn quotes(&self) -> Option<Quotes> {
        let rest = &self.text[self.at..];
        let mark = rest.chars().next()?;
        let times = rest.bytes().take(3).take_while(|byte| char::from(*byte) == mark).count();
        let times = match times {
            3 if self.text[self.at + 3..].contains(&rest[..3]) => 3,
            2 | 3 if self.fits(self.at + 2) => 1,
            2 | 3 => 2,
            _ => 1,
        };
        Some(Quotes { mark, times })
    }

    /// Returns the position after the quote at `at`, if it ends the string, in which `within` brackets are open.
    fn end(&self, at: usize, quotes: Quotes, within: usize) -> Option<usize> {
        let fits = |at| self.fits(at) || within == 0 && self.closes(at);
        let marks = self.text[at..].bytes().take(3).take_while(|byte| char::from(*byte) == quotes.mark).count();
        match quotes.times {
            1 if fits(at + 1) => Some(at + 1),
            // One quote too many at the end.
            1 if marks == 2 && fits(at + 2) => Some(at + 2),
            2 if marks >= 2 && fits(at + 2) => Some(at + 2),
            2 if marks == 1 && fits(at + 1) => Some(at + 1),
            3 if marks == 3 => Some(at + 3),
            _ => None,
        }
    }

    /// Whether the object or array that contains the string is closed at `at`.
    fn closes(&self, at: usize) -> bool {
        let closer = match self.role {
            StringRole::Key => return false,
            StringRole::Member => '}',
            StringRole::Element => ']',
        };
        self.text[at..].trim_start().starts_with(closer)
    }

    /// Whether a token that may follow the string is at `at`.
    fn fits(&self, at: usize) -> bool {
        let rest = &self.text[at..];
        let trimmed = rest.trim_start();
        let Some(next) = trimmed.chars().next() else { return self.role != StringRole::Key };
        match (self.role, next) {
            (StringRole::Key, ':' | '=') => true,
            (StringRole::Key, _) => false,
            (StringRole::Member, ',') => begins_member(trimmed[1..].trim_start()),
            (StringRole::Element, ',') => begins_element(trimmed[1..].trim_start()),
            (StringRole::Member | StringRole::Element, '}' | ']') => {
                let behind = trimmed.trim_start_matches(|c: char| c.is_whitespace() || c == '}' || c == ']');
                behind.is_empty()
                    || behind.starts_with([',', '`', ';', ')', '<', '/', '#'])
                    // Another object begins: the comma is missing, or the object is superfluous.
                    || behind.strip_prefix('{').is_some_and(|object| begins_member(object.trim_start()))
            }
            // The comma is missing: the next member is on its own line, or is a key with its colon.
            (StringRole::Member, '"' | '\'') => {
                rest[..rest.len() - trimmed.len()].contains('\n') || is_key_with_colon(trimmed)
            }
            (StringRole::Element, '"' | '\'') => rest[..rest.len() - trimmed.len()].contains('\n'),
            (StringRole::Member | StringRole::Element, '/') => trimmed.starts_with("//") || trimmed.starts_with("/*"),
            (StringRole::Member | StringRole::Element, '`') => trimmed.trim_end_matches('`').is_empty(),
            (StringRole::Member | StringRole::Element, _) => false,
        }
    }

    /// Reads the backslash at `at` and the character after it.
    fn backslash(&self, at: usize, quotes: Quotes, now: Backslashes, out: &mut String) -> Option<BackslashReading> {
        let rest = &self.text[at + 1..];
        let next = rest.chars().next()?;
        let escaped = |bytes| Some(BackslashReading { bytes, literal: false });
        match next {
            // A path that ends in a backslash: the quote ends the string.
            '"' if now == Backslashes::Literal && self.fits(at + 2) => {}
            '\'' if quotes.mark == '\'' => {
                out.push('\'');
                return escaped(2);
            }
            '"' | '\\' | '/' => {
                out.push('\\');
                out.push(next);
                return escaped(2);
            }
            'b' | 'f' | 'n' | 'r' | 't' if now == Backslashes::Escape => {
                out.push('\\');
                out.push(next);
                return escaped(2);
            }
            'u' if is_code(rest) && now == Backslashes::Escape => {
                out.push('\\');
                out.push_str(&rest[..5]);
                return escaped(6);
            }
            _ => {}
        }
        out.push_str("\\\\");
        Some(BackslashReading { bytes: 1, literal: true })
    }

    /// Returns the Windows path that begins at `at` with a drive or a share, and how its backslashes are read:
    /// literally if any of them escapes nothing, because then none was escaped.
    fn path(&self, at: usize) -> Option<DrivePath> {
        let rest = &self.text[at..];
        let bytes = rest.as_bytes();
        let drive = bytes.first()?.is_ascii_alphabetic() && bytes.get(1..3) == Some(b":\\");
        let apart = !self.text[..at].ends_with(|c: char| c.is_alphanumeric());
        if !(drive && apart) {
            return None;
        }
        let end = rest.find(|c: char| c.is_whitespace() || c == '"').unwrap_or(rest.len());
        let backslashes = if has_unknown_escape(&rest[..end]) { Backslashes::Literal } else { Backslashes::Escape };
        Some(DrivePath { end: at + end, backslashes })
    }
}

struct DrivePath {
    end: usize,
    backslashes: Backslashes,
}

/// How backslashes are read up to the next whitespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Backslashes {
    Escape,
    /// One of them escapes nothing, so the others near it don't either.
    Literal,
}

struct BackslashReading {
    bytes: usize,
    literal: bool,
}

fn has_unknown_escape(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        rest = &rest[at + 1..];
        match rest.chars().next() {
            Some('\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't') => rest = &rest[1..],
            Some('u') if is_code(rest) => rest = &rest[1..],
            Some(_) => return true,
            None => return false,
        }
    }
    false
}

/// Whether this is `u` followed by four hexadecimal digits.
fn is_code(text: &str) -> bool {
    text.as_bytes().get(1..5).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
}

/// Whether a member of an object, or the object's end, begins here.
fn begins_member(text: &str) -> bool {
    match text.chars().next() {
        None | Some('}' | '/' | '#') => true,
        Some('"' | '\'') => is_key_with_colon(text),
        Some(c) if c.is_alphanumeric() || c == '_' => {
            let word = text.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_' || c == '-');
            text.len() - word.len() <= LONGEST_KEY && word.trim_start().starts_with([':', '='])
        }
        Some(_) => false,
    }
}

fn begins_element(text: &str) -> bool {
    match text.chars().next() {
        None | Some('"' | '\'' | '{' | '[' | ']' | '-' | '/' | '#') => true,
        Some(c) => {
            c.is_ascii_digit()
                || ["true", "false", "null", "True", "False", "None"].iter().any(|word| text.starts_with(word))
        }
    }
}

/// Maximum length of a key; the search for one ends there.
const LONGEST_KEY: usize = 128;

fn is_key_with_colon(text: &str) -> bool {
    let mark = text.chars().next().unwrap_or('"');
    let inner = text.trim_start_matches(mark);
    let inner = &inner[..inner.floor_char_boundary(LONGEST_KEY)];
    let Some(end) = inner.find(mark) else { return false };
    let behind = inner[end..].trim_start_matches(mark).trim_start();
    behind.starts_with([':', '=']) && !inner[..end].contains(['\n', ','])
}
