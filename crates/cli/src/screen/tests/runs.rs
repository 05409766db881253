//! A run as a person watches it: calls, waiting, thinking, retries, ends.

use windlass_vocab::{
    Attendance, CallStarted, CancelAsked, CommandExit, CutInput, DeltaBody, EndReason, Failure, FailureClass,
    MessageAccepted, ModelReplied, ModelSoftware, NextAttempt, Nudge, NudgeCause, Nudged, OutcomeKind, Part,
    PlanChanged, PlanItem, PlanStatus, QuestionAsked, QuestionId, QuestionKind, QuestionOption, RunEnded, RunResumed,
    StopBy, Timestamp, TurnId, TurnMode, TurnStarted, Verdict,
};

use super::{LOOK, ScreenStage};
use crate::sample::{call, ended, exited, failed, finished, replied, requested};
use crate::screen::{Glyphs, TerminalLook, ThinkingFold};

fn started(index: u32) -> CallStarted {
    CallStarted { call: call(index), arguments: None }
}

fn turn_started() -> TurnStarted {
    TurnStarted::new(TurnId(1), TurnMode::Tools)
}

#[test]
fn a_run_reads_from_top_to_bottom() {
    let mut stage = ScreenStage::new(LOOK);
    stage.record(turn_started()).wait(2_100).shows("⠙ waiting for the model … 2 s");
    stage.text("I will look.").replied().record(requested(0, "local.read_file", r#"{"path":"a.txt"}"#));
    stage.record(started(0)).wait(1_000).shows("I will look.\n\n⠙ running read_file a.txt … 1 s");
    stage.record(finished(0, OutcomeKind::Ok, "x", 1_012));
    stage.turn = 2;
    stage.record(turn_started()).shows("I will look.\n\n• read_file a.txt  1 s\n⠙ waiting for the model");
    stage.text("It says **x**.").replied();
    let end = ended(EndReason::Completed, "It says **x**.", None);
    stage.record(end.clone()).screen.ended(&end).expect("shown");
    stage.shows("I will look.\n\n• read_file a.txt  1 s\n\nIt says **x**.");
}

// proves M8: below the model's words, once in a run, with the line that mends it
#[test]
fn a_request_that_was_cut_is_told_below_the_reply() {
    let mut stage = ScreenStage::new(LOOK);
    let cut = Some(CutInput { counted: 9_300, read: 4_096, software: Some(ModelSoftware::Ollama) });
    let reply = || ModelReplied { cut, ..replied(1, vec![Part::Text { text: "I will look.".into() }]) };
    let seen = stage.text("I will look.").record(reply()).record(reply()).seen();
    assert_eq!(seen.matches("the server read only 4096 of about 9300 tokens").count(), 1, "{seen}");
    assert!(seen.starts_with("I will look.") && seen.contains("OLLAMA_CONTEXT_LENGTH=32768"), "{seen}");
}

#[test]
fn a_call_that_failed_says_so_in_words() {
    let mut stage = ScreenStage::new(TerminalLook { width: 50, ..LOOK });
    for (index, outcome, text) in [
        (0, OutcomeKind::ToolError, "no such file\nmore"),
        (1, OutcomeKind::Denied, "a rule forbids this, and the reason is quite long"),
        (2, OutcomeKind::Cancelled, ""),
        (3, OutcomeKind::Ok, "fine"),
    ] {
        let long = r#"{"command":"grep -rn something /a/very/long/path/to/somewhere"}"#;
        let arguments = if index == 3 { long } else { r#"{"path":"a"}"# };
        stage.record(requested(index, "docs.find", arguments)).record(finished(index, outcome, text, 12));
    }
    stage.shows(
        "\
✗ docs.find a  12 ms, error: no such file
✗ docs.find a  12 ms, denied
  the rules of this run do not allow it
✗ docs.find a  12 ms, cancelled
• docs.find grep -rn something /a/very/lon…  12 ms",
    );
}

// proves T5: a non-zero exit is a result, and shown as what it is
#[test]
fn a_command_that_failed_has_a_cross_its_exit_code_and_the_last_line_it_printed() {
    let mut stage = ScreenStage::new(LOOK);
    for (index, command, exit, text) in [
        (0, "true", CommandExit::Code(0), "[no output; exit code 0]"),
        (1, "false", CommandExit::Code(1), "[no output; exit code 1]"),
        (2, "make", CommandExit::Code(2), "cc a.c\nError 1\n[exit code 2]"),
        (3, "crash", CommandExit::Signal(9), "[no output; ended by signal 9]"),
    ] {
        let arguments = format!(r#"{{"command":"{command}"}}"#);
        stage.record(requested(index, "local.run_command", &arguments)).record(exited(index, exit, text, 5));
    }
    stage.shows(
        "\
• run_command true  5 ms
✗ run_command false  5 ms, exit code 1
✗ run_command make  5 ms, exit code 2: Error 1
✗ run_command crash  5 ms, killed by signal 9",
    );
}

// proves T8: a change made without asking is shown, in the colours of a diff
#[test]
fn an_edit_that_nobody_was_asked_about_shows_its_change() {
    let mut stage = ScreenStage::new(LOOK);
    let arguments = r#"{"new_text":"b\nc\n","old_text":"a\n","path":"f"}"#;
    stage.record(requested(0, "local.edit_file", arguments)).record(finished(0, OutcomeKind::Ok, "Edited f.", 3));
    stage.shows("• edit_file f  3 ms\n  -a\n  +b\n  +c");
    let mut edited = requested(1, "local.edit_file", arguments);
    edited.verdict = Verdict::Ask;
    stage.record(edited).record(finished(1, OutcomeKind::Ok, "Edited f.", 3));
    stage.shows("• edit_file f  3 ms\n  -a\n  +b\n  +c\n• edit_file f  3 ms");
}

#[test]
fn the_live_line_says_what_runs_and_what_it_says() {
    let mut stage = ScreenStage::new(LOOK);
    stage.record(requested(0, "local.run_command", r#"{"command":"make"}"#)).record(started(0));
    stage.delta(0, DeltaBody::CallDelta { call: call(0), name: None, text: "cc a.c\ncc b.c\n".into() });
    stage.wait(3_000).shows("⠋ running run_command make … 3 s\n  cc b.c");
    stage.record(requested(1, "local.read_file", r#"{"path":"x"}"#)).record(started(1));
    stage.shows("⠋ running 2 calls: run_command make, read_file x … 3 s");
    stage.record(finished(0, OutcomeKind::Ok, "", 3_000));
    stage.shows("• run_command make  3 s\n⠋ running read_file x");
    let asked = QuestionAsked {
        question: QuestionId(1),
        kind: QuestionKind::Approval { call: call(1) },
        preview: None,
        options: vec![QuestionOption::No],
        expires: None,
        default: QuestionOption::No,
        elicitation: None,
        because: None,
    };
    stage.record(asked).wait(5_000).shows("• run_command make  3 s\n⠋ waiting for an answer … 5 s");
}

#[test]
fn arguments_on_their_way_are_counted() {
    let mut stage = ScreenStage::new(LOOK);
    let piece =
        |name: Option<&str>, text: String| DeltaBody::CallDelta { call: call(0), name: name.map(Into::into), text };
    stage.record(turn_started()).delta(0, piece(Some("write_file"), String::new()));
    stage.delta(0, piece(None, "x".repeat(1_250))).wait(1_000);
    stage.shows("⠋ writing a call of write_file, 1.2 kB … 1 s");
}

// proves M5 at the terminal: thinking is shown as thinking, never as answer
#[test]
fn thinking_is_one_line_that_says_how_long_it_took() {
    let mut stage = ScreenStage::new(LOOK);
    stage.record(turn_started()).think("Let me see.\nHm").wait(3_200).shows("⠹ thinking … 3 s");
    stage.text("Yes.").wait(40).shows("thought for 3.2 s\n\nYes.\n\n⠹ answering");
    stage.replied().shows("thought for 3.2 s\n\nYes.");
}

#[test]
fn open_thinking_is_shown_behind_a_bar() {
    let mut stage = ScreenStage::new(TerminalLook { width: 20, ..LOOK });
    stage.think("Let me see what there is.\nHm");
    stage.screen.fold(ThinkingFold::Open);
    stage.wait(40).think(", so").wait(960);
    stage.shows("│ Let me see what\n│ there is.\n│ Hm, so\n\n⠋ thinking … 1 s");
    stage.text("Yes.").replied().shows("│ Let me see what\n│ there is.\n│ Hm, so\nthought for 1 s\n\nYes.");
}

// proves M3: the wait is visible
#[test]
fn a_retry_counts_down() {
    let mut stage = ScreenStage::new(LOOK);
    stage.record(failed(Some(429), "Rate limit reached", NextAttempt::Retry { at: Timestamp(3_000) }));
    stage.shows("⠋ trying again in 3 s: m is rate limited");
    stage.wait(1_500).shows("⠴ trying again in 2 s: m is rate limited");
    stage.wait(2_500).shows("⠋ waiting for the model … 1 s");
}

// proves M4 at the terminal: text that another attempt replaces is dropped, or marked as void
#[test]
fn a_reply_that_broke_off_is_dropped() {
    let mut stage = ScreenStage::new(LOOK);
    stage.text("Half a ").wait(40);
    stage.record(failed(None, "the stream broke.", NextAttempt::Whole)).delta(0, DeltaBody::Cleared {});
    stage.shows("the stream broke; asking for the whole reply at once\n⠋ waiting for the model");
    (stage.attempt, stage.text) = (2, String::new());
    stage.replied_with(vec![Part::Text { text: "Whole.".into() }]);
    stage.shows("the stream broke; asking for the whole reply at once\n\nWhole.");
}

#[test]
fn finished_blocks_of_a_reply_that_broke_off_are_said_to_be_void() {
    let mut stage = ScreenStage::new(LOOK);
    stage.text("First.\n\nSecond").wait(40).delta(0, DeltaBody::Cleared {});
    // Late deltas of it are not shown.
    stage.delta(15, DeltaBody::TextDelta { text: " late".into() });
    stage.shows("First.\n\n↑ withdrawn: this reply broke off and is begun again\n⠋ waiting for the model");
}

#[test]
fn the_record_has_the_last_word_on_what_was_said() {
    let text = |text: &str| vec![Part::Text { text: text.into() }];
    let mut stage = ScreenStage::new(LOOK);
    stage.text("Hel").replied_with(text("Hello.")).shows("Hello.");
    stage.turn = 2;
    stage.replied_with(text("Not streamed.")).shows("Hello.\n\nNot streamed.");
    stage.turn = 3;
    stage.text("Wrong").replied_with(text("Right.")).shows("Hello.\n\nNot streamed.\n\nRight.");
    // A fragment that arrives twice, and one whose beginning was missed.
    stage.turn = 4;
    stage.text("abc ").delta(2, DeltaBody::TextDelta { text: "c d".into() }).replied_with(text("abc d"));
    stage.turn = 5;
    stage.delta(4, DeltaBody::TextDelta { text: "late".into() }).replied_with(text("too late!"));
    stage.shows("Hello.\n\nNot streamed.\n\nRight.\n\nabc d\n\nlate!");
}

#[test]
fn another_session_on_the_same_screen_begins_anew() {
    let mut stage = ScreenStage::new(LOOK);
    stage.turn = 3;
    stage.text("Old.").replied().record(requested(0, "local.todo", "{}")).record(started(0));
    stage.turn = 1;
    stage.record(RunResumed { attendance: Attendance::default(), deadline: None, withdrawn: None });
    stage.text("New").wait(40).shows("Old.\n\ngoing on with an unfinished run\n\nNew\n\n⠋ answering");
}

#[test]
fn nudges_steering_plans_and_resuming_are_lines_of_ours() {
    let mut stage = ScreenStage::new(LOOK);
    stage.record(MessageAccepted::new("1", "typed right above"));
    stage.record(RunResumed { attendance: Attendance::default(), deadline: None, withdrawn: None });
    let why = NudgeCause::Reply(Nudge::Empty);
    stage.record(Nudged { why, evidence: String::new(), text: "go on".into(), faults: Vec::new() });
    stage.record(MessageAccepted::new("2", "and the\ntests too"));
    let item = |step: &str, status| PlanItem::new(step, status);
    let items = vec![item("a", PlanStatus::Done), item("b", PlanStatus::Doing), item("c", PlanStatus::Open)];
    stage.record(PlanChanged { items });
    stage.shows(
        "\
going on with an unfinished run
nudged the model: the reply was empty
> and the tests too
  [x] a
  [▸] b
  [ ] c
⠋ waiting for the model",
    );
}

// proves E2 at the terminal: every end states its reason and a remedy
#[test]
fn every_end_says_what_it_is() {
    let key = Failure::new(FailureClass::Auth, "The key was refused; set OPENAI_API_KEY.");
    for (end, expected) in [
        (ended(EndReason::Completed, "Done by a *tool*.", None), "Done by a *tool*."),
        (ended(EndReason::Asked, "Which one?", None), "Which one?"),
        (ended(EndReason::Unfinished, "Half.", None), "Half.\n\nthe work is not finished"),
        (ended(EndReason::Cancelled, "", None), "stopped"),
        (
            RunEnded { dropped: vec!["m".into()], ..ended(EndReason::Cancelled, "", None) },
            "stopped; the model has not read what was said last, and will not",
        ),
        (
            ended(EndReason::TurnCap, "Max tool iterations reached", None),
            "the run reached its turn cap (--max-turns raises it): Max tool iterations reached\n/retry tries it again",
        ),
        (
            ended(EndReason::Failed, "", Some(key)),
            "the run failed: The key was refused; set OPENAI_API_KEY.\n/retry tries it again",
        ),
    ] {
        let mut stage = ScreenStage::new(TerminalLook { width: 100, ..LOOK });
        stage.record(turn_started()).record(end.clone()).screen.ended(&end).expect("shown");
        stage.shows(expected);
    }
}

// proves L8 at the terminal: the received part of a stopped reply stays
#[test]
fn a_stopped_reply_stays_as_far_as_it_came() {
    let mut stage = ScreenStage::new(LOOK);
    stage.record(turn_started()).text("Half a").wait(40).record(CancelAsked { by: StopBy::Person });
    stage.shows("Half a\n\n⠋ stopping");
    stage.text(" word").replied();
    let end = ended(EndReason::Cancelled, "Half a word", None);
    stage.record(end.clone()).screen.ended(&end).expect("shown");
    stage.shows("Half a word\n\nstopped");
}

#[test]
fn pausing_leaves_whole_words_and_goes_on_below_what_others_write() {
    let mut stage = ScreenStage::new(LOOK);
    stage.text("One two thr").wait(40).shows("One two thr\n\n⠋ answering");
    stage.screen.pause().expect("paused");
    stage.shows("One two");
    stage.screen.out().extend(b"others were here\n");
    stage.text("ee four.").wait(100);
    stage.replied().shows("One two\nothers were here\n\nthree four.");
}

#[test]
fn pausing_does_not_part_what_belongs_together() {
    for text in ["1. an item that grows", "> a quote that grows", "|a|b|\n|-|-|\n|c|d", "# a title that grows"] {
        let mut stage = ScreenStage::new(LOOK);
        stage.text(text).wait(40).screen.pause().expect("paused");
        stage.shows("").text(" on").replied();
        assert_eq!(stage.seen(), super::answer(LOOK, &format!("{text} on")));
    }
}

#[test]
fn a_notice_stands_above_the_live_line() {
    let mut stage = ScreenStage::new(LOOK);
    stage.record(turn_started()).screen.notice("a notice of ours\nin two lines").expect("shown");
    stage.shows("a notice of ours\nin two lines\n⠋ waiting for the model");
}

#[test]
fn a_terminal_without_unicode_gets_marks_it_can_show() {
    let mut stage = ScreenStage::new(TerminalLook { glyphs: Glyphs::Ascii, ..LOOK });
    stage.text("Some *text*\n\nand").wait(40).shows("Some *text*\n\nand\n\n| answering");
    stage.text(" more.").replied().record(requested(0, "local.todo", "{}")).record(started(0));
    stage.record(finished(0, OutcomeKind::Ok, "", 7)).shows("Some *text*\n\nand more.\n\n* todo  7 ms");
    assert!(stage.written.is_ascii());
}

#[test]
fn a_terminal_made_narrow_in_mid_stream_keeps_what_was_finished() {
    let mut stage = ScreenStage::new(LOOK);
    stage.text("Finished.\n\nstill growing text that goes on").wait(40).process();
    let size = |size: u16| std::num::NonZeroU16::new(size).expect("not 0");
    // The emulator cuts rows that other terminals wrap, so only the height changes here.
    stage.terminal.set_size(size(6), size(60));
    stage.screen.resize(60, 6);
    stage.text(" and on").wait(40).shows("Finished.\n\nstill growing text that goes on and on\n\n⠋ answering");
    stage.replied().shows("Finished.\n\nstill growing text that goes on and on");
}
