//! The binary as a script sees it: exit codes, and which stream gets what.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A `windlass` that is isolated from this machine's settings.
struct Script {
    home: TempDir,
}

impl Script {
    fn new() -> Self {
        Self { home: tempfile::tempdir().expect("a folder") }
    }

    fn path(&self) -> &Path {
        self.home.path()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_windlass"));
        command.env_clear().env("HOME", self.path()).current_dir(self.path()).args(arguments);
        // Keeps it from finding a model server that happens to run on this machine.
        command.env("WINDLASS_TEST_OLLAMA", "http://127.0.0.1:1/v1");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, arguments: &[&str], input: &[u8]) -> Output {
        finish(self.command(arguments), input)
    }
}

fn finish(mut command: Command, input: &[u8]) -> Output {
    let mut child = command.spawn().expect("it starts");
    // A process that refuses its arguments never reads its input.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    child.wait_with_output().expect("it ends")
}

/// The exit code and standard error of a command that must print nothing on standard output.
fn refusal(output: &Output) -> (Option<i32>, String) {
    assert!(output.stdout.is_empty(), "{output:?}");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn the_version_and_the_help_go_to_standard_output() {
    let script = Script::new();
    let version = script.run(&["--version"], b"");
    assert_eq!((version.status.code(), version.stdout.starts_with(b"windlass ")), (Some(0), true));
    let help = script.run(&["run", "--help"], b"");
    let text = String::from_utf8_lossy(&help.stdout);
    for part in ["--session", "--message-id", "--allow", "Exit codes", "run_command(cargo *)"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    assert_eq!(help.status.code(), Some(0));
}

#[test]
fn wrong_arguments_end_with_2() {
    let script = Script::new();
    for arguments in
        [&["rnu"][..], &["run", "x", "--nonsense"], &["run", "x", "--deadline", "soon"], &["sessions", "nonsense"]]
    {
        let (code, text) = refusal(&script.run(arguments, b""));
        assert_eq!(code, Some(2), "{arguments:?}: {text}");
    }
}

#[test]
fn an_unusable_prompt_ends_with_2_and_says_why() {
    let script = Script::new();
    for (arguments, input, expected) in [
        (&["run", "-"][..], &b"ok\xffbad"[..], "offset 2"),
        (&["run"], b"\xff", "offset 0"),
        (&["run"], b"", "the prompt is empty"),
        (&["run", "-"], b" \n", "the prompt is empty"),
        (&["run", ""], b"", "the prompt is empty"),
    ] {
        let (code, text) = refusal(&script.run(arguments, input));
        assert!(code == Some(2) && text.contains(expected), "{arguments:?}: {text}");
    }
}

#[test]
fn no_configured_model_ends_with_2_and_says_what_to_set() {
    let script = Script::new();
    let (code, text) = refusal(&script.run(&["run", "hello"], b""));
    assert!(code == Some(2) && text.contains("windlass: no model is configured and none of yours runs"), "{text}");
    for hint in ["OPENAI_API_KEY", "Ollama", "llama.cpp", "windlass demo"] {
        assert!(text.contains(hint), "{hint}: {text}");
    }
    let (code, text) = refusal(&script.run(&["run", "hello", "--model", "qwen3"], b""));
    assert!(code == Some(2) && text.contains("no server is configured for the model \"qwen3\""), "{text}");
    let (code, text) = refusal(&script.run(&["run", "hello", "--model", "claude-sonnet-4-5"], b""));
    assert!(code == Some(2) && text.contains("there is no key for Anthropic"), "{text}");
    let mut command = script.command(&["run", "hello"]);
    command.env("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
    let (code, text) = refusal(&finish(command, b""));
    assert!(code == Some(2) && text.contains("give --model") && text.contains("Nothing listens at"), "{text}");
}

#[test]
fn a_wrong_key_in_the_file_of_the_project_ends_with_2_and_its_place() {
    let script = Script::new();
    let file = script.path().join("windlass.toml");
    std::fs::write(&file, "# settings\n\nmodle = 'x'\n").expect("a file");
    let (code, text) = refusal(&script.run(&["run", "hello"], b""));
    let expected = "windlass.toml:3:1: unknown key \"modle\"; did you mean \"model\"?\n";
    assert!(code == Some(2) && text.ends_with(expected), "{text}");
}

// proves X1, X2 on the binary: a cloned project's settings can't redirect the key to its own server
#[test]
fn a_project_that_names_a_server_elsewhere_ends_with_2_and_how_to_trust_it() {
    let script = Script::new();
    let file = script.path().join("windlass.toml");
    std::fs::write(&file, "model = 'm'\nbase_url = 'https://evil.example/v1'\n").expect("a file");
    let mut command = script.command(&["run", "hello"]);
    command.env("OPENAI_API_KEY", "sk-very-secret");
    let (code, text) = refusal(&finish(command, b""));
    assert!(code == Some(2) && text.contains("trusted = [") && !text.contains("sk-very-secret"), "{text}");
}

#[test]
fn a_data_folder_that_can_not_be_made_ends_with_5() {
    let script = Script::new();
    std::fs::write(script.path().join("file"), "").expect("a file");
    let (code, text) = refusal(&script.run(&["sessions", "list", "--data-dir", "file/below"], b""));
    assert!(code == Some(5) && text.contains("--data-dir"), "{text}");
}

// proves W2: wrong use says what to type
#[test]
fn a_sentence_instead_of_a_command_is_told_what_to_type() {
    let script = Script::new();
    for line in [&["fix the bug"][..], &["fix", "the", "bug"]] {
        let (code, text) = refusal(&script.run(line, b""));
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains("type:\n  windlass run \"fix the bug\"\n"), "{text}");
    }
}
