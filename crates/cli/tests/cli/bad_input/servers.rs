//! Model servers that are not running, reject the key, or reply with invalid data.

use std::time::{Duration, Instant};

use serde_json::json;
use windlass_testkit::{BodyPoint, FaultKind, Scene, Script, ScriptStep};

use crate::support::Bench;

/// A bench on which every request with "haul" fails with `fault`, and one with "next" succeeds.
fn bench(fault: FaultKind) -> Bench {
    let haul = ScriptStep::say("Never heard, and never heard again.").fault(fault.times(1_000));
    Bench::new(Script::when("haul", [haul]).scene(Scene::when("next", [ScriptStep::say("Next.")])))
}

fn status(code: u16, message: &str) -> FaultKind {
    FaultKind::Status { code, body: Some(json!({"error": {"message": message}}).to_string()), retry_after: None }
}

fn asks_to_wait(seconds: &str) -> FaultKind {
    FaultKind::Status { code: 429, body: None, retry_after: Some(seconds.into()) }
}

// proves M3 on the binary
#[test]
fn a_server_that_asks_for_a_day_ends_the_run_at_once_with_the_time() {
    let bench = bench(asks_to_wait("86400"));
    let ran = bench.run_with(&["run", "haul", "--session", "s"], &[("WINDLASS_TEST_CLOCK", "1")]);
    assert_eq!((ran.code, bench.records("s", "AttemptFailed")), (1, 1), "{}", ran.stderr);
    assert!(ran.stderr.contains("It asks to come back in 24 h, at 20"), "{}", ran.stderr);
    bench.assert_whole("a day");
}

// proves M3, J7: no server reply can make the journal unreadable
#[test]
fn a_wait_beyond_all_times_is_written_so_that_it_can_be_read() {
    let bench = bench(asks_to_wait("999999999999"));
    let policy = "[policy]\nretry_after_limit_ms = 9000000000000000000\n";
    std::fs::write(bench.workspace().join("windlass.toml"), policy).expect("it can be written");
    let mut waiting = bench.spawn(&["run", "haul", "--session", "s"]);
    bench.wait_for_requests(1, &mut waiting);
    while bench.records("s", "AttemptFailed") == 0 {
        assert!(waiting.try_wait().expect("a child").is_none(), "it does not wait");
    }
    waiting.kill().and_then(|()| waiting.wait()).expect("it can be stopped");
    bench.assert_whole("a long wait");
    // The retry would come after the deadline, so the run ends without waiting.
    let ran = bench.run(&["run", "haul", "--session", "t", "--deadline", "99h"]);
    assert!(ran.code == 1 && ran.stderr.contains("come back in more than a year"), "{}: {}", ran.code, ran.stderr);
    let deadline = bench.run(&["run", "next", "--session", "t", "--deadline", "99999999h"]);
    assert_eq!((deadline.code, deadline.stdout.as_str()), (0, "Next.\n"), "{}", deadline.stderr);
    bench.assert_whole("a late deadline");
}

/// The line that says why a run failed; below it stands what to do next.
fn failure(stderr: &str) -> &str {
    let mut last = stderr.lines().rev();
    assert!(last.next().is_some_and(|next| next.starts_with("windlass: `windlass retry ")), "{stderr}");
    last.next().and_then(|line| line.strip_prefix("windlass: the run failed: ")).unwrap_or_default()
}

// proves M3, M9 on the binary
#[test]
fn whatever_a_server_does_wrong_is_said_and_the_session_goes_on() {
    let half = |after| FaultKind::Cut { after };
    for (fault, said) in [
        (status(404, "The model `scripted` does not exist"), "no model `scripted`"),
        (FaultKind::status(404), "Check the base URL (often it ends in /v1) and the model's name"),
        (status(401, "bad key"), "Set OPENAI_API_KEY"),
        (status(402, "insufficient balance"), "insufficient balance"),
        (status(429, "You exceeded your current quota"), "quota"),
        (status(503, "overloaded"), "overloaded"),
        (FaultKind::Html, "answered with a web page, not with the API. Check the base URL"),
        (FaultKind::Garbage, "not JSON"),
        (half(BodyPoint::Bytes(30)), "broke the connection"),
        (half(BodyPoint::Events(0)), "broke the connection"),
        (FaultKind::Refuse, "connection"),
        (FaultKind::EndlessLine { bytes: 200_000_000 }, "longer than any reply should be"),
        (
            FaultKind::ErrorObject { after: BodyPoint::Events(1), message: "the boiler burst".into() },
            "the boiler burst",
        ),
    ] {
        let context = format!("{fault:?}");
        let bench = bench(fault);
        let ran = bench.run(&["run", "haul", "--session", "s"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{context}: {}", ran.stderr);
        assert!(failure(&ran.stderr).contains(said), "{context}: {}", ran.stderr);
        assert_eq!(bench.records("s", "RunEnded"), 1, "{context}");
        let next = bench.run(&["run", "next", "--session", "s"]);
        assert_eq!((next.code, next.stdout.as_str()), (0, "Next.\n"), "{context}: {}", next.stderr);
        bench.assert_whole(&context);
    }
}

// proves M3
#[test]
fn a_server_that_is_not_running_is_said_once_tried_for_a_few_seconds_and_then_named() {
    let bench = bench(FaultKind::Refuse);
    // A port that was free a moment ago, so nothing listens on it.
    let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
    let url = format!("http://127.0.0.1:{port}/v1");
    let ran = bench.run(&["run", "haul", "--session", "s", "--base-url", &url]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("trying again in").count(), 1, "{}", ran.stderr);
    assert_eq!(bench.records("s", "AttemptFailed"), 3);
    let said = failure(&ran.stderr);
    assert!(said.contains(&format!("Nothing listens at {url}. Start the server")), "{said}");
    let next = bench.run(&["run", "next", "--session", "s"]);
    assert_eq!((next.code, next.stdout.as_str()), (0, "Next.\n"), "{}", next.stderr);
    bench.assert_whole("a dead server");
}

// proves M4: after a stream that breaks off, one non-streaming request gets the reply
#[test]
fn half_a_stream_is_asked_for_again_whole() {
    let cut = FaultKind::Cut { after: BodyPoint::Events(3) };
    let bench = Bench::new(Script::of([ScriptStep::say("Heave, and heave again, and once more.").fault(cut)]));
    let ran = bench.run(&["run", "haul"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Heave, and heave again, and once more.\n"), "{}", ran.stderr);
    let streams: Vec<_> = bench.server.requests().iter().map(|request| request.body["stream"] == true).collect();
    assert_eq!(streams, [true, false]);
    bench.assert_whole("half a stream");
}

#[test]
fn a_line_without_end_is_given_up_early() {
    let bench = bench(FaultKind::EndlessLine { bytes: 10_000_000_000 });
    let begun = Instant::now();
    let ran = bench.run(&["run", "haul"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[test]
fn an_address_that_is_none_is_refused_before_anything_starts() {
    let bench = bench(FaultKind::Refuse);
    for url in ["localhost:8080", "ftp://127.0.0.1/v1", "not a url", "http://", "file:///etc/passwd"] {
        let ran = bench.run(&["run", "haul", "--base-url", url]);
        assert!(ran.code == 2 && ran.stderr.contains("--base-url"), "{url}: {}", ran.stderr);
    }
    assert_eq!(bench.keys(), Vec::<String>::new());
}
