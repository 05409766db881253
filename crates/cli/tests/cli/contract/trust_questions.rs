//! The questions whether to trust a project or to use its servers: they display everything that a yes covers, and a
//! yes does not cover files that change while the person reads.

use std::fs;

use super::trusting::{answered, bench, project, script, servers, untrusting};
use crate::support::Bench;
use crate::support::person::Attended;

const ASKED: &str = "go on without all that: ";
const EXCHANGED: &str = "touch exchanged\n";

// proves X2: a flag or a variable applies to one command, a yes to all later ones
#[test]
fn the_question_lists_what_flags_and_variables_override_now() {
    let bench = untrusting();
    project(
        &bench,
        "base_url = 'http://127.0.0.1:9/v1'\napi_key_env = 'THEIRS'\npreset = 'operator'\ndata_dir = 'theirs'\n\
         [permissions]\nmode = 'bypass'\n[policy]\nturn_cap = 4000\n[policy.retry]\ntries = 99\nfirst_wait_ms = 1\n\
         ceiling_ms = 1\n[sandbox]\nmode = 'off'\n",
    );
    let flags = [
        "--base-url",
        "http://127.0.0.1:1/v1",
        "--preset",
        "default",
        "--mode",
        "strict",
        "--max-turns",
        "3",
        "--sandbox",
        "workspace",
    ];
    let variables = [
        ("WINDLASS_BASE_URL", "http://127.0.0.1:1/v1"),
        ("WINDLASS_API_KEY", "sk-of-the-person"),
        ("WINDLASS_PRESET", "default"),
        ("WINDLASS_DATA_DIR", "mine"),
        ("WINDLASS_MODE", "strict"),
        ("WINDLASS_MAX_TURNS", "3"),
        ("WINDLASS_SANDBOX", "workspace"),
    ];
    for (flags, variables) in [(&flags[..], &[][..]), (&[], &variables[..])] {
        let mut asked = Attended::start(&bench, &[&["run", "go"], flags].concat(), variables);
        let seen = asked.read_until(ASKED);
        for part in [
            "windlass.toml:1:12: a base_url: 'http://127.0.0.1:9/v1'",
            "windlass.toml:2:15: the choice of a key (api_key_env): 'THEIRS'",
            "windlass.toml:3:10: the preset \"operator\", which loosens",
            "windlass.toml:4:12: the place of the journals (data_dir): 'theirs'",
            "windlass.toml:6:8: a mode that asks less than yours: 'bypass'",
            "windlass.toml:8:1: `turn_cap`, which may only be tightened: 4000",
            "`retry`, which may only be tightened: {\"ceiling_ms\":1,\"first_wait_ms\":1,\"tries\":99}",
            "windlass.toml:14:8: a sandbox that holds less than yours: 'off'",
        ] {
            assert_eq!(seen.matches(part).count(), 1, "{part}: {seen}");
        }
        asked.kill();
    }
}

// proves X2: the question displays everything that a yes covers
#[test]
fn the_question_shows_the_files_whole_and_what_can_not_be_watched() {
    let bench = untrusting();
    project(&bench, "[permissions]\nallow = ['run_command(*)', 'run_command(x\u{202e}y)']\n# Not of importance.\n");
    script(&bench, "exit 1\n");
    let folder = bench.workspace().join("big");
    fs::create_dir(&folder).expect("a folder");
    (0..=1000).for_each(|number| fs::write(folder.join(number.to_string()), "").expect("written"));
    let entry = r#"{"own": {"command": "sh", "args": ["tools/server.sh", "big"], "cwd": "elsewhere", "trust": true}}"#;
    fs::write(bench.workspace().join(".mcp.json"), entry).expect("written");
    let mut asked = Attended::start(&bench, &["sessions", "list"], &[]);
    let seen = asked.read_until(ASKED);
    for part in [
        "windlass.toml:2:10: a rule that allows calls: 'run_command(*)'",
        "a rule that allows calls: 'run_command(x\u{fffd}y)'",
        "3  # Not of importance.",
        "own: sh tools/server.sh big",
        "in the folder elsewhere",
        "\"trust\": true",
        "not for what they load: tools/server.sh",
        "too much to be watched: big;",
    ] {
        assert!(seen.contains(part), "{part}: {seen}");
    }
    assert!(!seen.contains('\u{202e}'), "{seen}");
    asked.kill();
}

// proves X2: two servers with one name are both displayed and watched, whichever of them starts
#[test]
fn a_server_does_not_hide_behind_another_of_its_name() {
    let bench = untrusting();
    fs::write(bench.workspace().join("first.sh"), "touch first\n").expect("written");
    script(&bench, "exit 1\n");
    servers(&bench);
    project(&bench, "[policy]\nturn_cap = 4000\n[mcpServers.own]\ncommand = 'sh'\nargs = ['first.sh']\n");
    let mut asked = Attended::start(&bench, &["sessions", "list"], &[]);
    let seen = asked.read_until(ASKED);
    assert!(seen.contains("own: sh first.sh") && seen.contains("own: sh tools/server.sh"), "{seen}");
    asked.type_text("y\n");
    assert_eq!(asked.finish().code, 0);
    fs::write(bench.workspace().join("first.sh"), EXCHANGED).expect("written");
    let told = bench.run(&["mcp", "list"]).stderr;
    assert!(told.contains("first.sh has changed since you trusted it"), "{told}");
    assert_eq!(bench.read("exchanged"), None);
}

/// Starts a run, replaces the script while the question is open, answers yes, and denies every command.
fn exchange_while_asked(bench: &Bench, question: &str) -> String {
    let mut asked = Attended::start(bench, &["run", "go"], &[]);
    asked.read_until(question);
    script(bench, EXCHANGED);
    asked.type_text("y\n");
    let mut told = String::new();
    while let Some(seen) = asked.question() {
        told += &seen;
        asked.type_text("n\n");
    }
    let ran = asked.finish();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    told + &ran.stderr
}

fn never_ran(bench: &Bench) {
    let _ = bench.run(&["mcp", "list"]);
    assert_eq!(bench.read("exchanged"), None);
}

// proves X2: trust covers the files as they were when the question was displayed
#[test]
fn a_script_exchanged_while_a_person_reads_a_difference_is_not_trusted() {
    let bench = bench();
    project(&bench, "[policy]\nturn_cap = 10\n");
    script(&bench, "exit 1\n");
    servers(&bench);
    answered(&bench.run(&["run", "go"]));
    project(&bench, "[policy]\nturn_cap = 11\n");
    let told = exchange_while_asked(&bench, "[n] no: ");
    assert!(told.contains("was not started: tools/server.sh is not what you agreed to"), "{told}");
    never_ran(&bench);
    let later = bench.run(&["run", "go"]);
    assert!(later.stderr.contains("tools/server.sh has changed since you trusted it"), "{}", later.stderr);
}

// proves X2: trust does not cover a script replaced during the first question
#[test]
fn a_script_exchanged_while_a_new_project_is_asked_about_is_not_trusted() {
    let bench = untrusting();
    project(&bench, "[policy]\nturn_cap = 4000\n");
    script(&bench, "exit 1\n");
    servers(&bench);
    let mut asked = Attended::start(&bench, &["run", "go"], &[]);
    asked.read_until(ASKED);
    script(&bench, EXCHANGED);
    asked.type_text("y\n");
    let told = asked.read_until("[l] later: ");
    assert!(told.contains("tools/server.sh has changed since you trusted it"), "{told}");
    asked.type_text("n\n");
    assert!(asked.question().is_some_and(|question| question.contains("echo x")));
    asked.type_text("n\n");
    assert_eq!(asked.finish().code, 0);
    never_ran(&bench);
}

// proves X2: consent covers the files as they were when the question was displayed
#[test]
fn a_script_exchanged_while_consent_is_asked_for_is_not_started() {
    let bench = untrusting();
    script(&bench, "exit 1\n");
    servers(&bench);
    let told = exchange_while_asked(&bench, "[l] later: ");
    assert!(told.contains("was not started: tools/server.sh is not what you agreed to"), "{told}");
    never_ran(&bench);
    let later = bench.run(&["run", "go"]);
    assert!(later.stderr.contains("changed since you last answered: tools/server.sh"), "{}", later.stderr);
}

// proves X2: a folder loses its trust once it holds too many files to be watched
#[test]
fn a_watched_folder_that_is_filled_up_is_a_change() {
    let bench = bench();
    project(&bench, "[mcpServers.own]\ncommand = 'sh'\nargs = ['tools/server.sh', 'tools']\n");
    script(&bench, "exit 1\n");
    answered(&bench.run(&["run", "go"]));
    (0..=1000).for_each(|number| script_beside(&bench, &number.to_string()));
    let later = bench.run(&["run", "go"]);
    answered(&later);
    assert!(later.stderr.contains("tools has changed since you trusted it"), "{}", later.stderr);
}

fn script_beside(bench: &Bench, name: &str) {
    fs::write(bench.workspace().join("tools").join(name), "").expect("written");
}
