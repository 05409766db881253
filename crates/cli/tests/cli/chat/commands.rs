//! Slash commands of the chat.

use windlass_testkit::{AfterSteps, FaultKind, Scene, Script, ScriptStep};

use crate::support::Bench;
use crate::support::glass::Glass;

fn chat(bench: &Bench) -> Glass {
    let mut glass = Glass::chat(bench, &["--session", "k"]);
    glass.wait_for_prompt();
    glass
}

/// Types a line, then waits for `answer` and the next prompt.
fn say(glass: &mut Glass, line: &str, answer: &str) {
    glass.say(line);
    glass.wait(answer, |screen| screen.contains(answer) && screen.lines().last() == Some("›"));
}

fn talkative() -> Bench {
    Bench::new(Script::default().scene(Scene::when("", [ScriptStep::say("Aye.")]).then(AfterSteps::RepeatLast)))
}

// proves W6
#[test]
fn help_lists_every_command() {
    let bench = talkative();
    let mut glass = chat(&bench);
    glass.resize(130, 30);
    say(&mut glass, "/help", "Ctrl-D leaves.");
    let shown = glass.text();
    let (_, list) = shown.split_once("› /help\n").expect("the list");
    let expected = "  /new                begin a new session
  /stop               stop the run and drop what waits
  /help               this list
  /status             model, session, folder, what is going on
  /permissions        mode, sandbox, rules and what this session allows
  /model [NAME]       list the models, or take others for the next run
  /sessions [KEY]     list this folder's sessions, or go to one
  /fork [SEQ]         go on in a copy of this session, cut off after record SEQ
  /retry              try the last run again
  /undo [ID] [force]  put files back as they were before the last call, or bring back an undo
  /cost               tokens, and money where prices are known
  /context            what fills the model's window
  /compact [undo]     summarise the conversation before the next answer, or take that back
  /thinking           show thinking whole, or folded
  /quit               leave; everything is kept
  /exit               the same

  Alt-Enter or \\ at the end of a line begins another line.
  /word begins a command; //word is sent to the model as /word.
  /a/path, and text of several lines, is sent as it is.
  What you type while a run works steers it.
  @path attaches a file (image, PDF, text; Tab completes it), and so does a pasted path of an image.
  Ctrl-C stops the run, twice leaves; Ctrl-D leaves.
›";
    assert_eq!(list, expected, "{shown}");
}

// proves W6
#[test]
fn a_path_is_said_to_the_model_and_an_unknown_command_is_refused_unless_it_has_two_slashes() {
    let bench = Bench::new(Script::when("", [ScriptStep::say("Aye.")]));
    let mut glass = chat(&bench);
    say(&mut glass, "/hepl", "there is no command /hepl: did you mean /help?");
    say(&mut glass, "/weather", "there is no command /weather: /help lists them");
    assert_eq!(bench.server.count(), 0);
    say(&mut glass, "/etc/hosts says what?", "Aye.");
    assert_eq!(bench.last_request("user"), ["/etc/hosts says what?"]);
}

// proves W6
#[test]
fn two_slashes_send_a_line_that_would_be_a_command() {
    let bench = Bench::new(Script::when("", [ScriptStep::say("Aye.")]));
    let mut glass = chat(&bench);
    say(&mut glass, "//hepl", "Aye.");
    assert_eq!(bench.last_request("user"), ["/hepl"]);
    // The history keeps the line as typed, with both slashes.
    glass.press("\u{1b}[A");
    glass.wait("the line again", |screen| screen.lines().last() == Some("› //hepl"));
}

// proves W6
#[test]
fn status_cost_and_sessions_say_what_is_known() {
    let bench = talkative();
    let mut glass = chat(&bench);
    glass.resize(100, 40);
    say(&mut glass, "/status", "not begun; 0 runs so far, 0 messages waiting");
    say(&mut glass, "hello", "Aye.");
    say(&mut glass, "/status", "idle; 1 run so far, 0 messages waiting");
    say(&mut glass, "/cost", "session: 10 tokens in, 10 out, 1 model call");
    say(&mut glass, "/context", "conversation");
    say(&mut glass, "/compact undo", "nothing was left out");
    say(&mut glass, "/compact", "the conversation so far is summarised before your next message");
    say(&mut glass, "/compact undo", "the conversation is not summarised before your next message");
    say(&mut glass, "/sessions", "* k  idle");
    say(&mut glass, "/stop", "there is no run to stop");
    say(&mut glass, "/retry", "nothing to retry");
    say(&mut glass, "/fork x", "`x` can't be read");
    assert_eq!(bench.server.count(), 1, "none of it was said to the model");
}

// proves W6: `/new` switches the chat to a new session and keeps the old one
#[test]
fn new_begins_another_session_and_sessions_goes_back() {
    let bench = talkative();
    let mut glass = chat(&bench);
    say(&mut glass, "first words", "Aye.");
    say(&mut glass, "/new", "New session started.");
    say(&mut glass, "other words", "› other words\n\nAye.");
    assert_eq!(bench.last_request("user"), ["other words"]);
    say(&mut glass, "/sessions k", "session k: first words");
    say(&mut glass, "back again", "› back again\n\nAye.");
    assert_eq!(bench.last_request("user"), ["first words", "back again"]);
    assert_eq!(bench.keys().len(), 2);
}

/// The same, with these models in the server's list.
fn talkative_with(models: &[&str]) -> Bench {
    let list: Vec<_> = models.iter().map(|id| serde_json::json!({"id": id, "object": "model"})).collect();
    let script = Script::default().scene(Scene::when("", [ScriptStep::say("Aye.")]).then(AfterSteps::RepeatLast));
    Bench::new(script.answering("/v1/models", serde_json::json!({"object": "list", "data": list})))
}

#[test]
fn another_model_is_taken_for_the_next_run() {
    let bench = talkative_with(&["scripted", "bigger"]);
    let mut glass = chat(&bench);
    say(&mut glass, "hello", "Aye.");
    say(&mut glass, "/model bigger", "bigger from the next run on");
    say(&mut glass, "hello again", "› hello again\n\nAye.");
    let models: Vec<String> = bench
        .server
        .requests()
        .iter()
        .map(|request| request.body["model"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(models, ["scripted", "bigger"]);
    bench.assert_whole("another model");
}

// proves M2: a switch to another server, to a chain, and a wrong name, at any turn
#[test]
fn a_model_of_another_server_is_taken_by_its_whole_name() {
    let (bench, other) = (talkative(), talkative_with(&["spare"]));
    let mut glass = chat(&bench);
    say(&mut glass, "hello", "Aye.");
    let name = format!("{}#spare", other.server.base_url());
    say(&mut glass, &format!("/model {name}"), "from the next run on");
    say(&mut glass, "hello again", "› hello again\n\nAye.");
    assert_eq!((bench.server.count(), other.last_request("user")), (1, vec!["hello".into(), "hello again".into()]));
    say(&mut glass, "/model one,one", "the chain contains the model \"one\" twice");
    say(&mut glass, "/model", "the model");
}

// proves M2, W6: a name that leads nowhere is refused, and the models of one's own stay listed after a switch
#[test]
fn a_model_that_its_server_does_not_list_is_refused_with_similar_names() {
    let bench = talkative_with(&["scripted", "bigger"]);
    let config = bench.dir.path().join(".config/windlass");
    std::fs::create_dir_all(&config).expect("a folder");
    std::fs::write(config.join("windlass.toml"), "[models.mine]\nmodel = 'bigger'\nwindow = 4096\n").expect("written");
    let mut glass = chat(&bench);
    glass.resize(120, 60);
    say(&mut glass, "/model biger", "lists no model \"biger\"; it has bigger");
    say(&mut glass, "/model vendor/forwarded", "lists no model \"vendor/forwarded\"; it has");
    say(&mut glass, "/model vendor/forwarded", "vendor/forwarded from the next run on");
    say(&mut glass, "/model anthropic:claude-x", "set ANTHROPIC_API_KEY");
    say(&mut glass, "/model scripted", "scripted from the next run on");
    say(&mut glass, "/model", "your own names\n  mine  ");
    say(&mut glass, "/model mine", "mine from the next run on");
    say(&mut glass, "/model", "your own names\n* mine  ");
    say(&mut glass, "/status", "  model     mine\n");
    say(&mut glass, "hello", "› hello\n\nAye.");
    assert_eq!(bench.server.requests().last().expect("a call").body["model"], "bigger");
}

// proves T9
#[test]
fn undo_puts_files_back_and_brings_them_back_again() {
    let edit = serde_json::json!({"path": "a.txt", "old_text": "one", "new_text": "two"});
    let bench = Bench::new(Script::of([ScriptStep::call("edit_file", edit), ScriptStep::say("Done.")]));
    std::fs::write(bench.workspace().join("a.txt"), "one\n").expect("a file");
    let mut glass = chat(&bench);
    glass.resize(100, 40);
    say(&mut glass, "/undo", "there is nothing to undo yet");
    say(&mut glass, "go", "Done.");
    say(&mut glass, "/undo", "bring it back with: /undo u1");
    assert_eq!(bench.read("a.txt").as_deref(), Some("one\n"));
    std::fs::write(bench.workspace().join("a.txt"), "mine\n").expect("a file");
    say(&mut glass, "/undo u1", "/undo u1 force puts them back all the same");
    say(&mut glass, "/undo u1 force", "take it back again with: /undo u2");
    assert_eq!(bench.read("a.txt").as_deref(), Some("two\n"));
    say(&mut glass, "/undo u9", "there is no undo u9 in this session");
    bench.assert_whole("undone in the chat");
}

// proves J3: a failed run can be retried
#[test]
fn a_failed_run_is_tried_again() {
    let refused = ScriptStep::say("Now it works.").fault(FaultKind::status(400).times(1));
    let bench = Bench::new(Script::when("go", [refused]));
    let mut glass = chat(&bench);
    glass.say("go");
    glass.wait("the failure", |screen| screen.contains("failed") && screen.lines().last() == Some("›"));
    say(&mut glass, "/retry", "Now it works.");
    bench.assert_whole("retried");
}

// proves L8, W6: commands that are always allowed act during a run; the others report why they can't
#[test]
fn commands_act_during_a_run() {
    let slow = ScriptStep::say("too late").fault(FaultKind::Delay { ms: 3_600_000 }.times(u32::MAX));
    let bench = Bench::new(Script::when("go", [slow]));
    let mut glass = chat(&bench);
    glass.say("go");
    glass.say("/status");
    glass.wait_for("now       working");
    glass.say("/new");
    glass.wait_for("not while a run works; /stop stops it");
    glass.say("/Stop");
    glass.wait_for("stopped 1 run");
    glass.wait_for_prompt();
    assert_eq!(bench.keys(), ["k"]);
}

#[test]
fn commands_and_paths_are_completed() {
    let bench = talkative();
    std::fs::write(bench.workspace().join("notes.txt"), "").expect("a file");
    let mut glass = chat(&bench);
    glass.press("/sta\t");
    glass.wait("the command", |screen| screen.lines().last() == Some("› /status"));
    glass.press("\u{3}read @no\t");
    glass.wait("the path", |screen| screen.lines().last() == Some("› read @notes.txt"));
    glass.press("\u{3}/mo");
    glass.wait("a hint", |screen| screen.lines().last() == Some("› /model"));
}

#[test]
fn a_narrow_terminal_without_colours_gets_no_escape_codes_of_colour() {
    let bench = talkative();
    let mut command = bench.command(&["--session", "k"]);
    command.env("TERM", "xterm").env("NO_COLOR", "1").env("WINDLASS_TEST_CLOCK", "1");
    let mut glass = Glass::start(command);
    glass.resize(20, 10);
    glass.wait("a prompt", |screen| screen.lines().last() == Some(">"));
    glass.say("hello");
    glass.wait("an answer", |screen| screen.contains("Aye.") && screen.lines().last() == Some(">"));
    assert!(!glass.was_coloured(), "{}", glass.text());
}

#[test]
fn a_dumb_terminal_gets_whole_lines_and_is_still_asked() {
    let call = ScriptStep::call("run_command", serde_json::json!({"command": "echo x > log"}));
    let bench = Bench::new(Script::of([call, ScriptStep::say("Aye.")]));
    let mut command = bench.command(&["--session", "k"]);
    command.env("TERM", "dumb").env("WINDLASS_TEST_CLOCK", "1");
    let mut glass = Glass::start(command);
    glass.wait("a prompt", |screen| screen.lines().last() == Some(">"));
    glass.press("go\n");
    glass.wait("the question", |screen| screen.trim_end().ends_with("[a] always, everywhere\n?"));
    glass.press("y\n");
    glass.wait("an answer", |screen| screen.contains("\nAye.\n") && screen.lines().last() == Some(">"));
    assert!(!glass.was_steered(), "{}", glass.text());
    glass.press("\u{4}");
    assert_eq!(glass.end(), 0);
    assert_eq!(bench.read("log").as_deref(), Some("x\n"));
}

// proves C5: a switch of the model between the wish and the next message loses nothing
#[test]
fn a_summary_that_was_asked_for_is_still_made_after_another_model_is_chosen() {
    let bench = talkative();
    let mut glass = chat(&bench);
    for number in 1..=4 {
        say(&mut glass, &format!("message {number}"), &format!("› message {number}\n\nAye."));
    }
    say(&mut glass, "/compact", "the conversation so far is summarised");
    say(&mut glass, "/model scripted", "from the next run on");
    say(&mut glass, "the next", "a summary is sent in place of the oldest turns\n\nAye.");
    let kinds: Vec<String> = bench.journal("k").iter().map(|record| record["kind"].to_string()).collect();
    assert!(kinds.contains(&"\"Compacted\"".to_owned()), "{kinds:?}");
}
