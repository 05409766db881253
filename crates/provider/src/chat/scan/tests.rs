//! Compares the parser with serde, on usual and unusual input.

use std::path::{Path, PathBuf};

use proptest::prelude::{Just, Strategy, any, prop, prop_oneof, proptest};
use proptest::test_runner::Config;
use serde::Deserialize;
use serde_norway::Value;

use super::special;
use crate::chat::chunk::Chunk;

fn read(text: &str) -> Option<Chunk<'_>> {
    let mut chunk = Chunk::default();
    super::read(text, &mut chunk).map(|()| chunk)
}

/// Asserts that the parser's result equals serde's, and that it gives up where serde fails.
fn check(text: &str) -> Option<Chunk<'_>> {
    let read = read(text);
    if let Some(read) = &read {
        let expected: Chunk<'_> = serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(read, &expected, "{text}");
    }
    read
}

#[test]
fn a_special_byte_is_found_wherever_it_is() {
    assert_eq!(special(u64::from_le_bytes(*b"abc \x7f\x80\xff!")), 0);
    for byte in (0..0x20).chain(*b"\"\\") {
        for place in 0..8 {
            let mut eight = *b"\xff\x80!#[] a";
            eight[place] = byte;
            let found = special(u64::from_le_bytes(eight)).trailing_zeros() as usize / 8;
            assert_eq!(found, place, "{byte} at {place}");
        }
    }
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

/// Collects the files of recorded traffic below `folder`.
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

/// Parts that often, but not always, form a chunk.
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

/// A chunk in which a part may be removed or doubled.
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
