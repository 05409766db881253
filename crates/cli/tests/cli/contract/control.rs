//! A second terminal stops, answers and follows a run that another process started.

use std::io::{BufRead as _, BufReader};
use std::process::Child;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use windlass_testkit::mcp::{FakeTool, McpHttpServer, McpScript, PersonRequest, ToolAction};
use windlass_testkit::{BodyPoint, FaultKind, Script, ScriptStep};

use crate::support::glass::Glass;
use crate::support::person::Attended;
use crate::support::{Bench, ends_unread, ran};

const RUN: [&str; 6] = ["run", "go", "--session", "s", "--preset", "default"];

/// A reply that stalls after two events when first requested, and is complete when requested again.
fn stalls() -> ScriptStep {
    ScriptStep::say("These words go on and on").fault(FaultKind::Idle { after: BodyPoint::Events(2) })
}

/// Starts a run on the real-time clock, so that no timeout expires on a slow machine; waits for its first request.
fn start(bench: &Bench, line: &[&str]) -> Child {
    let mut child = bench.command(line).env("WINDLASS_TEST_CLOCK", "1").spawn().expect("the binary starts");
    bench.wait_for_requests(1, &mut child);
    child
}

fn signal(child: &Child, name: &str) {
    let sent = std::process::Command::new("kill").args([name, &child.id().to_string()]).status().expect("kill");
    assert!(sent.success());
}

/// Waits until `count` commands are stored for delivery.
fn wait_for_commands(bench: &Bench, count: i64) {
    let database = rusqlite::Connection::open(bench.data().join("windlass.db")).expect("a database");
    let begun = Instant::now();
    let left = || database.query_row("SELECT count(*) FROM control", [], |row| row.get::<_, i64>(0)).expect("read");
    while left() != count {
        assert!(begun.elapsed() < Duration::from_secs(30), "{} commands", left());
        std::thread::sleep(Duration::from_millis(5));
    }
}

// proves L8, W2: a stop from another process acts in the middle of a model call
#[test]
fn a_run_is_stopped_from_another_terminal() {
    let bench = Bench::new(Script::of([stalls()]));
    let child = start(&bench, &RUN);
    let stopped = bench.run(&["stop", "s"]);
    assert_eq!((stopped.code, stopped.stdout.as_str()), (0, "stopped 1 run\n"), "{}", stopped.stderr);
    let run = ran(child);
    assert_eq!(run.code, 4, "{}", run.stderr);
    assert_eq!((bench.records("s", "CancelAsked"), bench.records("s", "RunEnded")), (1, 1));
    let again = bench.run(&["stop", "s"]);
    assert_eq!(again.code, 2, "{}", again.stderr);
    assert!(again.stderr.contains("session `s` has no open run"), "{}", again.stderr);
    wait_for_commands(&bench, 0);
    bench.assert_whole("stopped");
}

// proves L8, W2: a stop overtakes waiting messages and reports how many it dropped
#[test]
fn a_stop_from_another_terminal_drops_what_waits_in_the_chat() {
    let bench = Bench::new(Script::of([stalls()]));
    let mut glass = Glass::chat(&bench, &["--session", "s", "--preset", "durable-chat"]);
    glass.wait_for_prompt();
    glass.say("go");
    glass.wait_for("These words");
    for line in ["one", "two", "three"] {
        glass.say(line);
        glass.wait(line, |screen| screen.contains(&format!("{line}\nthis waits until the run is done")));
    }
    let stopped = bench.run(&["stop", "s"]);
    let expected = "stopped 1 run, dropped 3 messages that the model had not read\n";
    assert_eq!((stopped.code, stopped.stdout.as_str()), (0, expected), "{}", stopped.stderr);
    glass.wait_for_prompt();
    let idle = bench.run(&["stop", "s"]);
    assert_eq!(idle.code, 2, "{}", idle.stderr);
    assert!(idle.stderr.contains("nothing to stop: no run of session `s` is open"), "{}", idle.stderr);
    assert_eq!(bench.records("s", "MessageAccepted"), 1);
    bench.assert_whole("stopped in a chat");
}

// proves T8, W2: another process displays the same question and accepts the same answers
#[test]
fn questions_are_answered_from_another_terminal() {
    let call = || ScriptStep::call("run_command", json!({"command": "echo x >> log"}));
    let bench = Bench::new(Script::of([call(), call(), ScriptStep::say("Aye.")]));
    let mut person = Attended::start(&bench, &RUN, &[]);
    person.question().expect("a question");
    let shown = bench.run(&["answer", "s"]);
    assert_eq!(shown.code, 6, "{}", shown.stderr);
    let offer = "[s] and [a] allow: run_command(echo x >> log)\n\
                 [n] no, or n and why  [y] yes, once  [s] yes, for this session  [a] always, everywhere\n";
    assert!(shown.stdout.starts_with("question 1: Run `echo x >> log`\n"), "{}", shown.stdout);
    assert!(shown.stdout.ends_with(offer), "{}", shown.stdout);
    for wrong in [&["maybe"][..], &["e"], &["yes", "please"]] {
        let refused = bench.run(&[&["answer", "s"], wrong].concat());
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        assert!(refused.stderr.contains("that is no answer to this") && refused.stderr.contains("[y] yes, once"));
    }
    let yes = bench.run(&["answer", "s", "yes"]);
    assert_eq!((yes.code, yes.stdout.as_str()), (0, "answered: yes, once\n"), "{}", yes.stderr);
    person.question().expect("a second question");
    let none = bench.run(&["answer", "s", "--question", "1", "yes"]);
    assert_eq!(none.code, 2, "{}", none.stderr);
    let no = bench.run(&["answer", "s", "no", "use", "pnpm"]);
    assert_eq!((no.code, no.stdout.as_str()), (0, "answered: no\n"), "{}", no.stderr);
    let run = person.finish();
    assert_eq!((run.code, run.stdout.as_str()), (0, "Aye.\n"), "{}", run.stderr);
    assert_eq!(bench.read("log").as_deref(), Some("x\n"), "one of the two ran, once");
    assert!(bench.last_request("tool").concat().contains("and says: use pnpm"));
    let over = bench.run(&["answer", "s", "yes"]);
    assert_eq!(over.code, 2, "{}", over.stderr);
    bench.assert_whole("answered");
}

// proves T8: a half-typed answer to one question is not part of the answer to the next one
#[test]
fn a_question_that_is_answered_elsewhere_takes_what_was_typed_for_it_along() {
    let call = || ScriptStep::call("run_command", json!({"command": "echo x >> log"}));
    let bench = Bench::new(Script::of([call(), call(), ScriptStep::say("Aye.")]));
    let mut person = Attended::start(&bench, &RUN, &[]);
    person.question().expect("a question");
    person.type_text("y");
    assert_eq!(bench.run(&["answer", "s", "no"]).code, 0);
    let next = person.question().expect("a second question");
    assert!(next.contains("\n(answered elsewhere: no)\r\n"), "{next}");
    person.type_text("\n");
    let again = person.question().expect("asked again");
    assert!(again.contains("not understood: answer n, y, s or a"), "{again}");
    person.type_text("y\n");
    let run = person.finish();
    assert_eq!((run.code, run.stdout.as_str()), (0, "Aye.\n"), "{}", run.stderr);
    assert_eq!(bench.read("log").as_deref(), Some("x\n"));
}

// proves T8: a yes that comes too late for one question is not taken for the next, which nobody has seen
#[test]
fn what_is_typed_between_two_questions_answers_neither() {
    let held = "while [ ! -e go ]; do sleep 0.02; done";
    let script = [held, "echo x >> log"].map(|command| ScriptStep::call("run_command", json!({"command": command})));
    let bench = Bench::new(Script::of(script.into_iter().chain([ScriptStep::say("Aye.")])));
    let mut person = Attended::start(&bench, &RUN, &[]);
    person.question().expect("a question");
    assert_eq!(bench.run(&["answer", "s", "yes"]).code, 0);
    person.read_until("(answered elsewhere: yes)");
    person.type_text("y\n");
    std::fs::write(bench.workspace().join("go"), "").expect("written");
    person.question().expect("a second question");
    person.type_text("n\n");
    let run = person.finish();
    assert_eq!((run.code, run.stdout.as_str()), (0, "Aye.\n"), "{}", run.stderr);
    assert_eq!(bench.read("log"), None);
}

// proves T8: a chat reports that somebody else answered
#[test]
fn a_chat_says_what_was_answered_elsewhere() {
    let call = ScriptStep::call("run_command", json!({"command": "echo x >> log"}));
    let bench = Bench::new(Script::of([call, ScriptStep::say("Aye.")]));
    let mut glass = Glass::chat(&bench, &["--session", "s"]);
    glass.wait_for_prompt();
    glass.say("go");
    glass.wait_for("[y] yes, once");
    let yes = bench.run(&["answer", "s", "yes"]);
    assert_eq!(yes.code, 0, "{}", yes.stderr);
    glass.wait_for("(answered elsewhere: yes)");
    glass.wait_for("Aye.");
    assert_eq!(bench.read("log").as_deref(), Some("x\n"));
}

// proves T8, W2: a second terminal asks as the first does, and accepts a yes only after displaying the whole preview
#[test]
fn a_second_terminal_asks_as_the_first_does() {
    let long = format!("echo x >> log\n{}", "# a line\n".repeat(60));
    let script =
        [long.as_str(), "echo y >> log"].map(|command| ScriptStep::call("run_command", json!({"command": command})));
    let bench = Bench::new(Script::of(script.into_iter().chain([ScriptStep::say("Aye.")])));
    let mut person = Attended::start(&bench, &RUN, &[]);
    person.question().expect("a question");
    let mut leaves = Attended::start(&bench, &["answer", "s"], &[]);
    leaves.question().expect("the same");
    leaves.type_text("\u{4}");
    let left = leaves.finish();
    assert_eq!(left.code, 6, "{}", left.stderr);
    assert!(left.stderr.contains("session `s` still waits"), "{}", left.stderr);

    let mut answers = Attended::start(&bench, &["answer", "s"], &[]);
    let asked = answers.question().expect("the same");
    assert!(asked.contains("[v] view all") && !asked.contains("[y]"), "{asked}");
    answers.type_text("y\n");
    assert!(answers.question().expect("asked again").contains("not yet: v shows all of it"));
    answers.type_text("v\n");
    for page in ["[page 1 of 3", "[page 2 of 3"] {
        answers.read_until(page);
        answers.type_text("\n");
    }
    assert!(answers.question().expect("asked again").contains("[y] yes, once"));
    answers.type_text("y\n");
    let answered = answers.finish();
    assert_eq!((answered.code, answered.stdout.as_str()), (0, "answered: yes, once\n"), "{}", answered.stderr);

    person.question().expect("a second question");
    let mut late = Attended::start(&bench, &["answer", "s"], &[]);
    late.question().expect("the same");
    person.type_text("n\n");
    let late = late.finish();
    assert_eq!(late.code, 0, "{}", late.stderr);
    assert!(late.stderr.contains("(answered elsewhere: no)"), "{}", late.stderr);
    assert_eq!(person.finish().code, 0);
    assert_eq!(bench.read("log").as_deref(), Some("x\n"));
}

// proves P4, W2: the fields of a form are given as arguments, one value for each field
#[test]
fn a_form_is_filled_in_from_another_terminal() {
    let schema = json!({
        "type": "object",
        "properties": {"age": {"type": "integer"}, "name": {"type": "string", "title": "Your name"}},
        "required": ["age", "name"]
    });
    let wish = PersonRequest::Form { message: "Who are you?".into(), schema };
    let script = McpScript::with([FakeTool::new("greet", ToolAction::Elicits(wish))]).modern();
    let server = McpHttpServer::start(script).expect("a server");
    let bench = Bench::new(Script::of([ScriptStep::call("hub__greet", json!({})), ScriptStep::say("Aye.")]));
    let file = bench.dir.path().join("servers.json");
    std::fs::write(&file, json!({"hub": {"url": server.url()}}).to_string()).expect("written");
    let file = file.display().to_string();
    let more = ["--mcp-config", file.as_str(), "--allow", "hub.greet"];
    let mut person = Attended::start(&bench, &[&RUN[..], &more].concat(), &[]);
    person.question().expect("a question");
    let shown = bench.run(&["answer", "s"]).stdout;
    assert!(shown.contains("  age (a whole number)\n  Your name\n"), "{shown}");
    let few = bench.run(&["answer", "s", "36"]);
    assert!(few.code == 2 && few.stderr.contains("the form has 2 fields and 1 values were given"), "{}", few.stderr);
    let wrong = bench.run(&["answer", "s", "old", "Ada"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("write a whole number"), "{}", wrong.stderr);
    let filled = bench.run(&["answer", "s", "36", "Ada Lovelace"]);
    assert_eq!((filled.code, filled.stdout.as_str()), (0, "answered\n"), "{}", filled.stderr);
    assert_eq!(person.finish().code, 0);
    let told = bench.last_request("tool").concat();
    assert!(told.contains("36") && told.contains("Ada Lovelace"), "{told}");
}

// proves E1, W2: `follow` prints all records of another process in order, and exits with the run's exit code
#[test]
fn a_run_is_followed_from_another_terminal() {
    let bench = Bench::new(Script::of([stalls()]));
    let child = start(&bench, &RUN);
    let mut follower = bench.spawn(&["follow", "s", "--json", "--until-end"]);
    let mut lines = BufReader::new(follower.stdout.take().expect("a pipe")).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().expect("a line").expect("read")).expect("JSON") };
    let mut seen = vec![next()];
    while seen.last().expect("some")["kind"] != "TurnStarted" {
        seen.push(next());
    }
    assert_eq!(bench.run(&["stop", "s"]).code, 0);
    while seen.last().expect("some")["kind"] != "RunEnded" {
        seen.push(next());
    }
    assert_eq!((ran(child).code, ran(follower).code), (4, 4));
    let named = |records: &[Value]| {
        records.iter().map(|record| format!("{} {}", record["seq"], record["kind"])).collect::<Vec<_>>()
    };
    assert_eq!(named(&seen), named(&bench.journal("s")), "the journal, exactly");
    let again = bench.run(&["follow", "s", "--until-end"]);
    assert_eq!(again.code, 4, "{}", again.stderr);
    assert!(again.stdout.starts_with("> go\n"), "{}", again.stdout);
    let id = seen[0]["session"].as_str().expect("an id").to_owned();
    let rest = bench.run(&["follow", &id, "--until-end", "--json", "--after", "3"]);
    assert_eq!(rest.stdout.lines().count(), seen.len() - 3, "{}", rest.stderr);
    assert_eq!(bench.run(&["follow", &id, "--until-end", "--new"]).stdout, "");
}

// proves J5: a stored command is dropped when the process it was addressed to dies
#[test]
fn a_command_does_not_outlive_the_process_it_was_meant_for() {
    let bench = Bench::new(Script::of([stalls()]));
    let mut child = start(&bench, &RUN);
    signal(&child, "-STOP");
    let stopping = bench.spawn(&["stop", "s"]);
    wait_for_commands(&bench, 1);
    signal(&child, "-KILL");
    child.wait().expect("gone");
    let stopped = ran(stopping);
    assert_eq!(stopped.code, 1, "{}", stopped.stderr);
    assert!(stopped.stderr.contains("ended before it got this; nothing was done"), "{}", stopped.stderr);
    wait_for_commands(&bench, 0);
    let told = bench.run(&["answer", "s"]);
    assert_eq!(told.code, 2, "{}", told.stderr);
    assert!(told.stderr.contains("its run is not over: `windlass resume s --data-dir "), "{}", told.stderr);
    let followed = bench.run(&["follow", "s", "--until-end"]);
    assert_eq!(followed.code, 3, "{}", followed.stderr);
    assert!(followed.stderr.contains("no process works on session `s` now"), "{}", followed.stderr);
    let resumed = bench.run(&["resume", "s"]);
    assert_eq!((resumed.code, resumed.stdout.as_str()), (0, "These words go on and on\n"), "{}", resumed.stderr);
    assert_eq!(bench.records("s", "CancelAsked"), 0);
    bench.assert_whole("killed between command and delivery");
}

// proves W2: no command is stored for a session that no process has open
#[test]
fn a_session_that_is_not_there_or_not_open_is_told_apart() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    for line in [&["stop", "s"][..], &["answer", "s"], &["follow", "s"]] {
        let missing = bench.run(line);
        assert_eq!(missing.code, 2, "{}", missing.stderr);
        assert!(missing.stderr.contains("there is no session `s`"), "{}", missing.stderr);
    }
    assert_eq!(bench.run(&RUN).code, 0);
    for line in [&["stop", "s"][..], &["answer", "s"], &["answer", "s", "yes"]] {
        let idle = bench.run(line);
        assert_eq!(idle.code, 2, "{}", idle.stderr);
        assert!(idle.stderr.contains("session `s` has no open run"), "{}", idle.stderr);
    }
    let followed = bench.run(&["follow", "--until-end"]);
    assert_eq!((followed.code, followed.stdout.as_str()), (0, "> go\nAye.\n"), "{}", followed.stderr);
}

// proves W2: a follower is told which session it follows, and why nothing is shown
#[test]
fn a_follower_is_told_what_it_follows() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    assert_eq!(bench.run(&RUN).code, 0);
    let bare = bench.run(&["follow", "--until-end"]);
    assert!(bare.stderr.contains("following session `s`, the last one of this folder"), "{}", bare.stderr);
    let named = bench.run(&["follow", "s", "--until-end"]);
    assert_eq!((named.code, named.stderr.as_str()), (0, ""));
    let head = bench.journal("s").len();
    let beyond = bench.run(&["follow", "s", "--until-end", "--after", "999"]);
    let text = format!("session `s` ends with record {head}, before 999");
    assert!(beyond.stdout.is_empty() && beyond.stderr.contains(&text), "{}", beyond.stderr);
    let forked = bench.run(&["fork", "s", "--at", "1", "--as", "new"]);
    assert_eq!(forked.code, 0, "{}", forked.stderr);
    let unbegun = bench.run(&["follow", "new", "--until-end"]);
    assert!(unbegun.stderr.contains("session `new` has no run yet"), "{}", unbegun.stderr);
}

// proves J5, W2: a session in use is told with the commands that help; its status is in words
#[test]
fn a_session_in_use_is_told_with_what_helps() {
    let command = json!({"command": "touch started; sleep 300"});
    let bench = Bench::new(Script::of([ScriptStep::call("run_command", command), ScriptStep::say("Never.")]));
    let mut child = bench.spawn(&[&RUN[..], &["--mode", "bypass"]].concat());
    bench.wait_for_file("started", &mut child);
    for line in [&["run", "more", "--session", "s"][..], &["resume", "s"], &["retry", "s"]] {
        let refused = bench.run(line);
        assert_eq!(refused.code, 5, "{}", refused.stderr);
        for text in ["the session is in use by process", "`windlass follow s`", "`windlass stop s`"] {
            assert!(refused.stderr.contains(text), "{line:?}: {}", refused.stderr);
        }
    }
    let listed = bench.run(&["sessions", "list"]).stdout;
    assert!(listed.contains("  running tools  ") && !listed.contains("tool_loop"), "{listed}");
    assert_eq!(bench.run(&["stop", "s"]).code, 0);
    assert_eq!(ran(child).code, 4);
}

// proves E1: following ends with its reader, also while nothing happens
#[test]
fn following_ends_when_its_reader_is_gone() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    assert_eq!(bench.run(&["run", "go", "--session", "s"]).code, 0);
    for json in [&[][..], &["--json"]] {
        let mut child = bench.spawn(&[&["follow", "s"], json].concat());
        let mut reader = BufReader::new(child.stdout.take().expect("a pipe"));
        reader.read_line(&mut String::new()).expect("a line");
        drop(reader);
        assert_eq!(ends_unread(&mut child), 0, "{json:?}");
    }
}

// proves L8: a run that no process works on is given up in the journal, and nothing of it is resumed
#[test]
fn a_run_that_was_cut_short_is_stopped_where_nobody_works_on_it() {
    let at_a_question = Bench::new(Script::of([ScriptStep::call("run_command", json!({"command": "touch ran"}))]));
    let mut asked = Attended::start(&at_a_question, &RUN, &[]);
    asked.question().expect("it asks");
    asked.kill();
    let at_the_model = Bench::new(Script::of([stalls()]));
    let mut child = start(&at_the_model, &RUN);
    child.kill().expect("killed");
    child.wait().expect("waited");
    for (bench, context) in [(at_a_question, "question"), (at_the_model, "model")] {
        let requests = bench.server.count();
        let stopped = bench.run(&["stop", "s"]);
        assert_eq!((stopped.code, stopped.stdout.as_str()), (0, "stopped 1 run\n"), "{context}: {}", stopped.stderr);
        let journal = bench.journal("s");
        let end = journal.last().expect("a record");
        assert_eq!((&end["kind"], &end["body"]["reason"]), (&json!("RunEnded"), &json!("cancelled")), "{context}");
        assert_eq!((bench.server.count(), bench.read("ran"), bench.records("s", "RunResumed")), (requests, None, 0));
        assert_eq!(bench.run(&["replay", "s", "--check"]).code, 0, "{context}");
        assert_eq!(bench.run(&["stop", "s"]).code, 2, "{context}: nothing is left to stop");
        bench.assert_whole(context);
    }
}

// proves W2: what can't be done while another process works on the session names the command that stops it
#[test]
fn a_session_in_use_is_neither_undone_nor_removed_and_the_stop_is_named() {
    let bench = Bench::new(Script::of([stalls()]));
    let mut child = start(&bench, &RUN);
    for line in [&["undo", "s"][..], &["sessions", "rm", "s"]] {
        let refused = bench.run(line);
        assert_eq!(refused.code, 5, "{line:?}: {}", refused.stderr);
        assert!(refused.stderr.contains("`windlass stop s"), "{line:?}: {}", refused.stderr);
    }
    child.kill().expect("killed");
    child.wait().expect("waited");
}
