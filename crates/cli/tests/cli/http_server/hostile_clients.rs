//! Clients that mean harm, or are broken: each is answered or dropped, costs a bounded amount, and nobody else notices (W3).

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use windlass_testkit::{Script, ScriptStep};

use crate::support::Bench;
use crate::support::served::Served;

/// Longer than the server waits for anything here.
const PATIENCE: Duration = Duration::from_secs(60);

/// Sends these bytes, and returns what comes back until the server closes the connection.
fn exchanged(served: &Served, sent: &str) -> String {
    let mut stream = TcpStream::connect(&served.host).expect("connected");
    stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
    // A server that has seen enough closes before it has read all.
    let _ = stream.write_all(sent.as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

/// The memory of the server that is its own, in KiB.
fn memory(served: &Served) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", served.child.id())).expect("a process");
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).expect("a figure");
    line.split_whitespace().nth(1).expect("a figure").parse().expect("a number")
}

// proves W3: floods of headers and heads that never end are cut off, and no other client waits
#[test]
fn floods_and_slow_heads_are_cut_off() {
    let bench = Bench::new(Script::default());
    let served = Served::start(&bench, &[]);
    let head = format!("GET /api/health HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n", served.host);
    let many: String = (0..200).map(|number| format!("x-{number}: y\r\n")).collect();
    assert!(exchanged(&served, &format!("{head}{many}\r\n")).starts_with("HTTP/1.1 431 "));
    let long = format!("{head}x: {}\r\n\r\n", "y".repeat(400_000));
    // What is still on its way when the server closes may cost the client the answer.
    let answer = exchanged(&served, &long);
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431 "), "{answer}");
    assert!(exchanged(&served, "no request at all\r\n\r\n").starts_with("HTTP/1.1 400 "));
    let body = format!(
        "POST /api/login HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-length: 100\r\n\r\n{{",
        served.host
    );
    let began = Instant::now();
    let slow = std::thread::scope(|scope| {
        let never_ending = scope.spawn(|| exchanged(&served, &head));
        let never_sent = scope.spawn(|| exchanged(&served, &body));
        let idle = scope.spawn(|| exchanged(&served, ""));
        assert_eq!(served.get("/api/rules").status, 200, "others are answered meanwhile");
        [never_ending, never_sent, idle].map(|thread| thread.join().expect("an end"))
    });
    assert!(began.elapsed() < Duration::from_secs(40), "{:?}", began.elapsed());
    assert!(!slow[0].contains(" 200 ") && !slow[2].contains(" 200 "), "{slow:?}");
    assert!(slow[1].starts_with("HTTP/1.1 408 ") && slow[1].contains("\"too_slow\""), "{slow:?}");
}

// proves W3: a client that asks and reads no answer gives its place back
#[test]
fn a_client_that_reads_no_answer_is_cut_off() {
    let bench = Bench::new(Script::default());
    let served = Served::start(&bench, &[]);
    let asked = format!("GET /api/health HTTP/1.1\r\nhost: {}\r\n\r\n", served.host).repeat(1_000);
    let mut stream = TcpStream::connect(&served.host).expect("connected");
    stream.set_write_timeout(Some(Duration::from_millis(500))).expect("a limit");
    let began = Instant::now();
    let cut_off = loop {
        match stream.write(asked.as_bytes()) {
            Ok(_) => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(error) => break error,
        }
        assert!(began.elapsed() < PATIENCE, "the server still waits");
    };
    assert!(matches!(cut_off.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset), "{cut_off}");
}

// proves W3: every answer, errors too, keeps a browser from mischief, and nothing of the API is kept by one
#[test]
fn every_answer_has_the_headers_that_protect_the_page() {
    let bench = Bench::new(Script::default());
    let served = Served::start(&bench, &["--max-body", "1"]);
    let bearer = format!("Bearer {}", served.token);
    let signed = [("authorization", bearer.as_str())];
    let huge = "x".repeat(2 * 1024 * 1024);
    for (method, path, headers, body, status) in [
        ("GET", "/", &[][..], "", 200),
        ("HEAD", "/", &[], "", 200),
        ("GET", "/nothing", &[], "", 404),
        ("GET", "/assets/nothing", &[], "", 404),
        ("GET", "/assets/..%2f..%2fetc%2fpasswd", &[], "", 404),
        ("GET", "/assets/%00", &[], "", 404),
        ("GET", "/assets/js/main.js", &[], "", 200),
        ("GET", "/api/me", &[], "", 401),
        ("GET", "/api/me", &[("host", "evil.example")], "", 403),
        ("GET", "/api/me", &[("origin", "http://evil.example")], "", 403),
        ("GET", "/api/rules", &signed, "", 200),
        ("HEAD", "/api/rules", &signed, "", 200),
        ("OPTIONS", "/api/rules", &signed, "", 405),
        ("PUT", "/api/sessions", &signed, "{}", 405),
        ("POST", "/api/sessions", &signed, &huge, 413),
        ("GET", "/api/rules/x", &signed, "", 405),
    ] {
        let answered = served.send_with(method, path, headers, body);
        assert_eq!(answered.status, status, "{method} {path}: {answered:?}");
        for header in
            ["content-security-policy: default-src 'none'", "x-content-type-options: nosniff", "x-frame-options"]
        {
            assert!(answered.headers.contains(header), "{header}: {method} {path}: {answered:?}");
        }
        let is_kept = !answered.headers.contains("cache-control: no-store");
        assert_eq!(is_kept, !path.starts_with("/api/"), "{method} {path}: {answered:?}");
        assert!(!answered.headers.contains("access-control-allow"), "{method} {path}: {answered:?}");
        if status >= 400 {
            answered.error();
            assert!(!answered.body.contains(&bench.dir.path().display().to_string()), "{answered:?}");
        }
    }
}

// proves W3, E1: whoever follows and never reads costs a bounded amount, and a run goes on
#[test]
fn followers_that_never_read_cost_bounded_memory() {
    const FOLLOWERS: u64 = 40;
    // Each follower would hold 2 MB of answers.
    let answer = "word".repeat(16_000);
    let bench = Bench::new(Script::of((0..33).map(|_| ScriptStep::say(answer.as_str()))));
    let served = Served::start(&bench, &[]);
    let session = served.new_session();
    let mut seen = 0;
    for _ in 0..32 {
        served.say(&session, "go on");
        let ended = served.follow(&session, seen).records_to("RunEnded").pop().expect("an end");
        seen = ended["seq"].as_u64().expect("a number");
    }
    let before = memory(&served);
    let bearer = format!("Bearer {}", served.token);
    let headers = [("authorization", bearer.as_str())];
    let path = format!("/api/sessions/{session}/events");
    let mut asleep: Vec<TcpStream> = (0..FOLLOWERS).map(|_| served.begin("GET", &path, &headers, "")).collect();
    for stream in &mut asleep {
        // The first bytes have come: the server is sending.
        stream.read_exact(&mut [0; 16]).expect("an answer");
    }
    served.say(&session, "go on");
    served.follow(&session, seen).records_to("RunEnded");
    let each = memory(&served).saturating_sub(before) / FOLLOWERS;
    assert!(each < 1_024, "a follower that never reads costs {each} KiB");
    drop(asleep);
    assert_eq!(served.get("/api/rules").status, 200);
}

// proves W3: a thousand idle followers cost little each, and as many descriptors as they need are there
#[test]
fn a_thousand_idle_followers_cost_little_each() {
    const FOLLOWERS: u64 = 1_000;
    let files = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: files.maximum, maximum: files.maximum };
    setrlimit(Resource::Nofile, raised).expect("this test needs more files than most processes may open");
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    let served = Served::start(&bench, &[]);
    let session = served.new_session();
    let connect = |count: u64| -> Vec<_> { (0..count).map(|_| served.follow(&session, 1)).collect() };
    // What the first connections cost once is not the cost of each.
    let first = connect(50);
    let before = memory(&served);
    let mut followers = connect(FOLLOWERS);
    let each = memory(&served).saturating_sub(before) / FOLLOWERS;
    assert!(each <= 20, "an idle follower costs {each} KiB");
    served.say(&session, "hello");
    for follower in followers.iter_mut().step_by(100) {
        follower.records_to("RunEnded");
    }
    drop(first);
}
