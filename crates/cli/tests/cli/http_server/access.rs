//! Who is let in (W3).

use serde_json::json;
use windlass_testkit::{Script, ScriptStep};

use crate::support::Bench;
use crate::support::served::Served;

// proves W3: without its token nothing but the page and the health is answered
#[test]
fn every_request_needs_the_token_of_this_start() {
    let bench = Bench::new(Script::default());
    let served = Served::start(&bench, &[]);
    let cookie = format!("windlass_session_{}=x", served.host.split(':').next_back().expect("a port"));
    for path in ["/api/me", "/api/sessions", "/api/usage", "/api/sessions/0198f3a0-0000-7000-8000-000000000001/events"]
    {
        for headers in [&[][..], &[("authorization", "Bearer 0123456789abcdef")], &[("cookie", cookie.as_str())]] {
            let refused = served.send_with("GET", path, headers, "");
            assert_eq!((refused.status, refused.error().as_str()), (401, "unauthorized"), "{path} {headers:?}");
        }
    }
    assert_eq!(served.send_with("GET", "/api/health", &[], "").status, 200);
    assert_eq!(served.send_with("GET", "/", &[], "").status, 200);
}

// proves W3: the token of the address becomes a cookie that scripts can't read and other sites can't send
#[test]
fn the_pages_address_is_exchanged_for_a_cookie() {
    let bench = Bench::new(Script::default());
    let served = Served::start(&bench, &[]);
    let entered = served.send_with("GET", &format!("/?token={}", served.token), &[], "");
    assert_eq!(entered.status, 303, "{entered:?}");
    assert!(entered.headers.contains("location: /\r\n"), "{entered:?}");
    let cookie = entered.headers.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect("a cookie");
    assert!(cookie.contains("; httponly; samesite=strict"), "{cookie}");
    let cookie = cookie.split(';').next().expect("a value");
    assert_eq!(served.send_with("GET", "/api/me", &[("cookie", cookie)], "").status, 200);
    let wrong = served.send_with("GET", "/?token=0123456789abcdef", &[], "");
    assert!(!wrong.headers.contains("set-cookie"), "{wrong:?}");
    let typed = served.send_with("POST", "/api/login", &[], &json!({"token": served.token}).to_string());
    assert_eq!(typed.status, 204);
    assert!(typed.headers.contains("set-cookie: windlass_session_"));
    assert_eq!(served.send_with("POST", "/api/login", &[], &json!({"token": "x"}).to_string()).error(), "unauthorized");
}

// proves W3: no page of another site, and no name that somebody points at this machine, gets an answer
#[test]
fn other_sites_and_names_are_refused() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    let served = Served::start(&bench, &[]);
    let bearer = format!("Bearer {}", served.token);
    for headers in [
        [("authorization", bearer.as_str()), ("host", "evil.example")],
        [("authorization", bearer.as_str()), ("origin", "http://evil.example")],
        [("authorization", bearer.as_str()), ("origin", "null")],
    ] {
        let refused = served.send_with("POST", "/api/sessions", &headers, "{}");
        assert_eq!((refused.status, refused.error().as_str()), (403, "forbidden"), "{headers:?}");
    }
    let own = format!("http://{}", served.host);
    let own = [("authorization", bearer.as_str()), ("origin", own.as_str())];
    assert_eq!(served.send_with("POST", "/api/sessions", &own, "{}").status, 201);
    let page = served.send_with("GET", "/", &[], "");
    for header in ["content-security-policy: default-src 'none'; script-src 'self'", "x-frame-options: deny", "nosniff"]
    {
        assert!(page.headers.contains(header), "{header}: {}", page.headers);
    }
}

// proves W3: an address that others can reach needs a token that somebody chose
#[test]
fn another_address_than_loopback_needs_a_chosen_token() {
    let bench = Bench::new(Script::default());
    let refused = bench.run(&["serve", "--address", "0.0.0.0:0"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("--token-file"), "{}", refused.stderr);
    let file = bench.dir.path().join("token");
    std::fs::write(&file, "short\n").expect("written");
    let short = bench.run(&["serve", "--address", "0.0.0.0:0", "--token-file", &file.display().to_string()]);
    assert_eq!(short.code, 2);
    assert!(short.stderr.contains("shorter than 16 characters"), "{}", short.stderr);
    std::fs::write(&file, "0123456789abcdef0123\n").expect("written");
    let served = Served::start(&bench, &["--token-file", &file.display().to_string()]);
    assert_eq!(
        served.printed,
        format!("Open http://{}/ (it asks for the token)\n", served.host),
        "logs keep what is printed"
    );
    assert_eq!(served.get("/api/me").json()["user"], json!("local"));
}

// proves W3: whoever starts a second server is told where the first one is, or that the port is another program's
#[test]
fn a_port_that_is_taken_is_told_apart() {
    let bench = Bench::new(Script::default());
    let served = Served::start(&bench, &[]);
    let again = bench.run(&["serve", "--address", &served.host]);
    assert_eq!(again.code, 2, "{again:?}");
    assert!(
        again.stderr.contains("a server of this data folder runs at") && again.stderr.contains("`windlass open`"),
        "{again:?}"
    );
    let elsewhere = Bench::new(Script::default()).run(&["serve", "--address", &served.host]);
    assert!(elsewhere.stderr.contains("is taken by another program"), "{elsewhere:?}");
}
