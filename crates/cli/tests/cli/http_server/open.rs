//! `windlass open`: finds the server of the data folder or starts one, and lets a browser in by a code (W3).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use windlass_testkit::{Script, ScriptStep};

use crate::support::Bench;
use crate::support::served::Served;

/// A program that keeps the address it is to open.
struct Browser {
    program: PathBuf,
    seen: PathBuf,
}

impl Browser {
    fn new(bench: &Bench) -> Self {
        let (program, seen) = (bench.dir.path().join("browser"), bench.dir.path().join("seen"));
        let script = format!("#!/bin/sh\nprintf %s \"$1\" > {0}.new && mv {0}.new {0}\n", seen.display());
        fs::write(&program, script).expect("written");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("executable");
        Self { program, seen }
    }

    fn named(&self) -> [(&'static str, &str); 1] {
        [("BROWSER", self.program.to_str().expect("a path"))]
    }

    /// Waits for the address that was opened.
    fn address(&self) -> String {
        let begun = Instant::now();
        loop {
            if let Ok(address) = fs::read_to_string(&self.seen) {
                return address;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "no address was opened");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Opens an address as a browser does, and returns its cookie.
fn cookie(served: &Served, address: &str) -> Option<String> {
    let path = address.strip_prefix(&format!("http://{}", served.host)).unwrap_or_else(|| panic!("{address}"));
    let path = path.split('#').next().unwrap_or_default();
    let entered = served.send_with("GET", path, &[], "");
    assert_eq!(entered.status, 303, "{entered:?}");
    let set = entered.headers.lines().find_map(|line| line.strip_prefix("set-cookie: "))?;
    set.split(';').next().map(str::to_owned)
}

fn lets_in(served: &Served, cookie: &str) -> bool {
    served.send_with("GET", "/api/me", &[("cookie", cookie)], "").status == 200
}

fn interrupt(served: &Served) {
    let pid = rustix::process::Pid::from_child(&served.child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("sent");
}

// proves W3: a running server is found, and the browser gets in by a code that is no token and counts once
#[test]
fn a_running_server_is_opened_by_a_code_that_counts_once() {
    let bench = Bench::new(Script::default());
    let browser = Browser::new(&bench);
    let served = Served::start(&bench, &[]);
    let file = bench.data().join("server.json");
    assert_eq!(fs::metadata(&file).expect("there").permissions().mode() & 0o777, 0o600);
    assert!(!fs::read_to_string(&file).expect("text").contains(&served.token), "the token is not written down");
    let opened = bench.run_with(&["open"], &browser.named());
    assert_eq!((opened.code, opened.stdout.as_str()), (0, ""), "{opened:?}");
    assert!(!opened.stderr.contains("with its own settings"), "{opened:?}");
    let ignored = bench.run(&["open", "--no-browser", "--max-runs", "7"]);
    assert!(ignored.stderr.contains("with its own settings"), "{ignored:?}");
    let address = browser.address();
    assert!(address.contains("/?code=") && !address.contains(&served.token), "{address}");
    let first = cookie(&served, &address).expect("a cookie");
    assert!(lets_in(&served, &first));
    assert_eq!(cookie(&served, &address), None, "a code counts once");
    assert!(!lets_in(&served, &first), "whoever used a code that two have seen is let in no more");
    for (path, body) in [("/api/entry", "{\"purpose\": \"browser\"}"), ("/api/entry/token", "")] {
        assert_eq!(served.send("POST", path, body).error(), "unauthorized", "the server's token is not the entry key");
    }
}

// proves W3: a session can be named, and where no browser is opened the address alone is the output
#[test]
fn a_named_session_is_led_to_and_the_address_is_printed() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    assert_eq!(bench.run(&["run", "hello", "--session", "notes"]).code, 0);
    let served = Served::start(&bench, &[]);
    let id = served.get("/api/sessions").json()["sessions"][0]["id"].as_str().expect("an id").to_owned();
    let printed = bench.run(&["open", "notes", "--no-browser"]);
    let address = printed.stdout.trim_end();
    assert!(address.starts_with("http://") && address.ends_with(&format!("#/s/{id}")), "{printed:?}");
    assert!(printed.stderr.contains("one browser in, once"), "{printed:?}");
    assert!(lets_in(&served, &cookie(&served, address).expect("a cookie")));
    let remote = bench.run_with(&["open"], &[("SSH_CONNECTION", "192.0.2.1 50000 192.0.2.7 22"), ("DISPLAY", ":0")]);
    let tunnel = format!("`ssh -L {}:{} 192.0.2.7`", served.host.rsplit(':').next().expect("a port"), served.host);
    assert!(remote.stdout.contains("/?code=") && remote.stderr.contains(&tunnel), "{remote:?}");
    let unknown = bench.run(&["open", "nothing", "--no-browser"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("there is no session `nothing`"), "{unknown:?}");
}

// proves W3: without a server one is started; it opens the page, lives until Ctrl-C, and leaves no file
#[test]
fn without_a_server_one_is_started_and_ends_with_ctrl_c() {
    let bench = Bench::new(Script::default());
    let browser = Browser::new(&bench);
    let mut command = bench.command(&["open", "--address", "127.0.0.1:0"]);
    let mut served = Served::started(command.envs(browser.named()));
    let address = browser.address();
    assert!(!address.contains(&served.token), "{address}");
    assert!(lets_in(&served, &cookie(&served, &address).expect("a cookie")));
    assert!(bench.data().join("server.json").exists());
    interrupt(&served);
    assert_eq!(served.child.wait().expect("ended").code(), Some(0));
    assert!(!bench.data().join("server.json").exists());
}

// proves W3: what a killed server left is not believed, and of two servers the first is found until it ends
#[test]
fn a_killed_server_is_not_found_and_of_two_the_first_is() {
    let bench = Bench::new(Script::default());
    let mut killed = Served::start(&bench, &[]);
    killed.child.kill().expect("killed");
    killed.child.wait().expect("ended");
    assert!(bench.data().join("server.json").exists(), "SIGKILL leaves the file");
    let open = ["open", "--no-browser", "--address", "127.0.0.1:0"];
    let mut started = Served::started(&mut bench.command(&open));
    assert_ne!(started.host, killed.host);
    let mut other = Served::start(&bench, &[]);
    assert!(bench.run(&open).stdout.contains(&started.host));
    interrupt(&other);
    assert_eq!(other.child.wait().expect("ended").code(), Some(0));
    assert!(bench.run(&open).stdout.contains(&started.host), "the second has not taken the file away");
    interrupt(&started);
    assert_eq!(started.child.wait().expect("ended").code(), Some(0));
}

// proves W2: a browser that can't be started is told, with the address
#[test]
fn a_browser_that_fails_is_told_with_the_address() {
    let bench = Bench::new(Script::default());
    let _served = Served::start(&bench, &[]);
    let opened = bench.run_with(&["open"], &[("BROWSER", "no-such-browser")]);
    assert_eq!(opened.code, 0, "{opened:?}");
    assert!(opened.stdout.contains("/?code=") && opened.stderr.contains("no-such-browser: "), "{opened:?}");
    assert_eq!(bench.run(&["open", "--json"]).code, 2);
}
