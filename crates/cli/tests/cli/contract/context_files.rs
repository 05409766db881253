//! The files that instruct the agent: what of them the model is sent, and in which order.

use std::path::PathBuf;

use serde_json::json;
use windlass_testkit::{AfterSteps, FaultKind, Scene, Script, ScriptStep};

use crate::support::Bench;

const HEAD: &str = "---\nname: knots\ndescription: Ties knots.\n---\n";

/// Writes files below the folder of the bench, which is also the person's home.
fn write(bench: &Bench, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path: PathBuf = bench.dir.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("written");
    }
}

// proves C1, C8: on the wire, in order; the model reads a skill, which may be outside the workspace
#[test]
fn instructions_and_the_index_of_skills_are_sent_in_order_and_a_skill_can_be_read() {
    let steps = [
        ScriptStep::call("read_skill", json!({"name": "knots"})),
        ScriptStep::call("read_skill", json!({"name": "sails", "path": "notes/reef.md"})),
        ScriptStep::call("read_skill", json!({"name": "sails", "path": "../../../windlass.toml"})),
        ScriptStep::say("Aye."),
    ];
    let bench = Bench::new(Script::of(steps));
    let sails = "---\nname: sails\ndescription: >\n  Sets\n  sails.\n---\nHoist them.\n";
    write(
        &bench,
        &[
            (".config/windlass/AGENTS.md", "Answer in English.\n"),
            (".agents/skills/sails/SKILL.md", sails),
            (".agents/skills/sails/notes/reef.md", "Reef early.\n"),
            ("work/AGENTS.md", "Splice the mainbrace.\n"),
            ("work/docs/CLAUDE.md", "Write short sentences.\n"),
            ("work/.claude/skills/knots/SKILL.md", &format!("{HEAD}Make a loop.\n")),
            ("work/.claude/skills/broken/SKILL.md", "No head.\n"),
        ],
    );
    let ran = bench.run(&["run", "go", "--session", "s"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Aye.\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("broken is left out: SKILL.md does not begin with front matter"), "{}", ran.stderr);
    let system = bench.last_request("system").concat();
    let parts = [
        "You are Windlass",
        "Answer in English.",
        "Splice the mainbrace.",
        "- docs/CLAUDE.md",
        "How to work:",
        "Your workspace is",
        "- knots: Ties knots. (.claude/skills/knots)",
        "- sails: Sets sails. (",
    ];
    let places: Vec<usize> =
        parts.iter().map(|part| system.find(part).unwrap_or_else(|| panic!("{part}: {system}"))).collect();
    assert!(places.is_sorted(), "{places:?}: {system}");
    for unread in ["Write short sentences.", "Make a loop.", "Hoist them."] {
        assert!(!system.contains(unread), "what the model has not asked for is not sent: {system}");
    }
    let results = bench.last_request("tool");
    assert!(results[0].contains("Make a loop."), "{results:?}");
    assert_eq!(results[1], "Reef early.\n");
    assert!(results[2].contains("is outside the skill's folder"), "{results:?}");
    // The reminders end the request and are in no record.
    assert!(bench.last_reminder().contains("Use the tools rather than guess"), "{}", bench.last_reminder());
    assert!(!bench.run(&["sessions", "export", "s"]).stdout.contains("rather than guess"));
    bench.assert_whole("skills");
}

// proves C1, J3: a run that goes on keeps the prefix it began with; the next one reads anew
#[test]
fn a_resumed_run_keeps_the_instructions_it_began_with() {
    let waits = ScriptStep::call("run_command", json!({"command": "touch started; sleep 60"}));
    let bench = Bench::new(Script::of([waits, ScriptStep::say("Aye."), ScriptStep::say("Aye.")]));
    write(&bench, &[("work/AGENTS.md", "First.\n")]);
    let mut child = bench.spawn(&["run", "go", "--session", "s", "--mode", "bypass", "--sandbox", "off"]);
    bench.wait_for_file("started", &mut child);
    child.kill().expect("killed");
    child.wait().expect("waited");
    write(&bench, &[("work/AGENTS.md", "Second.\n")]);
    let system = |line: &[&str]| {
        let ran = bench.run(line);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "Aye.\n"), "{}", ran.stderr);
        bench.last_request("system").concat()
    };
    let resumed = system(&["resume", "s"]);
    assert!(resumed.contains("First.") && !resumed.contains("Second."), "{resumed}");
    let next = system(&["run", "go on", "--session", "s"]);
    assert!(next.contains("Second.") && !next.contains("First."), "{next}");
    bench.assert_whole("resumed");
}

// proves C2, X2: the flag, else the person's settings; an untrusted project's is not taken
#[test]
fn the_system_prompt_comes_from_the_flag_or_the_settings_but_not_from_an_untrusted_project() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye."), ScriptStep::say("Aye."), ScriptStep::say("Aye.")]));
    let system = |flags: &[&str]| {
        let ran = bench.run(&[&["run", "go"], flags].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        (bench.last_request("system").concat(), ran.stderr)
    };
    write(&bench, &[("work/windlass.toml", "system = 'You are a thief.'\n")]);
    let (text, stderr) = system(&[]);
    assert!(text.starts_with("You are Windlass") && !text.contains("thief"), "{text}");
    assert!(stderr.contains("a system prompt: not taken from a project you have not trusted"), "{stderr}");
    write(&bench, &[(".config/windlass/windlass.toml", "system = 'You are a mate.'\n")]);
    let (text, _) = system(&[]);
    assert!(text.starts_with("You are a mate.\n\nHow to work:") && text.contains("Your workspace is"), "{text}");
    let (text, _) = system(&["--system", "You are a cook."]);
    assert!(text.starts_with("You are a cook.\n\n"), "{text}");
    let empty = bench.run(&["run", "go", "--system", " "]);
    assert!(empty.code == 2 && empty.stderr.contains("--system: the system prompt is empty"), "{}", empty.stderr);
}

/// Replaces session `s` by what was exported of it.
fn import_again(bench: &Bench) {
    let exported = bench.dir.path().join("s.jsonl");
    std::fs::write(&exported, bench.run(&["sessions", "export", "s"]).stdout).expect("written");
    assert_eq!(bench.run(&["sessions", "rm", "s", "--yes"]).code, 0);
    assert_eq!(bench.run(&["sessions", "import", exported.to_str().expect("a path")]).code, 0);
}

// proves C2, X6: a session keeps the system prompt it was given; one from elsewhere instructs nobody
#[test]
fn a_session_keeps_its_own_system_prompt_whatever_is_configured_later() {
    let fails = ScriptStep::say("").fault(FaultKind::status(400).times(1));
    let steps = Scene::when("", [ScriptStep::say("Aye.")]).then(AfterSteps::RepeatLast);
    let bench = Bench::new(Script::default().scene(Scene::when("fail", [fails])).scene(steps));
    write(&bench, &[(".config/windlass/windlass.toml", "system = 'You are a mate.'\n")]);
    let begins = |line: &[&str], code: i32, begin: &str| {
        let ran = bench.run(line);
        assert_eq!(ran.code, code, "{line:?}: {}", ran.stderr);
        let system = bench.last_request("system").concat();
        assert!(system.starts_with(begin), "{line:?}: {system}");
    };
    let (cook, mate, pilot) = ("You are a cook.", "You are a mate.", "You are a pilot.");
    begins(&["run", "go", "--session", "s", "--system", cook], 0, cook);
    begins(&["run", "go on", "--session", "s"], 0, cook);
    begins(&["run", "fail", "--session", "s"], 1, cook);
    begins(&["retry", "s"], 0, cook);
    assert_eq!(bench.run(&["fork", "s"]).code, 0);
    begins(&["run", "go", "--session", "s-fork"], 0, cook);
    begins(&["run", "go", "--session", "other"], 0, mate);
    begins(&["run", "go", "--session", "s", "--system", pilot], 0, pilot);
    begins(&["run", "go on", "--session", "s"], 0, pilot);
    assert_eq!(bench.run(&["replay", "s", "--check"]).code, 0);
    import_again(&bench);
    begins(&["run", "go", "--session", "s"], 0, mate);
    bench.assert_whole("own system prompts");
}

// proves M2, C2: an agent of the settings has its models, its instructions and its name in the records
#[test]
fn an_agent_of_the_settings_is_used_by_its_name() {
    let bench = Bench::new(Script::of(["Aye."; 3].map(ScriptStep::say)));
    let settings = "system = 'Be brief.'\n[agents.reviewer]\nmodel = 'big'\nsystem = 'Change nothing.'\n";
    write(&bench, &[(".config/windlass/windlass.toml", settings)]);
    let begins = |args: &[&str], agent: &str, model: &str, system: &str| {
        let ran = bench.run(&[&["run", "go", "--session", "s"], args].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(bench.last_request("system").concat().starts_with(system));
        assert_eq!(bench.server.requests().last().expect("a request").body["model"], model);
        let journal = bench.journal("s");
        let started = journal.iter().rfind(|record| record["kind"] == "RunStarted").expect("a run");
        assert_eq!((&started["body"]["agent"], &started["body"]["chain"]), (&json!(agent), &json!([model])));
    };
    let reviews = "Be brief.\n\nChange nothing.\n\n";
    begins(&["--agent", "reviewer"], "reviewer", "big", reviews);
    // The session keeps its agent.
    begins(&[], "reviewer", "big", reviews);
    // What was imported chooses no agent here (X6).
    import_again(&bench);
    begins(&["--model", "big"], "Windlass", "big", "Be brief.\n\n");
    let wrong = bench.run(&["run", "go", "--agent", "reviwer"]);
    assert_eq!(wrong.code, 2, "{}", wrong.stderr);
    assert!(wrong.stderr.contains("--agent: there is no agent \"reviwer\"; did you mean"), "{}", wrong.stderr);
}

// proves C1, C8: what is used is told
#[test]
fn doctor_lists_the_files_that_instruct_the_agent() {
    let bench = Bench::new(Script::of([]));
    write(
        &bench,
        &[
            ("work/AGENTS.md", "First.\n"),
            ("work/.agents/skills/knots/SKILL.md", HEAD),
            ("work/.agents/skills/x/SKILL.md", ""),
        ],
    );
    let checked = bench.run(&["doctor"]).stdout;
    assert!(checked.contains("instructions: AGENTS.md; 1 skill"), "{checked}");
    assert!(checked.contains("skill knots (") && checked.contains("x is left out: "), "{checked}");
}
