use serde_json::{Value, json};

use super::{Escapes, Unmendable, mend, repeated_key};

fn value(text: &str) -> Option<Value> {
    mend(text)
        .ok()
        .map(|mended| serde_json::from_str(&mended.text).unwrap_or_else(|error| panic!("{}: {error}", mended.text)))
}

// proves T3
#[test]
fn the_usual_slips_are_mended() {
    for (text, want) in [
        (r#"{"a": 1,}"#, json!({"a": 1})),
        (r#"{"a": [1, 2,], "b": 3,,}"#, json!({"a": [1, 2], "b": 3})),
        (r#"{"a": 1"#, json!({"a": 1})),
        (r#"{"a": {"b": [1, 2"#, json!({"a": {"b": [1, 2]}})),
        (r#"{"a": [1, 2}"#, json!({"a": [1, 2]})),
        (r#"{"a": 1}}"#, json!({"a": 1})),
        (r#""a": 1, "b": 2}"#, json!({"a": 1, "b": 2})),
        (r#"{""path"": ""a.txt"", ""n"": 5}"#, json!({"path": "a.txt", "n": 5})),
        (r#"{"path"": "a.txt""}"#, json!({"path": "a.txt"})),
        (r#"{"a": "", "b": ""}"#, json!({"a": "", "b": ""})),
        ("{'a': 'it\\'s', 'b': None, 'c': True, 'd': False}", json!({"a": "it's", "b": null, "c": true, "d": false})),
        ("{a: 1, b_c: 'x'}", json!({"a": 1, "b_c": "x"})),
        ("{\"a\": \"one\ntwo\tthree\u{1}\"}", json!({"a": "one\ntwo\tthree\u{1}"})),
        ("```json\n{\"a\": 1}\n```", json!({"a": 1})),
        ("{\"a\": 1, // one\n \"b\": 2 /* two */ # three\n}", json!({"a": 1, "b": 2})),
        (r#"{"a": 1 "b": 2}"#, json!({"a": 1, "b": 2})),
        ("{\"a\": \"x\"\n \"b\": \"y\"}", json!({"a": "x", "b": "y"})),
        (r#"{"a" = 1, "b" => 2}"#, json!({"a": 1, "b": 2})),
        (r#"{\"a\": \"b\"}"#, json!({"a": "b"})),
        (r#"{"a": +5, "b": -1.5e3,}"#, json!({"a": 5, "b": -1500.0})),
        ("{path: src/main.rs, url: http://x.y/z}", json!({"path": "src/main.rs", "url": "http://x.y/z"})),
        ("{\"a\": \"\"\"say \"hi\"\nthere\"\"\"}", json!({"a": "say \"hi\"\nthere"})),
        (r#"{"a": "x"};"#, json!({"a": "x"})),
    ] {
        assert_eq!(value(text), Some(want), "{text}");
    }
}

// proves T3
#[test]
fn a_quote_within_a_string_does_not_end_it() {
    for (text, want) in [
        (r#"{"a": "He said "hi" to me"}"#, json!({"a": "He said \"hi\" to me"})),
        (r#"{"a": "say "yes", then go", "b": 1}"#, json!({"a": "say \"yes\", then go", "b": 1})),
        (r#"{"a": "f("x") { y }", "b": 1}"#, json!({"a": "f(\"x\") { y }", "b": 1})),
        (r#"{"a": "{"b": "c"}"}"#, json!({"a": "{\"b\": \"c\"}"})),
        (r#"{"a": ["x "y" z", "w"],}"#, json!({"a": ["x \"y\" z", "w"]})),
        ("{'a': 'don't', 'b': 1}", json!({"a": "don't", "b": 1})),
    ] {
        assert_eq!(value(text), Some(want), "{text}");
    }
}

// proves T3
#[test]
fn windows_paths_survive() {
    for (text, want) in [
        (r#"{"path": "C:\Users\x"}"#, r"C:\Users\x"),
        (r#"{"path": "C:\Users\new\table"}"#, r"C:\Users\new\table"),
        (r#"{"path": "C:\new\Users"}"#, r"C:\new\Users"),
        (r#"{"path": "type C:\temp\Users\b.txt now"}"#, r"type C:\temp\Users\b.txt now"),
        (r#"{"path": "src\main\new.rs"}"#, r"src\main\new.rs"),
        (r#"{"path": "C:\Users\"}"#, r"C:\Users\"),
        (r#"{"path": "C:\\Users\\new",}"#, r"C:\Users\new"),
        (r#"{"path": "one\ntwo C:\Users\n"}"#, "one\ntwo C:\\Users\\n"),
        (r#"{"path": "\d+\s"}"#, r"\d+\s"),
        (r#"{"path": "C:\users\name"}"#, r"C:\users\name"),
        (r#"{"path": "D:/a\b",}"#, "D:/a\u{8}"),
    ] {
        assert_eq!(value(text), Some(json!({ "path": want })), "{text}");
    }
    assert_eq!(mend(r#"{"a": "\q"}"#).ok().map(|mended| mended.escapes), Some(Escapes::Literal));
    assert_eq!(mend(r#"{"a": "\n",}"#).ok().map(|mended| mended.escapes), Some(Escapes::Sound));
}

// proves T3
#[test]
fn what_was_cut_off_or_means_nothing_is_refused() {
    for text in [
        r#"{"path": "a", "content": "half a tex"#,
        r#"{"path": "a", "content":"#,
        r#"{"path": "a", "content"#,
        r#"{"a": }"#,
        r#"{"a": 1} and more"#,
        r#"{"a": 1}{"b": 2}"#,
        "hello there",
        "path=notes.txt please",
        "{hello}",
        r#"{"a": NaN}"#,
        r#"{"a": "x\"#,
        "",
        "{\"a\": \"\\ud800\" \"b\": [",
    ] {
        let read = mend(text).ok().and_then(|mended| serde_json::from_str::<Value>(&mended.text).ok());
        assert_eq!(read, None, "{text}");
    }
}

// proves T3: a repair loses nothing and merges nothing
#[test]
fn what_would_be_lost_or_run_together_is_refused() {
    for text in [
        r#"{"path":"a1.txt","content":"x"}{"path":"b1.txt","content":"y"}"#,
        "{\"path\":\"a1.txt\",\"content\":\"x\"}\n{\"path\":\"b1.txt\",\"content\":\"y\"}",
        r#"{"path":"a.txt"}{"path":"b.txt"}"#,
        r#"{"path":"a.txt"},{"path":"b.txt"}"#,
        r#"{"path":"a.txt"};{"path":"b.txt"}"#,
        r#"{"path":"a.txt"} and then {"path":"b.txt"}"#,
        r#"{"path":"a.txt"} {path: b.txt}"#,
        r#"{'path':'a.txt'}{'path':'b.txt'}"#,
        r#"{""path"":""a.txt""}{""path"":""b.txt""}"#,
        r#"{"list":["a"]}{"list":["b"]}"#,
        r#"["a"]["b"]"#,
        r#"{"a": "x"} and more"}"#,
    ] {
        assert_eq!(mend(text), Err(Unmendable::More), "{text}");
    }
    for text in [r#"{"a": 1, "a": 2,}"#, r#"{"a": "x" "a": "y"}"#, r#"{b: {"a": 1, a: 1}}"#] {
        assert_eq!(mend(text), Err(Unmendable::Repeated("a".into())), "{text}");
    }
    for text in [r#"{"a": 1 # one, "b": 2}"#, r#"{"a": 1, // "b": 2}"#, r#"{"a": 1, /* "b": 2}"#, "{a: x #1, b: 2}"] {
        assert_eq!(mend(text), Err(Unmendable::Unclear), "{text}");
    }
    let calls = r#"{"calls": [{"a": "x"} {"a": "y"}]}"#;
    assert_eq!(value(calls), Some(json!({"calls": [{"a": "x"}, {"a": "y"}]})));
}

#[test]
fn numbers_keep_their_form() {
    let mended = mend(r#"{"a": 123456789012345678901234567890, "b": 1.50,}"#).unwrap();
    assert_eq!(mended.text, r#"{"a":123456789012345678901234567890,"b":1.50}"#);
}

#[test]
fn long_and_deep_input_takes_no_long_time() {
    for text in [
        "[".repeat(1 << 20),
        "{\"a\":".repeat(1 << 18),
        "\"".repeat(1 << 20),
        "{\"a\": \"".to_owned() + &"\" ".repeat(1 << 19),
        "{\"a\": \"".to_owned() + &"\"}".repeat(1 << 19),
        "{\"a\": \"".to_owned() + &"C:\\".repeat(1 << 18),
        "{\"a\": \"".to_owned() + &"\", \"".repeat(1 << 18),
        "{".to_owned() + &"}]".repeat(1 << 19),
    ] {
        let _ = mend(&text);
    }
}

/// Returns the meaningful characters of a text without escapes, comments or fences.
fn letters(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).collect()
}

/// Fragments that make whole, broken and merged objects.
const PARTS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    ";",
    " ",
    "\n",
    "\"",
    "'",
    "\"\"",
    "a",
    "b c",
    "7",
    "\"a\"",
    "\"b\"",
    "'c'",
    "\"a\":",
    "b:",
    "\"x\"",
    "{\"a\": \"x\"}",
    "\"}{\"",
    "{\"b\": 1, ",
    "\"c\": [\"y\"",
    "}}",
    " and ",
    "\", \"d\": \"",
];

proptest::proptest! {
    // proves T3
    #[test]
    fn whatever_is_mended_has_no_key_twice_and_all_its_letters(
        parts in proptest::collection::vec(proptest::sample::select(PARTS), 0..14),
    ) {
        let text = "{".to_owned() + &parts.concat();
        if let Ok(mended) = mend(&text) {
            proptest::prop_assert_eq!(repeated_key(&mended.text), None);
            proptest::prop_assert_eq!(letters(&mended.text.replace("\\n", "")), letters(&text), "{:?}", mended.text);
        }
    }

    // proves T3
    #[test]
    fn whatever_is_mended_is_json_or_refused(text in "[\\[\\]{}\"':,=\\\\a-e0-9 \\n`/#*+.TFNunl-]{0,60}") {
        if let Ok(mended) = mend(&text) {
            // A lone surrogate is the only error left to the parser.
            let read = serde_json::from_str::<Value>(&mended.text);
            proptest::prop_assert!(read.is_ok() || mended.text.contains("\\u"), "{text:?} became {:?}", mended.text);
        }
    }

    // proves T3
    #[test]
    fn what_is_json_means_the_same_after_mending(text in "[ -~\\n]{0,40}", number in -1000i64..1000) {
        let sound = json!({"text": text, "n": number, "list": [text, null, true]}).to_string();
        let trailing = sound[..sound.len() - 1].to_owned() + ",}";
        proptest::prop_assert_eq!(value(&trailing), serde_json::from_str(&sound).ok());
    }

    #[test]
    fn any_text_is_taken_without_a_panic(text in "\\PC{0,80}") {
        let _ = mend(&text);
    }
}
