//! The lines of model calls that are tried again.

use super::{narrated, record, run_started};
use crate::Detail;

// proves M3: tries are counted as the policy counts them; a reply asked for whole belongs to the same try
#[test]
fn a_try_that_asks_for_the_whole_reply_is_one_try() {
    let failed = |attempt: u32, next: &str| {
        let body = format!(
            r#"{{"attempt":{attempt},"model":"m","failure":{{"class":"transient","message":"x"}},"next":{{{next}}}}}"#
        );
        record("AttemptFailed", &body)
    };
    let retry = r#""do":"retry","at":"1970-01-01T00:00:01.000Z""#;
    let (whole, end) = (r#""do":"whole""#, r#""do":"end""#);
    let events = [failed(1, whole), failed(2, retry), failed(3, whole), failed(4, end)];
    let line = narrated(Detail::Brief, &events).pop().expect("a line");
    assert!(line.ends_with("gave up after 2 tries"), "{line}");
}

// proves M3: five retries for one reason are one line
#[test]
fn a_retry_for_the_reason_that_was_told_last_only_passes() {
    let retry = |message: &str| {
        let body = format!(
            r#"{{"attempt":1,"model":"m","failure":{{"class":"transient","message":"{message}"}},
                "next":{{"do":"retry","at":"1970-01-01T00:00:01.000Z"}}}}"#
        );
        record("AttemptFailed", &body)
    };
    let turn = record("TurnStarted", r#"{"turn":1,"mode":"tools"}"#);
    assert_eq!(
        narrated(Detail::Brief, &[retry("down"), retry("down"), retry("full"), retry("down"), turn, retry("down")]),
        [
            "Windlass Delay trying again in 1 s: down",
            "Windlass Passing trying again in 1 s: down",
            "Windlass Delay trying again in 1 s: full",
            "Windlass Delay trying again in 1 s: down",
            "Windlass Passing turn 1: waiting for the model",
            "Windlass Delay trying again in 1 s: down",
        ]
    );
}

// proves M3: a wait says which try follows it, counted for each model
#[test]
fn a_retry_says_which_try_it_is_and_of_how_many() {
    let failed = |model: &str, next: &str| {
        let body = format!(
            r#"{{"attempt":1,"model":"{model}","failure":{{"class":"transient","status":429,"message":"x"}},"next":{{{next}}}}}"#
        );
        record("AttemptFailed", &body)
    };
    let (retry, whole) = (r#""do":"retry","at":"1970-01-01T00:00:01.000Z""#, r#""do":"whole""#);
    let (kind, body) = run_started();
    let next = r#""do":"model","model":"small""#;
    let events = [
        record(kind, &body),
        failed("big", retry),
        failed("big", whole),
        failed("big", retry),
        failed("big", next),
        failed("small", retry),
    ];
    assert_eq!(
        narrated(Detail::Brief, &events),
        [
            "Windlass Delay trying again in 1 s: big is rate limited (try 2 of 6)",
            "Windlass Plain big is rate limited; asking for the whole reply at once",
            "Windlass Delay trying again in 1 s: big is rate limited (try 3 of 6)",
            "Windlass Plain big is rate limited; trying small instead",
            "Windlass Delay trying again in 1 s: small is rate limited (try 2 of 6)",
        ]
    );
}
