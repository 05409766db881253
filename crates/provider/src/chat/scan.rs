//! A fast parser for a chunk in its usual form, which allocates only what is kept.
//!
//! The parser is strict and gives up at anything unusual: an escape in a name, a number that is not a plain integer,
//! a duplicate field, an unexpected type. Its result is the same as serde's; when it gives up, serde parses the text,
//! and also reports the errors.

use std::borrow::Cow;

use super::chunk::{CallDelta, ChoiceDelta, Chunk, ChunkChoice, FunctionDelta};
use crate::json_text::{JsonText, RawJson};

/// Deeper nesting is unusual.
const DEEPEST: u8 = 16;

/// Parses one JSON text into an empty `chunk`; `None` if it is unusual, and then the chunk must be discarded.
pub(super) fn read<'a>(text: &'a str, chunk: &mut Chunk<'a>) -> Option<()> {
    let mut scan = ChunkScanner { text, at: 0 };
    scan.skip_white();
    scan.chunk(chunk)?;
    scan.skip_white();
    (scan.at == text.len()).then_some(())
}

/// A position in a text.
struct ChunkScanner<'a> {
    text: &'a str,
    at: usize,
}

/// Values are filled in in place: moving them costs as much as parsing them.
impl<'a> ChunkScanner<'a> {
    fn chunk(&mut self, chunk: &mut Chunk<'a>) -> Option<()> {
        self.fields(&["choices", "object", "model", "usage", "error"], |scan, key| {
            match key {
                "choices" => scan.list(&mut chunk.choices, Self::choice)?,
                "object" => chunk.object = Some(scan.plain()?),
                "model" => chunk.model = Some(scan.plain()?),
                "usage" => chunk.usage = Some(scan.raw()?),
                _ => chunk.error = Some(scan.raw()?),
            }
            Some(())
        })
    }

    fn choice(&mut self, choice: &mut ChunkChoice<'a>) -> Option<()> {
        self.fields(&["index", "delta", "finish_reason", "message", "usage"], |scan, key| {
            match key {
                "index" => choice.index = Some(scan.number()?),
                "delta" => scan.delta(choice.delta.get_or_insert_default())?,
                "finish_reason" => choice.finish_reason = Some(scan.plain()?),
                "message" => scan.delta(choice.message.get_or_insert_default())?,
                _ => choice.usage = Some(scan.raw()?),
            }
            Some(())
        })
    }

    fn delta(&mut self, delta: &mut ChoiceDelta<'a>) -> Option<()> {
        let known = ["content", "tool_calls", "reasoning_content", "reasoning", "thinking", "refusal", "function_call"];
        self.fields(&known, |scan, key| {
            match key {
                "content" => delta.content = Some(scan.raw()?),
                "tool_calls" => scan.list(&mut delta.tool_calls, Self::call)?,
                "reasoning_content" => delta.reasoning_content = Some(scan.raw()?),
                "reasoning" => delta.reasoning = Some(scan.raw()?),
                "thinking" => delta.thinking = Some(scan.raw()?),
                "refusal" => delta.refusal = Some(scan.plain()?),
                _ => scan.function(delta.function_call.get_or_insert_default())?,
            }
            Some(())
        })
    }

    fn call(&mut self, call: &mut CallDelta<'a>) -> Option<()> {
        self.fields(&["index", "id", "function"], |scan, key| {
            match key {
                "index" => call.index = Some(scan.number()?),
                "id" => call.id = Some(scan.plain()?),
                _ => scan.function(call.function.get_or_insert_default())?,
            }
            Some(())
        })
    }

    fn function(&mut self, function: &mut FunctionDelta<'a>) -> Option<()> {
        self.fields(&["name", "arguments"], |scan, key| {
            match key {
                "name" => function.name = Some(scan.plain()?),
                _ => function.arguments = Some(scan.raw()?),
            }
            Some(())
        })
    }

    /// Parses an object: `each` parses the value of each `known` field that is not null; other fields are skipped.
    #[inline]
    fn fields(
        &mut self,
        known: &[&'static str],
        mut each: impl FnMut(&mut Self, &'static str) -> Option<()>,
    ) -> Option<()> {
        let mut seen = 0u8;
        self.members(b'{', b'}', |scan| {
            let key = scan.key()?;
            let Some(place) = known.iter().position(|known| *known == key) else { return scan.skip(0) };
            // A duplicate field is an error.
            if seen & (1 << place) != 0 {
                return None;
            }
            seen |= 1 << place;
            if scan.peek()? == b'n' { scan.literal("null") } else { each(scan, known[place]) }
        })
    }

    fn list<T: Default>(
        &mut self,
        list: &mut Option<Vec<T>>,
        item: impl Fn(&mut Self, &mut T) -> Option<()>,
    ) -> Option<()> {
        let list = list.get_or_insert_default();
        self.members(b'[', b']', |scan| item(scan, list.push_mut(T::default())))
    }

    /// Parses the comma-separated members between `open` and `close`; `each` parses one.
    #[inline]
    fn members(&mut self, open: u8, close: u8, mut each: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.expect(open)?;
        self.skip_white();
        if self.peek()? == close {
            return self.expect(close);
        }
        loop {
            each(self)?;
            self.skip_white();
            if self.peek()? == close {
                return self.expect(close);
            }
            self.expect(b',')?;
            self.skip_white();
        }
    }

    /// Parses a field's name and its colon.
    fn key(&mut self) -> Option<&'a str> {
        let JsonText(Cow::Borrowed(key)) = self.plain()? else { return None };
        self.skip_white();
        self.expect(b':')?;
        self.skip_white();
        Some(key)
    }

    /// Parses a string without escapes.
    fn plain(&mut self) -> Option<JsonText<'a>> {
        self.expect(b'"')?;
        let start = self.at;
        self.at += plain_length(&self.text.as_bytes()[self.at..]);
        let text = &self.text[start..self.at];
        self.expect(b'"')?;
        Some(JsonText(Cow::Borrowed(text)))
    }

    fn number(&mut self) -> Option<u32> {
        let start = self.at;
        self.skip_integer()?;
        self.text[start..self.at].parse().ok()
    }

    /// Returns any value unparsed.
    fn raw(&mut self) -> Option<RawJson<'a>> {
        let start = self.at;
        self.skip(0)?;
        Some(RawJson(&self.text[start..self.at]))
    }

    fn skip(&mut self, depth: u8) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        match self.peek()? {
            b'"' => self.skip_string(),
            b'n' => self.literal("null"),
            b't' => self.literal("true"),
            b'f' => self.literal("false"),
            b'[' => self.members(b'[', b']', |scan| scan.skip(depth + 1)),
            b'{' => self.members(b'{', b'}', |scan| {
                scan.key()?;
                scan.skip(depth + 1)
            }),
            _ => self.skip_integer(),
        }
    }

    fn skip_string(&mut self) -> Option<()> {
        self.expect(b'"')?;
        loop {
            self.at += plain_length(&self.text.as_bytes()[self.at..]);
            if self.peek()? != b'\\' {
                return self.expect(b'"');
            }
            let escaped = *self.text.as_bytes().get(self.at + 1)?;
            self.at += 2;
            match escaped {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
                b'u' if self.text.as_bytes().get(self.at..self.at + 4)?.iter().all(u8::is_ascii_hexdigit) => {
                    self.at += 4;
                }
                _ => return None,
            }
        }
    }

    /// Skips digits; a fraction or an exponent after them makes the caller give up.
    fn skip_integer(&mut self) -> Option<()> {
        let rest = &self.text.as_bytes()[self.at..];
        let digits = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
        self.at += digits;
        (digits == 1 || (digits > 1 && rest[0] != b'0')).then_some(())
    }

    fn literal(&mut self, word: &str) -> Option<()> {
        self.text.as_bytes()[self.at..].starts_with(word.as_bytes()).then(|| self.at += word.len())
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn skip_white(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }
}

/// Returns the number of bytes before the first quote, backslash or control character.
pub(super) fn plain_length(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(eight) = bytes[at..].first_chunk() {
        let special = special(u64::from_le_bytes(*eight));
        if special != 0 {
            return at + special.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    at + bytes[at..].iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20)).count()
}

/// Returns a word in which the lowest set bit is the high bit of the first quote, backslash or control character;
/// higher bits are meaningless, and zero means there is none.
fn special(eight: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    let zero = |bytes: u64| bytes.wrapping_sub(ONES) & !bytes;
    let control = eight.wrapping_sub(ONES * 0x20) & !eight;
    (control | zero(eight ^ (ONES * u64::from(b'"'))) | zero(eight ^ (ONES * u64::from(b'\\')))) & (ONES << 7)
}

#[cfg(test)]
mod tests;
