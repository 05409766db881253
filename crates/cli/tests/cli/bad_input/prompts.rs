//! Prompts that are not text, or that are very long.

use std::time::{Duration, Instant};

use windlass_testkit::{Script, ScriptStep};

use crate::support::Bench;

#[test]
fn bytes_that_are_no_text_are_refused_and_nothing_begins() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    for input in [&b"caf\xe9"[..], b"\xff\xfeh\0i\0", b"half \xe2\x82"] {
        let ran = bench.run_with_input(&["run", "-"], input);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
        assert!(ran.stderr.contains("not valid UTF-8") && ran.stderr.contains("iconv"), "{}", ran.stderr);
    }
    assert_eq!((bench.server.count(), bench.keys().len()), (0, 0));
}

// proves J1, J9: a prompt of ten megabytes reaches the model and the journal, and is read back from it
#[test]
fn ten_megabytes_are_sent_kept_and_read_back() {
    let bench = Bench::new(Script::of([ScriptStep::say("Long."), ScriptStep::say("Still long.")]));
    let prompt: String = "haul away, \"boys\" – ünd höy!\n".chars().cycle().take(10_000_000).collect();
    let prompt = prompt.trim_end();
    let begun = Instant::now();
    let ran = bench.run_with_input(&["run", "-", "--session", "s", "--message-id", "m"], prompt.as_bytes());
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Long.\n"), "{}", ran.stderr);
    let next = bench.run(&["run", "and now?", "--session", "s"]);
    assert_eq!((next.code, next.stdout.as_str()), (0, "Still long.\n"), "{}", next.stderr);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    assert!(bench.last_request("user") == [prompt, "and now?"], "the model is sent what was said");
    let journal = bench.journal("s");
    let accepted = journal.iter().find(|record| record["kind"] == "MessageAccepted").expect("a message");
    assert!(accepted["body"]["text"] == prompt, "the journal keeps it");
    for look in ["list", "show"] {
        let mut line = vec!["sessions", look];
        line.extend((look == "show").then_some("s"));
        let shown = bench.run(&line);
        assert!(shown.code == 0 && shown.stdout.len() < 10_000, "{look}: {} bytes", shown.stdout.len());
    }
    bench.assert_whole("a long prompt");
}
