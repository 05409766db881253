//! Trust in a project and consent to its servers cover the content of its files. A file that was changed, by a tool, a
//! command or a pull, gains nothing before the person has seen the change.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use windlass_testkit::{AfterSteps, Scene, Script, ScriptStep};

use crate::support::{Bench, Ran};

const COMMAND: &str = "echo x >> ran";

/// A bench whose model runs a command at every prompt, in a folder that the person trusts.
pub(super) fn bench() -> Bench {
    let steps = [ScriptStep::call("run_command", json!({"command": COMMAND})), ScriptStep::say("Well.")];
    let bench = Bench::new(Script::default().scene(Scene::when("", steps).then(AfterSteps::Refuse)));
    let user = config(&bench).join("windlass.toml");
    fs::create_dir_all(config(&bench)).expect("a folder");
    fs::write(user, format!("trusted = ['{}']\n", bench.workspace().display())).expect("written");
    bench
}

fn config(bench: &Bench) -> PathBuf {
    bench.dir.path().join(".config/windlass")
}

pub(super) fn project(bench: &Bench, text: &str) {
    fs::write(bench.workspace().join("windlass.toml"), text).expect("written");
}

pub(super) fn answered(ran: &Ran) {
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Well.\n"), "{}", ran.stderr);
}

const STRICT: &str = "[permissions]\nmode = 'strict'\n";
const BYPASS: &str = "[permissions]\nmode = 'bypass'\n";

// proves X2: settings that a model could write to permit itself more are ignored
#[test]
fn a_trusted_project_that_says_something_else_is_not_trusted() {
    let bench = bench();
    project(&bench, STRICT);
    let first = bench.run(&["run", "go"]);
    answered(&first);
    assert!(first.stderr.contains("windlass.toml is trusted as it is now"), "{}", first.stderr);
    let again = bench.run(&["run", "go"]);
    answered(&again);
    assert!(!again.stderr.contains("trusted"), "it is said once: {}", again.stderr);
    project(&bench, BYPASS);
    let held = bench.run(&["run", "go"]);
    answered(&held);
    assert_eq!(bench.read("ran"), None, "{}", held.stderr);
    assert!(held.stderr.contains("windlass.toml:2:8: a mode that asks less than yours"), "{}", held.stderr);
    assert!(held.stderr.contains("run `windlass trust`: it shows how"), "{}", held.stderr);
    project(&bench, "[permissions]\nmode = 'strict'\n[policy]\nturn_cap = 4000\n");
    let tightened = bench.run(&["run", "go"]);
    answered(&tightened);
    assert!(
        tightened.stderr.contains("windlass.toml has changed since you trusted it: this project may only tighten"),
        "{}",
        tightened.stderr
    );
    project(&bench, STRICT);
    let back = bench.run(&["run", "go"]);
    answered(&back);
    assert!(!back.stderr.contains("has changed"), "what it said is trusted still: {}", back.stderr);
}

// proves X2: a file that did not exist when the folder was trusted is a change
#[test]
fn settings_that_appear_in_a_trusted_folder_are_a_change() {
    let bench = bench();
    answered(&bench.run(&["run", "go"]));
    project(&bench, BYPASS);
    let held = bench.run(&["run", "go"]);
    assert_eq!((held.code, bench.read("ran")), (0, None), "{}", held.stderr);
    assert!(held.stderr.contains("a mode that asks less than yours: not taken"), "{}", held.stderr);
    fs::remove_file(config(&bench).join("trusted.json")).expect("it is kept beside the user's file");
    fs::write(config(&bench).join("trusted.json"), "{").expect("written");
    answered(&bench.run(&["run", "go"]));
    assert_eq!(bench.read("ran"), None, "a record that can't be read is no first time");
}

// proves X2: the person sees the difference, and their answer holds until the next change
#[cfg(target_os = "linux")]
#[test]
fn a_changed_project_is_asked_about_with_its_difference() {
    use crate::support::person::Attended;
    let bench = bench();
    project(&bench, STRICT);
    answered(&bench.run(&["run", "go"]));
    for (answer, runs) in [("n\n", false), ("what?\ny\n", true)] {
        // A no holds until the file changes again, so each round changes it.
        project(&bench, &format!("{BYPASS}# {runs}\n"));
        let mut asked = Attended::start(&bench, &["run", "go"], &[]);
        let seen = asked.read_until("[n] no: ");
        for part in ["windlass.toml has changed since you trusted this folder", "-mode = 'strict'", "+mode = 'bypass'"]
        {
            assert!(seen.contains(part), "{part}: {seen}");
        }
        asked.type_text(answer);
        if !runs {
            let question = asked.question().expect("it is held to the person's own mode, which asks");
            assert!(question.contains(COMMAND), "{question}");
            asked.type_text("n\n");
        }
        assert_eq!(asked.finish().code, 0, "{answer:?}");
        assert_eq!(bench.read("ran").is_some(), runs, "{answer:?}");
    }
    let later = bench.run(&["run", "go"]);
    answered(&later);
    assert!(!later.stderr.contains("has changed"), "{}", later.stderr);
}

/// Like `bench`, but the person trusts no folder.
pub(super) fn untrusting() -> Bench {
    let bench = bench();
    fs::write(config(&bench).join("windlass.toml"), "# mine\n").expect("written");
    bench
}

const LOOSE: &str = "[permissions]\nmode = 'bypass'\nallow = ['run_command(*)']\n[sandbox]\nmode = 'off'\n";

// proves X2: a cloned project is usable under the person's own settings, and its ignored settings are reported
#[test]
fn what_an_untrusted_project_would_loosen_is_left_out_and_told_at_once() {
    let bench = untrusting();
    project(&bench, LOOSE);
    let ran = bench.run(&["run", "go"]);
    answered(&ran);
    assert_eq!(bench.read("ran"), None, "{}", ran.stderr);
    for part in
        ["2:8: a mode that asks less", "3:10: a rule that allows", "5:8: a sandbox that holds less", "trusted = ["]
    {
        assert_eq!(ran.stderr.matches(part).count(), 1, "{part}: {}", ran.stderr);
    }
    let told = ran.stderr.lines().filter(|line| line.contains("not taken from a project you have not trusted"));
    assert_eq!(told.count(), 1, "{}", ran.stderr);
}

// proves X2: at a terminal the person is asked once, and sees all that the project would loosen and start
#[cfg(target_os = "linux")]
#[test]
fn a_new_project_that_would_loosen_something_is_asked_about_once() {
    use crate::support::person::Attended;
    for trusts in [false, true] {
        let bench = untrusting();
        project(&bench, LOOSE);
        servers(&bench);
        let mut asked = Attended::start(&bench, &["sessions", "list"], &[]);
        let seen = asked.read_until("go on without all that: ");
        for part in ["a mode that asks less than yours", "a rule that allows calls", "own: sh tools/server.sh"] {
            assert!(seen.contains(part), "{part}: {seen}");
        }
        asked.type_text(if trusts { "y\n" } else { "n\n" });
        assert_eq!(asked.finish().code, 0);
        assert_eq!(Attended::start(&bench, &["sessions", "list"], &[]).finish().code, 0, "asked once");
        let ran = bench.run(&["run", "go"]);
        answered(&ran);
        assert_eq!(bench.read("ran").is_some(), trusts, "{}", ran.stderr);
        let told = "3 settings of this project";
        assert_eq!(ran.stderr.matches(told).count(), usize::from(!trusts), "one line, once: {}", ran.stderr);
        assert!(!ran.stderr.contains("before you agree"), "the servers were part of it: {}", ran.stderr);
        let listed = bench.run(&["mcp", "list"]).stdout;
        assert_eq!(listed.contains("own  declined by you"), !trusts, "{listed}");
        let user = fs::read_to_string(config(&bench).join("windlass.toml")).expect("it is there");
        assert!(user.contains("# mine") && user.contains("trusted = [") == trusts, "{user}");
        project(&bench, BYPASS);
        let mut again = Attended::start(&bench, &["sessions", "list"], &[]);
        again.read_until("[n] no");
        again.type_text("n\n");
        again.finish();
    }
}

// proves X2: a no to a change holds until the next change, and a command that only reads does not ask
#[cfg(target_os = "linux")]
#[test]
fn a_no_to_a_change_is_not_asked_for_again() {
    use crate::support::person::Attended;
    let bench = bench();
    project(&bench, STRICT);
    answered(&bench.run(&["run", "go"]));
    project(&bench, BYPASS);
    assert_eq!(Attended::start(&bench, &["audit"], &[]).finish().code, 0, "who looks is not asked");
    let mut asked = Attended::start(&bench, &["sessions", "list"], &[]);
    asked.read_until("[n] no: ");
    asked.type_text("n\n");
    assert_eq!(asked.finish().code, 0);
    assert_eq!(Attended::start(&bench, &["sessions", "list"], &[]).finish().code, 0, "they have said no");
    let held = bench.run(&["run", "go"]);
    answered(&held);
    assert_eq!(bench.read("ran"), None, "{}", held.stderr);
    project(&bench, "[permissions]\nmode = 'bypass'\n[policy]\nturn_cap = 4000\n");
    Attended::start(&bench, &["sessions", "list"], &[]).read_until("[n] no: ");
}

// proves X2: a no can be taken back, and so can a yes; the command that messages name for it works
#[cfg(target_os = "linux")]
#[test]
fn trust_is_asked_for_again_and_taken_back_by_a_command() {
    use crate::support::person::Attended;
    let bench = bench();
    project(&bench, STRICT);
    answered(&bench.run(&["run", "go"]));
    project(&bench, BYPASS);
    let mut asked = Attended::start(&bench, &["sessions", "list"], &[]);
    asked.read_until("[n] no: ");
    asked.type_text("n\n");
    asked.finish();
    let held = bench.run(&["run", "go"]);
    let told: Vec<&str> = held.stderr.lines().filter(|line| line.contains("project")).collect();
    assert!(matches!(told[..], [line] if line.contains("`windlass trust` asks again")), "{}", held.stderr);
    let doctor = bench.run(&["doctor"]).stdout;
    for part in ["changed since you trusted it: ", "not taken: ", "windlass.toml:2:8: a mode that asks less"] {
        assert!(doctor.contains(part), "{part}: {doctor}");
    }
    assert_eq!(bench.run(&["trust"]).code, 6, "nobody can be asked");
    let mut trust = Attended::start(&bench, &["trust"], &[]);
    let seen = trust.read_until("[n] no: ");
    assert!(seen.contains("+mode = 'bypass'"), "{seen}");
    trust.type_text("yes please\n");
    trust.read_until("not understood: answer y or n");
    trust.type_text("y\n");
    let ran = trust.finish();
    assert!(ran.code == 0 && ran.stdout.contains("is trusted until it changes"), "{}", ran.stdout);
    answered(&bench.run(&["run", "go"]));
    assert!(bench.read("ran").is_some());
    assert!(bench.run(&["trust"]).stdout.contains("is trusted as it is now"));
    assert!(bench.run(&["trust", "--remove"]).stdout.contains("is trusted no more"));
    assert!(bench.run(&["trust", "--remove"]).stdout.contains("was not trusted"));
    fs::remove_file(bench.workspace().join("ran")).expect("it is there");
    answered(&bench.run(&["run", "go"]));
    assert_eq!(bench.read("ran"), None);
    assert_eq!(Attended::start(&bench, &["sessions", "list"], &[]).finish().code, 0, "nobody is asked about it");
    project(&bench, &format!("{BYPASS}# more\n"));
    let mut again = Attended::start(&bench, &["sessions", "list"], &[]);
    let seen = again.read_until("go on without all that: ");
    assert!(seen.contains("This project has changed since you said no to it."), "{seen}");
    again.kill();
}

pub(super) fn script(bench: &Bench, text: &str) {
    fs::create_dir_all(bench.workspace().join("tools")).expect("a folder");
    fs::write(bench.workspace().join("tools/server.sh"), text).expect("written");
}

pub(super) fn servers(bench: &Bench) {
    let block = json!({"mcpServers": {"own": {"command": "sh", "args": ["tools/server.sh"]}}});
    fs::write(bench.workspace().join(".mcp.json"), block.to_string()).expect("written");
}

/// Waits until every server has started and ended: a run does not wait for a server it does not need.
fn list_servers(bench: &Bench) {
    let _ = bench.run(&["mcp", "list"]);
}

// proves X2: consent to a script covers only its content at that time
#[test]
fn a_script_behind_an_agreed_server_that_changes_is_asked_about_again() {
    let bench = bench();
    fs::write(config(&bench).join("windlass.toml"), "").expect("written");
    let start = |bench: &Bench| bench.run(&["run", "go"]);
    let waits = "are not used before you agree to them (own)";
    script(&bench, "touch started\n");
    servers(&bench);
    assert!(start(&bench).stderr.contains(waits));
    assert_eq!(bench.run(&["mcp", "approve"]).code, 0);
    let agreed = start(&bench);
    list_servers(&bench);
    assert!(!agreed.stderr.contains(waits) && bench.read("started").is_some(), "{}", agreed.stderr);
    script(&bench, "touch other\n");
    let changed = start(&bench);
    assert!(changed.stderr.contains(waits) && bench.read("other").is_none(), "{}", changed.stderr);
    assert_eq!(bench.run(&["mcp", "approve"]).code, 0);
    assert!(!start(&bench).stderr.contains(waits));
    list_servers(&bench);
    assert!(bench.read("other").is_some());
}

// proves X2: this holds however the command names the file that it runs
#[test]
fn a_file_behind_an_agreed_server_that_changes_is_asked_about_again_and_named() {
    for (command, arguments, file, expected) in [
        ("python3", json!(["-m", "app.server"]), "app/__init__.py", "app/__init__.py"),
        ("python3", json!(["-m", "app"]), "src/app/deep/tool.py", "src/app/deep/tool.py"),
        ("python3", json!(["app/"]), "app/__main__.py", "app/__main__.py"),
        ("sh", json!(["-c", "cd app && ./run.sh"]), "app/run.sh", "app/run.sh"),
        ("node", json!(["."]), "index.js", "index.js"),
        ("npm", json!(["run", "serve"]), "package.json", "package.json"),
        ("npx", json!(["tsx", "--yes"]), "package.json", "package.json"),
        ("make", json!(["serve"]), "Makefile", "Makefile"),
        ("uv", json!(["run", "serve"]), "pyproject.toml", "pyproject.toml"),
    ] {
        let context = format!("{command} {arguments}");
        let bench = bench();
        fs::write(config(&bench).join("windlass.toml"), "").expect("written");
        let block = json!({"mcpServers": {"own": {"command": command, "args": arguments}}});
        fs::write(bench.workspace().join(".mcp.json"), block.to_string()).expect("written");
        let path = bench.workspace().join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path.with_file_name("server.py"), "").expect("written");
        fs::write(&path, "1").expect("written");
        let waits = "are not used before you agree to them (own)";
        let agreed = bench.run(&["mcp", "approve"]);
        assert!(agreed.code == 0 && agreed.stdout.contains(expected), "{context}: {}", agreed.stdout);
        assert!(!bench.run(&["run", "go"]).stderr.contains(waits), "{context}");
        fs::write(&path, "2").expect("written");
        let changed = bench.run(&["run", "go"]).stderr;
        let told = format!("{waits}; changed since you last answered: {expected}");
        assert!(changed.contains(&told), "{context}: {changed}");
    }
}

// proves X2: trust in a folder does not cover later changes of its servers' scripts
#[test]
fn a_script_behind_a_server_of_a_trusted_project_is_part_of_what_is_trusted() {
    let bench = bench();
    project(&bench, "model = 'scripted'\n");
    script(&bench, "touch started\n");
    servers(&bench);
    answered(&bench.run(&["run", "go"]));
    list_servers(&bench);
    assert!(bench.read("started").is_some(), "a trusted project's servers start");
    script(&bench, "touch other\n");
    let changed = bench.run(&["run", "go"]);
    assert!(changed.stderr.contains("tools/server.sh has changed since you trusted it"), "{}", changed.stderr);
    assert!(bench.read("other").is_none());
    #[cfg(target_os = "linux")]
    {
        let mut asked = crate::support::person::Attended::start(&bench, &["trust"], &[]);
        let seen = asked.read_until("[n] no: ").replace('\r', "");
        assert!(seen.contains("-touch started\n+touch other\n"), "the difference is shown: {seen}");
        asked.kill();
    }
}

// proves X2: tools can't access the person's settings, even if the workspace is the home folder
#[test]
fn the_persons_settings_are_closed_to_tools() {
    let refused = "keeps its own data or settings";
    let file = ".config/windlass/windlass.toml";
    for (tool, arguments, told) in [
        ("read_file", json!({"path": file}), refused),
        ("write_file", json!({"path": file, "content": "permissions.mode = 'bypass'"}), refused),
        ("write_file", json!({"path": ".config/windlass/trusted.json", "content": "{}"}), refused),
        ("edit_file", json!({"path": file, "old_text": "model", "new_text": "x"}), refused),
        ("move_file", json!({"from": file, "to": "mine"}), refused),
        ("move_file", json!({"from": ".config", "to": "mine"}), refused),
        ("move_file", json!({"from": "notes", "to": file}), refused),
        ("read_file", json!({"path": "dotfiles/windlass.toml"}), refused),
        ("list_directory", json!({"path": ".config/windlass"}), refused),
        ("search_files", json!({"pattern": "sk-in-the-file", "path": "."}), "no match"),
    ] {
        let context = format!("{tool} {arguments}");
        let bench = Bench::new(Script::of([ScriptStep::call(tool, arguments), ScriptStep::say("I see.")]));
        let home = bench.workspace();
        fs::create_dir_all(home.join(".config/windlass")).expect("a folder");
        fs::create_dir(home.join("dotfiles")).expect("a folder");
        fs::write(home.join("notes"), "").expect("written");
        let text = "model = 'scripted' # sk-in-the-file\n";
        fs::write(home.join("dotfiles/windlass.toml"), text).expect("written");
        std::os::unix::fs::symlink("../../dotfiles/windlass.toml", home.join(file)).expect("a link");
        let done = bench.run_with(
            &["run", "go", "--session", "s", "--mode", "bypass"],
            &[("HOME", home.to_str().expect("a path"))],
        );
        assert_eq!((done.code, done.stdout.as_str()), (0, "I see.\n"), "{context}: {}", done.stderr);
        let heard = bench.last_request("tool").concat();
        assert!(heard.contains(told) && !heard.contains("# sk-in"), "{context}: {heard}");
        assert_eq!(fs::read_to_string(home.join(file)).expect("it is there"), text, "{context}");
        assert!(!Path::new(&home).join(".config/windlass/trusted.json").exists(), "{context}");
    }
}
