//! An imported session brings its conversation and no authority: its grants, its workspace and its open calls do not
//! count here. A resumed call is checked against the current rules.

use std::path::PathBuf;

use serde_json::json;
use windlass_testkit::{Script, ScriptStep};
use windlass_vocab::{Grant, Record, Verdict};

use crate::support::{Bench, Ran, journal, ran};

const COMMAND: &str = "echo x >> ran";

/// A bench whose run died before its permitted command started, the exported session, and another person's data
/// folder and workspace.
struct Scene {
    bench: Bench,
    exported: String,
}

impl Scene {
    fn new(steps: impl IntoIterator<Item = ScriptStep>) -> Self {
        let call = ScriptStep::call("run_command", json!({"command": COMMAND}));
        let bench = Bench::new(Script::of([call].into_iter().chain(steps).collect::<Vec<_>>()));
        std::fs::create_dir(bench.dir.path().join("mine")).expect("a folder");
        cut_short(&bench);
        let exported = bench.run(&["sessions", "export", "s"]).stdout;
        Self { bench, exported }
    }

    fn mine(&self) -> PathBuf {
        self.bench.dir.path().join("mine")
    }

    /// Runs the binary on the other data folder, in the other workspace.
    fn run(&self, arguments: &[&str]) -> Ran {
        let mut command = self.bench.command_on(&self.bench.dir.path().join("other"), arguments);
        ran(command.current_dir(self.mine()).spawn().expect("the binary starts"))
    }

    fn import(&self, text: &str) -> Ran {
        let file = self.bench.dir.path().join("from-elsewhere.jsonl");
        std::fs::write(&file, text).expect("written");
        let imported = self.run(&["sessions", "import", file.to_str().expect("a path")]);
        assert_eq!((imported.code, imported.stdout.as_str()), (0, "s\n"), "{}", imported.stderr);
        imported
    }

    /// Asserts that the command ran neither in the original workspace nor in this one.
    fn nothing_ran(&self, after: &str) {
        let ran = |folder: PathBuf| folder.join("ran").exists();
        assert!(!ran(self.bench.workspace()) && !ran(self.mine()), "{after}: the command ran");
    }
}

/// Starts a run that dies right before it starts its command, which a flag allows.
fn cut_short(bench: &Bench) {
    let line = ["run", "go", "--session", "s", "--allow", "run_command"];
    let died = bench.run_with(&line, &[("WINDLASS_TEST_DIE", "after:3")]);
    assert_eq!((died.code, bench.read("ran")), (-9, None), "{}", died.stderr);
    let journal = bench.journal("s");
    let kinds: Vec<_> = journal.iter().map(|record| record["kind"].as_str().unwrap_or_default()).collect();
    assert!(kinds.contains(&"CallStarted") && !kinds.contains(&"CallFinished"), "{kinds:?}");
}

// proves X6: the real attack: a person imports a prepared file and continues the session
#[test]
fn a_command_that_an_imported_session_was_about_to_run_does_not_run() {
    let lines: [&[&str]; 8] = [
        &["resume", "s"],
        &["resume", "s", "--mode", "strict"],
        &["resume"],
        &["chat", "-c"],
        &["-c", "--mode", "strict"],
        &["run", "go", "--session", "s"],
        &["run", "go"],
        &["retry", "s"],
    ];
    for line in lines {
        let scene = Scene::new([ScriptStep::say("Well."), ScriptStep::say("Well.")]);
        let imported = scene.import(&scene.exported);
        let (there, here) = (scene.bench.workspace(), scene.mine());
        for said in [
            format!("it works in {} from now on (it worked in {})", here.display(), there.display()),
            "run 1, which was open, is ended; its call 1.1.0 is interrupted".to_owned(),
        ] {
            assert!(imported.stderr.contains(&said), "{said}: {}", imported.stderr);
        }
        scene.run(line);
        scene.nothing_ran(&line.join(" "));
        let shown = scene.run(&["sessions", "show", "s"]);
        assert!(shown.stdout.contains(&format!("imported into {}", here.display())), "{}", shown.stdout);
        assert_eq!(scene.run(&["replay", "s", "--check"]).code, 0);
        let verified = scene.run(&["sessions", "verify", "s"]);
        assert!(verified.code == 0 && verified.stdout.contains(": whole"), "{}", verified.stdout);
    }
}

// proves X6: a fork from before the import record gets no authority either
#[test]
fn a_fork_of_an_imported_session_has_no_more_authority() {
    let scene = Scene::new([ScriptStep::say("Well."), ScriptStep::say("Well.")]);
    scene.import(&scene.exported);
    let before = scene.exported.lines().filter(|line| line.contains("\"kind\":")).count();
    for at in [before.to_string(), (before + 1).to_string()] {
        let key = format!("fork-{at}");
        let forked = scene.run(&["fork", "s", "--at", &at, "--as", &key]);
        assert_eq!(forked.code, 0, "{}", forked.stderr);
        let told = scene.run(&["resume", &key]).stderr;
        assert!(told.contains("nothing to resume"), "nothing is open: {told}");
        assert!(told.contains(&format!("`windlass chat --resume {key} ")), "and how to go on is said: {told}");
        let ran = scene.run(&["run", "and now?", "--session", &key]);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "Well.\n"), "{}", ran.stderr);
        scene.nothing_ran(&key);
        let system = scene.bench.last_request("system").concat();
        assert!(system.contains("/mine") && !system.contains("/work"), "it works where it was imported: {system}");
        assert_eq!(scene.run(&["replay", &key, "--check"]).code, 0);
    }
}

// proves X6: a grant in an imported file does not count, even after a forged import record
#[test]
fn what_an_imported_session_was_granted_is_asked_about_again() {
    let call = || ScriptStep::call("run_command", json!({"command": COMMAND}));
    let bench = Bench::new(Script::of([call(), ScriptStep::say("Did it."), call(), ScriptStep::say("As you say.")]));
    std::fs::create_dir(bench.dir.path().join("mine")).expect("a folder");
    let ran = bench.run(&["run", "go", "--session", "own", "--allow", "run_command"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Did it.\n"), "{}", ran.stderr);
    std::fs::remove_file(bench.workspace().join("ran")).expect("it ran there");
    let grant = windlass_vocab::QuestionAnswered {
        question: windlass_vocab::QuestionId(1),
        answer: windlass_vocab::Answer::plain(windlass_vocab::QuestionOption::Session),
        by: windlass_vocab::AnsweredBy::Person,
        grant: Some(Grant { rule: "run_command(echo *)".into() }),
    };
    let imported = windlass_vocab::ImportDetails { workspace: Some("/".into()), owner: None };
    let marked = windlass_vocab::SessionChanged { imported: Some(imported), ..Default::default() };
    journal::rewrite(&bench.data(), "own", "s", |_| {});
    journal::append(&bench.data(), "s", marked.into(), |sealed| sealed);
    journal::append(&bench.data(), "s", grant.into(), |sealed| sealed);
    let exported = bench.run(&["sessions", "export", "s"]).stdout;
    let scene = Scene { bench, exported };
    let imported = scene.import(&scene.exported);
    let said = "what was allowed in it does not count here, your own rules do: run_command(echo *)";
    assert!(imported.stderr.contains(said), "{}", imported.stderr);
    let ran = scene.run(&["run", "again", "--session", "s"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "As you say.\n"), "{}", ran.stderr);
    scene.nothing_ran("a grant");
    let undone = scene.run(&["undo", "s"]);
    assert!(undone.stderr.contains("there is nothing to undo"), "{}", undone.stderr);
    assert!(!scene.run(&["audit"]).stdout.contains("Did it"), "what was called elsewhere is no call of here");
}

// proves X6, J3: a call that a flag of a dead process allowed is checked against the current flags
#[test]
fn a_call_that_is_taken_up_is_judged_by_the_rules_of_today() {
    for (flags, runs) in [
        (&[][..], false),
        (&["--mode", "strict"], false),
        (&["--deny", "run_command(echo *)", "--allow", "run_command"], false),
        (&["--allow", "run_command(echo *)"], false),
        (&["--allow", "run_command"], true),
        (&["--mode", "bypass"], true),
    ] {
        let bench = Bench::new(Script::of([
            ScriptStep::call("run_command", json!({"command": COMMAND})),
            ScriptStep::say("Well."),
        ]));
        cut_short(&bench);
        let resumed = bench.run(&[&["resume", "s"], flags].concat());
        assert_eq!((resumed.code, resumed.stdout.as_str()), (0, "Well.\n"), "{flags:?}: {}", resumed.stderr);
        assert_eq!(bench.read("ran").is_some(), runs, "{flags:?}");
        let told = bench.last_request("tool").concat();
        assert_eq!(told.contains("Not allowed") || told.contains("forbids it"), !runs, "{flags:?}: {told}");
        bench.assert_whole("judged again");
        assert_eq!(bench.run(&["replay", "s", "--check"]).code, 0);
    }
}

// proves X6, J4: a deny rule also applies to a call that a crash left open
#[test]
fn a_call_that_may_have_run_is_denied_by_a_rule_of_today() {
    let call = ScriptStep::call("edit_file", json!({"path": "a", "old_text": "x", "new_text": "y"}));
    let bench = Bench::new(Script::of([call, ScriptStep::say("Well.")]));
    std::fs::write(bench.workspace().join("a"), "x").expect("written");
    // The snapshot of its files is stored, so the call may have run.
    let died = bench.run_with(&["run", "go", "--session", "s"], &[("WINDLASS_TEST_DIE", "after:4")]);
    assert_eq!((died.code, bench.records("s", "SnapshotTaken")), (-9, 1), "{}", died.stderr);
    let before = bench.read("a");
    let resumed = bench.run(&["resume", "s", "--deny", "edit_file"]);
    assert_eq!((resumed.code, resumed.stdout.as_str()), (0, "Well.\n"), "{}", resumed.stderr);
    let told = bench.last_request("tool").concat();
    assert!(told.contains("forbids it"), "{told}");
    assert_eq!(bench.read("a"), before);
    assert_eq!(bench.run(&["replay", "s", "--check"]).code, 0);
}

// proves X6, T8: at a terminal the person is asked, and the journal keeps their answer
#[cfg(target_os = "linux")]
#[test]
fn a_call_that_is_taken_up_is_asked_about_at_a_terminal() {
    use crate::support::person::Attended;
    let call = ScriptStep::call("run_command", json!({"command": COMMAND}));
    let bench = Bench::new(Script::of([call, ScriptStep::say("Well.")]));
    cut_short(&bench);
    let mut asked = Attended::start(&bench, &["resume", "s"], &[]);
    let question = asked.question().expect("it asks");
    assert!(question.contains(COMMAND), "{question}");
    asked.kill();
    assert_eq!(bench.read("ran"), None);
    let ran = Attended::start(&bench, &["resume", "s"], &[]).say_yes();
    assert_eq!((ran.code, ran.stdout.as_str(), bench.read("ran").as_deref()), (0, "Well.\n", Some("x\n")));
    assert_eq!(bench.run(&["replay", "s", "--check"]).code, 0);
    bench.assert_whole("asked again");
}

// proves X6: a session belongs to whoever imports it, and is found, verified and removed like their own
#[test]
fn an_imported_session_belongs_to_whoever_imports_it() {
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/journals/v1/pauses.jsonl");
    let text = std::fs::read_to_string(fixture).expect("a fixture");
    assert!(text.contains(r#""owner":"ada""#), "it belongs to somebody else");
    let bench = Bench::new(Script::of([]));
    let run = |line: &[&str]| {
        let ran = bench.run(line);
        assert_eq!(ran.code, 0, "{line:?}: {}", ran.stderr);
        ran.stdout
    };
    assert_eq!(run(&["sessions", "import", fixture]), "pauses\n");
    assert!(run(&["sessions", "list"]).starts_with("pauses "));
    assert!(run(&["sessions", "show", "pauses"]).contains("Name it."));
    assert!(run(&["sessions", "verify", "pauses"]).contains(": whole"));
    run(&["fork", "pauses", "--at", "4", "--as", "early"]);
    assert!(run(&["sessions", "show", "early"]).contains("Name it."), "a fork from before the import as well");
    run(&["sessions", "rm", "pauses"]);
    assert!(!run(&["sessions", "list"]).contains("pauses"));
    assert_eq!(run(&["sessions", "import", fixture]), "pauses\n", "its key is free again");
}

// proves X6: the timestamps of an imported file are not trusted
#[test]
fn a_session_from_the_future_is_not_the_last_one_used_for_ever() {
    let scene = Scene::new([ScriptStep::say("One."), ScriptStep::say("Two.")]);
    journal::rewrite(&scene.bench.data(), "s", "t", |envelope| {
        envelope.at = windlass_vocab::Timestamp(i64::MAX / 2);
        if let Record::CallRequested(requested) = &mut envelope.record {
            requested.verdict = Verdict::Allow;
        }
    });
    let exported = scene.bench.run(&["sessions", "export", "t"]).stdout;
    let file = scene.bench.dir.path().join("t.jsonl");
    std::fs::write(&file, exported).expect("written");
    assert_eq!(scene.run(&["sessions", "import", file.to_str().expect("a path")]).code, 0);
    let ran = scene.run(&["run", "hello", "--session", "own"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "One.\n"), "{}", ran.stderr);
    let listed = scene.run(&["sessions", "list"]).stdout;
    assert!(listed.starts_with("own "), "{listed}");
}
