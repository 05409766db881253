//! A chunk as nearly all servers write it, read without building anything that is not kept.
//!
//! The reader is strict where it goes on and gives up at anything unusual: an escape in a name, a number
//! that is no plain integer, a field that comes twice, a type that is not the expected one. What it gives
//! is what serde would give; what it gives up is read by serde, which also has the words for an error.

use std::borrow::Cow;

use super::chunk::{CallDelta, Choice, Chunk, Delta, FunctionDelta, Raw, Text};
use super::few::Few;

/// Values inside values beyond this depth are unusual.
const DEEPEST: u8 = 16;

/// Reads one JSON text; nothing where it is unusual.
pub(super) fn read(text: &str) -> Option<Chunk<'_>> {
    let mut scan = Scan { text, at: 0 };
    scan.skip_white();
    let chunk = scan.chunk()?;
    scan.skip_white();
    (scan.at == text.len()).then_some(chunk)
}

/// A place in a text.
struct Scan<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scan<'a> {
    fn chunk(&mut self) -> Option<Chunk<'a>> {
        let mut chunk = Chunk::default();
        self.fields(&["object", "model", "choices", "usage", "error"], |scan, key| {
            match key {
                "object" => chunk.object = Some(scan.plain()?),
                "model" => chunk.model = Some(scan.plain()?),
                "choices" => chunk.choices = Some(scan.list(Self::choice)?),
                "usage" => chunk.usage = Some(scan.raw()?),
                _ => chunk.error = Some(scan.raw()?),
            }
            Some(())
        })?;
        Some(chunk)
    }

    fn choice(&mut self) -> Option<Choice<'a>> {
        let mut choice = Choice::default();
        self.fields(&["index", "delta", "finish_reason", "message", "usage"], |scan, key| {
            match key {
                "index" => choice.index = Some(scan.number()?),
                "delta" => choice.delta = Some(scan.delta()?),
                "finish_reason" => choice.finish_reason = Some(scan.plain()?),
                "message" => choice.message = Some(scan.delta()?),
                _ => choice.usage = Some(scan.raw()?),
            }
            Some(())
        })?;
        Some(choice)
    }

    fn delta(&mut self) -> Option<Delta<'a>> {
        let mut delta = Delta::default();
        let known = ["content", "tool_calls", "reasoning_content", "reasoning", "thinking", "refusal", "function_call"];
        self.fields(&known, |scan, key| {
            match key {
                "content" => delta.content = Some(scan.raw()?),
                "tool_calls" => delta.tool_calls = Some(scan.list(Self::call)?),
                "reasoning_content" => delta.reasoning_content = Some(scan.raw()?),
                "reasoning" => delta.reasoning = Some(scan.raw()?),
                "thinking" => delta.thinking = Some(scan.raw()?),
                "refusal" => delta.refusal = Some(scan.plain()?),
                _ => delta.function_call = Some(scan.function()?),
            }
            Some(())
        })?;
        Some(delta)
    }

    fn call(&mut self) -> Option<CallDelta<'a>> {
        let mut call = CallDelta::default();
        self.fields(&["index", "id", "function"], |scan, key| {
            match key {
                "index" => call.index = Some(scan.number()?),
                "id" => call.id = Some(scan.plain()?),
                _ => call.function = Some(scan.function()?),
            }
            Some(())
        })?;
        Some(call)
    }

    fn function(&mut self) -> Option<FunctionDelta<'a>> {
        let mut function = FunctionDelta::default();
        self.fields(&["name", "arguments"], |scan, key| {
            match key {
                "name" => function.name = Some(scan.plain()?),
                _ => function.arguments = Some(scan.raw()?),
            }
            Some(())
        })?;
        Some(function)
    }

    /// An object: `each` reads the value of each field that is `known` and not null, the others are
    /// passed over.
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
            // Twice the same is an error.
            if seen & (1 << place) != 0 {
                return None;
            }
            seen |= 1 << place;
            if scan.peek()? == b'n' { scan.literal("null") } else { each(scan, known[place]) }
        })
    }

    fn list<T>(&mut self, item: impl Fn(&mut Self) -> Option<T>) -> Option<Few<T>> {
        let mut list = Few::default();
        self.members(b'[', b']', |scan| {
            list.push(item(scan)?);
            Some(())
        })?;
        Some(list)
    }

    /// What stands between `open` and `close`, with commas between; `each` reads one member.
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

    /// A field's name and its colon; the value is next.
    fn key(&mut self) -> Option<&'a str> {
        let Text(Cow::Borrowed(key)) = self.plain()? else { return None };
        self.skip_white();
        self.expect(b':')?;
        self.skip_white();
        Some(key)
    }

    /// A string without escapes.
    fn plain(&mut self) -> Option<Text<'a>> {
        self.expect(b'"')?;
        let start = self.at;
        let rest = &self.text.as_bytes()[start..];
        let end = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20))?;
        self.at += end;
        self.expect(b'"')?;
        Some(Text(Cow::Borrowed(&self.text[start..start + end])))
    }

    fn number(&mut self) -> Option<u32> {
        let start = self.at;
        self.skip_integer()?;
        self.text[start..self.at].parse().ok()
    }

    /// Any value, as it is written.
    fn raw(&mut self) -> Option<Raw<'a>> {
        let start = self.at;
        self.skip(0)?;
        Some(Raw(&self.text[start..self.at]))
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
            let rest = &self.text.as_bytes()[self.at..];
            let end = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20))?;
            self.at += end;
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

    /// Digits; a fraction or an exponent behind them is not expected by whoever reads on.
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

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use proptest::prelude::{Just, Strategy, any, prop, prop_oneof, proptest};
    use proptest::test_runner::Config;
    use serde::Deserialize;
    use serde_norway::Value;

    use super::read;
    use crate::openai::chunk::Chunk;

    /// What is read must be what serde reads, and what serde refuses must be given up.
    fn check(text: &str) -> Option<Chunk<'_>> {
        let read = read(text);
        if let Some(read) = &read {
            let expected: Chunk<'_> = serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(read, &expected, "{text}");
        }
        read
    }

    #[test]
    fn chunks_as_servers_write_them_are_read() {
        for text in [
            r#"{"id":"1","object":"x","created":17,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}"#,
            r#"{ "choices" : [ { "delta" : { "content" : "a\n\"\u00e9 é" } , "finish_reason" : "stop" } ] }"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\":"}},{"index":1}]}}]}"#,
            r#"{"choices":[{"message":{"content":["x"],"function_call":{"name":"f","arguments":{"a":[true,false,{}]}}}}]}"#,
            r#"{"choices":[],"usage":{"prompt_tokens":10,"details":{"cached":0}},"error":null}"#,
            r#"{"choices":[{"index":0},{"index":1}],"service_tier":"default"}"#,
            "{}",
        ] {
            assert!(check(text).is_some(), "{text}");
        }
    }

    #[test]
    fn what_is_unusual_is_given_up() {
        let deep = format!(r#"{{"x":{}{}}}"#, "[".repeat(60_000), "]".repeat(60_000));
        for text in [
            r#"{"model":"a\u0062"}"#,
            r#"{"mod\u0065l":"a"}"#,
            r#"{"model":1}"#,
            r#"{"model":null,"model":"a"}"#,
            r#"{"choices":[{"index":-1}]}"#,
            r#"{"choices":[{"index":01}]}"#,
            r#"{"choices":[{"index":4294967296}]}"#,
            r#"{"x":1.5}"#,
            r#"{"x":"\q"}"#,
            r#"{"x":"\u12g4"}"#,
            "{\"x\":\"a\nb\"}",
            r#"{"x":1,}"#,
            r#"{"x":[1,]}"#,
            r#"{"x":nul}"#,
            r#"{"x":tru"#,
            "{} x",
            "[]",
            "",
            &deep,
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    /// The files of recorded traffic below `folder`.
    fn files(folder: &Path, found: &mut Vec<PathBuf>) {
        for path in std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
            if path.is_dir() { files(&path, found) } else { found.push(path) }
        }
    }

    #[test]
    fn recorded_chunks_are_read_as_serde_reads_them() {
        let streams = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/streams");
        let (mut found, mut chunks, mut given_up) = (Vec::new(), 0, 0);
        for provider in ["openai", "deepseek"] {
            files(&streams.join(provider), &mut found);
        }
        for file in found {
            let text = std::fs::read_to_string(file).unwrap();
            let documents = serde_norway::Deserializer::from_str(&text).filter_map(|it| Value::deserialize(it).ok());
            for body in documents.filter_map(|document| Some(document.get("then")?.get("body")?.as_str()?.to_owned())) {
                for data in body.lines().filter_map(|line| line.strip_prefix("data: {")) {
                    chunks += 1;
                    given_up += usize::from(check(&format!("{{{data}")).is_none());
                }
            }
        }
        println!("{chunks} recorded chunks, {given_up} given up");
        assert!(given_up * 10 <= chunks);
    }

    /// Parts that together are often, but not always, a chunk.
    fn parts() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            Just(r#"{"choices":[{"delta":{"#),
            Just(r#"{"tool_calls":[{"index":0,"function":{"arguments":"#),
            Just(r#""content":"#),
            Just(r#""object":"#),
            Just(r#""usage":"#),
            Just(r#""x":"#),
            Just(r#""a\\b\"\n""#),
            Just(r#""é""#),
            Just("null"),
            Just("17"),
            Just("-0.5e3"),
            Just("true"),
            Just(","),
            Just(" "),
            Just("{"),
            Just("}"),
            Just("["),
            Just("]"),
            Just("}}]}"),
        ];
        prop::collection::vec(part, 0..10).prop_map(|parts| parts.concat())
    }

    /// A chunk of which a part may have been cut out or doubled.
    fn damaged() -> impl Strategy<Value = String> {
        let whole = r#"{"id":"1","object":"o","model":"m","choices":[{"index":0,"delta":{"content":"a\n","refusal":null,"tool_calls":[{"index":12,"id":"c","function":{"name":"f","arguments":"{\"a\":1}"}}]},"finish_reason":null}],"usage":{"prompt_tokens":10,"x":[true,{}]}}"#;
        (any::<prop::sample::Index>(), any::<prop::sample::Index>(), prop_oneof![Just(0usize), Just(2)]).prop_map(
            move |(one, other, times)| {
                let (one, other) = (one.index(whole.len()), other.index(whole.len()));
                let (start, end) = (one.min(other), one.max(other).min(one.min(other) + 12));
                [&whole[..start], &whole[start..end].repeat(times), &whole[end..]].concat()
            },
        )
    }

    proptest! {
        #![proptest_config(Config { cases: 4096, failure_persistence: None, ..Config::default() })]

        #[test]
        fn what_is_read_is_what_serde_reads(text in prop_oneof![parts(), damaged()]) {
            check(&text);
        }
    }
}
