//! For any bytes the codec returns an answer or a failure, and the position of cuts changes nothing.

use proptest::prelude::{Just, Strategy, any, prop, prop_oneof, proptest};
use proptest::test_runner::Config;
use windlass_provider::chat::ChatDraft;
use windlass_provider::{Rejection, RetryHeaders, classify, decode_whole};

use super::{decode, endpoint};

/// Fragments that often, but not always, form a stream.
fn fragments() -> impl Strategy<Value = Vec<u8>> {
    let fragment = prop_oneof![
        Just(b"data: ".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\r\n\r\n".to_vec()),
        Just(b": c\n".to_vec()),
        Just(b"event: error\n".to_vec()),
        Just(br#"data: {"choices":[{"delta":{"content":"<think>a</think>b"}}]}"#.to_vec()),
        Just(
            br#"data: {"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"name":"f","arguments":"{"}}]}}]}"#
                .to_vec()
        ),
        Just(
            br#"{"choices":[{"delta":{"reasoning":"r"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}"#.to_vec()
        ),
        Just(b"\ndata: [DONE]\n\n".to_vec()),
        prop::collection::vec(any::<u8>(), 0..6),
    ];
    prop::collection::vec(fragment, 0..12).prop_map(|fragments| fragments.concat())
}

/// A valid stream of random deltas.
fn valid_stream() -> impl Strategy<Value = String> {
    let text = "[a-z<>/ é🪝\n\"\\\\]{0,8}|<think>|</think>";
    let delta = prop_oneof![
        text.prop_map(|text| serde_json::json!({ "content": text })),
        text.prop_map(|text| serde_json::json!({ "content": null, "reasoning_content": text })),
        (0..3u32, text).prop_map(
            |(index, text)| serde_json::json!({"tool_calls":[{"index":index,"function":{"name":"f","arguments":text}}]})
        ),
    ];
    let end = prop_oneof![Just("\n\n"), Just("\r\n\r\n"), Just("\r\r"), Just("\n: c\n\n")];
    prop::collection::vec((delta, end), 0..12).prop_map(|events| {
        let mut body = String::new();
        for (delta, end) in events {
            body += &format!("data: {}{end}", serde_json::json!({"choices":[{"index":0,"delta":delta}]}));
        }
        body + "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
    })
}

proptest! {
    #![proptest_config(Config { cases: 256, failure_persistence: None, ..Config::default() })]

    #[test]
    fn the_codec_never_panics(bytes in fragments(), status in 100..600u16, cut in any::<prop::sample::Index>()) {
        let cut = cut.index(bytes.len() + 1);
        let whole = decode(&[&bytes]);
        let halves = decode(&[&bytes[..cut], &bytes[cut..]]);
        assert_eq!(whole, halves);
        let _ = decode_whole::<ChatDraft>(&endpoint(), &bytes);
        let text = String::from_utf8_lossy(&bytes);
        let retry = RetryHeaders { retry_after_ms: None, retry_after: Some(&text), date: Some(&text), reset: Some(&text) };
        let failure = classify(&endpoint(), &Rejection { status, retry, location: Some(&text), body: &bytes });
        assert!(!failure.message.contains(char::is_control));
    }

    #[test]
    fn a_valid_stream_gives_the_same_reply_however_it_is_split(
        body in valid_stream(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let (whole, shown) = decode(&[body.as_bytes()]);
        shown.assert_covers(whole.as_ref().unwrap());
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len())).collect();
        cuts.extend([0, body.len()]);
        cuts.sort_unstable();
        let pushes: Vec<&[u8]> = cuts.windows(2).map(|pair| &body.as_bytes()[pair[0]..pair[1]]).collect();
        assert_eq!(decode(&pushes), (whole, shown));
    }
}
