//! `windlass models pull` on the binary, with an Ollama that downloads as the test says; and how measured models are shown.

use serde_json::{Value, json};
use windlass_testkit::{AfterSteps, FakeOllama, PullEnd, Scene, Script, ScriptStep};

use crate::support::glass::Glass;
use crate::support::{Bench, Ran, interrupt, ran};

fn bench() -> Bench {
    Bench::new(Script::default().scene(Scene::when("", [ScriptStep::say("yes")]).then(AfterSteps::RepeatLast)))
}

fn layer(completed: u64) -> Value {
    json!({"status": "pulling 6f48", "digest": "sha256:6f48", "total": 2_000_000_000_u64, "completed": completed})
}

/// The steps of a download that comes in two halves.
fn steps() -> Vec<Value> {
    let status = |status: &str| json!({ "status": status });
    let halves = [layer(0), layer(1_000_000_000), layer(2_000_000_000)];
    let end = [status("verifying sha256 digest"), status("writing manifest"), status("success")];
    [status("pulling manifest")].into_iter().chain(halves).chain(end).collect()
}

fn pull(bench: &Bench, ollama: &FakeOllama, flags: &[&str]) -> Ran {
    let url = ollama.base_url();
    bench.run(&[&["models", "pull", "qwen3:4b", "--base-url", &url], flags].concat())
}

// proves W2, S5: a model is downloaded, and a log says how far it has come
#[test]
fn a_model_is_pulled_and_progress_is_told_in_a_few_lines() {
    let (bench, ollama) = (bench(), FakeOllama::start(&[], &steps(), PullEnd::Whole).expect("a server"));
    let pulled = pull(&bench, &ollama, &[]);
    assert_eq!(pulled.code, 0, "{}{}", pulled.stdout, pulled.stderr);
    assert_eq!(ollama.asked(), ["qwen3:4b"]);
    let name = format!("{}#qwen3:4b", ollama.base_url());
    assert_eq!(pulled.stdout, format!("qwen3:4b downloaded (2.0 GB). `windlass --model {name}` uses it.\n"));
    assert_eq!(
        pulled.stderr.lines().collect::<Vec<_>>(),
        [
            "qwen3:4b: pulling manifest",
            "qwen3:4b: 50 %, 1.0 GB of 2.0 GB",
            "qwen3:4b: 100 %, 2.0 GB of 2.0 GB",
            "qwen3:4b: verifying sha256 digest",
            "qwen3:4b: writing manifest",
            "qwen3:4b: success",
        ]
    );
    let json: Value = serde_json::from_str(&pull(&bench, &ollama, &["--json"]).stdout).expect("JSON");
    assert_eq!((&json["models"][0]["ok"], &json["models"][0]["downloaded"]), (&json!(true), &json!(2_000_000_000_u64)));
    assert_eq!(bench.server.count(), 0, "no model is called");
}

#[test]
fn a_model_that_is_there_is_said_to_be_up_to_date() {
    let there = [json!({"status": "pulling manifest"}), layer(2_000_000_000), json!({"status": "success"})];
    let ollama = FakeOllama::start(&["qwen3:4b"], &there, PullEnd::Whole).expect("a server");
    let pulled = pull(&bench(), &ollama, &[]);
    assert!(pulled.stdout.starts_with("qwen3:4b is up to date (2.0 GB). "), "{}", pulled.stdout);
}

// proves E2: what failed, and what to do
#[test]
fn a_download_that_fails_says_why_and_what_to_do() {
    let unknown = json!({"error": "pull model manifest: file does not exist"});
    let full = json!({"error": "write /models/blobs/x: no space left on device"});
    for (last, end, words) in [
        (Some(unknown), PullEnd::Whole, "Ollama knows no model \"qwen3:4b\""),
        (Some(full), PullEnd::Whole, "is full (write /models/blobs/x: no space left on device). Make room"),
        (None, PullEnd::Cut, "What has come is kept: the same command goes on with it."),
    ] {
        let bench = bench();
        let steps: Vec<Value> = [layer(1_000_000_000)].into_iter().chain(last).collect();
        let ollama = FakeOllama::start(&[], &steps, end).expect("a server");
        let pulled = pull(&bench, &ollama, &[]);
        assert_eq!(pulled.code, 1, "{}{}", pulled.stdout, pulled.stderr);
        assert!(
            pulled.stdout.starts_with("qwen3:4b was not downloaded: ") && pulled.stdout.contains(words),
            "{}",
            pulled.stdout
        );
        let json: Value = serde_json::from_str(&pull(&bench, &ollama, &["--json"]).stdout).expect("JSON");
        assert!(json["models"][0]["problem"].as_str().is_some_and(|said| said.contains(words)), "{json}");
    }
    let bench = bench();
    let gone = bench.run(&["models", "pull", "m", "--base-url", "http://127.0.0.1:1/v1"]);
    assert!(
        gone.code == 1
            && gone.stdout.contains("Nothing listens at http://127.0.0.1:1/v1. Start it with `ollama serve`"),
        "{}",
        gone.stdout
    );
    let other = bench.run(&["models", "pull", "m", "--base-url", &bench.server.base_url()]);
    assert!(
        other.code == 1 && other.stdout.contains("downloads no models (404), so it is no Ollama"),
        "{}",
        other.stdout
    );
    let unnamed = bench.run(&["models", "pull"]);
    assert!(unnamed.code == 2 && unnamed.stderr.contains("windlass models pull qwen3:4b "), "{}", unnamed.stderr);
}

// proves W2: Ctrl-C ends it at once, and the server is told by the end of the connection
#[test]
fn ctrl_c_stops_a_download_cleanly() {
    let ollama = FakeOllama::start(&[], &[layer(1_000_000_000)], PullEnd::Hold).expect("a server");
    let bench = bench();
    let url = ollama.base_url();
    let mut child = bench.spawn(&["models", "pull", "qwen3:4b", "--base-url", &url]);
    let mut said = String::new();
    let mut stderr = std::io::BufReader::new(child.stderr.take().expect("a pipe"));
    std::io::BufRead::read_line(&mut stderr, &mut said).expect("a line");
    assert_eq!(said, "qwen3:4b: 50 %, 1.0 GB of 2.0 GB\n");
    interrupt(&child);
    let ended = ran(child);
    std::io::Read::read_to_string(&mut stderr, &mut said).expect("the rest");
    assert_eq!((ended.code, ended.stdout.as_str()), (4, ""), "{said}");
    assert!(said.ends_with("the same command goes on with it\n"), "{said}");
}

// proves W2: one line, written again, and gone when the download is over
#[test]
fn a_terminal_shows_one_line_that_is_written_again() {
    let (bench, ollama) = (bench(), FakeOllama::start(&[], &steps(), PullEnd::Whole).expect("a server"));
    let mut command = bench.command(&["models", "pull", "qwen3:4b", "--base-url", &ollama.base_url()]);
    command.env("TERM", "xterm").env("LANG", "C.UTF-8");
    let mut glass = Glass::start(command);
    glass.wait_for("qwen3:4b downloaded (2.0 GB)");
    assert!(glass.written().contains("\rqwen3:4b  pulling manifest\u{1b}[K"), "{}", glass.written());
    assert!(!glass.text().contains("pulling manifest"), "{}", glass.text());
    assert_eq!(glass.end(), 0);
}

// proves S5: an Ollama without a model is told with the line that gets one
#[test]
fn an_ollama_without_a_model_is_told_with_the_line_that_gets_one() {
    let (bench, ollama) = (bench(), FakeOllama::start(&[], &[], PullEnd::Whole).expect("a server"));
    let url = ollama.base_url();
    let env = [("OPENAI_BASE_URL", ""), ("OPENAI_MODEL", ""), ("WINDLASS_TEST_OLLAMA", url.as_str())];
    let line = "Ollama runs on this machine but has no model yet: `windlass models pull qwen3:4b` gets one";
    for arguments in [&["run", "hello"][..], &["doctor"], &["models"]] {
        let Ran { stdout, stderr, .. } = bench.run_with(arguments, &env);
        assert!(format!("{stdout}{stderr}").contains(line), "{arguments:?}: {stdout}{stderr}");
    }
}

// proves M2: how a measured model did is shown and its dialect used; a preset is only suggested, to a person
#[test]
fn what_was_measured_is_shown_and_changes_no_preset() {
    let bench = bench();
    let url = bench.server.base_url();
    let env = [("OPENAI_MODEL", "qwen2.5-coder:1.5b"), ("WINDLASS_TEST_OLLAMA", "http://127.0.0.1:1/v1")];
    let jobs = "file jobs: 39 of 114 done with tool_tag calls and the preset local-model (measured 2026-11-18)";
    let advice = "try --preset local-model: it did 39 of 114; with default: 6 of 20";
    let scripts = "try --preset local-model --dialect script --allow run_command: it did 72 of 153";
    let listed = bench.run_with(&["models"], &env);
    let chain = listed.stdout.split("\n\n").next().unwrap_or_default();
    assert_eq!(
        chain,
        format!(
            "the model\n  qwen2.5-coder:1.5b  window 32768; tools; calls as tool_tag\n    {jobs}\n    {scripts}\n    {advice}"
        ),
        "{}",
        listed.stdout
    );
    let doctor = bench.run_with(&["doctor", "--base-url", &url], &env);
    let said = doctor.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains(&format!("{jobs}; the preset default is used")) && said.contains(advice), "{said}");
    assert!(said.contains(scripts), "{said}");
    let started = |flags: &[&str], key: &str| {
        let ran = bench.run_with(&[&["run", "hello", "--session", key], flags].concat(), &env);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let journal = bench.journal(key);
        let run = journal.iter().find(|record| record["kind"] == "RunStarted").expect("a run")["body"].clone();
        (run["policy"]["preset"].clone(), run["models"][0]["dialect"].clone(), ran.stderr)
    };
    let (preset, dialect, said) = started(&[], "by-itself");
    assert_eq!((preset, dialect), (json!("default"), json!("tool_tag")));
    assert!(!said.contains("local-model"), "nobody is there to follow it: {said}");
    let (preset, dialect, said) = started(&["--preset", "default", "--dialect", "native"], "by-hand");
    assert_eq!((preset, dialect), (json!("default"), json!("native")));
    assert!(!said.contains("local-model"), "{said}");
}

// proves M2: a person at a terminal is told of a better preset when a run begins, once, unless they name one
#[test]
fn a_person_is_told_of_a_better_preset() {
    let bench = bench();
    for (flags, times) in [(&[][..], 1), (&["--preset", "default"], 0)] {
        let mut command = bench.command(&[&["run", "hello"], flags].concat());
        command.env("OPENAI_MODEL", "qwen2.5-coder:1.5b").env("TERM", "xterm").env("LANG", "C.UTF-8");
        let mut glass = Glass::start(command);
        glass.wait_for("1 model call");
        let said = glass.text().split_whitespace().collect::<Vec<_>>().join(" ");
        let line = "try --preset local-model: qwen2.5-coder:1.5b did 39 of 114 file jobs";
        assert_eq!(said.matches(line).count(), times, "{said}");
    }
}
