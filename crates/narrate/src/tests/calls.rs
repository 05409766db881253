//! The lines of calls: their names, their changes, and why they were denied.

use windlass_vocab::Event;

use super::{REQUESTED, narrated, record};
use crate::Detail;

// proves E1: a record that refers to a call by number is described with the call's name
#[test]
fn a_call_is_named_until_it_has_ended() {
    let started = r#"{"call":"1.1.0","arguments":{"path":"b.txt"}}"#;
    let finished = r#"{"call":"1.1.0","outcome":"not_found","text":"no such file\nmore","took_ms":3}"#;
    let events = [
        record("CallRequested", REQUESTED),
        record("CallSettled", r#"{"call":"1.1.0","settlement":"run_again"}"#),
        record("CallStarted", started),
        record("CallFinished", finished),
        record("CallFinished", finished),
    ];
    assert_eq!(
        narrated(Detail::Brief, &events),
        [
            "Windlass Quiet [1.1.0] read_file a.txt was cut short by a crash: it is run again",
            "Windlass Passing [1.1.0] running read_file b.txt",
            "Tool Failure [1.1.0] read_file b.txt 3 ms, not found: no such file",
            "Tool Failure [1.1.0] call 1.1.0 3 ms, not found: no such file",
        ]
    );
}

/// Returns the lines of an edit with this verdict and outcome.
fn edit(verdict: &str, new_text: &str, outcome: &str) -> Vec<String> {
    let arguments = serde_json::json!({"path": "f", "old_text": "a\n", "new_text": new_text});
    let requested = format!(
        r#"{{"call":"1.1.0","name":"edit_file","tool":"local.edit_file","arguments":{arguments},"effect":"idempotent",
            "effect_id":"e","verdict":{{"verdict":"{verdict}"}}}}"#
    );
    let finished = format!(r#"{{"call":"1.1.0","outcome":"{outcome}","text":"","took_ms":1}}"#);
    let lines = narrated(Detail::Brief, &[record("CallRequested", &requested), record("CallFinished", &finished)]);
    lines.into_iter().skip(1).collect()
}

// proves T8: lines that were added unasked are shown, as those of an edit are
#[test]
fn added_lines_are_shown_below_the_call() {
    let requested = r#"{"call":"1.1.0","name":"append_file","tool":"local.append_file","arguments":{"path":"f","text":"a\nb"},
        "effect":"verifiable","effect_id":"e","verdict":{"verdict":"allow"}}"#;
    let finished = r#"{"call":"1.1.0","outcome":"ok","text":"","took_ms":1}"#;
    let lines = narrated(Detail::Brief, &[record("CallRequested", requested), record("CallFinished", finished)]);
    let shown: Vec<&str> =
        lines.iter().skip(1).filter_map(|line| line.split_once("] ").map(|(_, text)| text)).collect();
    assert_eq!(shown, ["+a", "+b"], "{lines:?}");
}

/// Returns the detail of a call that was denied after these records.
fn denied(verdict: &str, because: &str, between: &[Event], remedy: &str) -> String {
    let requested = format!(
        r#"{{"call":"1.1.0","name":"x","tool":"local.x","arguments":{{}},"effect":"once","effect_id":"e",
            "verdict":{{{verdict}}}{because}}}"#
    );
    let finished = format!(r#"{{"call":"1.1.0","outcome":"denied","text":"Do without it.","took_ms":0{remedy}}}"#);
    let events = [&[record("CallRequested", &requested)], between, &[record("CallFinished", &finished)]].concat();
    let lines = narrated(Detail::Brief, &events);
    let line = lines.last().expect("a line");
    let full = narrated(Detail::Full, &events).pop().expect("a line");
    let (_, detail) = line.split_once("denied: ").unwrap_or_else(|| panic!("{line}"));
    assert!(full.ends_with(&format!("(0 ms, denied): {detail}; the model is told: Do without it.")), "{full}");
    detail.to_owned()
}

// proves T8: a person reads why a call was denied, from the records' data and not in the words for the model
#[test]
fn a_denied_call_is_explained_to_people() {
    let (ask, allow) = (r#""verdict":"ask""#, r#""verdict":"allow""#);
    let deny = r#""verdict":"deny","reason":"Do without it.""#;
    let mode = r#","because":{"by":"mode","mode":"default"}"#;
    let rule = r#","because":{"by":"rule","rule":"x(a)"}"#;
    let protected = r#","because":{"by":"protected","path":"hooks","pattern":"**/hooks"}"#;
    let remedy = |kind: &str| format!(r#","remedy":{{"kind":{kind}}}"#);
    let nobody = "it needs approval, and nobody was there to give it";
    assert_eq!(denied(ask, mode, &[], ""), nobody);
    assert_eq!(denied(ask, protected, &[], ""), "hooks is protected (**/hooks)");
    assert_eq!(denied(deny, rule, &[], ""), "the rule `x(a)` forbids it");
    assert_eq!(denied(deny, mode, &[], ""), "it needs approval, and can't be shown to whoever would give it");
    assert_eq!(denied(deny, "", &[], ""), "it is not available here");
    assert_eq!(denied(allow, rule, &[], ""), "the rules of this run do not allow it");
    assert_eq!(denied(allow, rule, &[], &remedy(r#""allow","rule":"x""#)), nobody);
    assert_eq!(denied(allow, rule, &[], &remedy(r#""fetch_private","host":"a""#)), "a is a private address");
    assert_eq!(denied(allow, rule, &[], &remedy(r#""unprotect","path":"a""#)), "a is protected");
    let withheld = record("ToolWithheld", r#"{"cause":"failures","tool":"local.x","reason":"Use another way."}"#);
    let withheld = [withheld];
    for verdict in [ask, allow] {
        let text = denied(verdict, mode, &withheld, "");
        assert_eq!(text, "its tool is withheld: it failed in several turns in a row");
    }
    assert_eq!(denied(deny, rule, &withheld, ""), "the rule `x(a)` forbids it");
    let asked = record(
        "QuestionAsked",
        r#"{"question":1,"kind":{"about":"approval","call":"1.1.0"},"options":["no","once"],"default":"no"}"#,
    );
    let answered = |by: &str, reason: &str| {
        let body = format!(r#"{{"question":1,"answer":{{"option":"no"{reason}}},"by":"{by}"}}"#);
        [asked.clone(), record("QuestionAnswered", &body)]
    };
    assert_eq!(denied(ask, mode, &answered("person", ""), ""), "a person said no");
    let both = [&withheld[..], &answered("person", "")].concat();
    assert_eq!(denied(ask, mode, &both, ""), "a person said no");
    assert_eq!(denied(ask, mode, &answered("person", r#","reason":"not now""#), ""), "a person said no: not now");
    assert_eq!(denied(ask, mode, &answered("expiry", ""), ""), "nobody answered the question");
}

// proves L8: a call that was only asked about did not run, and that is what a person reads
#[test]
fn a_call_that_was_cancelled_before_it_began_is_said_not_to_have_run() {
    let requested = record(
        "CallRequested",
        r#"{"call":"1.1.0","name":"x","tool":"local.x","arguments":{},"effect":"once","effect_id":"e","verdict":{"verdict":"ask"}}"#,
    );
    let finished = record(
        "CallFinished",
        r#"{"call":"1.1.0","outcome":"cancelled","text":"Cancelled before it finished.","took_ms":0}"#,
    );
    let last = |events: &[Event]| narrated(Detail::Brief, events).pop().expect("a line");
    let line = last(&[requested.clone(), finished.clone()]);
    assert!(line.ends_with("cancelled: not run"), "{line}");
    let line = last(&[requested, record("CallStarted", r#"{"call":"1.1.0"}"#), finished]);
    assert!(line.ends_with("cancelled: Cancelled before it finished."), "{line}");
}

// proves T8: a change made without asking is shown
#[test]
fn an_edit_that_nobody_was_asked_about_shows_its_change() {
    let changes = ["Windlass Removed [1.1.0] -a", "Windlass Added [1.1.0] +b", "Windlass Added [1.1.0] +    c"];
    assert_eq!(edit("allow", "b\n\tc\n", "ok"), changes);
    assert!(edit("allow", "b\n", "not_found").is_empty(), "nothing was changed");
    assert!(edit("ask", "b\n", "ok").is_empty(), "it was shown in the question");
    let long = edit("allow", &"line\n".repeat(51), "ok");
    assert_eq!((long.len(), long[20].as_str()), (21, "Windlass Note [1.1.0] … 32 more lines"));
}
