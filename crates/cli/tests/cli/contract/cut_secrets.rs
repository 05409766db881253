//! No part of a secret is visible, wherever a text is cut, and commands get no variable that holds a secret (X1).

use std::path::{Path, PathBuf};

use serde_json::json;
use windlass_testkit::{Script, ScriptStep};

use crate::support::{Bench, Ran};

/// A key whose pieces occur by chance in no digest and no note of ours.
const KEY: &str = "sk-Qz7Xv9Kp3Wm5Yt2R8Lb4";

fn run(bench: &Bench, arguments: &[&str]) -> Ran {
    bench.run_with(arguments, &[("OPENAI_API_KEY", KEY)])
}

/// Returns a five-character piece of the key that `text` contains, ignoring the common prefix `sk-`.
fn piece_in(text: &str) -> Option<&'static str> {
    (3..=KEY.len() - 5).map(|at| &KEY[at..at + 5]).find(|piece| text.contains(piece))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn assert_unseen(bench: &Bench, ran: &Ran) {
    assert_eq!(piece_in(&format!("{}{}", ran.stdout, ran.stderr)), None, "{}{}", ran.stdout, ran.stderr);
    for request in bench.server.requests() {
        let body = request.body.to_string();
        assert_eq!(piece_in(&body), None, "request {}: {body}", request.n);
    }
    for path in files(&bench.data()) {
        let text = String::from_utf8_lossy(&std::fs::read(&path).expect("read")).into_owned();
        assert_eq!(piece_in(&text), None, "{}", path.display());
    }
}

// proves X1: secrets are replaced before a text is cut
#[test]
fn no_honest_read_shows_a_part_of_the_key() {
    // The first and the last 512 KiB of output are kept: the key crosses the first of these limits.
    let flood = "head -c 524280 /dev/zero | tr '\\0' .; cat leak.txt; head -c 700000 /dev/zero | tr '\\0' .";
    let long = "cat long.txt";
    let steps = [
        ScriptStep::call("read_file", json!({"path": "leak.txt", "column": 8})),
        ScriptStep::call("read_file", json!({"path": "leak.txt", "column": 17})),
        ScriptStep::call("read_file", json!({"path": "long.txt"})),
        ScriptStep::call("read_file", json!({"path": "long.txt", "column": 15_001})),
        ScriptStep::call("search_files", json!({"pattern": "3Wm5"})),
        ScriptStep::call("search_files", json!({"pattern": "2R8.*$"})),
        ScriptStep::call("search_files", json!({"pattern": "x$", "path": "long.txt"})),
        ScriptStep::call("edit_file", json!({"path": "leak.txt", "old_text": "Kp3W", "new_text": "-"})),
        ScriptStep::call("run_command", json!({"command": flood})),
        ScriptStep::call("run_command", json!({"command": long})),
        ScriptStep::call("read_file", json!({"path": "call:1.10.0", "column": 11_990})),
        ScriptStep::call("read_file", json!({"path": "call:1.9.0", "column": 11_990})),
        ScriptStep::say("Done."),
    ];
    for json in [&[][..], &["--json"]] {
        assert_no_part_is_seen(Script::of(steps.clone()), json);
    }
}

/// Asserts that no part of the key is visible, in streamed output either, which is cut into chunks.
fn assert_no_part_is_seen(script: Script, flags: &[&str]) {
    let bench = Bench::new(script);
    std::fs::write(bench.workspace().join("leak.txt"), format!("pass = {KEY}\n")).expect("written");
    // `read_file` returns at most 15,000 characters; a result is cut at 12,000. The key crosses both limits.
    let filler = |length: usize| ".".repeat(length - 12);
    let wide = format!("{}{KEY}{}{KEY}{}x\n", filler(12_000), filler(3_000), filler(9_000));
    std::fs::write(bench.workspace().join("long.txt"), wide).expect("written");
    let ran = run(&bench, &[&["run", "go", "--session", "s", "--mode", "bypass"], flags].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let results = bench.last_request("tool");
    assert!(results[0].contains("⟦secret:API_KEY⟧"), "{}", results[0]);
    assert!(results[4].contains("no match") && results[7].contains("does not occur"), "{results:?}");
    assert!(results[10].contains("characters") || results[10].contains("[from line"), "{}", results[10]);
    assert_unseen(&bench, &ran);
    bench.assert_whole("cut");
}

// proves X1: variables are hidden by name and by content
#[test]
fn commands_get_no_variable_that_holds_a_secret() {
    let command = "env; test -n \"$GITHUB_TOKEN\" && echo kept; echo $GITHUB_TOKEN";
    let bench = Bench::new(Script::of([
        ScriptStep::call("run_command", json!({"command": command})),
        ScriptStep::say("Done."),
    ]));
    let folder = bench.dir.path().join(".config/windlass");
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = "[tools]\nkeep_env = ['GITHUB_TOKEN']\nhide_env = ['PLAIN']\n";
    std::fs::write(folder.join("windlass.toml"), file).expect("written");
    let hidden = [
        ("DBPASS", "hunter2"),
        ("APIKEY", "abcdefghij"),
        ("AUTH", "x"),
        ("SENTRY_DSN", "https://abc@sentry.example/1"),
        ("DATABASE_URL", "postgres://app:s3cr3t-pw@db/x"),
        ("ENDPOINT", "https://me:s3cr3t-pw@host/"),
        ("COPY", "my abcdefghij"),
        ("PLAIN", "quite harmless"),
    ];
    let given = [
        ("AUTHOR", "somebody"),
        ("KEYBOARD", "dvorak-intl"),
        ("SSH_AUTH_SOCK", "/tmp/agent.1"),
        ("AUTH_METHOD", "kerberos-5"),
        ("GITHUB_TOKEN", "ghp-0123456789"),
    ];
    // Without the sandbox, which would hide the SSH agent too.
    let flags = ["run", "go", "--mode", "bypass", "--sandbox", "off"];
    let ran = bench.run_with(&flags, &[&hidden[..], &given[..]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let printed = bench.last_request("tool").concat();
    for (name, _) in hidden {
        assert!(!printed.contains(&format!("\n{name}=")) && !printed.starts_with(name), "{name}: {printed}");
    }
    for (name, value) in &given[..4] {
        assert!(printed.contains(&format!("{name}={value}")), "{name}: {printed}");
    }
    // The command can use a kept variable, and its value is still replaced in the output.
    assert!(printed.contains("\nkept\n⟦secret:GITHUB_TOKEN⟧\n"), "{printed}");
    assert!(!printed.contains("0123456789"), "{printed}");
}

// proves X1: a tool server gets the secrets that its entry names and no others
#[test]
fn a_tool_server_gets_the_secrets_of_its_entry_and_no_others() {
    let bench = Bench::new(Script::of([]));
    let seen = bench.dir.path().join("seen");
    let folder = bench.dir.path().join(".config/windlass");
    std::fs::create_dir_all(&folder).expect("a folder");
    let entry = format!(
        "[mcpServers.hub]\ncommand = 'sh'\nargs = ['-c', 'env > {}']\nenv = {{ HUB_TOKEN = 'of-the-entry', A_KEY = \
         '${{A_KEY}}' }}\n[tools]\nkeep_env = ['B_KEY']\n",
        seen.display()
    );
    std::fs::write(folder.join("windlass.toml"), entry).expect("written");
    let environment = [
        ("A_KEY", "handed-over"),
        ("B_KEY", "for-commands"),
        ("DBPASS", "hunter2"),
        ("DATABASE_URL", "postgres://app:s3cr3t-pw@db/x"),
        ("AUTHOR", "somebody"),
    ];
    // The command is not an MCP server and exits at once.
    assert_eq!(bench.run_with(&["mcp", "test", "hub"], &environment).code, 1);
    let seen = std::fs::read_to_string(seen).expect("what it was given");
    for given in ["HUB_TOKEN=of-the-entry", "A_KEY=handed-over", "AUTHOR=somebody"] {
        assert!(seen.contains(given), "{given}: {seen}");
    }
    for hidden in ["B_KEY=", "DBPASS=", "DATABASE_URL="] {
        assert!(!seen.contains(hidden), "{hidden}: {seen}");
    }
}

// proves X1: the password alone and the whole URL are both replaced
#[test]
fn a_password_in_an_address_is_not_seen() {
    let bench =
        Bench::new(Script::of([ScriptStep::call("read_file", json!({"path": ".env"})), ScriptStep::say("Done.")]));
    let url = "postgres://app:s3cr3t-pw@db/x";
    std::fs::write(bench.workspace().join(".env"), format!("A={url}\nB=s3cr3t-pw\nC=app\n")).expect("written");
    let ran = bench.run_with(&["run", "go"], &[("DATABASE_URL", url)]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let place = "⟦secret:DATABASE_URL⟧";
    assert_eq!(bench.last_request("tool"), [format!("A={place}\nB={place}\nC=app\n")]);
}

// proves X2: an untrusted project can hide variables from commands, not keep them
#[test]
fn an_untrusted_project_hides_variables_and_keeps_none() {
    let steps = || [ScriptStep::call("run_command", json!({"command": "env"})), ScriptStep::say("Done.")];
    let bench = Bench::new(Script::of(steps().into_iter().chain(steps())));
    let file = bench.workspace().join("windlass.toml");
    std::fs::write(&file, "[tools]\nkeep_env = ['A_TOKEN']\n").expect("written");
    let ran = bench.run_with(&["run", "go", "--mode", "bypass"], &[("A_TOKEN", "of-great-worth-1")]);
    assert!(ran.code == 0 && ran.stderr.contains("windlass.toml:2:"), "{}", ran.stderr);
    assert!(!bench.last_request("tool").concat().contains("A_TOKEN"), "{:?}", bench.last_request("tool"));
    std::fs::write(&file, "[tools]\nhide_env = ['PLAIN']\n").expect("written");
    let ran = bench.run_with(&["run", "go", "--mode", "bypass"], &[("PLAIN", "in plain sight")]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(!bench.last_request("tool").concat().contains("plain sight"), "{:?}", bench.last_request("tool"));
}

// proves X1: a key given in place of a name is refused, and the error does not repeat it
#[test]
fn no_setting_takes_the_key_for_a_name() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    let pasted = "sk-proj-Hq4Tn8Zc1Vb6Mx0w";
    for key in [KEY, pasted] {
        for arguments in [
            &["run", "go", "--model", key][..],
            &["run", "go", "--preset", key],
            &["run", "go", "--session", key],
            &["run", "go", "--tag", key],
            &["run", "go", "--max-turns", key],
            &["run", "go", "--base-url", &format!("http://me:{key}@127.0.0.1:1/v1")],
            &["chat", "--resume", key],
            &["sessions", "show", key],
            &["fork", "a", "--as", key],
        ] {
            let ran = run(&bench, arguments);
            let told = format!("{}{}", ran.stdout, ran.stderr);
            assert_eq!(ran.code, 2, "{arguments:?}: {told}");
            // `pasted` is no known secret: in place of a number it looks like a typing error, which is repeated.
            let is_number = arguments.contains(&"--max-turns") && key == pasted;
            assert!(is_number || !told.contains(&key[8..]), "{arguments:?}: {told}");
        }
    }
    for variable in ["OPENAI_MODEL", "WINDLASS_MODEL", "WINDLASS_PRESET"] {
        let ran = bench.run_with(&["run", "go"], &[("OPENAI_API_KEY", KEY), (variable, KEY)]);
        assert_eq!((ran.code, piece_in(&ran.stderr)), (2, None), "{variable}: {}", ran.stderr);
    }
    assert_eq!((bench.server.count(), bench.keys().len()), (0, 0));
}
