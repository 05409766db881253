//! A conversation that gets too long: what is left out, what takes its place, and that nothing of it depends on where a
//! crash comes.

use crate::support::{Ask, KEEPS, Move, World, call, policy};
use windlass_machine::{
    CallResult, CheckedUndo, Effect, Fact, ReplayOutcome, SUMMARY_REQUEST, State, legal, outstanding, replay,
};
use windlass_vocab::{
    CallId, Change, Compacted, CompactionMethod, EffectClass, EndReason, FailureClass, FileState, HistoryKeeping,
    Message, ModelRole, NextAttempt, NudgeCause, OutcomeKind, Policy, Record, RunId, RunModel, StopBy, TurnId,
    TurnMode, TurnStarted, Undoable,
};

const WINDOW: u64 = 8_000;

/// A read with a result of about this many bytes: results repeat the arguments.
fn read(number: usize, bytes: usize) -> Ask {
    call("read", EffectClass::ReadOnly).with(&format!("{{\"n\":{number},\"text\":\"{}\"}}", "x".repeat(bytes)))
}

/// A write, whose arguments are short.
fn write(number: usize) -> Ask {
    call("write", EffectClass::Once).with(&format!("{{\"path\":\"file-{number}.txt\"}}"))
}

/// Reads and writes for this many turns, then answers.
fn long_work(turns: usize, bytes: usize) -> Vec<Move> {
    let work = (0..turns).map(|number| Move::Calls(vec![read(number, bytes), write(number)]));
    work.chain([Move::Text("done")]).collect()
}

fn world(history: HistoryKeeping, script: Vec<Move>) -> World {
    let mut world = World::with_policy(Policy { history, turn_cap: 5_000, ..policy("operator") }, script);
    let known = |name: &str| RunModel { window: Some(WINDOW), ..RunModel::named(name) };
    world.run_settings.models = vec![known("first"), known("second"), known("small")];
    // Nothing: then the estimates count.
    world.reported = 0;
    world
}

fn compactions(world: &World) -> Vec<Compacted> {
    let compacted = |record: &Record| match record {
        Record::Compacted(compacted) => Some(compacted.clone()),
        _ => None,
    };
    world.journal.iter().flatten().filter_map(compacted).collect()
}

fn methods(world: &World) -> Vec<CompactionMethod> {
    let mut methods: Vec<_> = compactions(world).iter().map(|compacted| compacted.method).collect();
    methods.dedup();
    methods
}

fn turns(world: &World) -> Vec<TurnStarted> {
    let started = |record: &Record| match record {
        Record::TurnStarted(started) => Some(started.clone()),
        _ => None,
    };
    world.journal.iter().flatten().filter_map(started).collect()
}

/// Returns the messages that a model is sent now, if one is called.
fn sent(state: &State) -> Option<&[Message]> {
    let called = outstanding(state).iter().any(|effect| matches!(effect, Effect::CallModel { .. }));
    let run = state.control.run.as_ref().filter(|_| called)?;
    let history = &state.transcript.history;
    let end = run.summary.map_or(history.len(), |task| state.transcript.place_of(task.through));
    Some(&history[..end])
}

fn text_of(message: &Message) -> &str {
    match message {
        Message::User { text, .. } | Message::Tool { text, .. } => text,
        Message::Assistant { .. } => "",
    }
}

/// Performs the next effect.
fn go(world: &mut World) {
    let effect = world.owed().remove(0);
    let fact = world.perform(&effect);
    world.put(fact);
}

/// Performs effects until a model is asked for a summary.
fn until_summary(world: &mut World) {
    while world.state.control.run.as_ref().is_some_and(|run| run.summary.is_none()) {
        go(world);
    }
}

#[test]
fn a_summary_by_a_model_takes_the_place_of_the_oldest_turns_before_the_window_is_full() {
    // proves C5, M9
    let mut world = world(HistoryKeeping::Summarised, long_work(40, 300));
    world.say("the goal");
    let mut summaries = 0;
    while world.state.control.run.is_some() {
        if let Some(sent) = sent(&world.state) {
            assert!(matches!(legal(sent), std::borrow::Cow::Borrowed(_)));
            assert!(sent.iter().any(|message| text_of(message) == "the goal"), "the goal is always sent");
        }
        if let [Effect::CallModel { mode: TurnMode::Summary, role, .. }] = &world.owed()[..] {
            assert_eq!(*role, ModelRole::Summary);
            summaries += 1;
        }
        go(&mut world);
    }
    let (_, ended) = world.state.control.last.clone().expect("an end");
    assert_eq!((ended.reason, ended.answer.as_str(), ended.turns), (EndReason::Completed, "done", 41));
    assert!(summaries > 1);
    assert_eq!(ended.usage.calls, 41 + summaries, "a summary is charged like any other call");
    assert_eq!(methods(&world), [CompactionMethod::Summarised]);
    for started in turns(&world) {
        let budget = started.budget.expect("a budget");
        assert!(budget.remaining.expect("a window") > 0, "{budget:?}");
    }
    let front = text_of(&world.state.transcript.history[0]);
    for kept in ["What was said before.", "The conversation began with: the goal", "write {\"path\":\"file-"] {
        assert!(front.contains(kept), "{kept:?} is not in {front}");
    }
    assert!(!world.state.transcript.history.iter().any(|message| matches!(message, Message::Assistant { parts, .. }
        if windlass_vocab::Part::joined_text(parts) == "What was said before.")));
    let batches = world.journal.len() as u64;
    assert_eq!(replay(world.state.session, &world.envelopes()), ReplayOutcome::Same { batches });
}

#[test]
fn each_value_of_the_row_does_what_it_says() {
    // proves C5, C6
    for (history, bytes, expected) in [
        (HistoryKeeping::AllThatFits, 300, vec![CompactionMethod::Pruned]),
        (HistoryKeeping::Pruned, 300, vec![CompactionMethod::Pruned]),
        (HistoryKeeping::Summarised, 300, vec![CompactionMethod::Summarised]),
        (HistoryKeeping::Consolidated { messages: 12 }, 30, vec![CompactionMethod::Summarised]),
    ] {
        let mut world = world(history, long_work(40, bytes));
        world.say("go");
        let mut longest = 0;
        while world.state.control.run.is_some() {
            let turn = world.state.control.run.as_ref().is_some_and(|run| run.summary.is_none());
            if let Some(sent) = sent(&world.state).filter(|_| turn) {
                longest = longest.max(sent.len());
            }
            go(&mut world);
        }
        assert_eq!(methods(&world), expected, "{history:?}");
        if let HistoryKeeping::Consolidated { messages } = history {
            assert!(longest <= messages as usize, "{longest} messages");
        }
    }
}

#[test]
fn all_that_fits_stays_longer_than_what_is_pruned() {
    // proves C6
    let left = |history| {
        let mut world = world(history, long_work(60, 300));
        world.say("go");
        while compactions(&world).is_empty() {
            go(&mut world);
        }
        turns(&world).last().and_then(|started| started.budget).expect("a budget").history
    };
    let (all, pruned) = (left(HistoryKeeping::AllThatFits), left(HistoryKeeping::Pruned));
    assert!(all > pruned && pruned <= WINDOW / 2, "{all} and {pruned}");
}

/// Runs the call that is owed, with a result of this many characters.
fn finish_call(world: &mut World, chars: usize) {
    let [Effect::RunCall { request, .. }, ..] = &world.owed()[..] else { panic!("a call runs") };
    let (call, finished) = (request.call, CallResult::new(OutcomeKind::Ok, "x".repeat(chars)));
    world.put(Fact::CallDone { call, finished });
}

#[test]
fn older_results_are_shortened_first_where_that_is_enough() {
    // proves C5
    let script = (0..200).map(|number| Move::Calls(vec![read(number, 1)])).collect();
    let mut world = world(HistoryKeeping::Summarised, script);
    world.say("go");
    world.until_turn(1);
    go(&mut world);
    finish_call(&mut world, 6_000);
    while compactions(&world).is_empty() {
        go(&mut world);
    }
    let [first] = &compactions(&world)[..] else { panic!("one compaction") };
    assert_eq!((first.method, first.through, first.notes.as_ref()), (CompactionMethod::Shrunk, 0, None));
    assert!(first.whole_from.is_some_and(|whole| whole > 10), "{first:?}");
    assert!(world.results()[0].1.len() < 1_000, "the old result is short");
    // The newest messages stay as they are, and the next time there is nothing left to shorten.
    until_summary(&mut world);
    assert!(world.state.control.run.is_some());
}

#[test]
fn a_plain_summary_takes_its_place_when_no_model_writes_one() {
    // proves C5, M9
    let summaries = [
        Move::Fails(99, FailureClass::Auth, Box::new(Move::Empty)),
        Move::Fails(99, FailureClass::Overflow, Box::new(Move::Empty)),
        Move::Empty,
        Move::Filtered,
    ];
    for summary in summaries {
        let mut world = world(HistoryKeeping::Summarised, long_work(30, 300));
        world.summary = summary.clone();
        world.say("the goal");
        let ended = world.finish();
        assert_eq!((ended.reason, ended.answer.as_str()), (EndReason::Completed, "done"), "{summary:?}");
        assert_eq!(methods(&world), [CompactionMethod::Plain], "{summary:?}");
        let written = compactions(&world)[0].summary.clone().expect("a summary");
        assert!(written.contains("read: done") && written.contains("write: done"), "{written}");
    }
}

#[test]
fn what_is_too_long_for_the_run_s_model_is_summarised_by_the_role_s() {
    // proves C5, M9
    for (window, method) in [(None, CompactionMethod::Summarised), (Some(100), CompactionMethod::Plain)] {
        let mut world = world(HistoryKeeping::Summarised, vec![Move::Text("done"); 4]);
        world.run_settings.role_chains = [(ModelRole::Summary, vec!["large".into()])].into();
        world.run_settings.models.push(RunModel { window, ..RunModel::named("large") });
        for number in 1..=4 {
            world.put(Fact::Message {
                message_id: format!("m{number}").as_str().into(),
                text: "x".repeat(WINDOW as usize),
                attachments: Vec::new(),
                run_settings: Box::new(world.run_settings.clone()),
            });
            world.finish();
        }
        assert!(methods(&world).contains(&method), "{window:?}: {:?}", methods(&world));
    }
}

#[test]
fn a_summary_that_is_too_long_keeps_its_beginning_where_the_open_work_is_asked_for() {
    // proves C5
    let place = |words: &str| SUMMARY_REQUEST.find(words).unwrap_or_else(|| panic!("{words:?} is not asked for"));
    assert!(place("what is still to be done") < place("what was decided"));
    let long: &'static str = Box::leak(format!("To do: the mast. {}", "And so on. ".repeat(2_000)).into_boxed_str());
    let mut world = world(HistoryKeeping::Summarised, long_work(30, 300));
    world.summary = Move::Text(long);
    world.say("go");
    world.finish();
    let summary = compactions(&world)[0].summary.clone().expect("a summary");
    assert!(summary.starts_with("To do: the mast.") && summary.len() < WINDOW as usize, "{summary}");
}

#[test]
fn a_summary_is_retried_and_goes_down_its_own_chain() {
    // proves M9, M2
    let mut world = world(HistoryKeeping::Summarised, long_work(30, 300));
    world.run_settings.role_chains = [(ModelRole::Summary, vec!["small".into(), "second".into()])].into();
    world.summary = Move::Fails(6, FailureClass::Transient, Box::new(Move::Text("Written by the second.")));
    world.say("go");
    assert_eq!(world.finish().answer, "done");
    let second: windlass_vocab::ModelName = "second".into();
    assert!(world.nexts().contains(&NextAttempt::Model { model: second.clone() }), "{:?}", world.nexts());
    let writers = world.journal.iter().flatten().filter_map(|record| match record {
        Record::ModelReplied(replied) if replied.role == ModelRole::Summary => Some(replied.model.clone()),
        _ => None,
    });
    let writers: Vec<_> = writers.collect();
    assert!(!writers.is_empty() && writers.iter().all(|model| *model == second), "{writers:?}");
    assert_eq!(methods(&world), [CompactionMethod::Summarised]);
}

#[test]
fn a_window_that_is_full_without_anything_to_leave_out_wraps_the_run_up() {
    // proves C3
    let mut world = world(HistoryKeeping::Summarised, vec![Move::Text("done")]);
    world.say(&"x".repeat(4 * WINDOW as usize * 9 / 10));
    let ended = world.finish();
    assert_eq!((ended.reason, ended.answer.as_str()), (EndReason::Unfinished, "This is done, that is not."));
    let nudges = world.nudges();
    assert_eq!(nudges.iter().map(|nudged| nudged.why).collect::<Vec<_>>(), [NudgeCause::ContextFull]);
    let evidence = &nudges[0].evidence;
    let beginning = format!("the model's window of {WINDOW} tokens is full: instructions take ");
    assert!(evidence.starts_with(&beginning) && evidence.contains(", the conversation "), "{evidence}");
}

#[test]
fn a_message_that_can_never_fit_ends_the_run_before_a_call_with_its_size_and_the_window() {
    // proves C3
    let mut world = world(HistoryKeeping::Summarised, vec![Move::Text("done")]);
    for number in 0..8 {
        world.say(&format!("question {number}: {}", "x".repeat(1_000)));
        world.finish();
    }
    let before = turns(&world).len();
    world.say(&"x".repeat(8 * WINDOW as usize));
    let ended = world.finish();
    assert_eq!(
        (ended.reason, turns(&world).len()),
        (EndReason::Failed, before),
        "no model is called, not even for a summary"
    );
    let failure = ended.failure.expect("a failure");
    assert_eq!(failure.class, FailureClass::Overflow);
    for part in ["too long for `first`", "about 18", "its window is 8000", "was not called"] {
        assert!(failure.message.contains(part), "{part:?} is not in {}", failure.message);
    }
    assert_eq!(ended.answer, failure.message);
    // The session is not stuck: with the next message it is left out.
    world.say("something short");
    assert_eq!(world.finish().answer, "done");
    assert_eq!(methods(&world), [CompactionMethod::Plain]);
    let batches = world.journal.len() as u64;
    assert_eq!(replay(world.state.session, &world.envelopes()), ReplayOutcome::Same { batches });
}

#[test]
fn a_message_that_may_fit_is_left_to_the_server_to_refuse() {
    // proves C3: an estimate may be twice the truth, and the server's own count says by how much it is too long
    let refusals = Move::Fails(9, FailureClass::Overflow, Box::new(Move::Text("done")));
    let mut world = world(HistoryKeeping::Summarised, vec![refusals]);
    world.say(&"x".repeat(6 * WINDOW as usize));
    let ended = world.finish();
    assert_eq!((ended.reason, world.nudges().len()), (EndReason::Failed, 0));
    assert_eq!(ended.failure.map(|failure| failure.message).as_deref(), Some("it failed"));
}

#[test]
fn a_result_larger_than_the_window_is_shortened_rather_than_the_run_ended() {
    // proves C3, C5
    let script = vec![Move::Calls(vec![read(0, 1)]), Move::Text("done")];
    let mut world = world(HistoryKeeping::Summarised, script);
    world.say("go");
    world.until_turn(1);
    go(&mut world);
    finish_call(&mut world, 40_000);
    assert_eq!(world.finish().answer, "done");
    assert_eq!(methods(&world), [CompactionMethod::Shrunk]);
}

#[test]
fn a_summary_does_not_count_against_the_turn_cap() {
    // proves L5
    let mut world = world(HistoryKeeping::Summarised, long_work(30, 300));
    world.run_settings.policy.turn_cap = 31;
    world.say("go");
    let ended = world.finish();
    assert_eq!((ended.reason, ended.turns), (EndReason::Completed, 31));
    assert!(!compactions(&world).is_empty());
}

#[test]
fn a_message_that_comes_during_a_summary_is_sent_in_the_turn_after_it() {
    // proves L7
    for summary in [Move::Text("so far"), Move::Fails(99, FailureClass::Auth, Box::new(Move::Empty))] {
        let mut world = world(HistoryKeeping::Summarised, long_work(30, 300));
        world.run_settings.policy = Policy { history: HistoryKeeping::Summarised, ..policy("default") };
        world.summary = summary;
        world.say("go");
        until_summary(&mut world);
        world.say("and this");
        while world.state.control.run.as_ref().is_some_and(|run| run.summary.is_some()) {
            go(&mut world);
        }
        let history = sent(&world.state).expect("a model is called");
        assert_eq!(history.iter().filter(|message| text_of(message) == "and this").count(), 1);
        assert!(world.state.control.run.as_ref().expect("a run").unseen.is_empty());
        world.finish();
    }
}

#[test]
fn a_stop_during_a_summary_ends_the_run_without_it() {
    // proves L8
    let mut world = world(HistoryKeeping::Summarised, long_work(30, 300));
    world.say("go");
    until_summary(&mut world);
    world.put(Fact::Stopped(StopBy::Person));
    let ended = world.finish();
    assert_eq!((ended.reason, ended.answer.as_str()), (EndReason::Cancelled, ""));
    assert!(compactions(&world).is_empty());
    let said = |message: &Message| matches!(message, Message::Assistant { parts, .. } if !parts.is_empty() && windlass_vocab::Part::joined_text(parts) == "so far");
    assert!(!world.state.transcript.history.iter().any(said));
    world.script = vec![Move::Text("again")];
    world.say("go on");
    assert_eq!(world.finish().answer, "again");
}

#[test]
fn an_overflow_error_is_answered_by_the_same_steps() {
    // proves C5
    let mut script = long_work(12, 100);
    script.pop();
    script.push(Move::Fails(1, FailureClass::Overflow, Box::new(Move::Text("done"))));
    script.push(Move::Text("done"));
    let mut world = world(HistoryKeeping::Summarised, script);
    // The server's window is smaller than what is known of it.
    world.say("the goal");
    assert_eq!(world.finish().answer, "done");
    assert_eq!(methods(&world), [CompactionMethod::Summarised]);
    assert_eq!(world.nexts(), [NextAttempt::Shorter]);
}

#[test]
fn a_crash_after_any_record_of_a_compaction_changes_nothing() {
    // proves J3, C5
    for summary in [Move::Text("so far"), Move::Fails(2, FailureClass::Transient, Box::new(Move::Empty))] {
        let new = || {
            let mut world = world(HistoryKeeping::Summarised, long_work(18, 300));
            world.summary = summary.clone();
            world.say("the goal");
            world
        };
        let mut whole = new();
        whole.finish();
        let (batches, expected) = (whole.journal.len(), compactions(&whole));
        assert!(!expected.is_empty());
        for after in 2..batches {
            let mut world = new();
            while world.journal.len() < after {
                go(&mut world);
            }
            world.crash();
            let ended = world.finish();
            assert_eq!(ended.answer, "done", "killed after batch {after}");
            assert_eq!(compactions(&world), expected, "killed after batch {after}");
            assert_eq!(world.state.transcript.history, whole.state.transcript.history);
        }
    }
}

#[test]
fn what_a_person_asks_for_is_done_before_the_first_turn() {
    // proves C5
    let mut world = world(HistoryKeeping::AllThatFits, vec![Move::Text("an answer")]);
    for number in 0..6 {
        world.say(&format!("question {number}"));
        world.finish();
    }
    world.run_settings.compact = true;
    world.say("the last question");
    world.finish();
    let [compacted] = &compactions(&world)[..] else { panic!("one compaction") };
    assert_eq!(compacted.method, CompactionMethod::Summarised);
    assert!(compacted.notes.as_deref().is_some_and(|notes| notes.contains("question 5")));
}

/// Takes the last compaction back, as a person does between two runs.
fn undo(world: &mut World) -> Vec<Record> {
    let next_run = Box::new(world.run_settings.clone());
    world.put(Fact::CompactionUndone(Some(next_run)))
}

#[test]
fn a_compaction_is_not_undone_where_the_next_run_would_leave_the_same_out_again() {
    // proves C5: the model's summary stays, and nothing is paid for another
    for history in [HistoryKeeping::Summarised, HistoryKeeping::Pruned, HistoryKeeping::Consolidated { messages: 8 }] {
        let mut world = world(history, vec![Move::Text("an answer")]);
        while compactions(&world).is_empty() {
            world.say(&"x".repeat(2_000));
            world.finish();
        }
        let before = world.state.clone();
        assert!(before.transcript.can_restore(), "{history:?}");
        assert_eq!(undo(&mut world), [], "{history:?}");
        assert_eq!(world.state, before, "{history:?}");
        // A model with a larger window has room for it, and a policy without a limit on messages as well.
        world.run_settings.models.iter_mut().for_each(|model| model.window = Some(64_000));
        world.run_settings.policy.history = HistoryKeeping::Summarised;
        assert_eq!(undo(&mut world).len(), 1, "{history:?}");
    }
}

#[test]
fn a_compaction_can_be_undone_until_the_next_one() {
    // proves C5
    for (history, summary) in [
        (HistoryKeeping::Summarised, Move::Text("so far")),
        (HistoryKeeping::Summarised, Move::Empty),
        (HistoryKeeping::Pruned, Move::Empty),
    ] {
        let mut world = world(history, vec![Move::Text("an answer")]);
        world.summary = summary;
        for number in 0..6 {
            world.say(&format!("question {number}"));
            world.finish();
        }
        let before = world.state.transcript.history.clone();
        assert!(undo(&mut world).is_empty(), "there is nothing to undo yet");
        world.run_settings.compact = true;
        world.say("the last question");
        world.finish();
        world.run_settings.compact = false;
        assert!(world.state.transcript.history.len() < before.len());
        assert_eq!(undo(&mut world).len(), 1);
        let restored = &world.state.transcript.history;
        assert_eq!(restored[..before.len()], before);
        assert_eq!(restored.len(), before.len() + 2, "with the last question and its answer");
        assert_eq!(world.fold(), world.state);
        assert!(undo(&mut world).is_empty(), "once");
        world.say("one more");
        assert_eq!(world.finish().answer, "an answer");
        let batches = world.journal.len() as u64;
        assert_eq!(replay(world.state.session, &world.envelopes()), ReplayOutcome::Same { batches });
    }
}

#[test]
fn results_that_were_shortened_are_whole_again_when_that_is_undone() {
    // proves C5
    let mut script: Vec<Move> = (0..90).map(|number| Move::Calls(vec![read(number, 1)])).collect();
    script[60] = Move::Text("done");
    let mut world = world(HistoryKeeping::Summarised, script);
    world.say("go");
    world.until_turn(1);
    go(&mut world);
    finish_call(&mut world, 9_000);
    world.finish();
    assert_eq!(methods(&world), [CompactionMethod::Shrunk]);
    world.put(Fact::CompactionUndone(None));
    assert_eq!(world.results()[0].1.len(), 9_000);
    assert_eq!(world.fold(), world.state);
}

#[test]
fn an_undo_and_a_dropped_message_are_in_the_notes() {
    // proves C5, T9, L8
    let script = vec![Move::Calls(vec![call(KEEPS, EffectClass::Once)]), Move::Text("done")];
    let mut world = world(HistoryKeeping::Summarised, script);
    world.run_settings.policy = Policy { history: HistoryKeeping::Summarised, ..policy("default") };
    world.say("change the file");
    world.finish();
    let changed = Change { was: FileState::Absent, now: FileState::Absent };
    let undo = CheckedUndo {
        of: Undoable::Call(CallId { run: RunId(1), turn: TurnId(1), index: 0 }),
        tool: None,
        changes: [("f".to_owned(), changed)].into(),
        unable: [].into(),
    };
    world.put(Fact::Undo(Box::new(undo)));
    go(&mut world);
    world.script = vec![Move::Text("an answer")];
    world.say("the second request");
    world.say("never mind this one");
    world.put(Fact::Stopped(StopBy::Person));
    assert_eq!(world.finish().dropped.len(), 1);
    for number in 0..4 {
        world.say(&format!("question {number}"));
        world.finish();
    }
    world.run_settings.compact = true;
    world.say("the last question");
    world.finish();
    let notes = compactions(&world)[0].notes.clone().expect("notes");
    let place = |part: &str| notes.find(part).unwrap_or_else(|| panic!("{part:?} is not in {notes}"));
    assert!(place("The person undid what call 1.1.0 did to files.") < place("1.1.0 t1 {}: done"), "{notes}");
    assert!(
        notes.contains("- question 3\n- question 2\n- question 1\n- question 0\n- the second request\n"),
        "{notes}"
    );
    assert!(!notes.contains("never mind this one"), "no model has seen it: {notes}");
}

/// The bytes of a message, as a server would count them at least.
fn bytes_of(message: &Message) -> usize {
    match message {
        Message::User { text, .. } | Message::Tool { text, .. } => text.len(),
        Message::Assistant { parts, calls, .. } => {
            let calls = calls.iter().map(|call| call.name.len() + call.arguments.as_str().len());
            windlass_vocab::Part::joined_text(parts).len() + calls.sum::<usize>()
        }
    }
}

#[test]
fn two_thousand_turns_fit_a_small_window_and_keep_the_goal_and_the_effects() {
    // proves C3, C5, J10
    const TURNS: u32 = 2_000;
    for history in [
        HistoryKeeping::Summarised,
        HistoryKeeping::Pruned,
        HistoryKeeping::AllThatFits,
        HistoryKeeping::Consolidated { messages: 60 },
    ] {
        let mut world = world(history, long_work(TURNS as usize, 400));
        world.run_settings.models.iter_mut().for_each(|model| model.window = Some(32_000));
        world.say("the goal of it all");
        // Each turn writes one file: `written` is how many there were at the last compaction.
        let (mut last, mut compactions_so_far, mut written) = (0, 0, 0);
        while let Some(run) = &world.state.control.run {
            let turn = run.turn.0;
            if world.state.transcript.compactions > compactions_so_far {
                (compactions_so_far, written) = (world.state.transcript.compactions, world.executed.len() / 2);
            }
            let compacted = !compacted_front(&world.state).is_empty();
            if let Some(sent) = sent(&world.state).filter(|_| turn > last) {
                last = turn;
                assert!(matches!(legal(sent), std::borrow::Cow::Borrowed(_)), "turn {turn} is legal");
                // Three bytes are fewer than any tokenizer puts into a token of such text.
                let bytes: usize = sent.iter().map(bytes_of).sum();
                assert!(bytes / 3 < 32_000 - 4_096, "turn {turn} sends {bytes} bytes");
                assert!(sent.iter().any(|message| text_of(message) == "the goal of it all"), "turn {turn}");
                if compacted {
                    let effects = text_of(&sent[0]).split("Calls that changed something, newest first:\n- ").nth(1);
                    let effects = effects.expect("the effects are there");
                    let number =
                        |from: &str, to: char| effects.split_once(from)?.1.split_once(to)?.0.parse::<usize>().ok();
                    assert_eq!(number("file-", '.').map(|newest| newest + 1), Some(written), "turn {turn}: {effects}");
                    let listed = effects.matches(": done").count();
                    assert_eq!(listed + number("- and ", ' ').unwrap_or(0), written, "turn {turn}: {effects}");
                }
            }
            if turn % 500 == 0 && turn > 0 && turn == last {
                let kept = format!("{:?}", world.state.transcript).len();
                assert!(kept < 1_000_000, "turn {turn} keeps {kept} bytes");
            }
            if turn == 1_000 && turn == last && matches!(world.owed()[..], [Effect::CallModel { .. }]) {
                world.crash();
            }
            go(&mut world);
        }
        let (_, ended) = world.state.control.last.clone().expect("an end");
        assert_eq!((ended.answer.as_str(), ended.turns), ("done", TURNS + 1), "{history:?}");
        assert!(compactions(&world).len() > 5, "{history:?}: {}", compactions(&world).len());
    }
}

/// Returns the message in front of a compacted conversation; empty where there is none.
fn compacted_front(state: &State) -> &str {
    let first = state.transcript.history.first().map_or("", text_of);
    if first.starts_with("[The older part") { first } else { "" }
}
