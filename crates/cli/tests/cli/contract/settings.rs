//! Precedence of settings: flags, environment, the project's file, the user's file, defaults.

use std::path::PathBuf;

use windlass_testkit::{AfterSteps, Scene, Script, ScriptStep};

use crate::support::{Bench, Ran, ran};

fn bench() -> Bench {
    Bench::new(Script::default().scene(Scene::when("", [ScriptStep::say("Aye.")]).then(AfterSteps::RepeatLast)))
}

fn user_file(bench: &Bench) -> PathBuf {
    let folder = bench.dir.path().join(".config/windlass");
    std::fs::create_dir_all(&folder).expect("a folder");
    folder.join("windlass.toml")
}

/// Runs without `OPENAI_MODEL`, so that only the given sources name a model.
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
    // No source names a model: the model of the local server is used, and reported.
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
    let trusted = format!("trusted = ['{}']", bench.workspace().display());
    let user = format!("{trusted}\npreset = 'operator'\n[policy]\nturn_cap = 8\n");
    std::fs::write(user_file(&bench), user).expect("written");
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

// proves X1: a conversation with a local server is not sent to the remote default server
#[test]
fn a_session_goes_on_at_its_server_or_says_that_nobody_named_another() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye."), ScriptStep::say("More.")]));
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

// proves X2: the settings of a cloned project can lower a limit, never raise one
#[test]
fn a_project_that_nobody_trusts_loosens_no_limit() {
    let bench = bench();
    let project = "preset = 'task'\n[policy]\nturn_cap = 1000\nguards = []\nunfinished_call = 'run_again'\n\
                   approval_wait_ms = 86400000\nparallel = 'off'\n";
    let file = bench.workspace().join("windlass.toml");
    std::fs::write(&file, project).expect("written");
    let ran = run(&bench, &["--model", "m", "--session", "s"], &[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let journal = bench.journal("s");
    let policy = &journal.iter().find(|record| record["kind"] == "RunStarted").expect("a run")["body"]["policy"];
    assert_eq!((policy["preset"].as_str(), policy["turn_cap"].as_u64()), (Some("default"), Some(50)));
    assert_eq!(
        (policy["unfinished_call"].as_str(), policy["parallel"].as_str()),
        (Some("ask_or_interrupt"), Some("off"))
    );
    assert_eq!(policy["guards"].as_array().expect("a list").len(), 5);
    for (line, what) in [(1, "preset"), (3, "turn_cap"), (4, "guards"), (5, "unfinished_call"), (6, "approval_wait_ms")]
    {
        let place = format!("{}:{line}:", file.display());
        let told = ran.stderr.lines().find(|told| told.contains(&place)).unwrap_or_default();
        assert!(told.contains(what) && told.contains("trusted = ["), "{what}: {}", ran.stderr);
    }
    std::fs::write(&file, "base_url = 'http://127.0.0.1:1/v1'\n").expect("written");
    let mut command = bench.command(&["run", "go", "--model", "m"]);
    let refused = crate::support::ran(command.env_remove("OPENAI_BASE_URL").spawn().expect("the binary starts"));
    assert!(refused.code == 2 && refused.stderr.contains("a base_url is not taken"), "{}", refused.stderr);
}

// proves X2: a settings file in a folder that others can write to is not used
#[test]
fn a_file_that_anybody_may_have_put_there_is_not_used() {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
    };
    let bench = bench();
    let file = bench.workspace().join("windlass.toml");
    std::fs::write(&file, "model = 'of-anybody'\n").expect("written");
    let (inner, deny) = (bench.workspace().join("inner"), "[permissions]\ndeny = ['run_command']\n");
    std::fs::create_dir(&inner).expect("a folder");
    let from = |folder: &std::path::Path| {
        let mut command = bench.command(&["run", "go"]);
        command.current_dir(folder).env("OPENAI_MODEL", "");
        ran(command.spawn().expect("the binary starts"))
    };
    for folder in [bench.workspace(), inner.clone()] {
        mode(&bench.workspace(), 0o777);
        let ran = from(&folder);
        let said = format!("{} is not used: others can write to {}", file.display(), bench.workspace().display());
        assert_eq!(ran.stderr.matches(&said).count(), 1, "{}", ran.stderr);
        assert!(ran.stderr.contains("chmod go-w") && ran.stderr.contains("trusted = ["), "{}", ran.stderr);
        assert_ne!(bench.server.requests().last().expect("a request").body["model"], "of-anybody");
        mode(&bench.workspace(), 0o755);
        assert_eq!(from(&folder).code, 0);
        assert_eq!(bench.server.requests().last().expect("a request").body["model"], "of-anybody");
    }
    mode(&bench.workspace(), 0o777);
    std::fs::write(inner.join("windlass.toml"), deny).expect("written");
    assert!(!from(&inner).stderr.contains("is not used"), "what is below is one's own");
}
