//! What a person agrees to when they are asked to trust a project or to use its servers: everything the answer covers is
//! shown.

use std::fs;

use super::trusting::{project, script, servers, untrusting};
use crate::support::person::Attended;

const ASKED: &str = "go on without all that: ";
const EXCHANGED: &str = "touch exchanged\n";

// proves X2: a flag or a variable holds for one command, a yes for all that follow
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

// proves X2: what is not shown is not agreed to
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

// proves X2: two servers of one name are both shown and watched, whichever of them is started
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
