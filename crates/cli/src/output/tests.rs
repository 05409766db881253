use std::io::{self, Write};
use std::time::{Duration, Instant};

use windlass_vocab::{
    Answer, AnsweredBy, CallId, CallStarted, CommandExit, ContextPinned, Delta, DeltaBody, EndReason, Event, Failure,
    FailureClass, MessageAccepted, NextAttempt, Nudge, NudgeCause, Nudged, OutcomeKind, Part, PinnedContext, Preview,
    QuestionAnswered, QuestionAsked, QuestionId, QuestionKind, QuestionOption, Record, RunEnded, RunId, Timestamp,
    TurnId, TurnMode, TurnStarted, Wait, WaitFor,
};

use super::{RunProgress, RunView, StreamTarget};
use crate::sample::{self, ended};

fn event(record: impl Into<Record>) -> Event {
    sample::event(TurnId(1), record)
}

fn delta(body: DeltaBody) -> Event {
    Event::Delta(Delta { run: RunId(1), turn: TurnId(1), attempt: 1, offset: 0, body })
}

fn text_delta(text: &str) -> Event {
    delta(DeltaBody::TextDelta { text: text.into() })
}

fn requested(index: u32, tool: &str, arguments: &str) -> Event {
    event(sample::requested(index, tool, arguments))
}

fn finished(index: u32, outcome: OutcomeKind, text: &str, took_ms: u64) -> Event {
    event(sample::finished(index, outcome, text, took_ms))
}

fn failed(status: Option<u16>, message: &str, next: NextAttempt) -> Event {
    event(sample::failed(status, message, next))
}

fn replied(parts: Vec<Part>) -> Event {
    event(sample::replied(1, parts))
}

fn rendered(stream: StreamTarget, events: &[Event]) -> String {
    let mut out = Vec::new();
    let mut progress = RunProgress::new(&mut out, stream);
    events.iter().for_each(|event| progress.event(event, Instant::now()));
    String::from_utf8(out).expect("text")
}

#[test]
fn a_call_is_one_line_with_its_arguments_time_and_outcome() {
    let lines = rendered(
        StreamTarget::Piped,
        &[
            requested(0, "local.read_file", r#"{"offset":3,"path":"src/main.rs"}"#),
            requested(1, "docs.search", r#"{"q":"two\nlines"}"#),
            requested(2, "local.run_command", "{}"),
            finished(1, OutcomeKind::Ok, "found", 1_500),
            finished(0, OutcomeKind::ToolError, "no such file\nmore", 12),
            finished(2, OutcomeKind::TimedOut, "", 120_000),
            finished(9, OutcomeKind::Interrupted, "a crash", 0),
            event(sample::exited(4, CommandExit::Code(101), "1 failed\n[exit code 101]", 7)),
        ],
    );
    assert_eq!(
        lines,
        "docs.search (q=two lines) 1.5 s\n\
         read_file src/main.rs (offset=3) 12 ms, error: no such file\n\
         run_command 2 min 0 s, timed out\n\
         call 1.1.9, interrupted: it may have taken effect\n\
         call 1.1.4 7 ms, exit code 101: 1 failed\n"
    );
}

// proves M3: a retry is visible, with its wait
#[test]
fn a_retry_says_why_and_how_long_it_waits() {
    let lines = rendered(
        StreamTarget::Piped,
        &[
            failed(Some(429), "Rate limit reached for org-x", NextAttempt::Retry { at: Timestamp(3_000) }),
            failed(None, "the connection was reset.", NextAttempt::Retry { at: Timestamp(500) }),
            failed(Some(503), "overloaded", NextAttempt::Model { model: "small".into() }),
            failed(None, "the stream broke", NextAttempt::Whole),
            failed(Some(401), "wrong key", NextAttempt::End),
        ],
    );
    assert_eq!(
        lines,
        "trying again in 3 s: m is rate limited\n\
         trying again in 500 ms: the connection was reset\n\
         overloaded; trying small instead\n\
         the stream broke; asking for the whole reply at once\n"
    );
}

// proves M3: five retries for one reason are one line
#[test]
fn retries_for_the_same_reason_are_one_live_line_on_a_terminal_and_one_line_in_a_pipe() {
    let down = |at| failed(None, "Nothing listens there.", NextAttempt::Retry { at: Timestamp(at) });
    let other = failed(Some(429), "x", NextAttempt::Retry { at: Timestamp(1) });
    let retries = [down(1_000), down(2_000), other, down(3_000)];
    assert_eq!(
        rendered(StreamTarget::Piped, &retries),
        "trying again in 1 s: Nothing listens there\n\
         trying again in 1 ms: m is rate limited\n\
         trying again in 3 s: Nothing listens there\n"
    );
    let live = rendered(StreamTarget::Terminal, &retries);
    assert!(!live.contains('\n') && live.contains("trying again in 2 s: Nothing listens there"), "{live:?}");
    let long =
        failed(Some(500), &"The server is out of memory. ".repeat(9), NextAttempt::Retry { at: Timestamp(2_000) });
    let live = rendered(StreamTarget::Terminal, &[long]);
    let text = live.rsplit("[2m").next().and_then(|text| text.split('\u{1b}').next()).unwrap_or_default();
    assert!(text.starts_with("trying again in 2 s: ") && text.chars().count() < 80, "a row of a terminal: {text:?}");
}

// proves M3: the last line reports how often it was tried
#[test]
fn the_end_of_several_tries_says_how_many_there_were() {
    let end = |attempt| {
        let mut failed = sample::failed(None, "Nothing listens there.", NextAttempt::End);
        failed.attempt = attempt;
        rendered(StreamTarget::Piped, &[event(failed)])
    };
    assert_eq!((end(1).as_str(), end(6).as_str()), ("", "gave up after 6 tries\n"));
}

// proves P2: a server that did not connect in time is named
#[test]
fn a_run_that_goes_on_without_a_server_says_so() {
    let awaited = ["git".to_owned(), "time".to_owned()].into();
    let context = PinnedContext { awaited, ..PinnedContext::default() };
    let pinned = ContextPinned { context: Some(context), joined: <_>::default(), overview: None };
    assert_eq!(
        rendered(StreamTarget::Piped, &[event(pinned)]),
        "going on without the tools of git, time: not started yet\n"
    );
}

// proves J8: a reader who did not take part sees messages, questions and answers; a participant has seen them already
#[test]
fn an_onlooker_reads_what_was_said_asked_and_answered() {
    let kind = QuestionKind::Approval { call: sample::call(0) };
    let preview = Preview { title: "run make".into(), body: "in the sandbox".into(), rule: None };
    let (question, no) = (QuestionId(1), QuestionOption::No);
    let asked = QuestionAsked {
        question,
        kind,
        preview: Some(preview),
        options: vec![no],
        expires: None,
        default: no,
        elicitation: None,
        because: None,
    };
    let answered = |by| event(QuestionAnswered { question, answer: Answer::plain(no), by, grant: None });
    let events = [
        event(MessageAccepted::new("m", "go\non")),
        event(asked),
        answered(AnsweredBy::Person),
        answered(AnsweredBy::Expiry),
    ];
    assert_eq!(rendered(StreamTarget::Piped, &events), "");
    let mut out = Vec::new();
    let mut progress = RunProgress::new(&mut out, StreamTarget::Piped).for_onlookers();
    events.iter().for_each(|event| progress.event(event, Instant::now()));
    assert_eq!(
        String::from_utf8(out).expect("text"),
        "> go\n> on\n? run make\n?   in the sandbox\n> no\n(no answer came: taken as no)\n"
    );
}

#[test]
fn text_beside_calls_is_progress_and_the_answer_is_not() {
    let text = |text: &str| Part::Text { text: text.into() };
    let lines = rendered(
        StreamTarget::Piped,
        &[replied(vec![text("I will look.\n"), Part::Call { index: 0 }]), replied(vec![text("the answer")])],
    );
    assert_eq!(lines, "I will look.\n");
}

#[test]
fn a_nudge_is_dim_on_a_terminal_and_plain_in_a_file() {
    let nudge = || {
        event(Nudged {
            why: NudgeCause::Reply(Nudge::Empty),
            evidence: String::new(),
            text: "go on".into(),
            faults: Vec::new(),
        })
    };
    assert_eq!(
        rendered(StreamTarget::Terminal, &[nudge()]),
        "\u{1b}[2mnudged the model: the reply was empty\u{1b}[0m\n"
    );
    assert_eq!(rendered(StreamTarget::Piped, &[nudge()]), "nudged the model: the reply was empty\n");
}

// The loop continues, and the line is not printed a hundred times.
#[test]
fn a_nudge_that_comes_again_and_again_is_said_once_and_counted() {
    let nudge = |why| {
        event(Nudged { why: NudgeCause::Reply(why), evidence: String::new(), text: "go on".into(), faults: Vec::new() })
    };
    let (empty, cut) = (|| nudge(Nudge::Empty), || nudge(Nudge::CutOff));
    let end = event(ended(EndReason::TurnCap, "", None));
    let events = [empty(), empty(), empty(), cut(), cut(), empty(), end];
    assert_eq!(
        rendered(StreamTarget::Piped, &events),
        "nudged the model: the reply was empty\n\
         the same 2 times more\n\
         nudged the model: the reply was cut off\n\
         the same once more\n\
         nudged the model: the reply was empty\n"
    );
}

#[test]
fn streamed_text_is_a_live_line_on_a_terminal_only_and_leaves_nothing_behind() {
    let stream = [text_delta("hel"), text_delta("lo"), delta(DeltaBody::Cleared {})];
    assert_eq!(rendered(StreamTarget::Piped, &stream), "");
    let live = rendered(StreamTarget::Terminal, &stream);
    let line = |text: &str| format!("\r\u{1b}[K\u{1b}[?7l\u{1b}[2m{text}\u{1b}[0m\u{1b}[?7h");
    assert_eq!(live, line("hel") + &line("hello") + "\r\u{1b}[K");
    let long = rendered(StreamTarget::Terminal, &[text_delta(&"ü".repeat(500))]);
    assert_eq!(long.matches('ü').count(), 70);
}

// proves P2: the log of a script shows what it waits for
#[test]
fn a_wait_for_a_server_is_one_line_in_a_file_and_live_on_a_terminal() {
    let waiting = |what, limit_ms| delta(DeltaBody::Waiting { call: None, wait: Wait { what, limit_ms } });
    let events = [
        waiting(WaitFor::Servers(vec!["git".into()]), 30_000),
        waiting(WaitFor::Servers(vec!["a".into(), "b".into()]), 5_000),
        waiting(WaitFor::Answer("git.log".into()), 120_000),
    ];
    let lines = [
        "waiting for the server git to start (up to 30 s)",
        "waiting for the servers a, b to start (up to 5 s)",
        "waiting for git.log (up to 2 min 0 s)",
    ];
    assert_eq!(rendered(StreamTarget::Piped, &events), lines.map(|line| format!("{line}\n")).concat());
    let live = rendered(StreamTarget::Terminal, &events);
    assert!(lines.iter().all(|line| live.contains(line)) && !live.contains('\n'), "{live:?}");
}

#[test]
fn what_is_awaited_is_a_live_line_on_a_terminal_only() {
    let turn = || event(TurnStarted::new(TurnId(1), TurnMode::Tools));
    let id = CallId { run: RunId(1), turn: TurnId(1), index: 0 };
    let started = event(CallStarted { call: id, arguments: None });
    let events = [turn(), text_delta("hm"), requested(0, "local.todo", "{}"), started];
    assert_eq!(rendered(StreamTarget::Piped, &events), "");
    let line = |text: &str| format!("\r\u{1b}[K\u{1b}[?7l\u{1b}[2m{text}\u{1b}[0m\u{1b}[?7h");
    let live = line("turn 1: waiting for the model") + &line("hm") + &line("running todo");
    assert_eq!(rendered(StreamTarget::Terminal, &events), live);
    assert!(
        rendered(StreamTarget::Terminal, &[turn(), finished(0, OutcomeKind::Ok, "", 1)])
            .ends_with("\r\u{1b}[Kcall 1.1.0 1 ms\n")
    );
}

// proves X4 at the terminal: text of a model or a tool is displayed and can't control the terminal
#[test]
fn names_arguments_results_and_streams_can_not_steer_the_terminal() {
    let evil = "\u{1b}]0;owned\u{7}\u{9b}2J\r\u{202e}";
    let arguments = serde_json::json!({ evil: evil, "n": [evil] }).to_string();
    let lines = rendered(
        StreamTarget::Piped,
        &[
            requested(0, evil, &arguments),
            finished(0, OutcomeKind::ToolError, evil, 1),
            failed(None, evil, NextAttempt::Retry { at: Timestamp(1) }),
            event(Nudged { why: NudgeCause::Cycle, evidence: evil.into(), text: evil.into(), faults: Vec::new() }),
            replied(vec![Part::Text { text: evil.into() }, Part::Call { index: 0 }]),
        ],
    );
    assert!(!lines.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'), "{lines:?}");
    let live = rendered(StreamTarget::Terminal, &[text_delta(evil)]);
    assert!(!live.contains("\u{1b}]") && !live.contains('\u{7}') && !live.contains('\u{9b}'), "{live:?}");
}

/// Returns the contents of both streams at the end of a run.
fn at_end(stream: StreamTarget, ended: &RunEnded) -> (String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let progress = RunProgress::new(&mut err, StreamTarget::Piped);
    RunView::Answer { out: &mut out, stream, progress }.ended(ended).expect("it is written");
    (String::from_utf8(out).expect("text"), String::from_utf8(err).expect("text"))
}

// proves the contract of `windlass run`: the answer alone on standard output
#[test]
fn the_answer_alone_goes_to_standard_output() {
    let both = |reason, answer: &str| at_end(StreamTarget::Piped, &ended(reason, answer, None));
    assert_eq!(both(EndReason::Completed, "done"), ("done\n".into(), String::new()));
    assert_eq!(both(EndReason::Asked, "which?\n"), ("which?\n".into(), String::new()));
    let (out, err) = both(EndReason::Unfinished, "half");
    assert!(out == "half\n" && err.contains("not finished"));
    for (reason, word) in [
        (EndReason::Cancelled, "stopped"),
        (EndReason::TurnCap, "turn cap"),
        (EndReason::BudgetSpent, "spending limit"),
        (EndReason::Failed, "failed"),
    ] {
        let (out, err) = both(reason, "why");
        assert!(out.is_empty() && err.contains(word) && err.ends_with("why\n"), "{out} {err}");
    }
    let failure = Failure::new(FailureClass::Auth, "the key was refused: check OPENAI_API_KEY");
    let (out, err) = at_end(StreamTarget::Piped, &ended(EndReason::Failed, "sorry", Some(failure)));
    assert_eq!(
        (out.as_str(), err.as_str()),
        ("", "windlass: the run failed: the key was refused: check OPENAI_API_KEY\n")
    );
}

// proves X4: piped output may later reach a terminal
#[test]
fn the_answer_is_harmless_in_a_pipe_and_on_a_terminal() {
    let answer = ended(EndReason::Completed, "a\u{1b}[31m\tb\r\n", None);
    assert_eq!(at_end(StreamTarget::Piped, &answer).0, "a\u{fffd}[31m\tb\r\n");
    assert_eq!(at_end(StreamTarget::Terminal, &answer).0, "a\u{fffd}[31m\tb\n");
}

// proves E1 at the command line: with --json every event is one line, and nothing else is there
#[test]
fn json_is_one_event_per_line_and_no_answer() {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut view = RunView::Json { out: &mut out, err: &mut err };
    view.event(&text_delta("two\nlines\u{1b}")).expect("written");
    view.event(&event(ended(EndReason::Completed, "done", None))).expect("written");
    view.ended(&ended(EndReason::Completed, "done", None)).expect("written");
    let lines: Vec<serde_json::Value> = String::from_utf8(out)
        .expect("text")
        .lines()
        .map(|line| serde_json::from_str(line).expect("every line is JSON"))
        .collect();
    assert_eq!((lines.len(), &lines[0]["kind"], &lines[1]["kind"]), (2, &"TextDelta".into(), &"RunEnded".into()));
    assert!(err.is_empty());
}

/// A standard output that fails with this error.
struct FailingOutput(io::ErrorKind);

impl Write for FailingOutput {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(self.0.into())
    }
    fn flush(&mut self) -> io::Result<()> {
        Err(self.0.into())
    }
}

#[test]
fn a_reader_that_went_away_is_no_error_and_a_full_disk_is_one() {
    let done = ended(EndReason::Completed, "done", None);
    for (kind, fine) in [(io::ErrorKind::BrokenPipe, true), (io::ErrorKind::StorageFull, false)] {
        let progress = RunProgress::new(FailingOutput(kind), StreamTarget::Piped);
        let mut view = RunView::Answer { out: FailingOutput(kind), stream: StreamTarget::Piped, progress };
        view.event(&text_delta("x")).expect("progress is never an error");
        assert_eq!(view.ended(&done).is_ok(), fine, "{kind}");
        let mut view = RunView::Json { out: FailingOutput(kind), err: FailingOutput(kind) };
        assert_eq!(view.event(&text_delta("x")).is_ok(), fine, "{kind}");
    }
}

/// What is written for events and then for a tick after each of these seconds.
fn ticked(stream: StreamTarget, events: &[Event], seconds: &[u64]) -> String {
    let mut out = Vec::new();
    let mut progress = RunProgress::new(&mut out, stream);
    let begun = Instant::now();
    events.iter().for_each(|event| progress.event(event, begun));
    for second in seconds {
        progress.tick(begun + Duration::from_secs(*second));
    }
    String::from_utf8(out).expect("text")
}

fn turn_started() -> Event {
    event(TurnStarted::new(TurnId(1), TurnMode::Tools))
}

// proves W2: a run that takes long tells what it waits for, and for how long
#[test]
fn a_pipe_gets_a_line_now_and_then_while_a_run_waits() {
    let seconds: Vec<u64> = (0..=41).collect();
    assert_eq!(
        ticked(StreamTarget::Piped, &[turn_started()], &seconds),
        "turn 1: waiting for the model, 5 s\n\
         turn 1: waiting for the model, 10 s\n\
         turn 1: waiting for the model, 20 s\n\
         turn 1: waiting for the model, 40 s\n"
    );
    assert_eq!(ticked(StreamTarget::Piped, &[turn_started(), text_delta("word")], &[4, 6]), "answering, 6 s\n");
    let done = [turn_started(), replied(vec![]), event(ended(EndReason::Completed, "Done.", None))];
    assert_eq!(ticked(StreamTarget::Piped, &done, &[60]), "");
}

// proves W2: calls that run side by side are each told while they run
#[test]
fn the_call_that_still_runs_is_told() {
    let started = |index| event(CallStarted { call: sample::call(index), arguments: None });
    let calls = [
        requested(0, "local.run_command", r#"{"command":"sleep 9"}"#),
        requested(1, "local.read_file", r#"{"path":"a"}"#),
        started(0),
        started(1),
        finished(1, OutcomeKind::Ok, "x", 1),
    ];
    let lines = ticked(StreamTarget::Piped, &calls, &[5]);
    assert!(lines.ends_with("running run_command sleep 9, 5 s\n"), "{lines}");
}

// proves M3, W2: the seconds on a terminal go on
#[test]
fn the_live_line_shows_the_seconds() {
    let live = ticked(StreamTarget::Terminal, &[turn_started()], &[0, 1, 2]);
    assert!(
        live.contains("waiting for the model, 1 s\u{1b}") && live.contains("waiting for the model, 2 s"),
        "{live:?}"
    );
    assert!(!live.contains('\n'), "{live:?}");
    let retry = failed(Some(429), "x", NextAttempt::Retry { at: Timestamp(9_000) });
    let live = ticked(StreamTarget::Terminal, &[retry], &[2, 5, 11]);
    for text in
        ["trying again in 7 s: m is rate limited", "trying again in 4 s: m is rate", "waiting for the model, 2 s"]
    {
        assert!(live.contains(text), "{text}: {live:?}");
    }
    let retry = failed(Some(429), "x", NextAttempt::Retry { at: Timestamp(9_000) });
    let piped = ticked(StreamTarget::Piped, &[retry], &[5]);
    assert_eq!(piped, "trying again in 9 s: m is rate limited\nstill waiting, 4 s left: m is rate limited\n");
}

// proves W2: the live line shows no raw arguments and no thoughts, only that they are written
#[test]
fn the_live_line_names_thinking_and_the_call_that_is_written() {
    let thought = delta(DeltaBody::ThinkingDelta { text: "hm, the user".into() });
    let call = |name: Option<&str>, text: &str| {
        delta(DeltaBody::CallDelta { call: sample::call(0), name: name.map(Into::into), text: text.into() })
    };
    let live = rendered(StreamTarget::Terminal, &[thought, call(Some("write_file"), "{\"pa"), call(None, "th\":")]);
    assert!(live.contains("thinking") && live.contains("writing a call of write_file"), "{live:?}");
    assert!(!live.contains("the user") && !live.contains("pa"), "{live:?}");
}
