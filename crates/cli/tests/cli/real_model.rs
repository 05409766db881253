//! The binary with a real model behind llama.cpp's server: the protocol is tested, not what the model says.

mod relay;

use std::process::Command;

use serde_json::{Value, json};
use windlass_testkit::{ChatTemplate, LocalModel, Script};

use crate::support::{Bench, Ran, count, ran};
use relay::Relay;

/// Short replies, and few tools, since the model may read no more than 30 tokens a second on a busy machine.
const SETTINGS: &str = "[policy]
sampling = { max_tokens = { fixed = 32 } }
nudges = []
hidden = ['append_file', 'delete_file', 'edit_file', 'fetch_url', 'move_file', 'read_file', 'run_command', 'search_files', 'todo',
  'write_file']
";

const QUESTION: &str = "What is the capital of France?";

/// A bench with these settings and a note in its workspace. Its scripted server is not used.
fn bench() -> Bench {
    let bench = Bench::new(Script::default());
    let folder = bench.dir.path().join(".config/windlass");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("windlass.toml"), SETTINGS).expect("written");
    std::fs::write(bench.workspace().join("notes.md"), "Heave.\n").expect("written");
    bench
}

/// The binary without a named server or model, in real time: this model is slow.
fn command(bench: &Bench, arguments: &[&str]) -> Command {
    let mut command = bench.command(arguments);
    command.env_remove("OPENAI_BASE_URL").env_remove("OPENAI_MODEL").env("WINDLASS_TEST_CLOCK", "1");
    command
}

fn run(mut command: Command) -> Ran {
    ran(command.spawn().expect("the binary starts"))
}

fn start(template: ChatTemplate) -> Option<LocalModel> {
    LocalModel::start(env!("CARGO_TARGET_TMPDIR"), template).expect("the server starts")
}

/// The text of all deltas of a kind in the output of `--json`.
fn deltas(ran: &Ran, kind: &str) -> String {
    let events = ran.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let of_kind = events.filter(|event| event["kind"] == kind);
    of_kind.filter_map(|event| event["body"]["text"].as_str().map(str::to_owned)).collect()
}

/// Asserts that the session has one run that ended with an answer (see `assert_ended`), and that every reply has its usage. Returns
/// the answer.
fn assert_answered(bench: &Bench, key: &str, turns: usize) -> String {
    let journal = bench.journal(key);
    let replies: Vec<&Value> = journal.iter().filter(|record| record["kind"] == "ModelReplied").collect();
    assert_eq!(replies.len(), turns, "{journal:?}");
    for reply in replies {
        assert_eq!(reply["body"]["model"], LocalModel::ID);
        let used = |field: &str| reply["body"]["usage"][field].as_u64().unwrap_or_default();
        assert!(used("input") > 20 && (1..=32).contains(&used("output")), "{reply}");
    }
    let ended = &journal.last().expect("records")["body"];
    assert!(ended["reason"] == "completed" || ended["cut_off"] == true, "{ended}");
    assert_eq!(ended["turns"].as_u64(), Some(turns as u64), "{ended}");
    let answer = ended["answer"].as_str().expect("an answer").to_owned();
    assert!(!answer.trim().is_empty(), "{ended}");
    answer
}

/// Checks that a run ended with an answer: completed, or cut off by the length limit, as so small a model may go on for
/// long.
fn assert_ended(ran: &Ran) {
    assert!(ran.code == 0 || (ran.code == 3 && ran.stderr.contains("length limit")), "{} {}", ran.code, ran.stderr);
}

// proves M1, M4 with a real server: found by itself, listed, streamed, whole, and its refusal understood
#[test]
fn a_real_model_is_found_and_answers_streamed_and_whole() {
    let Some(model) = start(ChatTemplate::Own) else { return };
    let (bench, url) = (bench(), model.base_url());

    let doctor = run(command(&bench, &["doctor", "--base-url", &url]));
    let window = format!("{} tokens", LocalModel::WINDOW);
    for said in ["smollm2 is there", &window] {
        assert!(doctor.stdout.contains(said), "{said}: {}", doctor.stdout);
    }

    // The model's template has no place for tools; the server says so, and calls are text from the start.
    let mut found = command(&bench, &["run", QUESTION, "--session", "streamed", "--json"]);
    found.env("WINDLASS_TEST_OLLAMA", &url);
    let streamed = run(found);
    assert_ended(&streamed);
    let said = "smollm2 of the llama.cpp server on this machine is used";
    assert!(streamed.stderr.contains(said), "{}", streamed.stderr);
    assert_eq!(deltas(&streamed, "TextDelta"), assert_answered(&bench, "streamed", 1));

    let relay = Relay::to(model.authority());
    let line = ["run", QUESTION, "--session", "whole", "--base-url", relay.base_url(), "--model", LocalModel::ID];
    let whole = run(command(&bench, &line));
    assert_ended(&whole);
    assert_eq!(whole.stdout.trim_end(), assert_answered(&bench, "whole", 1).trim_end());
    let bodies = relay.bodies();
    let asked: Vec<_> = bodies.iter().map(|body| (body["stream"] == true, body["tools"].is_array())).collect();
    assert_eq!(asked, [(true, false), (false, false)], "a stream that was cut off, then the whole reply");

    // By the estimate it may fit, so the server is asked.
    let long = "heave away ".repeat(4_000);
    let over = run(command(&bench, &["run", &long, "--base-url", &url, "--model", LocalModel::ID]));
    assert_eq!(over.code, 1, "{}", over.stderr);
    let said = "longer than the window of `smollm2` (400): request (";
    assert!(over.stderr.contains(said) && over.stderr.contains(&format!("({window})")), "{}", over.stderr);
    let longer = "heave away ".repeat(9_000);
    let never = run(command(&bench, &["run", &longer, "--base-url", &url, "--model", LocalModel::ID]));
    let said = format!("its window is {}. The model was not called.", LocalModel::WINDOW);
    assert!(never.code == 1 && never.stderr.contains(&said), "{} {}", never.code, never.stderr);
    bench.assert_whole("a real model");
}

// proves M8 with a real server: its window and its template's abilities are declared, and calls are tried
#[test]
fn a_real_server_is_probed() {
    for (template, can_call) in [(ChatTemplate::Own, false), (ChatTemplate::Calls, true)] {
        let Some(model) = start(template) else { return };
        let (bench, url) = (bench(), model.base_url());
        let listed = run(command(&bench, &["models", "--json", "--base-url", &url, "--model", LocalModel::ID]));
        let listing: Value = serde_json::from_str(&listed.stdout).expect("JSON");
        let row = &listing["chain"][0];
        assert_eq!(row["window"], LocalModel::WINDOW, "{listing}");
        let says = if can_call { "tools" } else { "no tools" };
        assert!(row["abilities"].as_array().is_some_and(|list| list.contains(&json!(says))), "{listing}");
        let probed =
            run(command(&bench, &["models", "probe", "--json", "--base-url", &url, "--model", LocalModel::ID]));
        assert_eq!(probed.code, 0, "{}", probed.stderr);
        let report: Value = serde_json::from_str(&probed.stdout).expect("JSON");
        let found = &report["models"][0];
        assert_eq!(
            (&found["window"], &found["software"]),
            (&json!(LocalModel::WINDOW), &json!("llama_cpp")),
            "{report}"
        );
        // The tiny model itself decides nothing: its template writes the call, and a grammar holds it to the schema.
        assert_eq!(found["native_calls"], json!(can_call), "{report}");
        assert_eq!(found["images"], json!(false), "{report}");
    }
}

// proves M1, T1 with a real server: native calls come in pieces, run, and their results go back
#[test]
fn a_real_model_calls_a_tool_and_answers_after_its_result() {
    let Some(model) = start(ChatTemplate::Calls) else { return };
    let (bench, url) = (bench(), model.base_url());
    let line = ["run", "List the folder.", "--session", "calls", "--base-url", &url, "--model", LocalModel::ID];
    let ran = run(command(&bench, &line));
    assert_ended(&ran);
    assert_eq!(ran.stdout.trim_end(), assert_answered(&bench, "calls", 2).trim_end());
    let journal = bench.journal("calls");
    assert_eq!((count(&journal, "CallRequested"), count(&journal, "CallFinished")), (1, 1), "{journal:?}");
    let body = |kind: &str| &journal.iter().find(|record| record["kind"] == kind).expect("it is there")["body"];
    let requested = body("CallRequested");
    assert_eq!((&requested["tool"], &requested["arguments"]), (&json!("local.list_directory"), &json!({"path": "."})));
    // The server makes up an id for each call; it came with the first piece.
    assert!(requested["provider_id"].as_str().is_some_and(|id| !id.is_empty()), "{requested}");
    let finished = body("CallFinished");
    assert!(finished["outcome"] == "ok" && finished["text"].as_str().is_some_and(|text| text.contains("notes.md")));
    bench.assert_whole("a real model calls");
}
