//! The first run: no model is configured and no local server is found.

use windlass_testkit::Script;

use crate::support::Bench;
use crate::support::glass::Glass;

/// Starts the chat without any configuration.
fn nothing_configured(bench: &Bench, arguments: &[&str]) -> Glass {
    let mut command = bench.command(arguments);
    command.env_remove("OPENAI_BASE_URL").env_remove("OPENAI_MODEL");
    command.env("WINDLASS_TEST_OLLAMA", "http://127.0.0.1:1/v1").env("TMPDIR", bench.dir.path());
    command.env("TERM", "xterm").env("LANG", "C.UTF-8");
    Glass::start(command)
}

// proves S5
#[test]
fn without_a_model_the_chat_opens_with_a_real_job_and_says_how_to_connect_one() {
    let bench = Bench::new(Script::of([]));
    let mut glass = nothing_configured(&bench, &[]);
    glass.wait_for("7 of 7 screenshots");
    glass.wait_for_prompt();
    // The screen has 20 rows; lines that have scrolled off are only in the written bytes.
    let seen = glass.written();
    for expected in [
        "scripted one shows a job",
        "› Rename the screenshots in this folder",
        "demo model, scripted: first I look at what is there.",
        "• list_directory .",
        "the reply was empty",
        "boarding-pass",
        "export OPENAI_API_KEY=",
        "ollama pull",
    ] {
        assert!(seen.contains(expected), "{expected} is missing:\n{seen}");
    }
    glass.say("and now?");
    glass.wait_for("I only know one job");
    glass.wait_for_prompt();
    glass.press("\u{4}");
    assert_eq!(glass.end(), 0);
    assert_eq!(bench.keys().len(), 1);
    assert_eq!(bench.server.count(), 0, "nobody was asked");
}

#[test]
fn a_named_demo_model_waits_for_what_the_person_says() {
    let bench = Bench::new(Script::of([]));
    let mut glass = nothing_configured(&bench, &["--model", "demo"]);
    glass.wait_for_prompt();
    assert!(!glass.text().contains("Rename"), "{}", glass.text());
    glass.say("hello");
    glass.wait_for("demo model, scripted:");
    glass.wait_for_prompt();
    glass.press("\u{4}");
    assert_eq!(glass.end(), 0);
}

/// Starts the chat without any configuration, with a server at `url` as the local default address.
fn with_a_server(bench: &Bench, url: &str) -> Glass {
    let mut command = bench.command(&[]);
    command.env_remove("OPENAI_BASE_URL").env_remove("OPENAI_MODEL");
    command.env("WINDLASS_TEST_OLLAMA", url).env("TMPDIR", bench.dir.path());
    command.env("TERM", "xterm").env("LANG", "C.UTF-8");
    Glass::start(command)
}

// proves S5: the header names a server that was found and not configured
#[test]
fn the_header_names_the_server_of_a_model_that_was_found() {
    let bench = Bench::new(Script::of([]));
    let mut glass = with_a_server(&bench, &bench.server.base_url());
    glass.wait_for_prompt();
    let header = format!("scripted at {} ·", bench.server.address());
    assert!(glass.written().contains(&header), "{}", glass.written());
    glass.press("\u{4}");
    assert_eq!(glass.end(), 0);
}

// proves S5: a server that may belong to somebody else is sent no message before the person agrees
#[test]
fn a_server_that_does_not_say_what_it_is_is_asked_about() {
    let list = r#"{"object":"list","data":[{"id":"m"}]}"#;
    let url = crate::first_run::doctor::server("200 OK", "application/json", list);
    let address = url.trim_start_matches("http://").trim_end_matches("/v1");
    for (answer, shown) in [("y", format!("m at {address} ·")), ("n", "scripted one shows a job".to_owned())] {
        let bench = Bench::new(Script::of([]));
        let mut glass = with_a_server(&bench, &url);
        glass.wait_for("[N] no:");
        glass.press(&format!("{answer}\n"));
        glass.wait_for_prompt();
        let written = glass.written();
        assert!(written.contains("does not answer as Ollama or llama.cpp"), "{written}");
        assert!(written.contains(&shown), "{answer}: {written}");
        glass.press("\u{4}");
        assert_eq!(glass.end(), 0);
    }
}
