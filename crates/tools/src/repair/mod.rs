//! Repairs malformed JSON (T3).
//!
//! The protocol: [`mend`] takes text that is not JSON and returns JSON with the same meaning, or an error
//! if the meaning is unclear. It works in one pass: well-formed parts are copied as written
//! (numbers keep their form), and typical errors of models are corrected: doubled, single and
//! missing quotes, trailing and missing commas, missing braces, control characters and unknown escapes
//! in strings, Python's keywords, comments, code fences.
//!
//! Some things are never guessed. A string without an end was cut off, and running a call with half
//! a text would do harm: it is refused. So is text that would be lost or merged: a second object
//! after the first, a repeated key, a comment that swallows the rest. A backslash that
//! escapes nothing is literal, so that `"C:\Users\x"` stays that path.

mod drive;
mod quoted;
mod repeated;

pub(crate) use drive::drive_paths;
use quoted::{QuotedString, StringRole};
pub(crate) use repeated::repeated_key;

use crate::shorten::shorten;

/// The JSON parser refuses deeper nesting anyway.
const DEEPEST: usize = 127;

/// Repaired JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MendedJson {
    /// Well-formed JSON.
    pub(crate) text: String,
    /// Whether backslashes that escape nothing were kept.
    pub(crate) escapes: Escapes,
}

/// How backslashes were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escapes {
    /// Each one is a JSON escape.
    Sound,
    /// Some escape nothing, and are literal.
    Literal,
}

/// Why text was not repaired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unmendable {
    /// Its meaning is unclear.
    Unclear,
    /// More text follows the end, such as another object.
    More,
    /// A key occurs twice in one object.
    Repeated(String),
}

impl Unmendable {
    /// Returns the message for the model, unless the JSON parser's own message is better.
    pub(crate) fn message(&self) -> Option<String> {
        match self {
            Self::Unclear => None,
            Self::More => Some("one object is wanted and nothing behind it; for another call, write another".into()),
            Self::Repeated(key) => Some(given_twice(key)),
        }
    }
}

/// Returns the message for the model about a repeated key.
pub(crate) fn given_twice(key: &str) -> String {
    format!("`{}` is given twice in one object; give it once", shorten(key, 80))
}

/// Returns JSON with the meaning of `text`, if that is clear.
pub(crate) fn mend(text: &str) -> Result<MendedJson, Unmendable> {
    let mended = mended(text)?;
    match repeated_key(&mended.text) {
        Some(key) => Err(Unmendable::Repeated(key)),
        None => Ok(mended),
    }
}

fn mended(text: &str) -> Result<MendedJson, Unmendable> {
    let text = unfenced(text.trim());
    if text.starts_with("{\\\"") {
        // The whole text was escaped once too often.
        let inner = serde_json::from_str::<String>(&format!("\"{}\"", text.replace('\n', "\\n")));
        let inner = inner.map_err(|_| Unmendable::Unclear)?;
        return Mender::new(&inner).run();
    }
    Mender::new(text).run()
}

/// Returns the text within a code fence, if there is one.
fn unfenced(text: &str) -> &str {
    let Some(inner) = text.strip_prefix("```") else { return text };
    let inner = inner.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let inner = inner.trim();
    inner.strip_suffix("```").unwrap_or(inner).trim()
}

/// An open bracket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenBracket {
    Object,
    Array,
}

/// The tokens that may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExpectedToken {
    /// A value, nothing else.
    Value,
    /// A value of an array, or its end.
    Element,
    /// A key, or the object's end.
    Key,
    Colon,
    /// A comma, or the end of the innermost bracket.
    Comma,
}

struct Mender<'a> {
    text: &'a str,
    at: usize,
    out: String,
    open: Vec<(OpenBracket, MemberCount)>,
    escapes: Escapes,
}

/// Whether a comma is needed before the next member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MemberCount {
    None,
    Some,
}

impl<'a> Mender<'a> {
    fn new(text: &'a str) -> Self {
        let out = String::with_capacity(text.len() + 16);
        Self { text, at: 0, out, open: Vec::new(), escapes: Escapes::Sound }
    }

    fn run(mut self) -> Result<MendedJson, Unmendable> {
        self.read().ok_or(Unmendable::Unclear)?;
        if !self.is_at_end() {
            return Err(Unmendable::More);
        }
        Ok(MendedJson { text: self.out, escapes: self.escapes })
    }

    /// Reads up to the end of the outermost bracket, or of the text.
    fn read(&mut self) -> Option<()> {
        self.skip_blank()?;
        let mut next = match self.peek()? {
            b'{' | b'[' => ExpectedToken::Value,
            // The opening brace before a key is missing.
            b'"' | b'\'' => self.begin(OpenBracket::Object)?,
            _ => return None,
        };
        loop {
            self.skip_blank()?;
            let Some(byte) = self.peek() else { break };
            next = self.step(next, byte)?;
            if self.open.is_empty() {
                return Some(());
            }
        }
        match next {
            ExpectedToken::Value | ExpectedToken::Colon => None,
            ExpectedToken::Element | ExpectedToken::Key | ExpectedToken::Comma => {
                while let Some((open, _)) = self.open.pop() {
                    self.out.push(closer(open));
                }
                Some(())
            }
        }
    }

    fn step(&mut self, next: ExpectedToken, byte: u8) -> Option<ExpectedToken> {
        match (next, byte) {
            (ExpectedToken::Value, b'{') | (ExpectedToken::Element, b'{') => self.opened(OpenBracket::Object),
            (ExpectedToken::Value, b'[') | (ExpectedToken::Element, b'[') => self.opened(OpenBracket::Array),
            (ExpectedToken::Element | ExpectedToken::Key | ExpectedToken::Comma, b'}') => {
                self.close(OpenBracket::Object)
            }
            (ExpectedToken::Element | ExpectedToken::Key | ExpectedToken::Comma, b']') => {
                self.close(OpenBracket::Array)
            }
            (ExpectedToken::Element | ExpectedToken::Key, b',') => self.passed(next),
            (ExpectedToken::Value | ExpectedToken::Element, b'"' | b'\'') => self.quoted(StringRole::of(self.top()?)),
            (ExpectedToken::Value, b'}' | b']' | b',' | b':') => None,
            (ExpectedToken::Value | ExpectedToken::Element, _) => self.bare_value(),
            (ExpectedToken::Key, b'"' | b'\'') => self.quoted(StringRole::Key),
            (ExpectedToken::Key, _) => self.bare_key(),
            (ExpectedToken::Colon, b':' | b'=') => {
                self.at += 1;
                if byte == b'=' && self.peek() == Some(b'>') {
                    self.at += 1;
                }
                self.out.push(':');
                Some(ExpectedToken::Value)
            }
            (ExpectedToken::Colon, _) => None,
            (ExpectedToken::Comma, b',' | b';') => self.passed(self.member()?),
            // The comma is missing.
            (ExpectedToken::Comma, b':' | b'=') => None,
            (ExpectedToken::Comma, _) => self.member(),
        }
    }

    /// Skips a byte without meaning.
    fn passed(&mut self, next: ExpectedToken) -> Option<ExpectedToken> {
        self.at += 1;
        Some(next)
    }

    fn opened(&mut self, open: OpenBracket) -> Option<ExpectedToken> {
        self.at += 1;
        self.comma();
        self.begin(open)
    }

    fn begin(&mut self, open: OpenBracket) -> Option<ExpectedToken> {
        if self.open.len() >= DEEPEST {
            return None;
        }
        self.open.push((open, MemberCount::None));
        self.out.push(if open == OpenBracket::Object { '{' } else { '[' });
        self.member()
    }

    /// Closes the innermost bracket of this kind, and those left open within it; drops a superfluous closing bracket.
    fn close(&mut self, wanted: OpenBracket) -> Option<ExpectedToken> {
        self.at += 1;
        if self.open.iter().any(|(open, _)| *open == wanted) {
            while let Some((open, _)) = self.open.pop() {
                self.out.push(closer(open));
                if open == wanted {
                    break;
                }
            }
        }
        Some(ExpectedToken::Comma)
    }

    /// Returns the token that begins the next member of the innermost bracket.
    fn member(&self) -> Option<ExpectedToken> {
        Some(match self.top()? {
            OpenBracket::Object => ExpectedToken::Key,
            OpenBracket::Array => ExpectedToken::Element,
        })
    }

    fn top(&self) -> Option<OpenBracket> {
        self.open.last().map(|(open, _)| *open)
    }

    /// Writes the comma needed before a member. A value after a colon needs none.
    fn comma(&mut self) {
        if self.out.ends_with(':') && self.top() == Some(OpenBracket::Object) {
            return;
        }
        if let Some((_, members)) = self.open.last_mut() {
            if *members == MemberCount::Some {
                self.out.push(',');
            }
            *members = MemberCount::Some;
        }
    }

    fn quoted(&mut self, role: StringRole) -> Option<ExpectedToken> {
        self.comma();
        let quoted = QuotedString { text: self.text, at: self.at, role };
        let read = quoted.read(&mut self.out)?;
        self.at = read.end;
        if read.escapes == Escapes::Literal {
            self.escapes = Escapes::Literal;
        }
        Some(if role == StringRole::Key { ExpectedToken::Colon } else { ExpectedToken::Comma })
    }

    fn bare_key(&mut self) -> Option<ExpectedToken> {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !(c.is_alphanumeric() || "_-.$".contains(c))).unwrap_or(rest.len());
        let key = rest.get(..end).filter(|key| !key.is_empty())?;
        self.comma();
        write_string(&mut self.out, key);
        self.at += end;
        Some(ExpectedToken::Colon)
    }

    /// Reads a keyword, a number, or a string without quotes.
    fn bare_value(&mut self) -> Option<ExpectedToken> {
        let rest = &self.text[self.at..];
        let end = rest.find([',', '}', ']', '\n', '\r']).unwrap_or(rest.len());
        let comment = [" //", " /*", " #"].iter().filter_map(|mark| rest[..end].find(mark)).min();
        // The comma before the next key may be missing.
        let key = rest[..end].find([' ', '\t']).filter(|at| rest[*at..end].trim_start().starts_with(['"', '\'']));
        let end = comment.or(key).unwrap_or(end);
        let token = rest[..end].trim_end();
        self.comma();
        match word(token) {
            Some(literal) => self.out.push_str(literal),
            None if is_number(token) => self.out.push_str(token),
            None if token.strip_prefix('+').is_some_and(is_number) => self.out.push_str(&token[1..]),
            None if reads_as_text(token) => write_string(&mut self.out, token),
            None => return None,
        }
        self.at += end;
        Some(ExpectedToken::Comma)
    }

    /// Skips whitespace and comments; `None` if a comment has no end: it may swallow meaningful text.
    fn skip_blank(&mut self) -> Option<()> {
        loop {
            let rest = &self.text[self.at..];
            let blank = rest.len() - rest.trim_start().len();
            let rest = &rest[blank..];
            let comment = if rest.starts_with("//") || rest.starts_with('#') {
                rest.find('\n')?
            } else if let Some(inner) = rest.strip_prefix("/*") {
                inner.find("*/")? + 4
            } else {
                0
            };
            self.at += blank + comment;
            if comment == 0 {
                return Some(());
            }
        }
    }

    /// Whether nothing meaningful follows.
    fn is_at_end(&self) -> bool {
        self.text[self.at..].chars().all(|c| c.is_whitespace() || "}]);`,".contains(c))
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}

fn closer(open: OpenBracket) -> char {
    match open {
        OpenBracket::Object => '}',
        OpenBracket::Array => ']',
    }
}

/// Returns the JSON keyword for one of JSON or of another language.
fn word(token: &str) -> Option<&'static str> {
    match token {
        "true" | "True" | "TRUE" => Some("true"),
        "false" | "False" | "FALSE" => Some("false"),
        "null" | "None" | "Null" | "NULL" | "nil" | "undefined" => Some("null"),
        _ => None,
    }
}

fn is_number(token: &str) -> bool {
    serde_json::from_str::<serde_json::Number>(token).is_ok()
}

/// Whether an unquoted value can only be a text.
fn reads_as_text(token: &str) -> bool {
    let begins = |c: char| c.is_alphanumeric() || "./~_-$*".contains(c);
    token.starts_with(begins)
        && !token.contains(['"', '\'', '{', '['])
        && !matches!(token, "NaN" | "Infinity" | "-Infinity")
}

/// Writes `text` as a JSON string.
fn write_string(out: &mut String, text: &str) {
    out.push('"');
    text.chars().for_each(|c| write_char(out, c));
    out.push('"');
}

/// Writes one character of a JSON string.
fn write_char(out: &mut String, c: char) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
        c => out.push(c),
    }
}

#[cfg(test)]
mod tests;
