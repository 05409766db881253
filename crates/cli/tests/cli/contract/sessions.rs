//! Stored sessions can be displayed, exported, imported, verified and removed.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use serde_json::json;
use windlass_testkit::{FaultKind, Script, ScriptStep};
use windlass_vocab::{Json, Record, Unknown};

use crate::support::person::Attended;
use crate::support::{Bench, Ran, journal, ran};

fn bench() -> Bench {
    let bench = Bench::new(Script::of([
        ScriptStep::call("write_file", json!({"path": "a", "content": "x"})),
        ScriptStep::say("Made."),
        ScriptStep::say("Still here."),
    ]));
    let ran = bench.run(&["run", "make a", "--session", "s"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Made.\n"), "{}", ran.stderr);
    bench
}

/// Runs the binary on another data folder of the bench.
fn elsewhere(bench: &Bench, arguments: &[&str]) -> Ran {
    let mut command = bench.command_on(&bench.dir.path().join("other"), arguments);
    ran(command.spawn().expect("the binary starts"))
}

#[test]
fn sessions_are_listed_and_shown() {
    let bench = bench();
    let listed = bench.run(&["sessions", "list"]);
    assert!(listed.stdout.starts_with("s ") && listed.stdout.contains("idle"), "{}", listed.stdout);
    assert!(listed.stdout.ends_with("make a\n"), "{}", listed.stdout);
    let shown = bench.run(&["sessions", "show", "s"]);
    for part in ["MessageAccepted   make a", "write_file", "RunEnded          the run ended: done"] {
        assert!(shown.stdout.contains(part), "{part} is missing in {}", shown.stdout);
    }
    for command in ["show", "export", "verify", "rm"] {
        let missing = bench.run(&["sessions", command, "nobody"]);
        assert!(missing.code == 2 && missing.stderr.contains("there is no session `nobody`"), "{}", missing.stderr);
    }
    let removed = bench.run(&["sessions", "rm", "s"]);
    assert_eq!(removed.code, 0, "{}", removed.stderr);
    assert!(removed.stdout.starts_with("removed s (1 run)"), "{}", removed.stdout);
    assert_eq!(bench.keys(), Vec::<String>::new());
}

// proves L4, J5: a session that a dead process left is distinguished from one that a process has open
#[test]
fn a_session_that_was_cut_short_is_listed_with_what_goes_on() {
    let wait = FaultKind::Delay { ms: 120_000 };
    let bench = Bench::new(Script::of([ScriptStep::say("Done.").fault(wait)]));
    let mut child = bench.spawn(&["run", "go", "--session", "my job"]);
    bench.wait_for_requests(1, &mut child);
    let listed = || bench.run(&["sessions", "list"]).stdout;
    assert!(listed().ends_with("  go\n"), "{}", listed());
    child.kill().expect("killed");
    child.wait().expect("gone");
    let hint = listed();
    let line = hint.split_once("  go  (cut short: `windlass ").and_then(|(_, rest)| rest.strip_suffix("` goes on)\n"));
    // Runs the printed command unchanged in a shell.
    let script = format!("exec \"$0\" {}", line.expect("a line that goes on"));
    let typed = bench.command(&[]);
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).arg(typed.get_program()).current_dir(bench.workspace());
    shell.envs(typed.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let resumed = ran(shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a shell"));
    assert_eq!((resumed.code, resumed.stdout.as_str()), (0, "Done.\n"), "{}", resumed.stderr);
    assert!(listed().ends_with("  go\n"), "{}", listed());
}

// proves W2, W3
#[test]
fn sessions_are_pinned_archived_and_searched() {
    let bench = Bench::new(Script::of([ScriptStep::say("Done."), ScriptStep::say("Back.")]));
    for (prompt, key) in [("fix the parser", "one"), ("draw a cat", "two"), ("sort the list", "three")] {
        assert_eq!(bench.run(&["run", prompt, "--session", key]).code, 0);
    }
    // By name: the clock of these processes runs fast, so their times do not tell which was last.
    let keys = |arguments: &[&str]| {
        let listed = bench.run(&[&["sessions", "list"], arguments].concat());
        assert_eq!(listed.code, 0, "{}", listed.stderr);
        let keys = listed.stdout.lines().filter_map(|line| line.split_whitespace().next().map(str::to_owned));
        keys.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(keys(&[]), "one three two");
    let pinned = bench.run(&["sessions", "pin", "one"]);
    assert_eq!((pinned.code, pinned.stdout.as_str()), (0, "pinned one (1 run): fix the parser\n"), "{}", pinned.stderr);
    let archived = |key| bench.run(&["sessions", "archive", key]);
    for _ in 0..2 {
        assert_eq!(archived("two").stdout, "archived two (1 run): draw a cat\n");
    }
    assert_eq!((keys(&[]).as_str(), keys(&["--archived"]).as_str()), ("one three", "one three two"));
    let listed = bench.run(&["sessions", "list", "--archived"]).stdout;
    assert!(listed.lines().next().is_some_and(|line| line.ends_with("  [pinned] fix the parser")), "{listed}");
    assert!(listed.contains("  [archived] draw a cat\n") && listed.contains("  sort the list\n"), "{listed}");
    assert_eq!(keys(&["--search", "PARSER"]), "one");
    assert_eq!(
        (keys(&["--search", "a cat"]).as_str(), keys(&["--search", "a cat", "--archived"]).as_str()),
        ("", "two")
    );
    let shown = bench.run(&["sessions", "show", "two"]).stdout;
    assert_eq!(shown.matches("SessionChanged    archived").count(), 1, "{shown}");
    // A message takes it out of the archive.
    assert_eq!(bench.run(&["run", "and a dog", "--session", "two"]).stdout, "Back.\n");
    assert_eq!(keys(&[]), "one three two");
    assert_eq!(archived("three").code, 0);
    assert_eq!(keys(&[]), "one two");
    for (command, key) in [("unpin", "one"), ("unarchive", "three")] {
        assert_eq!(bench.run(&["sessions", command, key]).code, 0);
    }
    let listed = bench.run(&["sessions"]).stdout;
    assert!(listed.lines().count() == 3 && !listed.contains('['), "{listed}");
    let missing = bench.run(&["sessions", "pin", "nobody"]);
    assert!(missing.code == 2 && missing.stderr.contains("there is no session `nobody`"), "{}", missing.stderr);
    bench.assert_whole("pinned and archived");
}

// proves J5, W3: the process that has the session open makes the change, and goes on
#[test]
fn a_session_is_pinned_while_another_process_has_it_open() {
    let wait = FaultKind::Delay { ms: 120_000 };
    let bench = Bench::new(Script::of([ScriptStep::say("Done.").fault(wait)]));
    let mut child = bench.spawn(&["run", "go", "--session", "job"]);
    bench.wait_for_requests(1, &mut child);
    let pinned = bench.run(&["sessions", "pin", "job"]);
    assert_eq!((pinned.code, pinned.stdout.as_str()), (0, "pinned job (1 run): go\n"), "{}", pinned.stderr);
    assert!(bench.run(&["sessions", "list"]).stdout.ends_with("  [pinned] go\n"));
    assert!(child.try_wait().expect("asked").is_none(), "it goes on");
    child.kill().expect("killed");
    child.wait().expect("gone");
    // Nobody has it open now; its run is left as it is.
    assert_eq!(bench.run(&["sessions", "unpin", "job"]).code, 0);
    let listed = bench.run(&["sessions", "list"]).stdout;
    assert!(listed.contains("  go  (cut short: "), "{listed}");
}

// proves J8, J11: an exported session is the same after its import and can be continued
#[test]
fn an_exported_session_goes_on_in_another_data_folder() {
    let bench = bench();
    let file = bench.dir.path().join("s.jsonl");
    let path = file.to_str().expect("a path");
    assert_eq!(bench.run(&["sessions", "export", "s", "-o", path]).code, 0);
    let again = bench.run(&["sessions", "export", "s", "-o", path]);
    assert_eq!(again.code, 2, "a copy is not overwritten: {}", again.stderr);
    let imported = elsewhere(&bench, &["sessions", "import", path]);
    assert_eq!((imported.code, imported.stdout.as_str()), (0, "s\n"), "{}", imported.stderr);
    let ran = elsewhere(&bench, &["run", "and now?", "--session", "s"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Still here.\n"), "{}", ran.stderr);
    assert_eq!(bench.last_request("user"), ["make a", "and now?"]);
    let verified = elsewhere(&bench, &["sessions", "verify"]);
    assert!(verified.code == 0 && verified.stdout.starts_with("s: whole"), "{}", verified.stdout);
    let twice = elsewhere(&bench, &["sessions", "import", path]);
    assert_eq!(twice.code, 2, "{}", twice.stderr);
    bench.assert_whole("carried elsewhere");
}

// proves J11: a changed byte is detected, and nothing of the file is imported
#[test]
fn a_changed_copy_is_refused_with_the_line() {
    let bench = bench();
    let exported = bench.run(&["sessions", "export", "s"]).stdout;
    let lines: Vec<&str> = exported.lines().collect();
    let file = bench.dir.path().join("changed.jsonl");
    let mut changed = vec![("half a line", exported[..exported.len() - 20].to_owned(), lines.len())];
    for (number, line) in (1..).zip(&lines) {
        let others = |with: Option<String>| {
            let mut all: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
            all.splice(number - 1..number, with);
            all.join("\n") + "\n"
        };
        if line.contains("make a") {
            changed.push(("a word", others(Some(line.replace("make a", "take a"))), number));
        }
        changed.push(("a line left out", others(None), number));
        if line.contains("Made.\"") && number == lines.len() {
            changed.push(("the last word", others(Some(line.replace("Made.\"", "Mode.\""))), number));
        }
    }
    assert!(changed.iter().any(|(what, ..)| *what == "the last word"));
    assert!(changed.len() > 6);
    for (what, text, number) in changed {
        std::fs::write(&file, text).expect("written");
        let refused = elsewhere(&bench, &["sessions", "import", file.to_str().expect("a path")]);
        assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{what} {number}: {}", refused.stderr);
        assert!(refused.stderr.contains("line "), "{what} {number}: {}", refused.stderr);
        let says_changed = refused.stderr.contains("a record was changed");
        assert_eq!(says_changed, what == "the last word", "{what} {number}: {}", refused.stderr);
        assert_eq!(elsewhere(&bench, &["sessions", "list"]).stdout, "", "{what} {number}");
    }
}

#[test]
fn a_folder_without_a_session_has_nothing_to_resume_or_retry() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    for command in ["resume", "retry"] {
        let ran = bench.run(&[command]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
        assert!(ran.stderr.contains("this folder has no session yet"), "{}", ran.stderr);
    }
}

// proves J3: a session keeps the workspace it started in, whatever the working directory later is
#[test]
fn a_session_goes_on_in_its_own_folder_wherever_the_line_is_typed() {
    let write = |name: &str| ScriptStep::call("write_file", json!({"path": name, "content": "x"}));
    let steps = [write("a"), ScriptStep::say("a"), write("b"), ScriptStep::say("b"), write("c"), ScriptStep::say("c")];
    let mut steps = Vec::from(steps);
    steps[4] = steps[4].clone().fault(FaultKind::status(401));
    let bench = Bench::new(Script::of(steps));
    let other = bench.dir.path().join("other-work");
    std::fs::create_dir(&other).expect("a folder");
    let from_other = |arguments: &[&str]| {
        let mut command = bench.command(arguments);
        ran(command.current_dir(&other).spawn().expect("the binary starts"))
    };
    let died = bench.run_with(&["run", "go", "--session", "wf"], &[("WINDLASS_TEST_DIE", "after:3")]);
    assert_eq!((died.code, bench.read("a")), (-9, None));
    let named = other.to_str().expect("a path");
    for line in [
        &["resume", "wf", "--workspace", named][..],
        &["run", "go", "--session", "wf", "--workspace", named],
        &["run", "go on", "--session", "wf", "--workspace", named],
    ] {
        let refused = from_other(line);
        assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{line:?}: {}", refused.stderr);
        assert!(refused.stderr.contains("session `wf` works in "), "{line:?}: {}", refused.stderr);
    }
    let go_on = ["run", "go on", "--session", "wf"];
    for (line, code, name) in
        [(&["resume", "wf"][..], 0, "a"), (&go_on, 0, "b"), (&go_on, 1, ""), (&["retry", "wf"], 0, "c")]
    {
        let ran = from_other(line);
        assert_eq!((ran.code, ran.stdout.trim_end()), (code, name), "{line:?}: {}", ran.stderr);
        assert!(code != 0 || bench.read(name).is_some(), "{line:?}: {name} is in the session's folder");
    }
    assert_eq!(std::fs::read_dir(&other).expect("a folder").count(), 0, "nothing was written elsewhere");
    let system = bench.last_request("system").concat();
    assert!(!system.contains("other-work"), "{system}");
    std::fs::rename(bench.workspace(), bench.dir.path().join("moved")).expect("moved");
    let gone = from_other(&go_on);
    assert!(gone.code == 2 && gone.stderr.contains("--workspace"), "{}", gone.stderr);
}

// proves J1, J7: the journal stays readable however a model formats its arguments
#[test]
fn arguments_over_several_lines_leave_the_journal_whole() {
    let laid_out = "{\r\n  \"path\": \"a\",\n  \"content\": \"x\\ny\"\n}\n";
    let block = format!(
        "<tool>\n<server_name>local</server_name>\n<tool_name>write_file</tool_name>\n<arguments>\n{laid_out}</arguments>\n</tool>"
    );
    for (preset, step) in
        [("default", ScriptStep::call("write_file", json!(laid_out))), ("local-model", ScriptStep::say(block))]
    {
        let bench = Bench::new(Script::of([step, ScriptStep::say("Made.")]));
        let ran = bench.run(&["run", "make a", "--session", "s", "--preset", preset]);
        assert_eq!((ran.code, bench.read("a").as_deref()), (0, Some("x\ny")), "{preset}: {}", ran.stderr);
        for line in [&["sessions", "verify", "s"][..], &["sessions", "show", "s"], &["undo", "s"], &["audit"]] {
            let read = bench.run(line);
            assert_eq!(read.code, 0, "{preset}: {line:?}: {}", read.stderr);
        }
    }
}

// proves X4, T11: a call that worked is marked; odd kinds can't control the terminal
#[test]
fn what_is_shown_is_marked_and_harmless() {
    let bench = bench();
    let shown = bench.run(&["sessions", "show", "s"]).stdout;
    let finished = shown.lines().find(|line| line.contains("CallFinished")).expect("a finished call");
    assert!(finished.contains("CallFinished      ✓ "), "{finished}");
    let kind = "Moon\u{1b}[2JPhased";
    let odd = Record::Unknown(Unknown { kind: kind.into(), body: Json::parse("{}").expect("JSON") });
    journal::append(&bench.data(), "s", odd, |sealed| sealed);
    for line in
        [&["sessions", "show", "s"][..], &["sessions", "verify"], &["replay", "s"], &["follow", "s", "--until-end"]]
    {
        let ran = bench.run(line);
        assert!(!ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'), "{line:?}: {ran:?}");
    }
    assert!(bench.run(&["sessions", "show", "s"]).stdout.contains("Phased"));
}

// proves T11: the session is named as everywhere
#[test]
fn the_calls_of_one_session_are_audited_by_its_key() {
    let bench = bench();
    assert_eq!(bench.run(&["run", "make a", "--session", "t"]).code, 0);
    let all = bench.run(&["audit", "--json"]).stdout;
    let one = bench.run(&["audit", "s", "--json"]);
    assert_eq!((all.lines().count(), one.stdout.lines().count()), (2, 1), "{}", one.stderr);
    assert_eq!(bench.run(&["audit", "--session", "s", "--json"]).stdout, one.stdout);
}

// proves X1: a session works in the folder it was begun in, and a command typed in another one reports that
#[test]
fn a_command_in_another_folder_says_where_the_session_works() {
    let write = ScriptStep::call("write_file", json!({"path": "a", "content": "x"}));
    let bench = Bench::new(Script::of([ScriptStep::say("Aye."), write, ScriptStep::say("Written.")]));
    let begun = bench.run(&["run", "go", "--session", "s"]);
    assert!(begun.code == 0 && !begun.stderr.contains("works in"), "{}", begun.stderr);
    let elsewhere = bench.dir.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("a folder");
    let mut command = bench.command(&["run", "write it", "--session", "s"]);
    let ran = ran(command.current_dir(&elsewhere).spawn().expect("the binary starts"));
    assert_eq!((ran.code, bench.read("a").as_deref()), (0, Some("x")), "{}", ran.stderr);
    let told = format!("session `s` works in {}\n", bench.workspace().canonicalize().expect("a folder").display());
    assert!(ran.stderr.contains(&told), "{}", ran.stderr);
}

// proves J1: nothing is deleted at a terminal before a person agreed
#[test]
fn a_person_is_asked_before_a_session_is_deleted() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    assert_eq!(bench.run(&["run", "go", "--session", "s"]).code, 0);
    for (answer, code, left) in [("n\n", 4, 1), ("\n", 4, 1), ("\u{4}", 4, 1), ("what\ny\n", 0, 0)] {
        let mut person = Attended::start(&bench, &["sessions", "rm", "s"], &[]);
        let asked = person.read_until("delete it for good?");
        assert!(asked.contains("s (1 run): go"), "{asked}");
        person.type_text(answer);
        let ran = person.finish();
        assert_eq!((ran.code, bench.keys().len()), (code, left), "{answer:?}: {}", ran.stderr);
    }
    assert_eq!(bench.run(&["run", "go", "--session", "s"]).code, 0);
    let removed = Attended::start(&bench, &["sessions", "rm", "s", "--yes"], &[]).finish();
    assert_eq!((removed.code, bench.keys().len()), (0, 0), "{}", removed.stderr);
}
