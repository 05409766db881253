//! Titles that a model writes, on the binary.

use windlass_testkit::{FaultKind, ModelServer, Scene, Script, ScriptStep};

use crate::support::Bench;

const REQUEST: &str = "Write a title for this conversation";

/// Answers the message; a request for a title, which quotes the message, is answered with this step.
fn script(title: ScriptStep) -> Script {
    Script::default().scene(Scene::when(REQUEST, [title])).scene(Scene::when("go", [ScriptStep::say("Done.")]))
}

fn configure(bench: &Bench, settings: &str) {
    let folder = bench.dir.path().join(".config/windlass");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("windlass.toml"), settings).expect("written");
}

// proves M9: the title is written by the models of its role and shown in the list of sessions
#[test]
fn a_session_is_listed_by_the_title_that_a_model_wrote() {
    let bench = Bench::new(script(ScriptStep::say("not asked")));
    let other = ModelServer::start(script(ScriptStep::say("Getting things done"))).expect("a server");
    configure(&bench, &format!("[policy]\ntitles = 'model'\n[roles]\ntitle = '{}#t'\n", other.base_url()));
    let ran = bench.run(&["run", "go", "--session", "s"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Done.\n"), "{}", ran.stderr);
    assert_eq!((bench.server.count(), other.count()), (1, 1));
    let listed = bench.run(&["sessions", "list"]);
    assert!(listed.stdout.contains("Getting things done"), "{}", listed.stdout);
    bench.assert_whole("a title");
}

// proves M9: without one, the first words stand
#[test]
fn a_title_that_fails_disturbs_nothing() {
    let bench = Bench::new(script(ScriptStep::say("never").fault(FaultKind::status(401).times(99))));
    configure(&bench, "[policy]\ntitles = 'model'\n");
    let ran = bench.run(&["run", "go", "--session", "s"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Done.\n"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("401"), "nobody waits for a title: {}", ran.stderr);
    let listed = bench.run(&["sessions", "list"]);
    assert!(listed.stdout.contains("go"), "{}", listed.stdout);
    let asked = |bench: &Bench| bench.server.requests().iter().filter(|r| r.body.to_string().contains(REQUEST)).count();
    assert_eq!(asked(&bench), 1);
    bench.run(&["run", "go", "--session", "s"]);
    assert_eq!(asked(&bench), 1, "it is not tried again");
}
