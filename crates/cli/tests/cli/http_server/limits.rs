//! Limits of users and strangers (W3): each with its status, a reason and when to try again.

use serde_json::json;
use windlass_testkit::{Script, ScriptStep};

use crate::support::Bench;
use crate::support::served::{Answered, Served};

fn assert_limited(answered: &Answered) {
    assert_eq!((answered.status, answered.error().as_str()), (429, "limited"), "{answered:?}");
    assert!(answered.headers.contains("retry-after: "), "{answered:?}");
    assert!(answered.json()["error"]["hint"].is_string(), "{answered:?}");
}

// proves W3: who sends too many requests waits, and nobody else does
#[test]
fn requests_are_limited_by_user_and_by_address() {
    let bench = Bench::new(Script::default());
    let (ann, bob) = (bench.add_user("ann", &[]), bench.add_user("bob", &[]));
    let served = Served::start(&bench, &["--max-user-requests", "4", "--max-stranger-requests", "3"]);
    for _ in 0..4 {
        assert_eq!(served.send_as(&ann, "GET", "/api/rules", "").status, 200);
    }
    assert_limited(&served.send_as(&ann, "GET", "/api/rules", ""));
    assert_eq!(served.send_as(&bob, "GET", "/api/rules", "").status, 200);
    for _ in 0..3 {
        assert_eq!(served.send_with("GET", "/", &[], "").status, 200);
    }
    assert_limited(&served.send_with("GET", "/", &[], ""));
    assert_eq!(served.send_with("GET", "/api/health", &[], "").status, 200);
    for _ in 0..8 {
        assert_eq!(served.get("/api/rules").status, 200, "the operator is no user with limits");
    }
}

// proves W3: tokens can't be guessed at speed, whichever way they are sent, and who is in stays in
#[test]
fn an_address_that_guesses_tokens_is_shut_out() {
    let bench = Bench::new(Script::default());
    let (ann, bob) = (bench.add_user("ann", &[]), bench.add_user("bob", &[]));
    let served = Served::start(&bench, &[]);
    assert_eq!(served.send_as(&ann, "GET", "/api/rules", "").status, 200);
    let guess = |number: usize| match number % 3 {
        0 => served.send_as("wrong", "GET", "/api/rules", ""),
        1 => served.send_with("POST", "/api/login", &[], "{\"token\": \"wrong\"}"),
        _ => served.send_with("GET", "/?token=wrong", &[], ""),
    };
    let refused = (0..60).map(guess).find(|answered| answered.status == 429).expect("a limit");
    assert_limited(&refused);
    assert_eq!(served.send_as(&ann, "GET", "/api/rules", "").status, 200);
    // What a right token would be answered with tells nothing now; it does again after a while.
    let answered: Vec<_> = (0..200).map(|_| served.send_as("wrong", "GET", "/api/rules", "")).collect();
    assert_limited(&answered[199]);
    assert_limited(&served.send_as(&bob, "GET", "/api/rules", ""));
}

// proves W3: a browser with the cookie of an earlier start is told to forget it
#[test]
fn a_stale_cookie_is_taken_back() {
    let bench = Bench::new(Script::default());
    let served = Served::start(&bench, &[]);
    let cookie = format!("windlass_session_{}", served.host.split(':').next_back().expect("a port"));
    let sent = format!("{cookie}=stale");
    let page = served.send_with("GET", "/", &[("cookie", &sent)], "");
    assert!(page.headers.contains(&format!("set-cookie: {cookie}=; path=/; max-age=0")), "{page:?}");
    let entered = served.send_with("GET", &format!("/?token={}", served.token), &[("cookie", &sent)], "");
    assert!(entered.headers.contains(&format!("set-cookie: {cookie}={}", served.token)), "{entered:?}");
    assert!(!entered.headers.contains("max-age=0"), "{entered:?}");
}

// proves W3: sessions, runs, streams and bodies are bounded for each user
#[test]
fn a_user_has_a_bounded_share_of_the_server() {
    let asking = || ScriptStep::call("run_command", json!({"command": "touch made.txt"}));
    let bench = Bench::new(Script::of([asking(), asking(), asking()]));
    let (ann, bob) = (bench.add_user("ann", &[]), bench.add_user("bob", &[]));
    let limits = ["--max-user-sessions", "2", "--max-user-runs", "1", "--max-user-streams", "1", "--max-runs", "2"];
    let served = Served::start(&bench, &[&limits[..], &["--max-body", "1", "--sandbox", "off"]].concat());
    let (first, second) = (served.new_session_as(&ann), served.new_session_as(&ann));
    let exported = served.send_as(&ann, "GET", &format!("/api/sessions/{second}/export"), "").body;
    assert_limited(&served.send_as(&ann, "POST", "/api/sessions", "{}"));
    assert_limited(&served.send_as(&ann, "POST", "/api/sessions/import", &exported));
    assert_limited(&served.send_as(&ann, "POST", &format!("/api/sessions/{first}/fork"), "{}"));
    served.say_as(&ann, &first, "make it");
    let mut events = served.follow_as(&ann, &first, 0);
    events.records_to("QuestionAsked");
    assert_limited(&served.send_as(&ann, "GET", &format!("/api/sessions/{first}/events"), ""));
    let message = json!({"text": "make it"}).to_string();
    assert_limited(&served.send_as(&ann, "POST", &format!("/api/sessions/{second}/messages"), &message));
    served.say_as(&ann, &first, "the session at work takes more");
    let of_bob = served.new_session_as(&bob);
    served.say_as(&bob, &of_bob, "make it");
    served.follow_as(&bob, &of_bob, 0).records_to("QuestionAsked");
    let of_admin = served.new_session();
    assert_limited(&served.send("POST", &format!("/api/sessions/{of_admin}/messages"), &message));
    let huge = json!({"text": "x".repeat(2 * 1024 * 1024)}).to_string();
    let refused = served.send_as(&ann, "POST", &format!("/api/sessions/{first}/messages"), &huge);
    assert_eq!((refused.status, refused.error().as_str()), (413, "too_large"));
    drop(events);
    served.send_as(&ann, "POST", &format!("/api/sessions/{first}/stop"), "");
    served.follow(&first, 0).records_to("RunEnded");
}

// proves W3: sessions that are made at the same time count, too
#[test]
fn as_many_sessions_as_allowed_are_made_at_once() {
    let bench = Bench::new(Script::default());
    let ann = bench.add_user("ann", &[]);
    let served = Served::start(&bench, &["--max-user-sessions", "3"]);
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let made: Vec<_> =
            (0..20).map(|_| scope.spawn(|| served.send_as(&ann, "POST", "/api/sessions", "{}").status)).collect();
        made.into_iter().map(|thread| thread.join().expect("an answer")).collect()
    });
    assert!(statuses.iter().all(|status| matches!(status, 201 | 429)), "{statuses:?}");
    let listed = served.send_as(&ann, "GET", "/api/sessions", "").json();
    let count = listed["sessions"].as_array().expect("sessions").len();
    assert!((1..=3).contains(&count), "{statuses:?}");
}

// proves W3, J6: a session at work takes a bounded number of messages, each once
#[test]
fn as_many_messages_wait_as_may_and_a_known_one_is_no_other() {
    let bench = Bench::new(Script::of([ScriptStep::call("run_command", json!({"command": "touch begun; sleep 600"}))]));
    let mut served = Served::start(&bench, &["--sandbox", "off", "--allow", "run_command"]);
    let session = served.new_session();
    served.say(&session, "wait");
    bench.wait_for_file("begun", &mut served.child);
    let (path, bearer) = (format!("/api/sessions/{session}/messages"), format!("Bearer {}", served.token));
    let send = |key: &str| {
        let headers = [("authorization", bearer.as_str()), ("idempotency-key", key)];
        served.send_with("POST", &path, &headers, &json!({"text": "more"}).to_string())
    };
    for number in 1..=50 {
        assert_eq!(send(&format!("m-{number}")).status, 202, "{number}");
    }
    assert_limited(&send("m-51"));
    assert_eq!(send("m-50").status, 202, "it waits already");
    let stopped = served.post(&format!("/api/sessions/{session}/stop"), &json!({})).json();
    assert_eq!(stopped, json!({"runs": 1, "dropped": 50}));
    assert_eq!(send("m-51").status, 202);
}
