//! A call that carries text from outside to the network or to a protected path needs approval (X4).

use std::process::Command;

use serde_json::{Value, json};
use windlass_testkit::{Scene, Script, ScriptStep};

use crate::support::Bench;

const TEXT: &str = "the-whole-of-the-customer-list-in-one-line-0123456789";

/// Returns the tool result of the second call, which carries text that the first call read.
fn heard(bench: &Bench, flags: &[&str]) -> String {
    let ran = bench.run(&[&["run", "go", "--allow", "fetch_url", "--fetch-private", "127.0.0.1"], flags].concat());
    assert_eq!(ran.code, 0, "{flags:?}: {}", ran.stderr);
    bench.assert_whole("asked about");
    bench.last_request("tool").pop().expect("a result")
}

fn bench(read: (&str, Value), carried: &str) -> Bench {
    // No server listens on this port: a permitted fetch reports a failed connection.
    let fetch = json!({"url": format!("http://127.0.0.1:1/?q={carried}")});
    let bench = Bench::new(Script::of([
        ScriptStep::call(read.0, read.1),
        ScriptStep::call("fetch_url", fetch),
        ScriptStep::say("Aye."),
    ]));
    std::fs::write(bench.workspace().join("notes.txt"), format!("Dear all:\n{TEXT}\n")).expect("written");
    bench
}

fn read_file() -> (&'static str, Value) {
    ("read_file", json!({"path": "notes.txt"}))
}

// proves X4
#[test]
fn a_page_is_not_asked_for_with_text_of_a_file_nobody_keeps() {
    for read in [read_file(), ("search_files", json!({"pattern": "customer"}))] {
        for carried in [TEXT.to_owned(), TEXT.replace('-', "%2D"), format!("x{TEXT}y")] {
            let told = heard(&bench(read.clone(), &carried), &[]);
            assert!(told.contains("it carries text from the file `notes.txt`, which is not under version"), "{told}");
        }
    }
}

// proves X4: a command that had the network may have fetched the text it prints
#[cfg(target_os = "linux")]
#[test]
fn what_a_command_with_the_network_prints_is_text_from_outside() {
    let command = |network: bool| ("run_command", json!({"command": format!("echo {TEXT}"), "network": network}));
    let allowed = ["--allow", "run_command(echo *)", "--allow", "network(run_command(echo *))"];
    if !super::sandbox::holds(&bench(command(true), TEXT)) {
        return;
    }
    let told = heard(&bench(command(true), TEXT), &allowed);
    assert!(told.contains(&format!("it carries text from the command `echo {TEXT}`, which had the network")), "{told}");
    let told = heard(&bench(command(false), TEXT), &allowed);
    assert!(!told.contains("it carries text from"), "{told}");
}

// proves X4: short text, text of files under version control, and a check that the person switched off
#[test]
fn other_text_is_not_asked_about() {
    let refused = |told: &str| told.contains("it carries text from");
    assert!(!refused(&heard(&bench(read_file(), "the-whole-of-the-customer-list"), &[])));
    assert!(!refused(&heard(&bench(read_file(), TEXT), &["--mode", "bypass"])));
    let off = bench(read_file(), TEXT);
    let settings = off.dir.path().join(".config/windlass");
    std::fs::create_dir_all(&settings).expect("made");
    std::fs::write(settings.join("windlass.toml"), "[policy]\noutside_text = \"ignore\"\n").expect("written");
    assert!(!refused(&heard(&off, &[])));
    let kept = bench(read_file(), TEXT);
    for words in [&["init", "-q"][..], &["add", "notes.txt"]] {
        let git = Command::new("git").current_dir(kept.workspace()).args(words).status().expect("git runs");
        assert!(git.success());
    }
    assert!(!refused(&heard(&kept, &[])));
    let copied_over = bench(read_file(), TEXT);
    let notes = copied_over.workspace().join("notes.txt");
    std::fs::write(&notes, "ours").expect("written");
    for words in [&["init", "-q"][..], &["add", "notes.txt"]] {
        let git = Command::new("git").current_dir(copied_over.workspace()).args(words).status().expect("git runs");
        assert!(git.success());
    }
    std::fs::write(&notes, format!("Dear all:\n{TEXT}\n")).expect("written");
    assert!(refused(&heard(&copied_over, &[])), "what was copied over a file is not what git keeps");
}

// proves X4, S3: what a step has read is still text from outside in the next one
#[test]
fn text_from_outside_is_asked_about_in_the_next_step_of_a_plan() {
    let fetch = json!({"url": format!("http://127.0.0.1:1/?q={TEXT}")});
    let script = Script::default()
        .scene(Scene::when("Write the plan for this request", [ScriptStep::say("1. Read it.\n2. Send it.")]))
        .scene(Scene::when("Write the answer to the request", [ScriptStep::say("It was not sent.")]))
        .scene(Scene::when(
            "This step (1 of 2)",
            [ScriptStep::call("read_file", json!({"path": "notes.txt"})), ScriptStep::say(TEXT)],
        ))
        .scene(Scene::when("This step (2 of 2)", [ScriptStep::call("fetch_url", fetch), ScriptStep::say("Aye.")]));
    let bench = Bench::new(script);
    std::fs::write(bench.workspace().join("notes.txt"), format!("Dear all:\n{TEXT}\n")).expect("written");
    let ran = bench.run(&["run", "go", "--plan", "--allow", "fetch_url", "--fetch-private", "127.0.0.1"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let told = bench.server.requests().iter().map(|request| request.body.to_string()).collect::<String>();
    assert!(told.contains("it carries text from the file `notes.txt`"), "{told}");
}
