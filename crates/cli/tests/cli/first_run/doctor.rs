//! Doctor with working, wrong and dead servers, and with unusable data folders.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use serde_json::Value;

use super::{DEAD, bench, fresh, run};
use crate::support::{Bench, Ran};

/// The state and the text of each check, by name.
fn checks(ran: &Ran) -> BTreeMap<String, (String, String)> {
    let report: Value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}{}", ran.stdout, ran.stderr));
    let checks = report["checks"].as_array().expect("checks").clone();
    let failed = checks.iter().any(|check| check["state"] == "fail");
    assert_eq!(
        (report["ok"] == true, ran.code),
        (!failed, i32::from(failed)),
        "0 only when nothing failed: {}",
        ran.stdout
    );
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    checks.iter().map(|check| (text(&check["name"]), (text(&check["state"]), text(&check["said"])))).collect()
}

fn states(ran: &Ran) -> Vec<String> {
    checks(ran).into_iter().map(|(name, (state, _))| format!("{name} {state}")).collect()
}

/// Starts a server that gives every request the same answer, and returns its URL.
pub(crate) fn server(status: &'static str, kind: &'static str, body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { break };
            let _ = stream.read(&mut [0; 4096]);
            let length = body.len();
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            );
        }
    });
    url
}

fn doctor_at(bench: &Bench, url: &str) -> Ran {
    bench.run(&["doctor", "--json", "--base-url", url])
}

// proves W2 in part
#[test]
fn with_everything_in_order_every_check_is_ok() {
    let bench = bench();
    let url =
        server("200 OK", "application/json", r#"{"object":"list","data":[{"id":"scripted","max_model_len":65536}]}"#);
    let ran = doctor_at(&bench, &url);
    // The sandbox check may be `ok` or `warn`: it depends on the kernel.
    let (sandbox, others): (Vec<_>, Vec<_>) = states(&ran).into_iter().partition(|state| state.starts_with("sandbox"));
    assert!(sandbox == ["sandbox ok"] || sandbox == ["sandbox warn"], "{sandbox:?}");
    assert_eq!(
        others,
        [
            "context ok",
            "disk ok",
            "key ok",
            "model ok",
            "server ok",
            "settings ok",
            "store ok",
            "terminal ok",
            "tools ok",
            "window ok"
        ]
    );
    assert_eq!(checks(&ran)["window"].1, "65536 tokens");
    let text = bench.run(&["doctor", "--base-url", &url]);
    assert_eq!(text.code, 0);
    assert!(text.stdout.starts_with("windlass ") && text.stdout.ends_with("Everything works.\n"), "{}", text.stdout);
    assert_eq!(bench.keys(), Vec::<String>::new(), "no session is left behind");
    let left: Vec<_> =
        std::fs::read_dir(bench.data()).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with("doctor")), "{left:?}");
}

#[test]
fn each_thing_that_is_wrong_is_named_with_what_to_do() {
    let page = server("200 OK", "text/html", "<!doctype html><html><body>Welcome</body></html>");
    let wrong_key = server("401 Unauthorized", "application/json", r#"{"error":{"message":"bad key"}}"#);
    let other = server("200 OK", "application/json", r#"{"data":[{"id":"a"},{"id":"b"}]}"#);
    let not_found = server("404 Not Found", "text/plain", "no");
    for (url, name, state, said) in [
        (DEAD, "server", "fail", "Nothing listens at"),
        (&page, "server", "fail", "web page"),
        (&wrong_key, "key", "fail", "Set WINDLASS_API_KEY"),
        (&other, "model", "fail", "it has a, b"),
        (&not_found, "server", "warn", "no list of models"),
    ] {
        let found = checks(&doctor_at(&bench(), url));
        let (seen, text) = &found[name];
        assert!(seen == state && text.contains(said), "{url}: {found:?}");
        assert_eq!((found["store"].0.as_str(), found["tools"].0.as_str()), ("ok", "ok"), "the rest is looked at too");
    }
}

// proves M2, M7: every model of the chain is looked at, with what one's own tables say
#[test]
fn the_whole_chain_is_checked() {
    let bench = bench();
    let config = bench.dir.path().join(".config/windlass");
    std::fs::create_dir_all(&config).expect("a folder");
    let text = "model = ['mine', 'groq:x', 'https://far.example:1/v1#y']\n[models.mine]\nmodel = 'http://127.0.0.1:PORT/v1#scripted'\n\
                window = 12345\n[policy]\nrun_cost_limit = '1'\n";
    let port =
        bench.server.base_url().rsplit(':').next().and_then(|rest| rest.split('/').next()).expect("a port").to_owned();
    std::fs::write(config.join("windlass.toml"), text.replace("PORT", &port)).expect("written");
    let ran = run(fresh(&bench, &["doctor"]));
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    for part in [
        "window    12345 tokens (your settings)",
        "fail  chain     groq:x: there is no key for Groq, whose model groq:x is named: set GROQ_API_KEY",
        "fail  chain     https://far.example:1/v1#y: ",
        "fail  price     run_cost_limit can't be kept: the price of ",
    ] {
        assert!(ran.stdout.contains(part), "{part:?}: {}", ran.stdout);
    }
}

#[test]
fn without_a_model_doctor_says_what_to_set() {
    let found = checks(&run(fresh(&bench(), &["doctor", "--json"])));
    let (state, said) = &found["model"];
    assert!(state == "fail" && said.contains("OPENAI_API_KEY") && said.contains("Ollama"), "{said}");
}

// proves J9: doctor reports an unwritable data folder before a run needs it
#[test]
fn a_data_folder_that_can_not_be_used_is_a_failure() {
    let bench = bench();
    let file = bench.dir.path().join("file");
    std::fs::write(&file, "").expect("written");
    for data in [file.join("below"), "/proc/windlass".into()] {
        let found = checks(&run(bench.command_on(&data, &["doctor", "--json"])));
        assert_eq!(found["store"].0, "fail", "{found:?}");
        assert_eq!(found["tools"].0, "ok", "{found:?}");
    }
}

// proves X1
#[test]
fn no_secret_is_shown_and_a_damaged_file_is_named() {
    let bench = bench();
    std::fs::write(bench.workspace().join("windlass.toml"), "model = 'm'\n").expect("written");
    let echo = server("500 Oops", "application/json", r#"{"error":{"message":"you sent sk-very-secret-key"}}"#);
    for arguments in [["doctor"].as_slice(), &["doctor", "--json"]] {
        let ran =
            bench.run_with(&[arguments, &["--base-url", &echo]].concat(), &[("OPENAI_API_KEY", "sk-very-secret-key")]);
        assert!(!format!("{}{}", ran.stdout, ran.stderr).contains("very-secret"), "{}", ran.stdout);
        assert!(
            ran.stdout.contains("OPENAI_API_KEY") && ran.stdout.contains("windlass.toml (not trusted"),
            "{}",
            ran.stdout
        );
    }
    std::fs::write(bench.workspace().join("windlass.toml"), "modle = 'm'\n").expect("written");
    let ran = bench.run(&["doctor"]);
    assert!(ran.code == 1 && ran.stdout.contains("did you mean \"model\"?"), "{}", ran.stdout);
}
