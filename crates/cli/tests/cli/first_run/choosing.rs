//! Which model is used: one with a key, else a server on this machine, else an error message.

use super::{bench, fresh, run};
use crate::support::Ran;

#[test]
fn a_server_that_runs_here_is_found_and_used_and_said() {
    let bench = bench();
    let mut command = fresh(&bench, &["run", "hello", "--session", "s"]);
    command.env("WINDLASS_TEST_OLLAMA", bench.server.base_url());
    let ran = run(command);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Aye.\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains(" of Ollama on this machine is used (choose with --model)"), "{}", ran.stderr);
    bench.assert_whole("found");
}

// proves S5: a scripted answer does not come from a server that may belong to somebody else
#[test]
fn a_server_that_does_not_say_what_it_is_is_not_used_unasked() {
    let list = r#"{"object":"list","data":[{"id":"m","owned_by":"somebody"}]}"#;
    let url = super::doctor::server("200 OK", "application/json", list);
    let bench = bench();
    let mut command = fresh(&bench, &["run", "hello"]);
    command.env("WINDLASS_TEST_OLLAMA", &url);
    let Ran { code, stdout, stderr } = run(command);
    assert_eq!((code, stdout.as_str()), (2, ""), "{stderr}");
    assert!(stderr.contains(&format!("--base-url {url}")) && stderr.contains("not used unasked"), "{stderr}");
}

#[test]
fn nothing_is_looked_for_when_server_and_model_are_named() {
    let bench = bench();
    let ran = bench.run(&["run", "hello"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(bench.server.requests().iter().all(|request| request.path.ends_with("/chat/completions")));
}

// proves W1, W2: a model is named on the command line as in the library
#[test]
fn a_model_is_named_with_its_server() {
    let bench = bench();
    let url = bench.server.base_url();
    let host = url.strip_suffix("/v1").expect("a base URL");
    let (with_id, provider) = (format!("{url}#mine"), "ollama:mine");
    let say = |name: &str| std::fs::write(bench.workspace().join("windlass.toml"), format!("model = {name:?}"));
    for name in [with_id.as_str(), provider] {
        let flag = fresh(&bench, &["run", "hello", "--model", name]);
        let variable = |variable: &str| {
            let mut command = fresh(&bench, &["run", "hello"]);
            command.env(variable, name);
            command
        };
        for mut command in [flag, variable("WINDLASS_MODEL"), variable("OPENAI_MODEL")] {
            let ran = run({
                command.env("OLLAMA_HOST", host);
                command
            });
            assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "Aye.\n", ""), "{name}");
            assert_eq!(bench.server.requests().last().expect("a request").body["model"], "mine");
        }
        // A project may do so once it is trusted.
        say(name).expect("written");
        let ran = run(fresh(&bench, &["run", "hello"]));
        assert!(ran.code == 2 && ran.stderr.contains("a model with its server is not taken"), "{}", ran.stderr);
        std::fs::remove_file(bench.workspace().join("windlass.toml")).expect("removed");
    }
}

#[test]
fn the_model_a_session_was_begun_with_is_nearer_than_one_that_is_found() {
    let bench = bench();
    assert_eq!(bench.run(&["run", "hello", "--session", "s", "--model", "mine"]).code, 0);
    let mut command = bench.command(&["run", "again", "--session", "s"]);
    command.env_remove("OPENAI_MODEL");
    assert_eq!(run(command).code, 0);
    assert_eq!(bench.server.requests().last().expect("a request").body["model"], "mine");
}

// proves X1: another provider's key is neither sent nor printed
#[test]
fn a_key_for_the_wrong_provider_is_refused_before_it_is_sent() {
    let bench = bench();
    let mut command = fresh(&bench, &["run", "hello"]);
    command.env("OPENAI_API_KEY", "sk-ant-api03-very-secret");
    let Ran { code, stdout, stderr } = run(command);
    assert_eq!((code, stdout.as_str()), (2, ""), "{stderr}");
    assert!(stderr.contains("this is a key for Anthropic") && !stderr.contains("very-secret"), "{stderr}");
}

#[test]
fn the_demo_model_can_be_asked_for_by_name_and_answers_honestly() {
    let bench = bench();
    for session in ["a", "b"] {
        let ran = run(fresh(&bench, &["run", "What is the weather?", "--model", "demo", "--session", session]));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(
            ran.stdout.starts_with("demo model, scripted: ") && ran.stdout.contains("can't answer"),
            "{}",
            ran.stdout
        );
    }
    // Once a real model is configured, it answers.
    let ran = bench.run(&["run", "And now?", "--session", "a"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Aye.\n"), "{}", ran.stderr);
    bench.assert_whole("demo, then a real model");
}
