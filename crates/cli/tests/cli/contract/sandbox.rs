//! The sandbox on the real binary: what a command can't do, what is reported to the model and the person, and how
//! the network and running outside the sandbox are granted.

use std::net::TcpListener;

use serde_json::{Value, json};
use windlass_testkit::{Script, ScriptStep};

use crate::support::Bench;
use crate::support::glass::Glass;

/// Whether `doctor` reports namespaces on this machine; if not, prints that the test is skipped.
pub(super) fn holds(bench: &Bench) -> bool {
    let report = bench.run(&["doctor", "--json"]).stdout;
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let checks = report["checks"].as_array().expect("checks").clone();
    let said = checks.iter().find(|check| check["name"] == "sandbox").expect("a check")["said"].to_string();
    let holds = said.contains("namespaces") && !said.contains("no namespaces");
    if !holds {
        println!("skipped: {said}");
    }
    holds
}

/// Runs the command with these flags and returns its tool result.
fn tool_result(bench: &Bench, flags: &[&str]) -> String {
    let ran = bench.run(&[&["run", "go"], flags].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    bench.last_request("tool").concat()
}

fn bench_with(arguments: Value) -> Bench {
    Bench::new(Script::of([ScriptStep::call("run_command", arguments), ScriptStep::say("Aye.")]))
}

/// A folder that sandboxed commands must not write to. It is not in `/tmp`, because commands have their own `/tmp`.
struct Outside(tempfile::TempDir);

impl Outside {
    fn new() -> Self {
        Self(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder"))
    }

    fn path(&self) -> String {
        self.0.path().join("x").display().to_string()
    }

    fn is_written(&self) -> bool {
        self.0.path().join("x").exists()
    }
}

const BYPASS: &[&str] = &["--mode", "bypass"];

// proves X3: a half-done checkout is reported to the model and the person
#[test]
fn a_checkout_that_could_not_replace_a_protected_file_does_not_pass_for_done() {
    let bench = bench_with(json!({"command": "git checkout other"}));
    if !holds(&bench) {
        return;
    }
    let git = |words: &[&str]| {
        let whose = ["-c", "user.name=x", "-c", "user.email=x"];
        let ran = std::process::Command::new("git").current_dir(bench.workspace()).args(whose).args(words).output();
        let ran = ran.expect("git");
        assert!(ran.status.success(), "{words:?}: {}", String::from_utf8_lossy(&ran.stderr));
    };
    let write = |text: &str| {
        for name in ["AGENTS.md", "x"] {
            std::fs::write(bench.workspace().join(name), text).expect("written");
        }
    };
    git(&["init", "-q", "-b", "main"]);
    write("one");
    git(&["add", "AGENTS.md", "x"]);
    git(&["commit", "-qm", "one"]);
    git(&["checkout", "-qb", "other"]);
    write("two");
    git(&["commit", "-qam", "two"]);
    git(&["checkout", "-q", "main"]);
    let ran = bench.run(&["run", "go", "--allow", "run_command(git checkout *)"]);
    let heard = bench.last_request("tool").concat();
    assert!(heard.contains("[exit code 0]") && heard.contains("may be half done"), "{heard}");
    assert!(ran.stderr.contains("may be half done"), "{}", ran.stderr);
    assert_eq!((bench.read("AGENTS.md").as_deref(), bench.read("x").as_deref()), (Some("one"), Some("two")));
}

// proves X3: mode bypass asks nothing, and the sandbox still applies
#[test]
fn a_command_that_nobody_was_asked_about_writes_in_the_workspace_only() {
    let outside = Outside::new();
    let line = format!("echo x > made; echo y > {}; echo z > windlass.toml; exit 1", outside.path());
    let bench = bench_with(json!({"command": line}));
    if !holds(&bench) {
        return;
    }
    std::fs::create_dir(bench.workspace().join(".git")).expect("made");
    let heard = tool_result(&bench, BYPASS);
    assert!(heard.contains("Read-only file system") && heard.contains("\"sandbox\": \"off\""), "{heard}");
    assert!(heard.contains("windlass.toml.set-aside: "), "{heard}");
    assert_eq!(bench.read("made").as_deref(), Some("x\n"));
    assert!(!outside.is_written() && bench.read("windlass.toml").is_none());
}

// proves X3, X1
#[test]
fn a_command_reads_neither_our_data_nor_keys() {
    let bench = bench_with(
        json!({"command": "cat $HOME/.ssh/key; ls $DATA; cat $DATA/*; tr '\\0' '\\n' < /proc/$PPID/environ | grep key"}),
    );
    if !holds(&bench) {
        return;
    }
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    std::fs::create_dir(home.path().join(".ssh")).expect("made");
    std::fs::write(home.path().join(".ssh/key"), "a-secret-key").expect("written");
    let data = bench.data();
    let path = |path: &std::path::Path| path.to_str().expect("a path").to_owned();
    let (home, data) = (path(home.path()), path(&data));
    let environment = [("HOME", home.as_str()), ("DATA", data.as_str())];
    let ran = bench.run_with(&[&["run", "go"], BYPASS].concat(), &environment);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let heard = bench.last_request("tool").concat();
    assert!(!heard.contains("a-secret-key") && !heard.contains("sqlite") && !heard.contains(".db"), "{heard}");
}

// proves X3
#[test]
fn the_network_is_granted_by_a_rule_about_it_and_not_by_one_about_the_command() {
    let server = TcpListener::bind("127.0.0.1:0").expect("a port");
    let line = format!("bash -c 'echo > /dev/tcp/127.0.0.1/{}'", server.local_addr().expect("an address").port());
    let rule = format!("run_command({line})");
    for (flags, network, want) in [
        (vec!["--allow", rule.as_str()], json!(false), "exit code 1"),
        (vec!["--allow", rule.as_str()], json!(true), "nobody is there"),
        (vec!["--allow", &format!("network({rule})")], json!(true), "exit code 0"),
        (vec!["--allow", rule.as_str(), "--allow", "network"], json!(true), "exit code 0"),
        (vec!["--mode", "bypass", "--deny", "network"], json!(true), "forbids it"),
        (vec!["--allow", rule.as_str(), "--sandbox", "off"], json!(false), "exit code 0"),
    ] {
        let bench = bench_with(json!({"command": line, "network": network}));
        if !holds(&bench) {
            return;
        }
        // Without a sandbox a call does not ask for the network.
        let bench = if flags.contains(&"off") { bench_with(json!({"command": line})) } else { bench };
        let heard = tool_result(&bench, &flags);
        assert!(heard.contains(want), "{flags:?} {network}: {heard}");
    }
}

// proves X3: running outside the sandbox needs approval in every mode
#[test]
fn leaving_the_sandbox_is_asked_about_even_where_nothing_is() {
    for flags in [BYPASS, &["--allow", "run_command(touch *)"]] {
        let outside = Outside::new();
        let bench = bench_with(json!({"command": format!("touch {}", outside.path()), "sandbox": "off"}));
        if !holds(&bench) {
            return;
        }
        let heard = tool_result(&bench, flags);
        assert!(heard.contains("nobody is there"), "{flags:?}: {heard}");
        assert!(!outside.is_written());
    }
}

// proves X3
#[test]
fn a_command_is_tried_in_the_sandbox_and_leaves_with_its_exit_code() {
    let bench = Bench::new(Script::of([]));
    if !holds(&bench) {
        return;
    }
    let outside = Outside::new();
    let ran =
        bench.run(&["sandbox", "--", "sh", "-c", &format!("echo x > made; echo y > {} || exit 7", outside.path())]);
    assert_eq!(ran.code, 7, "{}", ran.stderr);
    assert_eq!(bench.read("made").as_deref(), Some("x\n"));
    assert_eq!(bench.run(&["sandbox", "--sandbox", "read-only", "--", "sh", "-c", "touch more"]).code, 1);
    let ran = bench.run(&["sandbox", "--sandbox", "off", "--", "sh", "-c", &format!("touch {}", outside.path())]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(outside.is_written());
    assert_eq!(bench.run_with_input(&["sandbox", "--", "sh", "-c", "cat"], b"typed\n").stdout, "typed\n");
    assert_eq!(bench.run(&["sandbox", "--", "sh", "-c", "kill -9 $$"]).code, 137);
    let ran = bench.run(&["sandbox", "--", "sh", "-c", "mkdir a; echo x > .envrc; echo x > a/AGENTS.md"]);
    assert!(ran.code == 0 && ran.stderr.matches("set aside as").count() == 2, "{}", ran.stderr);
    assert_eq!((bench.read(".envrc"), bench.read("a/AGENTS.md")), (None, None));
}

// proves X3, X2
#[test]
fn an_untrusted_project_does_not_open_the_sandbox() {
    let bench = bench_with(json!({"command": "true"}));
    std::fs::write(bench.workspace().join("windlass.toml"), "[sandbox]\nmode = \"off\"\n").expect("written");
    let ran = bench.run(&["run", "go"]);
    let told = "windlass.toml:2:8: a sandbox that holds less than yours: not taken";
    assert!(ran.code == 0 && ran.stderr.contains(told), "{}", ran.stderr);
    let outside = Outside::new();
    if holds(&bench) {
        assert_ne!(bench.run(&["sandbox", "--", "touch", &outside.path()]).code, 0);
        assert!(!outside.is_written());
    }
}

// proves X3, X2: a project's server that was approved for the sandbox only, and one whose entry asks for it
#[test]
fn a_tool_server_runs_in_the_sandbox_where_it_was_agreed_to_so() {
    for (entry, consent, held) in [
        (json!({}), &["mcp", "approve"][..], false),
        (json!({}), &["mcp", "approve", "--sandbox"], true),
        (json!({"sandbox": "workspace"}), &["mcp", "approve"], true),
    ] {
        let (bench, outside) = (Bench::new(Script::of([])), Outside::new());
        if !holds(&bench) {
            return;
        }
        let mut server = json!({"command": "sh", "args": ["-c", format!("echo x > ran; touch {}", outside.path())]});
        server.as_object_mut().expect("an object").extend(entry.as_object().expect("an object").clone());
        let block = json!({"mcpServers": {"hub": server}}).to_string();
        std::fs::write(bench.workspace().join(".mcp.json"), block).expect("written");
        assert_eq!(bench.run(consent).code, 0);
        // The command is not an MCP server, so this fails; the files it wrote before show its isolation.
        assert_eq!(bench.run(&["mcp", "test", "hub"]).code, 1);
        assert_eq!(bench.read("ran").as_deref(), Some("x\n"));
        assert_eq!(outside.is_written(), !held, "{consent:?} {server}");
    }
}

// proves X3, T8: weaker isolation or fewer questions than usual are reported before the run starts
#[test]
fn a_run_without_a_sandbox_or_without_questions_says_so() {
    let (no_sandbox, no_questions) = ("commands run without a sandbox", "calls run without asking (mode bypass)");
    for (flags, file, want) in [
        (&[][..], "", &[][..]),
        (&["--sandbox", "off"], "", &[no_sandbox]),
        (&[], "[sandbox]\nmode = 'off'\n[permissions]\nmode = 'bypass'\n", &[no_sandbox, no_questions]),
        (BYPASS, "", &[no_questions]),
    ] {
        let bench = Bench::new(Script::of([ScriptStep::say("Aye."), ScriptStep::say("Aye.")]));
        let folder = bench.dir.path().join(".config/windlass");
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("windlass.toml"), file).expect("written");
        let ran = bench.run(&[&["run", "go"], flags].concat());
        let told: Vec<&str> = ran.stderr.lines().filter_map(|line| line.strip_prefix("windlass: ")).collect();
        assert_eq!(told, want, "{flags:?}: {}", ran.stderr);
        let mut glass = Glass::chat(&bench, flags);
        glass.wait_for_prompt();
        for line in [no_sandbox, no_questions] {
            assert_eq!(glass.text().contains(line), want.contains(&line), "{flags:?}: {}", glass.text());
        }
        glass.say("/status");
        glass.wait_for("runs so far");
        let off = glass.text().contains("sandbox   off: commands run without a sandbox");
        assert_eq!(off, want.contains(&no_sandbox), "{}", glass.text());
    }
}
