//! Init writes a working settings file, and does not overwrite one.

use std::os::unix::fs::PermissionsExt as _;

use super::{bench, fresh, run};
#[cfg(target_os = "linux")]
use crate::support::{Bench, person::Attended};

#[test]
fn what_is_found_is_written_and_the_next_run_uses_it() {
    let bench = bench();
    let mut command = fresh(&bench, &["init", "--yes"]);
    command.env("WINDLASS_TEST_OLLAMA", bench.server.base_url());
    let ran = run(command);
    let path = bench.workspace().join("windlass.toml");
    assert_eq!((ran.code, ran.stdout.trim()), (0, path.display().to_string().as_str()), "{}", ran.stderr);
    let text = std::fs::read_to_string(&path).expect("a file");
    assert!(text.contains(&format!("# base_url = \"{}\"", bench.server.base_url())), "an address needs trust: {text}");
    assert!(text.contains("\n# model = \""), "a model without its server would be looked for elsewhere: {text}");
    assert!(ran.stderr.contains("`windlass trust` asks"), "{}", ran.stderr);
    for (name, value) in
        [("WINDLASS_TEST_OLLAMA", bench.server.base_url()), ("OPENAI_BASE_URL", bench.server.base_url())]
    {
        let mut command = fresh(&bench, &["run", "hello"]);
        command.env(name, value);
        let ran = run(command);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "Aye.\n"), "{}", ran.stderr);
    }
}

// proves W2: with all defaults at a terminal, the file works at once
#[cfg(target_os = "linux")]
#[test]
fn whoever_takes_every_default_and_trusts_the_folder_can_begin() {
    for trusts in [true, false] {
        let bench = bench();
        let (mut asked, shown) = init_up_to_trust(&bench);
        assert!(shown.contains("base_url = ") && shown.contains("model = "), "{shown}");
        asked.type_text(if trusts { "y\n" } else { "n\n" });
        assert_eq!(asked.finish().code, 0);
        let path = bench.workspace().join("windlass.toml");
        let text = std::fs::read_to_string(&path).expect("a file");
        assert_eq!(text.contains(&format!("\nbase_url = \"{}\"", bench.server.base_url())), trusts, "{text}");
        let mut command = fresh(&bench, &["run", "hello"]);
        if !trusts {
            command.env("WINDLASS_TEST_OLLAMA", bench.server.base_url());
        }
        let ran = run(command);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "Aye.\n"), "{}", ran.stderr);
    }
}

/// Goes through `windlass init` with all defaults, up to the question whether the folder is trusted.
#[cfg(target_os = "linux")]
fn init_up_to_trust(bench: &Bench) -> (Attended, String) {
    let mut asked = Attended::start(bench, &["init"], &[]);
    for question in ["For [1] this folder", "The server's address", "The model:", "The preset"] {
        asked.read_until(question);
        asked.type_text("\n");
    }
    let shown = asked.read_until("Trust this project?");
    (asked, shown)
}

// proves W2, X2: Ctrl-C at the question ends like Ctrl-D at the others, and what was written is known by then
#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_at_the_trust_question_ends_with_the_exit_code_of_a_cancelled_command() {
    let bench = bench();
    let (asked, shown) = init_up_to_trust(&bench);
    assert!(shown.contains("windlass.toml is written; the server in it counts once you trust"), "{shown}");
    asked.interrupt();
    assert_eq!(asked.finish().code, 4);
}

// proves W2, X2: whoever leaves at the question has a file that stops no later command
#[cfg(target_os = "linux")]
#[test]
fn an_init_that_is_interrupted_at_the_question_leaves_a_file_that_works() {
    let bench = bench();
    init_up_to_trust(&bench).0.kill();
    let text = std::fs::read_to_string(bench.workspace().join("windlass.toml")).expect("a file");
    assert!(text.contains("\n# base_url = "), "{text}");
    let mut command = fresh(&bench, &["run", "hello"]);
    command.env("WINDLASS_TEST_OLLAMA", bench.server.base_url());
    let ran = run(command);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Aye.\n"), "{}", ran.stderr);
}

#[test]
fn a_file_that_is_there_is_never_overwritten() {
    let bench = bench();
    let path = bench.workspace().join("windlass.toml");
    std::fs::write(&path, "model = 'mine'\n").expect("written");
    let ran = run(fresh(&bench, &["init", "--yes"]));
    assert!(ran.code == 2 && ran.stderr.contains("is there already and is left as it is"), "{}", ran.stderr);
    assert_eq!(std::fs::read_to_string(&path).ok().as_deref(), Some("model = 'mine'\n"));
    // Nor is a dangling symlink overwritten.
    std::fs::remove_file(&path).expect("removed");
    std::os::unix::fs::symlink("nowhere", &path).expect("a link");
    assert_eq!(run(fresh(&bench, &["init", "--yes"])).code, 2);
    assert!(!bench.workspace().join("nowhere").exists());
}

// proves X1: the key is not written to the file
#[test]
fn ones_own_file_holds_no_key_and_is_for_nobody_else_to_read() {
    let bench = bench();
    let mut command = fresh(&bench, &["init", "--yes", "--user", "--preset", "operator"]);
    command.env("OPENAI_API_KEY", "sk-very-secret-key");
    let ran = run(command);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let path = bench.dir.path().join(".config/windlass/windlass.toml");
    let text = std::fs::read_to_string(&path).expect("a file");
    assert!(!text.contains("very-secret") && text.contains("preset = \"operator\""), "{text}");
    assert_eq!(path.metadata().expect("a file").permissions().mode() & 0o777, 0o600);
    assert!(!bench.workspace().join("windlass.toml").exists());
}

// proves W2: what the flag names is what is written
#[test]
fn the_model_of_the_flag_is_written() {
    for (model, key, written) in [
        ("gpt-5-mini", "OPENAI_API_KEY", "\nmodel = \"gpt-5-mini\""),
        ("anthropic:claude-x", "OPENAI_API_KEY", "\nmodel = \"anthropic:claude-x\""),
        ("claude-sonnet-4-5", "ANTHROPIC_API_KEY", "\nmodel = \"anthropic:claude-sonnet-4-5\""),
        ("groq:a,ollama:b", "OPENAI_API_KEY", "\nmodel = \"groq:a,ollama:b\""),
    ] {
        let bench = bench();
        let mut command = fresh(&bench, &["init", "--yes", "--user", "--model", model]);
        command.env(key, "a-key-0123456789");
        let ran = run(command);
        assert_eq!(ran.code, 0, "{model}: {}", ran.stderr);
        let text = std::fs::read_to_string(bench.dir.path().join(".config/windlass/windlass.toml")).expect("a file");
        assert!(text.contains(written) && !text.contains("\nbase_url"), "{model}: {text}");
    }
    let bench = bench();
    let ran = run(fresh(&bench, &["init", "--yes", "--model", "anthropic:claude-x"]));
    let text = std::fs::read_to_string(bench.workspace().join("windlass.toml")).expect("a file");
    assert!(text.contains("\n# model = \"anthropic:claude-x\"") && ran.stderr.contains("as a comment"), "{text}");
}

#[test]
fn without_anybody_to_ask_it_says_how_to_go_on() {
    let bench = bench();
    let ran = run(fresh(&bench, &["init"]));
    assert!(ran.code == 2 && ran.stderr.contains("--yes"), "{}", ran.stderr);
    assert!(!bench.workspace().join("windlass.toml").exists());
}
