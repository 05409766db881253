//! The first run: nothing is configured and nothing found.

use windlass_testkit::Script;

use crate::support::Bench;
use crate::support::glass::Glass;

/// A person who has just built it.
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
    // The screen has 20 rows; what was written to it before stands in its bytes.
    let seen = glass.written();
    for expected in [
        "scripted one shows a job",
        "› Rename the screenshots in this folder",
        "demo model, scripted: first I look at what is there.",
        "• list_directory(path=.)",
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
