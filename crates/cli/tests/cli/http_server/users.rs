//! Users with tokens of their own (W3).

use serde_json::json;
use windlass_testkit::{Script, ScriptStep};

use crate::support::Bench;
use crate::support::served::Served;

// proves W3: what is another user's is not there, whatever is asked of it; an admin sees everybody's
#[test]
fn a_user_sees_only_their_own_sessions() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    let served = Served::start(&bench, &[]);
    let (ann, bob) = (bench.add_user("ann", &[]), bench.add_user("bob", &[]));
    let session = served.new_session_as(&ann);
    served.say_as(&ann, &session, "hello");
    served.follow_as(&ann, &session, 0).records_to("RunEnded");
    for (method, rest, body) in [
        ("GET", "", ""),
        ("PATCH", "", "{\"title\": \"mine\"}"),
        ("DELETE", "", ""),
        ("GET", "/records", ""),
        ("GET", "/events", ""),
        ("GET", "/export", ""),
        ("POST", "/messages", "{\"text\": \"hello\"}"),
        ("POST", "/stop", ""),
        ("POST", "/questions/3/answer", "{\"option\": \"once\"}"),
        ("POST", "/retry", ""),
        ("POST", "/fork", "{}"),
        ("POST", "/undo", "{}"),
        ("POST", "/compact", ""),
    ] {
        let refused = served.send_as(&bob, method, &format!("/api/sessions/{session}{rest}"), body);
        assert_eq!((refused.status, refused.error().as_str()), (404, "not_found"), "{method} {rest}");
        assert!(!refused.body.contains("ann"), "{refused:?}");
    }
    assert_eq!(served.send_as(&bob, "GET", "/api/sessions", "").json()["sessions"], json!([]));
    assert_eq!(served.send_as(&bob, "GET", "/api/usage", "").json()["rows"], json!([]));
    assert_eq!(served.send_as(&bob, "GET", "/api/sessions?owner=ann", "").error(), "forbidden");
    assert_eq!(served.get("/api/sessions").json()["sessions"], json!([]), "an admin's own list is their own");
    assert_eq!(served.get("/api/sessions?owner=ann").json()["sessions"][0]["id"], json!(session));
    assert_eq!(served.get(&format!("/api/sessions/{session}")).json()["owner"], json!("ann"));
    let root = bench.add_user("root", &["--admin"]);
    assert_eq!(served.send_as(&root, "GET", &format!("/api/sessions/{session}"), "").status, 200);
    let me = served.send_as(&root, "GET", "/api/me", "").json();
    assert_eq!((&me["user"], &me["admin"]), (&json!("root"), &json!(true)));
}

// proves W3: a removed user is out at once, a stream that is open ends, and the sessions stay for a new token
#[test]
fn a_removed_user_is_out_at_the_next_request() {
    let bench = Bench::new(Script::default());
    let served = Served::start(&bench, &[]);
    let token = bench.add_user("ann", &[]);
    let session = served.new_session_as(&token);
    let mut events = served.follow_as(&token, &session, 0);
    assert!(events.next().is_some());
    assert_eq!(bench.run(&["users", "remove", "ann"]).code, 0);
    assert_eq!(served.send_as(&token, "GET", "/api/me", "").error(), "unauthorized");
    while events.next().is_some() {}
    assert_eq!(bench.run(&["users", "remove", "ann"]).code, 2);
    let again = bench.add_user("ann", &[]);
    assert_ne!(again, token);
    assert_eq!(served.send_as(&token, "GET", "/api/me", "").error(), "unauthorized");
    assert_eq!(served.send_as(&again, "GET", &format!("/api/sessions/{session}"), "").status, 200);
    let listed = bench.run(&["users"]);
    assert!(listed.stdout.starts_with("ann  user  added "), "{}", listed.stdout);
    assert!(!listed.stdout.contains(&again));
    let kept = std::fs::read_to_string(bench.data().join("users.json")).expect("a file");
    assert!(!kept.contains(&again), "{kept}");
}

// proves W3: what a tool server writes can be about anybody's calls, so only an admin sees it
#[test]
fn the_log_of_a_tool_server_is_an_admins() {
    let bench = Bench::new(Script::default());
    let servers = bench.dir.path().join("servers.json");
    let entry = json!({"mcpServers": {"jobs": {"command": "sh", "args": ["-c", "echo of a call >&2; exit 1"]}}});
    std::fs::write(&servers, entry.to_string()).expect("written");
    let token = bench.add_user("ann", &[]);
    let served = Served::start(&bench, &["--mcp-config", &servers.display().to_string()]);
    let own = served.send("POST", "/api/servers/jobs/retry", "").json();
    assert_eq!((&own["state"], &own["log_tail"]), (&json!("failed"), &json!(["of a call"])), "{own}");
    let of_user = served.send_as(&token, "POST", "/api/servers/jobs/retry", "").json();
    assert_eq!((&of_user["state"], &of_user["log_tail"]), (&json!("failed"), &json!([])), "{of_user}");
    let listed = served.send_as(&token, "GET", "/api/servers", "").json();
    assert_eq!(listed["servers"][0]["log_tail"], json!([]), "{listed}");
}

// proves W3: a name that can't be a user's, or is one already, is refused with what to do
#[test]
fn an_odd_name_and_a_known_one_are_refused() {
    let bench = Bench::new(Script::default());
    bench.add_user("ann", &[]);
    for (name, told) in [("ann", "already"), ("local", "letters, digits"), ("a b", "letters, digits")] {
        let refused = bench.run(&["users", "add", name]);
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        assert!(refused.stderr.contains(told) && refused.stdout.is_empty(), "{}", refused.stderr);
    }
    std::fs::write(bench.data().join("users.json"), "[]").expect("written");
    let refused = bench.run(&["serve", "--address", "127.0.0.1:0"]);
    assert_eq!(refused.code, 1, "a server never starts with users that it can't read: {}", refused.stderr);
}

// proves X1, W3: the server's token is a secret to its own agents, wherever they find it
#[test]
fn the_servers_token_reaches_no_command_no_journal_and_no_log() {
    let token = "0123456789abcdef-the-token";
    let looking = || {
        [
            ScriptStep::call("run_command", json!({"command": "env; cat token.txt"})),
            ScriptStep::call("read_file", json!({"path": "token.txt"})),
            ScriptStep::say("Seen."),
        ]
    };
    let bench = Bench::new(Script::of([looking(), looking()].concat()));
    std::fs::write(bench.workspace().join("token.txt"), token).expect("written");
    let file = bench.dir.path().join("token");
    std::fs::write(&file, token).expect("written");
    let log = bench.dir.path().join("log");
    let (file, log) = (file.display().to_string(), log.display().to_string());
    for by_variable in [true, false] {
        let rest = ["--sandbox", "off", "--allow", "run_command", "--log", &log];
        let mut line = [&["serve", "--address", "127.0.0.1:0"], &rest[..]].concat();
        if !by_variable {
            line.extend(["--token-file", &file]);
        }
        let mut command = bench.command(&line);
        if by_variable {
            command.env("WINDLASS_SERVE_TOKEN", token);
        }
        let served = Served::started(&mut command);
        assert!(!served.printed.contains(token), "{}", served.printed);
        let session = served.new_session();
        served.say(&session, "look around");
        let records = served.follow(&session, 0).records_to("RunEnded");
        let finished = records.iter().filter(|record| record["kind"] == "CallFinished").count();
        assert_eq!(finished, 2);
        let exported = served.get(&format!("/api/sessions/{session}/export")).body;
        assert!(exported.contains("HOME=") && !exported.contains(token), "{exported}");
        assert!(!exported.contains("WINDLASS_SERVE_TOKEN="), "{exported}");
        served.get(&format!("/?token={token}"));
    }
    let sent = format!("{:?}", bench.server.requests());
    assert!(!sent.contains(token));
    let logged = std::fs::read_to_string(&log).expect("a log");
    assert!(!logged.is_empty() && !logged.contains(token));
}

// proves W3: a backup is a data folder like any other
#[test]
fn a_backup_has_the_users() {
    let bench = Bench::new(Script::default());
    bench.add_user("ann", &[]);
    let copy = bench.dir.path().join("copy");
    let ran = bench.run(&["backup", copy.to_str().expect("a path")]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let listed = bench.command_on(&copy, &["users", "list"]).output().expect("it runs");
    let names = String::from_utf8_lossy(&listed.stdout);
    assert!(listed.status.success() && names.contains("ann"), "{names}");
}
