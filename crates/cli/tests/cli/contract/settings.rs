//! Flags before the environment, before the project's file, before the user's, before the defaults.

use std::path::PathBuf;

use windlass_testkit::{After, Scene, Script, Step};

use crate::support::{Bench, Ran, ran};

fn bench() -> Bench {
    Bench::new(Script::default().scene(Scene::when("", [Step::say("Aye.")]).then(After::RepeatLast)))
}

fn user_file(bench: &Bench) -> PathBuf {
    let folder = bench.dir.path().join(".config/windlass");
    std::fs::create_dir_all(&folder).expect("a folder");
    folder.join("windlass.toml")
}

/// Runs with no model but those given.
fn run(bench: &Bench, flags: &[&str], environment: &[(&str, &str)]) -> Ran {
    let mut command = bench.command(&[&["run", "go"], flags].concat());
    command.env_remove("OPENAI_MODEL").envs(environment.iter().copied());
    ran(command.spawn().expect("the binary starts"))
}

#[test]
fn the_nearest_source_that_names_a_model_counts() {
    let bench = bench();
    let project = bench.workspace().join("windlass.toml");
    std::fs::write(&project, "model = 'of-project'\n").expect("written");
    std::fs::write(user_file(&bench), "model = 'of-user'\n").expect("written");
    let openai = ("OPENAI_MODEL", "of-openai");
    let ours = ("WINDLASS_MODEL", "of-windlass");
    for (flags, environment, expected) in [
        (["--model", "of-flag"].as_slice(), [openai, ours].as_slice(), "of-flag"),
        (&[], &[openai, ours], "of-windlass"),
        (&[], &[openai], "of-openai"),
        (&[], &[("OPENAI_MODEL", "")], "of-project"),
        (&[], &[], "of-project"),
    ] {
        let ran = run(&bench, flags, environment);
        assert_eq!(ran.code, 0, "{expected}: {}", ran.stderr);
        assert_eq!(bench.server.requests().last().expect("a request").body["model"], expected);
    }
    std::fs::remove_file(&project).expect("removed");
    assert_eq!(run(&bench, &[], &[]).code, 0);
    assert_eq!(bench.server.requests().last().expect("a request").body["model"], "of-user");
    std::fs::remove_file(user_file(&bench)).expect("removed");
    // The server is on this machine and has one: that is taken, and said.
    let found = run(&bench, &[], &[]);
    let taken = bench.server.requests().last().expect("a request").body["model"].clone();
    let taken = taken.as_str().expect("a name");
    assert!(
        found.code == 0 && found.stderr.contains(&format!("no model is named: {taken} of http")),
        "{}",
        found.stderr
    );
}

#[test]
fn policy_and_permissions_come_from_the_files_too() {
    let bench = bench();
    std::fs::write(bench.workspace().join("windlass.toml"), "preset = 'task'\n[policy]\nturn_cap = 7\n")
        .expect("written");
    std::fs::write(user_file(&bench), "preset = 'operator'\n[policy]\nturn_cap = 8\n").expect("written");
    let _ = run(&bench, &["--model", "m", "--session", "a", "--max-turns", "1"], &[]);
    let _ = run(&bench, &["--model", "m", "--session", "b", "--preset", "assistant"], &[("WINDLASS_PRESET", "task")]);
    for (key, preset, turns) in [("a", "task", 1), ("b", "assistant", 7)] {
        let journal = bench.journal(key);
        let started = journal.iter().find(|record| record["kind"] == "RunStarted").expect("a run");
        let policy = &started["body"]["policy"];
        assert_eq!((policy["preset"].as_str(), policy["turn_cap"].as_u64()), (Some(preset), Some(turns)), "{key}");
    }
}

#[test]
fn a_wrong_file_is_refused_with_line_column_and_the_nearest_name() {
    let bench = bench();
    for (text, expected) in [
        ("model = 'm'\nprest = 'task'\n", ":2:1: unknown key \"prest\"; did you mean \"preset\"?"),
        ("[policy]\n  turn_cpa = 3\n", ":2:3: unknown key \"turn_cpa\"; did you mean \"turn_cap\"?"),
        ("preset = 'tsk'\n", ":1:10: there is no preset \"tsk\"; did you mean \"task\"?"),
        ("[permissions]\nmode = 'strikt'\n", ":2:8: unknown value \"strikt\"; did you mean \"strict\"?"),
        ("[permissions]\ndeny = ['run_command(']\n", ":2:9: "),
        ("model = \n", ":1:"),
    ] {
        for file in [bench.workspace().join("windlass.toml"), user_file(&bench)] {
            std::fs::write(&file, text).expect("written");
            let ran = run(&bench, &["--model", "m"], &[]);
            std::fs::remove_file(&file).expect("removed");
            let place = format!("{}{expected}", file.display());
            assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{text}: {}", ran.stderr);
            assert!(ran.stderr.contains(&place), "{text}: {} lacks {place}", ran.stderr);
        }
    }
    assert_eq!(bench.server.count(), 0);
}

// proves X1: what was said to a server on this machine does not go to a default far away
#[test]
fn a_session_goes_on_at_its_server_or_says_that_nobody_named_another() {
    let bench = Bench::new(Script::of([Step::say("Aye."), Step::say("More.")]));
    let url = bench.server.base_url();
    let run = |arguments: &[&str]| {
        let mut command = bench.command(arguments);
        command.env_remove("OPENAI_BASE_URL").env("OPENAI_API_KEY", "sk-test-4f8a91c2d7e6b35a");
        ran(command.spawn().expect("the binary starts"))
    };
    let begun = run(&["run", "go", "--session", "s", "--base-url", &url]);
    assert_eq!((begun.code, begun.stdout.as_str()), (0, "Aye.\n"), "{}", begun.stderr);
    let elsewhere = run(&["run", "more", "--session", "s"]);
    assert_eq!((elsewhere.code, elsewhere.stdout.as_str()), (2, ""), "{}", elsewhere.stderr);
    let said = format!("this session talked to {url}, and would now talk to https://api.openai.com/v1");
    assert!(elsewhere.stderr.contains(&said), "{}", elsewhere.stderr);
    let named = run(&["run", "more", "--session", "s", "--base-url", &url]);
    assert_eq!((named.code, named.stdout.as_str()), (0, "More.\n"), "{}", named.stderr);
}
