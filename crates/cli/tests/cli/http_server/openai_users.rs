//! The OpenAI wire (`/v1`) with several users, at its limits, and while the server ends.

use serde_json::{Value, json};
use windlass_testkit::{Script, ScriptStep};

use super::openai_wire::{asked, chat, error, header, session, text};
use crate::support::served::{Answered, Served};
use crate::support::{Bench, ends_unread, send_signal};

const COMPLETIONS: &str = "/v1/chat/completions";

/// A call that goes on until the file `go` appears.
fn waiting_call() -> ScriptStep {
    ScriptStep::call("run_command", json!({"command": "touch begun; while ! test -e go; do sleep 0.02; done"}))
}

fn send_as(served: &Served, token: &str, named: Option<&str>, body: &Value) -> Answered {
    let bearer = format!("Bearer {token}");
    let mut headers = vec![("authorization", bearer.as_str())];
    headers.extend(named.map(|name| ("x-windlass-session", name)));
    served.send_with("POST", COMPLETIONS, &headers, &body.to_string())
}

// proves W3: what one user said is nobody else's beginning, session or response
#[test]
fn a_token_reaches_its_own_conversations_only() {
    let bench = Bench::new(Script::of(["Annes.", "Bobs.", "More.", "Named.", "Also."].map(ScriptStep::say)));
    let (ann, bob) = (bench.add_user("ann", &[]), bench.add_user("bob", &[]));
    let served = Served::start(&bench, &[]);
    let first = send_as(&served, &ann, None, &asked("hello"));
    assert_eq!(text(&first), "Annes.");
    let longer = chat(&json!([{"role": "user", "content": "hello"}, {"role": "assistant", "content": "Annes."},
        {"role": "user", "content": "and?"}]));
    let copied = send_as(&served, &bob, None, &longer);
    assert_eq!(header(&copied, "x-windlass-run"), "1", "nothing of ann's session is known to bob");
    assert_eq!(header(&send_as(&served, &ann, None, &longer), "x-windlass-run"), "2");
    let notes = send_as(&served, &ann, Some("notes"), &asked("keep this"));
    let others = send_as(&served, &bob, Some("notes"), &asked("keep that"));
    assert_ne!(session(&notes), session(&others), "a key is the user's own");
    for token in [&bob, &served.token] {
        let refused = send_as(&served, token, Some(&session(&notes)), &asked("read"));
        assert_eq!((refused.status, error(&refused)["type"].clone()), (404, json!("invalid_request_error")));
    }
}

// proves W3, T8: a session at work is busy, a user has as many runs as they may, and both errors are OpenAI's
#[test]
fn a_busy_session_and_a_user_at_the_limit_are_told_so() {
    let bench = Bench::new(Script::of([waiting_call(), ScriptStep::say("Done.")]));
    let (ann, bob) = (bench.add_user("ann", &[]), bench.add_user("bob", &[]));
    let arguments = ["--max-user-runs", "1", "--sandbox", "off", "--allow", "run_command"];
    let mut served = Served::start(&bench, &arguments);
    let bearer = format!("Bearer {ann}");
    let headers = [("authorization", bearer.as_str()), ("x-windlass-session", "notes")];
    let waiting = served.begin("POST", COMPLETIONS, &headers, &asked("wait").to_string());
    bench.wait_for_file("begun", &mut served.child);
    let busy = send_as(&served, &ann, Some("notes"), &asked("more"));
    assert_eq!((busy.status, error(&busy)["code"].clone()), (409, json!("session_busy")));
    let limited = send_as(&served, &ann, None, &asked("more"));
    assert_eq!((limited.status, error(&limited)["code"].clone()), (429, json!("rate_limit_exceeded")));
    assert!(limited.headers.contains("retry-after: "), "{limited:?}");
    std::fs::write(bench.workspace().join("go"), "").expect("written");
    assert_eq!(text(&send_as(&served, &bob, None, &asked("hello"))), "Done.", "others have runs of their own");
    drop(waiting);
}

// proves J3, W3: a server that ends takes no new request, and the client of a run that is put down is told to ask again
#[test]
fn a_server_that_ends_tells_its_clients() {
    let bench = Bench::new(Script::of([waiting_call(), ScriptStep::say("Done.")]));
    let mut served = Served::start(&bench, &["--sandbox", "off", "--allow", "run_command"]);
    let bearer = format!("Bearer {}", served.token);
    let waiting = served.begin("POST", COMPLETIONS, &[("authorization", &bearer)], &asked("wait").to_string());
    bench.wait_for_file("begun", &mut served.child);
    send_signal(&served.child, "TERM");
    while served.send_with("GET", "/api/ready", &[], "").status != 503 {}
    let refused = served.post(COMPLETIONS, &asked("more"));
    assert_eq!((refused.status, error(&refused)["code"].clone()), (503, json!("shutting_down")));
    std::fs::write(bench.workspace().join("go"), "").expect("written");
    let told = Answered::read(waiting);
    assert_eq!((told.status, error(&told)["code"].clone()), (503, json!("shutting_down")));
    assert_eq!(header(&told, "x-should-retry"), "false", "the run goes on at the next start");
    assert_eq!(ends_unread(&mut served.child), 0);
}
