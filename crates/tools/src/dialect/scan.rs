//! Finds the end of a call that has begun. Scans resume where they stopped when more text arrives, so that no byte is
//! scanned twice.

use std::borrow::Cow;

/// A scan for the bracket that closes the first one.
#[derive(Clone, Debug)]
pub(super) struct Brackets {
    at: usize,
    deep: usize,
    /// The quote of the string that the scan is in.
    within: Option<u8>,
    /// The last byte outside strings that is not white space.
    before: u8,
    parentheses: Parentheses,
}

/// Whether parentheses count as brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parentheses {
    Count,
    Ignore,
}

impl Brackets {
    /// Creates a scan that begins at the opening bracket at `at`.
    pub(super) fn new(at: usize, parentheses: Parentheses) -> Self {
        Self { at, deep: 0, within: None, before: b':', parentheses }
    }

    /// Returns the position after the closing bracket, if that has arrived.
    pub(super) fn end(&mut self, text: &[u8]) -> Option<usize> {
        while let Some(rest) = text.get(self.at..).filter(|rest| !rest.is_empty()) {
            if let Some(quote) = self.within {
                let Some(found) = memchr::memchr2(quote, b'\\', rest) else {
                    self.at = text.len();
                    return None;
                };
                if rest[found] == b'\\' {
                    self.at += found + 2;
                } else {
                    self.at += found + 1;
                    (self.within, self.before) = (None, quote);
                }
                continue;
            }
            self.go_over_plain(rest);
            let byte = *text.get(self.at)?;
            self.at += 1;
            if self.step(byte) {
                return Some(self.at);
            }
        }
        None
    }

    /// Advances to the next byte that may be a bracket or a quote.
    fn go_over_plain(&mut self, rest: &[u8]) {
        let plain = rest.iter().position(|byte| MARKS[usize::from(*byte)]).unwrap_or(rest.len());
        if let Some(last) = rest[..plain].iter().rev().find(|byte| !byte.is_ascii_whitespace()) {
            self.before = *last;
        }
        self.at += plain;
    }

    /// Processes a bracket or quote outside strings. Returns whether it closes the first bracket.
    fn step(&mut self, byte: u8) -> bool {
        let counts = self.parentheses == Parentheses::Count;
        match byte {
            // A quote after any other byte begins no string: it was not escaped, or is an apostrophe.
            b'"' | b'\'' if matches!(self.before, b'{' | b'[' | b'(' | b':' | b',' | b'=') => self.within = Some(byte),
            b'{' | b'[' => self.deep += 1,
            b'(' if counts => self.deep += 1,
            b')' if counts => self.deep = self.deep.saturating_sub(1),
            b'}' | b']' => self.deep = self.deep.saturating_sub(1),
            _ => {}
        }
        self.before = byte;
        self.deep == 0 && matches!(byte, b'}' | b']' | b')')
    }
}

/// The bytes that may be brackets or quotes.
const MARKS: [bool; 256] = {
    let mut marks = [false; 256];
    let all = b"{}[]()\"'";
    let mut index = 0;
    while index < all.len() {
        marks[all[index] as usize] = true;
        index += 1;
    }
    marks
};

/// A scan for a closing tag. It skips JSON and CDATA, which may contain the tag.
#[derive(Clone, Debug)]
pub(super) struct TagScan {
    close: Cow<'static, str>,
    at: usize,
    state: TagState,
}

#[derive(Clone, Debug)]
enum TagState {
    /// Between tags.
    Looking,
    /// After a tag that JSON may follow.
    BeforeJson,
    Cdata,
    Json(Brackets),
}

const ARGUMENTS: &str = "<arguments>";
const CDATA: &str = "<![CDATA[";

impl TagScan {
    /// Creates a scan for `close` from `at` on, where JSON may begin at once.
    pub(super) fn new(close: impl Into<Cow<'static, str>>, at: usize) -> Self {
        Self { close: close.into(), at, state: TagState::BeforeJson }
    }

    /// Returns the closing tag that the scan searches for.
    pub(super) fn close(&self) -> &str {
        &self.close
    }

    /// Returns the positions of the closing tag and of the text after it, if the tag has arrived.
    pub(super) fn end(&mut self, text: &[u8]) -> Option<(usize, usize)> {
        loop {
            let rest = text.get(self.at..).filter(|rest| !rest.is_empty())?;
            match &mut self.state {
                TagState::Json(scan) => {
                    self.at = scan.end(text)?;
                    self.state = TagState::Looking;
                }
                TagState::Cdata => {
                    let Some(end) = memchr::memmem::find(rest, b"]]>") else {
                        // The end marker may have arrived in part.
                        self.at = text.len().saturating_sub(2).max(self.at);
                        return None;
                    };
                    self.at += end + 3;
                    self.state = TagState::Looking;
                }
                TagState::BeforeJson => {
                    let blank = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                    self.at += blank;
                    let first = *rest.get(blank)?;
                    self.state = match first {
                        b'{' | b'[' => TagState::Json(Brackets::new(self.at, Parentheses::Ignore)),
                        _ => TagState::Looking,
                    };
                }
                TagState::Looking => {
                    let Some(found) = memchr::memchr(b'<', rest) else {
                        self.at = text.len();
                        return None;
                    };
                    self.at += found;
                    let rest = &rest[found..];
                    if rest.starts_with(self.close.as_bytes()) {
                        return Some((self.at, self.at + self.close.len()));
                    }
                    if [&*self.close, ARGUMENTS, CDATA].iter().any(|tag| tag.as_bytes().starts_with(rest)) {
                        return None;
                    }
                    if rest.starts_with(ARGUMENTS.as_bytes()) {
                        self.at += ARGUMENTS.len();
                        self.state = TagState::BeforeJson;
                    } else if rest.starts_with(CDATA.as_bytes()) {
                        self.at += CDATA.len();
                        self.state = TagState::Cdata;
                    } else {
                        self.at += 1;
                    }
                }
            }
        }
    }
}

/// A scan for the end of an element with attributes: of its opening tag, then for its closing tag.
#[derive(Clone, Debug)]
pub(super) struct ElementScan {
    /// Where the tag's word begins and ends.
    word: (usize, usize),
    at: usize,
    state: ElementState,
}

#[derive(Clone, Debug)]
enum ElementState {
    /// In the opening tag, perhaps in a quoted value.
    Opening(Option<u8>),
    Body(TagScan),
}

impl ElementScan {
    /// Creates a scan of the element that begins at `at` with a tag of `word` bytes.
    pub(super) fn new(at: usize, word: usize) -> Self {
        let word = (at + 1, at + 1 + word);
        Self { word, at: word.1, state: ElementState::Opening(None) }
    }

    /// Returns the closing tag that belongs to the opening one.
    pub(super) fn close(&self, text: &str) -> String {
        format!("</{}>", &text[self.word.0..self.word.1])
    }

    /// Returns the positions of the closing tag and of the text after it, if the element is complete.
    pub(super) fn end(&mut self, text: &str) -> Option<(usize, usize)> {
        let bytes = text.as_bytes();
        loop {
            let quote = match &mut self.state {
                ElementState::Body(scan) => return scan.end(bytes),
                ElementState::Opening(quote) => quote,
            };
            let rest = bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
            let found = match *quote {
                Some(open) => memchr::memchr(open, rest),
                None => memchr::memchr3(b'>', b'"', b'\'', rest),
            };
            let Some(found) = found else {
                self.at = bytes.len();
                return None;
            };
            let (place, byte) = (self.at + found, rest[found]);
            self.at = place + 1;
            match (*quote, byte) {
                (Some(_), _) => *quote = None,
                (None, b'>') if bytes[place - 1] == b'/' => return Some((self.at, self.at)),
                (None, b'>') => self.state = ElementState::Body(TagScan::new(self.close(text), self.at)),
                (None, open) => *quote = Some(open),
            }
        }
    }
}
