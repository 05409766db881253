use std::ffi::OsStr;

use data_encoding::{BASE64, BASE64URL_NOPAD};
use proptest::prelude::*;
use serde_json::json;
use windlass_vocab::Json;

use super::*;

const KEY: &str = "sk-\"a/b+c\\d é=1";

fn secrets() -> Secrets {
    Secrets::new([("KEY", KEY), ("OTHER", "sk-other-key"), ("SHORT", "abc"), ("LONGER", "sk-other-key-and-more")])
}

// proves X1
#[test]
fn a_secret_is_replaced_in_every_form_it_takes() {
    let json = serde_json::to_string(KEY).unwrap();
    for (text, want) in [
        (KEY.to_owned(), "⟦secret:KEY⟧".to_owned()),
        (format!("x{KEY}y"), "x⟦secret:KEY⟧y".into()),
        (json, "\"⟦secret:KEY⟧\"".into()),
        ("u=sk-%22a%2Fb%2Bc%5Cd%20%C3%A9%3D1".into(), "u=⟦secret:KEY⟧".into()),
        ("u=sk-%22a%2fb%2bc%5cd%20%c3%a9%3d1".into(), "u=⟦secret:KEY⟧".into()),
        ("sk-other-key-and-more sk-other-key".into(), "⟦secret:LONGER⟧ ⟦secret:OTHER⟧".into()),
        ("abc sk-othe".into(), "abc sk-othe".into()),
    ] {
        assert_eq!(secrets().scrub(&text), want, "{text}");
    }
}

// proves X1
#[test]
fn a_secret_is_found_in_base64_at_any_alignment() {
    for before in ["", "a", "ab", "abc", "user:"] {
        for after in ["", "x", "xy", "xyz"] {
            let plain = format!("{before}sk-other-key{after}");
            for text in [BASE64.encode(plain.as_bytes()), BASE64URL_NOPAD.encode(plain.as_bytes())] {
                assert!(contains_placeholder(&secrets().scrub(&text)), "{plain}: {text}");
            }
        }
    }
}

// proves X1
#[test]
fn scrubbed_json_is_still_json() {
    let secrets = Secrets::new([("PIN", "1234567890"), ("KEY", KEY)]);
    for value in [json!({"a": 1_234_567_890, "b": [KEY], KEY: null}), json!({"a": format!("<{KEY}>")})] {
        let scrubbed = secrets.scrub_json(&Json::from(&value));
        assert!(scrubbed.to_value().is_object(), "{scrubbed:?}");
        assert!(contains_placeholder(scrubbed.as_str()) && !scrubbed.as_str().contains("1234567890"));
    }
}

// proves X1
#[test]
fn a_stream_split_anywhere_reads_as_the_scrubbed_whole() {
    let secrets = secrets();
    let text = format!("sk-other-ke sk-other-key-and-mor sk-other-key-and-more sk- {KEY} sk-o");
    let want = secrets.scrub(&text).into_owned();
    let cuts: Vec<usize> = (0..=text.len()).filter(|at| text.is_char_boundary(*at)).collect();
    for first in &cuts {
        for second in cuts.iter().filter(|second| *second >= first) {
            let mut stream = secrets.stream();
            let mut got = stream.push(&text[..*first]).into_owned();
            got += &stream.push(&text[*first..*second]);
            got += &stream.push(&text[*second..]);
            got += &stream.finish();
            assert_eq!(got, want, "cut at {first} and {second}");
        }
    }
}

// proves X1
#[test]
fn a_part_of_a_key_of_several_lines_is_replaced_too() {
    let (first, second) = ("MIIEvQIBADANBgkqhkiG9w0BAQ", "EFAASCBKcwggSjAgEAAoIBAQC7");
    let key = format!("-----BEGIN PRIVATE KEY-----\n{first}\n{second}\n-----END PRIVATE KEY-----\n");
    let secrets = Secrets::new([("PEM", key.as_str())]);
    assert_eq!(secrets.scrub(&key).trim(), "⟦secret:PEM⟧");
    assert_eq!(secrets.scrub(&format!("line 3: {second}")), "line 3: ⟦secret:PEM⟧");
    assert_eq!(secrets.scrub("-----BEGIN PRIVATE KEY-----"), "-----BEGIN PRIVATE KEY-----");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    // proves X1
    #[test]
    fn a_stream_in_any_pieces_reads_as_the_scrubbed_whole(
        pieces in proptest::collection::vec("[ab]{0,5}", 0..12),
    ) {
        let secrets = Secrets::new([("A", "abababab"), ("B", "babbabba"), ("C", "abababababab"), ("D", "aaaaaaaa")]);
        let mut stream = secrets.stream();
        let mut got: String = pieces.iter().map(|piece| stream.push(piece)).collect();
        got += &stream.finish();
        prop_assert_eq!(got, secrets.scrub(&pieces.concat()).into_owned());
    }
}

// proves X1
#[test]
fn children_inherit_no_variable_with_a_secret_in_it() {
    let environment = [("PATH", "/bin"), ("AUTH", "Bearer sk-other-key"), ("KEY", "anything")];
    let names = secrets().scrubbed_names(environment.map(|(name, value)| (name.into(), value.into())));
    assert!(names.contains(OsStr::new("AUTH")) && names.contains(OsStr::new("KEY")));
    assert!(!names.contains(OsStr::new("PATH")));
}

// proves X1
#[test]
fn secrets_show_their_names_only() {
    assert_eq!(format!("{:?}", secrets()), r#"{"KEY", "LONGER", "OTHER"}"#);
    assert!(format!("{:?}", secrets().stream()).len() < 100);
}

// proves X1: agents with the same secrets share what finds them, and others do not
#[test]
fn the_same_secrets_have_one_finder() {
    let of = |name: &str, value: &str| Secrets::new([(name, value)]).inner.expect("a secret");
    let first = of("SHARED_KEY", "sk-shared-12345678");
    assert!(Arc::ptr_eq(&first, &of("SHARED_KEY", "sk-shared-12345678")));
    assert!(!Arc::ptr_eq(&first, &of("OTHER_KEY", "sk-shared-12345678")), "its placeholder is another");
    let other = Secrets::new([("SHARED_KEY", "sk-other-12345678")]);
    assert_eq!(other.scrub("sk-shared-12345678"), "sk-shared-12345678");
}
