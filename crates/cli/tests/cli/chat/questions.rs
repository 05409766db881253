//! Questions asked during a run.

use serde_json::json;
use windlass_testkit::{Scene, Script, ScriptStep};

use crate::support::Bench;
use crate::support::glass::Glass;

const OFFER: &str =
    "[n] no, or n and why  [y] yes, once\n[s] yes, for this session  [a] always, everywhere  [e] edit\n";

fn bench(command: &str) -> Bench {
    let call = || ScriptStep::call("run_command", json!({"command": command}));
    Bench::new(Script::of([call(), call(), ScriptStep::say("Aye.")]))
}

/// Starts a chat and waits until it asks about its first command.
fn asked(bench: &Bench) -> Glass {
    let mut glass = Glass::chat(bench, &["--session", "k"]);
    glass.wait_for_prompt();
    glass.say("go");
    glass.wait_for(OFFER);
    glass.wait("room for an answer", |screen| screen.lines().last() == Some("?"));
    glass
}

/// The options offered for an edited call.
const AS_EDITED: &str = "[y] run as edited  [e] edit again  [n] back to the question";

fn answer(glass: &mut Glass, line: &str) {
    glass.wait("room for an answer", |screen| screen.lines().last() == Some("?"));
    glass.say(line);
    glass.wait(line, |screen| screen.contains(&format!("\n? {line}\n")));
}

// proves T8
#[test]
fn each_call_is_asked_about_with_a_preview_and_the_answer_counts() {
    for (answers, ran_so_often) in [(&["y", "n"][..], 1), (&["no", "yes"], 1), (&["s"], 2), (&["what?", "n", "n"], 0)] {
        let bench = bench("echo x >> log");
        let mut glass = asked(&bench);
        let expected = "Windlass 0.1.0 · scripted · $DIR/work
session k
/help · Ctrl-C stops a run · Ctrl-D leaves
› go

Run `echo x >> log`
  $SANDBOX
  in $DIR/work
[s] and [a] allow: run_command(echo x >> log)
[n] no, or n and why  [y] yes, once
[s] yes, for this session  [a] always, everywhere  [e] edit
?";
        glass.assert_shows(&bench, expected);
        for line in answers {
            answer(&mut glass, line);
        }
        glass.wait_for("Aye.");
        glass.wait_for_prompt();
        let log = bench.read("log").unwrap_or_default();
        assert_eq!(log.lines().count(), ran_so_often, "{answers:?}");
        bench.assert_whole("asked");
    }
}

// proves T8, X1: a no with a reason gives the model that reason, with secrets removed
#[test]
fn a_no_that_goes_on_is_told_to_the_model() {
    let bench = bench("npm install");
    let mut command = bench.command(&["--session", "k"]);
    command.env("TERM", "xterm").env("LANG", "C.UTF-8").env("WINDLASS_TEST_CLOCK", "1");
    command.env("DEPLOY_TOKEN", "hush-hush-this-is-long-1234");
    let mut glass = Glass::start(command);
    glass.wait_for_prompt();
    glass.say("go");
    answer(&mut glass, "n use pnpm");
    answer(&mut glass, "no, not hush-hush-this-is-long-1234");
    glass.wait_for("Aye.");
    let heard = bench.last_request("tool");
    assert!(heard[0].ends_with("The person did not allow this call, and says: use pnpm"), "{heard:?}");
    assert!(heard[1].ends_with("and says: not ⟦secret:DEPLOY_TOKEN⟧"), "{heard:?}");
    bench.assert_whole("refused");
}

// proves T8: a call can be approved only after all of it was displayed
#[test]
fn all_of_a_long_write_can_be_read_page_by_page() {
    let content: String = (0..101).map(|n| format!("line {n} of 101\n")).collect();
    let write = ScriptStep::call("write_file", json!({"path": "long.txt", "content": content}));
    let bench = Bench::new(Script::of([write, ScriptStep::say("Aye.")]));
    let mut glass = Glass::chat(&bench, &["--session", "k", "--mode", "strict"]);
    glass.wait_for_prompt();
    glass.say("go");
    glass.wait_for("  +line 7 of 101\n  [93 more rows]\n");
    glass.wait_for("[v] view all 105 rows: only then can you say yes\n[n] no, or n and why  [e] edit\n");
    assert!(!glass.written().contains("+line 8 of 101"), "the question fits the screen: {}", glass.text());
    glass.wait("room for an answer", |screen| screen.lines().last() == Some("?"));
    answer(&mut glass, "y");
    glass.wait_for("not yet: v shows all of it");
    answer(&mut glass, "yes please");
    glass.wait_for("not understood: answer n, e or v");
    glass.wait("room for an answer", |screen| screen.lines().last() == Some("?"));
    glass.say("v");
    for page in 1..6 {
        glass.wait_for(&format!("[page {page} of 6: Enter next"));
        glass.wait("room for a line", |screen| screen.lines().last() == Some("?"));
        glass.say("");
    }
    glass.wait_for("+line 100 of 101");
    glass.wait_for("[v] view all 105 rows\n");
    for line in 0..101 {
        assert!(glass.written().contains(&format!("+line {line} of 101")), "line {line} was never shown");
    }
    answer(&mut glass, "y");
    glass.wait_for("Aye.");
    assert_eq!(bench.read("long.txt").map(|text| text.lines().count()), Some(101));
}

// proves T8, X3: where a command runs is printed above the model's text, and a command not fully displayed does not run
#[test]
fn a_long_command_can_not_hide_that_it_leaves_the_sandbox() {
    let command: String = (0..60).map(|n| format!("echo {n}\n")).collect::<String>() + "touch gotcha";
    let call = ScriptStep::call("run_command", json!({"command": command, "sandbox": "off"}));
    let bench = Bench::new(Script::of([call, ScriptStep::say("Aye.")]));
    let mut glass = Glass::chat(&bench, &["--session", "k"]);
    glass.wait_for_prompt();
    glass.say("go");
    glass.wait_for("\nRun `echo 0` and 60 more lines\n  not in a sandbox: it can change and send whatever you can\n");
    answer(&mut glass, "y");
    glass.wait_for("not yet: v shows all of it");
    answer(&mut glass, "n");
    glass.wait_for("Aye.");
    assert_eq!(bench.read("gotcha"), None);
}

// proves T8: "always" writes the rule to the file, keeps its comments, and applies to other sessions of the same chat
#[test]
fn always_is_written_to_the_persons_file_and_nobody_is_asked_again() {
    let bench = bench("echo x");
    let file = bench.dir.path().join(".config/windlass/windlass.toml");
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    std::fs::write(&file, "# mine\n[permissions] # what I said\nallow = [\n  'read_file', # sure\n]\n")
        .expect("written");
    let mut glass = asked(&bench);
    answer(&mut glass, "a");
    glass.wait_for("allowed from now on: run_command(echo *)\n");
    glass.wait_for("Aye.");
    glass.wait_for_prompt();
    let want = "# mine\n[permissions] # what I said\nallow = [\n  'read_file', # sure\n  \"run_command(echo *)\",\n]\n";
    assert_eq!(std::fs::read_to_string(&file).expect("read"), want);
    glass.say("/new");
    glass.wait_for("New session started.");
    glass.wait_for_prompt();
    glass.say("go");
    glass.wait("the end", |screen| screen.matches("Aye.").count() == 2);
    assert_eq!(bench.records("k", "QuestionAsked"), 1);
    glass.wait_for_prompt();
    glass.say("/exit");
    assert_eq!(glass.end(), 0);
}

// proves X5: approving a command approves only commands like the one displayed
#[test]
fn a_command_allowed_for_the_session_does_not_allow_what_its_program_can_become() {
    let commands = ["git status", "git status --short", "git -c alias.x='!touch pwned' x"];
    let calls = commands.map(|command| ScriptStep::call("run_command", json!({"command": command})));
    let bench = Bench::new(Script::of(calls.into_iter().chain([ScriptStep::say("Aye.")])));
    let mut glass = asked(&bench);
    answer(&mut glass, "s");
    glass.wait_for("allowed for this session: run_command(git status *)\n");
    glass.wait("the next question", |screen| screen.matches(OFFER).count() == 2);
    assert!(
        glass.text().contains("[s] and [a] allow: run_command(git -c alias.x='!touch pwned' x)"),
        "{}",
        glass.text()
    );
    answer(&mut glass, "n");
    glass.wait_for("Aye.");
    assert_eq!((bench.read("pwned"), bench.records("k", "QuestionAsked")), (None, 2));
    glass.wait_for_prompt();
    glass.say("/permissions");
    glass.wait_for("allow    run_command(git status *) (you, for this session)");
    glass.wait_for("mode     default (the default)");
    glass.wait_for_prompt();
    glass.say("/status");
    glass.wait_for("1 rule in this session");
    bench.assert_whole("granted");
}

// proves T8: a settings file that can't be written is left unchanged, and the rule to add is printed
#[test]
fn always_holds_for_the_session_where_it_can_not_be_written() {
    let bench = bench("echo x");
    let file = bench.dir.path().join(".config/windlass/windlass.toml");
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    let mut glass = asked(&bench);
    std::fs::write(&file, "[permissions\n").expect("written");
    answer(&mut glass, "a");
    glass.wait_for("allowed for this session: run_command(echo *)\nnot written down: ");
    glass.wait_for("  [permissions]\n  allow = [\"run_command(echo *)\"]");
    glass.wait_for("Aye.");
    glass.wait_for_prompt();
    assert_eq!(std::fs::read_to_string(&file).expect("read"), "[permissions\n");
    std::fs::remove_file(&file).expect("removed");
    assert_eq!(bench.records("k", "QuestionAsked"), 1);
}

// proves T8: a deny rule also applies to a command that the person edited
#[test]
fn an_edited_command_that_a_rule_forbids_is_not_run() {
    let bench = bench("echo x >> log");
    let mut glass = Glass::chat(&bench, &["--session", "k", "--deny", "run_command(* >> logbook)"]);
    glass.wait_for_prompt();
    glass.say("go");
    answer(&mut glass, "e");
    glass.wait_for("edit: echo x >> log");
    glass.press("book\r");
    glass.wait_for("forbids it");
    glass.wait_for("edit: echo x >> logbook");
    glass.press("s\r");
    glass.wait_for(AS_EDITED);
    answer(&mut glass, "y");
    answer(&mut glass, "n");
    glass.wait_for("Aye.");
    assert_eq!((bench.read("logbooks").as_deref(), bench.read("logbook")), (Some("x\n"), None));
    bench.assert_whole("edited");
}

// proves T8: a diff for edits, in colour
#[test]
fn an_edit_is_asked_about_with_its_diff() {
    let edit = ScriptStep::call("edit_file", json!({"path": "a.txt", "old_text": "two", "new_text": "2"}));
    let bench = Bench::new(Script::of([edit, ScriptStep::say("Aye.")]));
    std::fs::write(bench.workspace().join("a.txt"), "one\ntwo\nthree\n").expect("written");
    let mut glass = Glass::chat(&bench, &["--session", "k", "--mode", "strict"]);
    glass.wait_for_prompt();
    glass.say("go");
    glass.wait_for("Edit a.txt\n  --- a.txt\n  +++ a.txt\n  @@ -1,3 +1,3 @@\n   one\n  -two\n  +2\n   three\n");
    assert!(glass.written().contains("\u{1b}[31m  -two\u{1b}[0m"), "{:?}", glass.written());
    answer(&mut glass, "y");
    glass.wait_for("Aye.");
    assert_eq!(bench.read("a.txt").as_deref(), Some("one\n2\nthree\n"));
}

// proves T8: a call that can only fail is not asked about
#[test]
fn an_edit_whose_text_is_not_there_is_told_to_the_model_and_not_asked_about() {
    let edit = |old: &str| ScriptStep::call("edit_file", json!({"path": "a.txt", "old_text": old, "new_text": "2"}));
    let bench = Bench::new(Script::of([edit("four"), edit("two"), ScriptStep::say("Aye.")]));
    std::fs::write(bench.workspace().join("a.txt"), "one\ntwo\n").expect("written");
    let mut glass = Glass::chat(&bench, &["--session", "k", "--mode", "strict"]);
    glass.wait_for_prompt();
    glass.say("go");
    glass.wait_for("✗ edit_file a.txt  0 ms, wrong arguments");
    answer(&mut glass, "y");
    glass.wait_for("Aye.");
    assert_eq!(bench.records("k", "QuestionAsked"), 1);
    assert!(bench.last_request("tool")[0].contains("old_text does not occur"), "{:?}", bench.last_request("tool"));
}

// proves T8, J3: a chat killed during a question asks it again
#[test]
fn a_question_outlives_a_kill() {
    let bench = bench("echo x >> log");
    let mut glass = asked(&bench);
    glass.child.kill().expect("killed");
    glass.end();
    let mut glass = Glass::chat(&bench, &["--continue"]);
    glass.wait_for("Run `echo x >> log`");
    answer(&mut glass, "y");
    answer(&mut glass, "n");
    glass.wait_for("Aye.");
    assert_eq!(bench.read("log").as_deref(), Some("x\n"));
    bench.assert_whole("killed");
}

// proves T8: edit and run; the edited call is displayed as it will run, and needs approval
#[test]
fn a_command_is_edited_at_the_prompt_and_run_as_edited_once_that_was_agreed_to() {
    let call = json!({"command": "echo x >> log", "timeout_seconds": 9});
    let bench = Bench::new(Script::of([ScriptStep::call("run_command", call), ScriptStep::say("Aye.")]));
    let edits = |glass: &mut Glass, line: &str| {
        answer(glass, "e");
        glass.wait("the line to edit", |screen| screen.lines().last() == Some(line));
    };
    let mut glass = asked(&bench);
    edits(&mut glass, "edit: echo x >> log");
    glass.press("book\r");
    glass.wait_for("Run `echo x >> logbook`\n");
    glass.wait_for(AS_EDITED);
    assert_eq!(bench.records("k", "QuestionAnswered"), 0, "writing it is no answer");
    edits(&mut glass, "edit: echo x >> logbook");
    glass.press("s\r");
    glass.wait_for("Run `echo x >> logbooks`\n");
    answer(&mut glass, "n");
    glass.wait_for("? n\n[s] and [a] allow: run_command(echo x >> log)\n");
    edits(&mut glass, "edit: echo x >> log");
    glass.press("s\r");
    glass.wait_for("Run `echo x >> logs`\n");
    answer(&mut glass, "y");
    glass.wait_for("Aye.");
    let read = ["log", "logbook", "logbooks", "logs"].map(|file| bench.read(file));
    assert_eq!(read, [None, None, None, Some("x\n".to_owned())]);
    bench.assert_whole("edited");
}

// proves T8: edited arguments that do not fit the tool's schema are not run
#[test]
fn arguments_are_edited_in_the_persons_editor_until_they_fit() {
    let call = ScriptStep::call("move_file", json!({"from": "log", "to": "logbook", "overwrite": true}));
    let bench = Bench::new(Script::of([call, ScriptStep::say("Aye.")]));
    std::fs::write(bench.workspace().join("log"), "x\n").expect("written");
    // An editor that writes invalid arguments the first time and valid ones the second.
    let editor = bench.dir.path().join("editor");
    let script = "#!/bin/sh\nif [ -e seen ]; then sed -i 's/logbook/book/; s/\"soon\"/true/' \"$1\"\n\
                  else touch seen; sed -i 's/: true/: \"soon\"/' \"$1\"; fi\n";
    std::fs::write(&editor, script).expect("a program");
    let made = std::process::Command::new("chmod").arg("+x").arg(&editor).status().expect("chmod");
    assert!(made.success());
    let mut command = bench.command(&["--session", "k", "--mode", "strict"]);
    command.env("TERM", "xterm").env("LANG", "C.UTF-8").env("WINDLASS_TEST_CLOCK", "1").env("EDITOR", &editor);
    let mut glass = Glass::start(command);
    glass.wait_for_prompt();
    glass.say("go");
    answer(&mut glass, "e");
    glass.wait_for("overwrite");
    glass.wait_for(AS_EDITED);
    answer(&mut glass, "y");
    glass.wait_for("Aye.");
    let read = ["book", "log", "logbook"].map(|file| bench.read(file));
    assert_eq!(read, [Some("x\n".to_owned()), None, None]);
}

// proves T8: when the editor fails, the chat reports it and the question stays open
#[test]
fn an_editor_that_fails_or_empties_the_text_changes_nothing() {
    for (editor, said) in [("false", "false failed (exit status: 1)"), (": >", "nothing is changed")] {
        let bench = bench("echo x >> log");
        let mut command = bench.command(&["--session", "k"]);
        command.env("TERM", "xterm").env("LANG", "C.UTF-8").env("WINDLASS_TEST_CLOCK", "1").env("EDITOR", editor);
        let mut glass = Glass::start(command);
        glass.wait_for_prompt();
        glass.say("go");
        answer(&mut glass, "e");
        glass.wait_for(said);
        answer(&mut glass, "n");
        answer(&mut glass, "n");
        glass.wait_for("Aye.");
        assert_eq!(bench.read("log"), None, "{editor}");
    }
}

// proves L8: a stop takes effect while a question is open
#[test]
fn a_stop_at_a_question_stops_the_run_and_nothing_ran() {
    for keys in ["\u{3}", "/STOP\r"] {
        let bench = bench("echo x >> log");
        let mut glass = asked(&bench);
        glass.press(keys);
        glass.wait_for_prompt();
        assert_eq!(bench.read("log"), None);
        assert!(bench.run(&["sessions", "show", "k"]).stdout.contains("the run ended: stopped"));
        bench.assert_whole("stopped");
    }
}

// proves T8: text typed before the question appeared does not answer it
#[test]
fn what_was_typed_before_the_question_is_kept_for_after_it() {
    let wait = json!({"command": "while [ ! -e go ]; do sleep 0.02; done"});
    let call = ScriptStep::call("run_command", json!({"command": "echo x >> log"}));
    let script = Scene::when("begin", [ScriptStep::call("run_command", wait), call, ScriptStep::say("Aye.")]);
    let bench = Bench::new(Script::default().scene(script));
    let mut glass = Glass::chat(&bench, &["--session", "k"]);
    glass.wait_for_prompt();
    glass.say("begin");
    answer(&mut glass, "y");
    glass.wait("a run", |screen| screen.lines().last() == Some("»"));
    glass.press("yes but");
    glass.wait("the line", |screen| screen.lines().last() == Some("» yes but"));
    std::fs::write(bench.workspace().join("go"), "").expect("a file");
    glass.wait("the question", |screen| screen.matches(OFFER).count() == 2);
    answer(&mut glass, "n");
    glass.wait("the line again", |screen| screen.lines().last() == Some("› yes but"));
    assert_eq!(bench.read("log"), None);
}

// proves J3, T8: a question survives the end of the process and is asked again
#[test]
fn a_question_that_was_left_is_asked_again_when_the_session_is_taken_up() {
    let bench = bench("echo x >> log");
    let mut glass = asked(&bench);
    glass.press("\u{4}");
    assert_eq!(glass.end(), 0);
    assert!(
        glass.text().contains("`windlass --resume k --data-dir ") && glass.text().contains(" goes on with it"),
        "{}",
        glass.text()
    );
    let mut glass = Glass::chat(&bench, &["--resume", "k"]);
    glass.wait_for("› go\n");
    answer(&mut glass, "s");
    glass.wait_for("allowed for this session: run_command(echo x >> log)");
    glass.wait_for("Aye.");
    let ran = glass.text().matches("• run_command echo x >> log").count();
    assert_eq!(ran, 2, "a call asked for before is named too: {}", glass.text());
    assert_eq!(bench.read("log").as_deref(), Some("x\nx\n"));
    bench.assert_whole("asked again");
}

// proves J4: the person is asked about a call that a crash interrupted
#[test]
fn a_command_cut_short_by_a_crash_is_asked_about() {
    let wait = ScriptStep::call("run_command", json!({"command": "touch begun; while :; do sleep 0.02; done"}));
    let bench = Bench::new(Script::of([wait, ScriptStep::say("Aye.")]));
    let mut glass = asked(&bench);
    answer(&mut glass, "y");
    bench.wait_for_file("begun", &mut glass.child);
    glass.child.kill().expect("killed");
    glass.end();
    let mut glass = Glass::chat(&bench, &["--continue"]);
    glass.wait_for("[r] run again  [i] leave it interrupted");
    answer(&mut glass, "i");
    glass.wait_for("Aye.");
    glass.wait_for_prompt();
    bench.assert_whole("settled");
    glass.press("\u{4}");
    glass.end();
    bench.assert_nothing_survives("settled");
}

/// A pause longer than any gap between the bytes of one key's escape sequence.
const PAUSE: std::time::Duration = std::time::Duration::from_secs(1);

// proves T8: Escape does nothing, and does not swallow the next key
#[test]
fn escape_swallows_neither_an_answer_nor_ctrl_c() {
    let bench = bench("echo x >> log");
    let mut glass = asked(&bench);
    glass.press("\x1b");
    std::thread::sleep(PAUSE);
    answer(&mut glass, "e");
    glass.wait_for("Ctrl-C twice leaves it as it was\nedit: echo x >> log");
    glass.press("\x1b");
    std::thread::sleep(PAUSE);
    glass.press("\x03");
    glass.wait("an empty line", |screen| screen.lines().last() == Some("edit:"));
    glass.press("\x03");
    answer(&mut glass, "n");
    answer(&mut glass, "n");
    glass.wait_for("Aye.");
    glass.wait_for_prompt();
    assert_eq!(bench.read("log"), None);
}

// proves X4 at the terminal: a text-direction control is displayed as a replacement character, and kept in the text
#[test]
fn what_is_edited_can_not_steer_the_terminal() {
    let bench = bench("echo 'a\u{202e}b' >> log");
    let mut glass = asked(&bench);
    answer(&mut glass, "e");
    // The emulated screen has no cell for the replacement character; the written bytes contain it.
    glass.wait_for("edit: echo 'ab' >> log");
    glass.press("s\r");
    glass.wait_for(AS_EDITED);
    answer(&mut glass, "y");
    answer(&mut glass, "n");
    glass.wait_for("Aye.");
    glass.wait_for_prompt();
    let edited = glass.written().split_once("edit: ").map(|(_, after)| after.contains("'a\u{fffd}b'"));
    assert_eq!(edited, Some(true), "{}", glass.written());
    assert!(!glass.written().contains('\u{202e}'), "{}", glass.written());
    assert_eq!(bench.read("logs").as_deref(), Some("a\u{202e}b\n"));
}

// proves X5: "this session" allows exactly that path, and "always" is not offered
#[test]
fn a_protected_path_is_asked_about_and_a_yes_is_for_that_path_alone() {
    let write = |path: &str| ScriptStep::call("write_file", json!({"path": path, "content": "[core]\n"}));
    let steps = [write(".git/config"), write(".git/config"), write(".git/other"), ScriptStep::say("Aye.")];
    let bench = Bench::new(Script::of(steps));
    let mut glass = Glass::chat(&bench, &["--session", "k", "--allow", "*", "--allow", "write"]);
    glass.wait_for_prompt();
    glass.say("go");
    glass.wait_for("[n] no, or n and why  [y] yes, once\n[s] yes, for this session  [e] edit\n");
    let expected = "Windlass 0.1.0 · scripted · $DIR/work
session k
/help · Ctrl-C stops a run · Ctrl-D leaves
› go

Create .git/config (7 bytes)
  .git/config is protected (**/.git/): what is there may
  ↳run by itself, or instruct agents.
  --- /dev/null
  +++ .git/config
  @@ -0,0 +1 @@
  +[core]
[s] allow: write_file(.git/config)
[n] no, or n and why  [y] yes, once
[s] yes, for this session  [e] edit
?";
    glass.wait("room for an answer", |screen| screen.lines().last() == Some("?"));
    glass.assert_shows(&bench, expected);
    answer(&mut glass, "a");
    answer(&mut glass, "s");
    glass.wait_for("Create .git/other");
    answer(&mut glass, "n");
    glass.wait_for("Aye.");
    glass.wait_for_prompt();
    assert_eq!((bench.read(".git/config").is_some(), bench.read(".git/other")), (true, None));
    bench.assert_whole("asked");
}
