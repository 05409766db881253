//! The rules of the loop, one by one, without clock or network.

use crate::support::{Move, World, call, policy};
use windlass_machine::{Effect, Fact, PRESETS, outstanding};
use windlass_vocab::{
    Answer, AnsweredBy, EffectClass, EndReason, Ending, FailureClass, Message, NextAttempt, Nudge, OutcomeKind,
    Parallel, QuestionId, QuestionOption, Record, StopBy, UnfinishedCall, Usage, Verdict,
};

use EffectClass::{Idempotent, Once, ReadOnly};

fn read(path: &str) -> crate::support::Ask {
    call("read", ReadOnly).reading().with(&format!("{{\"path\":\"{path}\"}}"))
}

#[test]
fn without_tools_a_run_is_one_model_call() {
    // proves L1
    let mut world = World::new("default", vec![Move::Text("hello")]);
    world.offer = 0;
    world.say("hi");
    let ended = world.finish();
    assert_eq!((ended.reason, ended.answer.as_str(), ended.turns), (EndReason::Completed, "hello", 1));
    let expected = [
        "SessionOpened",
        "LeaseTaken",
        "MessageAccepted",
        "RunStarted",
        "ContextPinned",
        "TurnStarted",
        "ModelReplied",
        "RunEnded",
    ];
    assert_eq!(world.kinds(), expected);
}

#[test]
fn with_tools_it_is_the_loop() {
    // proves L2
    let mut world = World::new("default", vec![Move::Calls(vec![read("a")]), Move::Text("done")]);
    world.say("do it");
    let ended = world.finish();
    assert_eq!((ended.reason, ended.turns), (EndReason::Completed, 2));
    assert_eq!(ended.tools.len(), 1);
    assert_eq!(ended.usage.calls, 2);
    let expected = [
        "SessionOpened",
        "LeaseTaken",
        "MessageAccepted",
        "RunStarted",
        "ContextPinned",
        "TurnStarted",
        "ModelReplied",
        "CallRequested",
        "CallStarted",
        "CallFinished",
        "TurnStarted",
        "ModelReplied",
        "RunEnded",
    ];
    assert_eq!(world.kinds(), expected);
}

#[test]
fn at_the_cap_a_run_fails_or_wraps_up_as_its_preset_says() {
    // proves L5
    for name in PRESETS {
        let mut policy = policy(name);
        policy.guards.clear();
        let cap = policy.turn_cap;
        let mut world = World::with_policy(policy, vec![Move::Calls(vec![call("poll", Once)])]);
        world.say("for ever");
        let ended = world.finish();
        match name {
            "durable-chat" | "task" => {
                assert_eq!((ended.reason, ended.turns), (EndReason::TurnCap, cap));
                assert_eq!(ended.answer, "Max tool iterations reached");
            }
            _ => {
                assert_eq!((ended.reason, ended.turns), (EndReason::Unfinished, cap + 1));
                assert_eq!(ended.answer, "This is done, that is not.");
            }
        }
    }
}

#[test]
fn a_loop_ending_call_ends_the_run_and_cancels_its_siblings() {
    // proves L6
    for (ending, reason) in [
        (Ending::Completed, EndReason::Completed),
        (Ending::Asked, EndReason::Asked),
        (Ending::Conversed, EndReason::Conversed),
    ] {
        let calls = vec![call("first", Once), call("end", ReadOnly).ending(ending), call("late", Once)];
        let mut world = World::new("task", vec![Move::Calls(calls)]);
        world.say("go");
        assert_eq!(world.finish().reason, reason);
        let outcomes: Vec<_> = world.results().into_iter().map(|(outcome, _)| outcome).collect();
        assert_eq!(outcomes, [OutcomeKind::Ok, OutcomeKind::Ok, OutcomeKind::Cancelled]);
    }
}

#[test]
fn a_loop_ending_call_that_fails_goes_back_to_the_model() {
    // proves L6
    let failing = call("end", ReadOnly).ending(Ending::Completed).coming_out(OutcomeKind::ToolError);
    let good = call("end", ReadOnly).ending(Ending::Completed).with("{\"answer\":\"yes\"}");
    let mut world = World::new("task", vec![Move::Calls(vec![failing]), Move::Calls(vec![good])]);
    world.say("go");
    let ended = world.finish();
    assert_eq!((ended.reason, ended.turns), (EndReason::Completed, 2));
}

#[test]
fn under_must_end_by_tool_plain_text_is_nudged_on() {
    // proves L6
    let end = Move::Calls(vec![call("end", ReadOnly).ending(Ending::Completed)]);
    let mut world = World::new("task", vec![Move::Text("I am done"), end]);
    world.say("go");
    assert_eq!(world.finish().reason, EndReason::Completed);
    let why = world.journal.iter().flatten().find_map(|record| match record {
        Record::Nudged(nudged) => Some(nudged.why),
        _ => None,
    });
    assert_eq!(why, Some(windlass_vocab::NudgeCause::Reply(Nudge::NoToolCall)));
}

#[test]
fn a_message_during_a_run_joins_it_at_the_next_turn_or_waits() {
    // proves L7
    let script = vec![Move::Calls(vec![read("a")]), Move::Text("done")];
    let mut world = World::new("default", script.clone());
    world.say("first");
    let pin = world.owed().remove(0);
    let fact = world.perform(&pin);
    world.put(fact);
    assert!(!world.say("and this").is_empty());
    world.finish();
    let words: Vec<_> = world
        .state
        .transcript
        .history
        .iter()
        .map(|message| match message {
            Message::User { text, .. } => text.as_str(),
            Message::Assistant { .. } => "(reply)",
            Message::Tool { .. } => "(result)",
        })
        .collect();
    assert_eq!(words, ["first", "(reply)", "(result)", "and this", "(reply)"]);

    let mut world = World::new("task", script);
    world.say("first");
    assert!(world.say("and this").is_empty(), "a queueing run takes nothing up");
    assert!(!outstanding(&world.state).contains(&Effect::Receive));
}

#[test]
fn words_that_come_while_the_model_gives_its_last_answer_are_answered_too() {
    // proves L7
    let mut world = World::new("default", vec![Move::Text("one"), Move::Text("two")]);
    world.say("first");
    let pin = world.owed().remove(0);
    let fact = world.perform(&pin);
    world.put(fact);
    world.say("second");
    let ended = world.finish();
    assert_eq!((ended.answer.as_str(), ended.turns), ("two", 2));
}

#[test]
fn a_stop_during_a_model_call_keeps_what_was_streamed() {
    // proves L8
    let mut world = World::new("default", vec![Move::Text("never")]);
    world.say("go");
    let pin = world.owed().remove(0);
    let fact = world.perform(&pin);
    world.put(fact);
    world.put(Fact::Stopped(StopBy::Person));
    assert!(matches!(world.owed()[..], [Effect::HandBack(_)]));
    let ended = world.finish();
    assert_eq!((ended.reason, ended.answer.as_str()), (EndReason::Cancelled, "so far"));
    let partial = world.journal.iter().flatten().any(|r| matches!(r, Record::ModelReplied(reply) if reply.partial));
    assert!(partial);
}

#[test]
fn a_call_that_is_stopped_before_its_first_word_is_charged_and_adds_nothing_to_the_conversation() {
    // proves M4, L8
    for (usage, replies) in
        [(Usage { input: 900, calls: 1, estimated: true, ..Usage::default() }, 1), (Usage::default(), 0)]
    {
        let mut world = World::new("default", vec![Move::Text("never")]);
        world.say("go");
        let pin = world.owed().remove(0);
        let fact = world.perform(&pin);
        world.put(fact);
        world.put(Fact::Stopped(StopBy::Person));
        let [Effect::HandBack(attempt)] = world.owed()[..] else { panic!("{:?}", world.owed()) };
        world.put(Fact::HandedBack { attempt, text: String::new(), usage });
        let ended = world.finish();
        assert_eq!((ended.reason, ended.answer.as_str(), ended.usage), (EndReason::Cancelled, "", usage));
        assert_eq!(world.state.control.spending.tokens, usage.input);
        assert_eq!(world.kinds().iter().filter(|kind| *kind == "ModelReplied").count(), replies);
        assert_eq!(world.state.transcript.history.len(), 1, "the request alone");
    }
}

#[test]
fn a_stop_during_calls_cancels_those_without_a_result() {
    // proves L8
    let mut world = World::new("default", vec![Move::Calls(vec![call("slow", Once), call("next", Once)])]);
    world.say("go");
    for _ in 0..2 {
        let effect = world.owed().remove(0);
        let fact = world.perform(&effect);
        world.put(fact);
    }
    world.put(Fact::Stopped(StopBy::Deadline));
    assert_eq!(world.finish().reason, EndReason::Cancelled);
    assert_eq!(world.results().len(), 2);
    assert!(world.results().iter().all(|(outcome, _)| *outcome == OutcomeKind::Cancelled));
}

#[test]
fn parallel_calls_start_together_as_far_as_the_policy_lets_them() {
    // proves L9
    let calls = || vec![read("a"), read("b"), call("write", Once), read("c"), call("write2", Once)];
    for (parallel, expected) in [
        (Parallel::Off, vec![vec![0], vec![1], vec![2], vec![3], vec![4]]),
        (Parallel::On, vec![vec![0, 1, 2, 3, 4]]),
        (Parallel::Safe, vec![vec![0, 1], vec![2], vec![3], vec![4]]),
    ] {
        let mut policy = policy("default");
        policy.parallel = parallel;
        let mut world = World::with_policy(policy, vec![Move::Calls(calls()), Move::Text("done")]);
        world.say("go");
        let mut waves = Vec::new();
        while world.state.control.run.is_some() {
            let owed = world.owed();
            let wave: Vec<u32> = owed
                .iter()
                .filter_map(|effect| match effect {
                    Effect::RunCall { request, .. } => Some(request.call.index),
                    _ => None,
                })
                .collect();
            if !wave.is_empty() {
                waves.push(wave);
            }
            // The last of a wave finishes first: results are in call order all the same.
            for effect in owed.iter().rev() {
                let fact = world.perform(effect);
                world.put(fact);
            }
        }
        assert_eq!(waves, expected, "{parallel:?}");
        let shown: Vec<_> = world
            .state
            .transcript
            .history
            .iter()
            .filter_map(|message| match message {
                Message::Tool { call, .. } => Some(call.index),
                _ => None,
            })
            .collect();
        assert_eq!(shown, [0, 1, 2, 3, 4]);
    }
}

#[test]
fn a_filtered_reply_fails_the_run_and_stays_out_of_the_history() {
    // proves M9
    let mut world = World::new("default", vec![Move::Filtered]);
    world.say("go");
    let ended = world.finish();
    assert_eq!((ended.reason, ended.answer.as_str()), (EndReason::Failed, "I can't"));
    assert_eq!(world.state.transcript.history.len(), 1);
}

#[test]
fn transient_failures_are_retried_with_doubling_waits_then_the_next_model_answers() {
    // proves M3, M2
    let fails = Move::Fails(3, FailureClass::Transient, Box::new(Move::Text("from the second model")));
    let mut world = World::new("durable-chat", vec![fails]);
    world.say("go");
    let ended = world.finish();
    assert_eq!(ended.answer, "from the second model");
    let (nexts, waits) = (world.nexts(), world.waits());
    assert!(matches!(nexts[..], [NextAttempt::Retry { .. }, NextAttempt::Retry { .. }, NextAttempt::Model { .. }]));
    let [first, second] = waits[..] else { panic!("two waits: {waits:?}") };
    assert!((3_000..=3_300).contains(&first) && (6_000..=6_600).contains(&second), "{waits:?}");
}

#[test]
fn a_wait_the_server_asks_for_is_kept_in_every_preset() {
    // proves M3
    for name in PRESETS {
        let mut world = World::new(name, vec![Move::Text("x")]);
        world.say("go");
        let pin = world.owed().remove(0);
        let fact = world.perform(&pin);
        world.put(fact);
        let attempt = world.state.control.run.as_ref().and_then(|run| run.attempt_key()).expect("an attempt");
        let failure = windlass_vocab::Failure {
            retry_after_ms: Some(12_345),
            ..windlass_vocab::Failure::new(FailureClass::Transient, "slow down")
        };
        world.put(Fact::Failed { attempt, failure, usage: None });
        match world.owed()[..] {
            [Effect::CallModel { not_before: Some(at), .. }] => assert_eq!(at, world.now.plus_ms(12_345)),
            ref other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn what_can_not_succeed_fails_at_once() {
    // proves M3
    for class in [FailureClass::Quota, FailureClass::Auth, FailureClass::BadRequest, FailureClass::Protocol] {
        let mut world = World::new("operator", vec![Move::Fails(99, class, Box::new(Move::Text("x")))]);
        world.say("go");
        let ended = world.finish();
        assert_eq!(ended.reason, EndReason::Failed);
        assert_eq!(ended.failure.map(|failure| failure.class), Some(class));
        assert_eq!(world.kinds().iter().filter(|kind| *kind == "AttemptFailed").count(), 1);
    }
}

#[test]
fn a_stream_that_dies_is_answered_by_one_whole_call() {
    // proves M4
    let mut world = World::new("default", vec![Move::Dies(Box::new(Move::Text("whole")))]);
    world.say("go");
    let pin = world.owed().remove(0);
    let fact = world.perform(&pin);
    world.put(fact);
    let attempt = world.owed().remove(0);
    let fact = world.perform(&attempt);
    world.put(fact);
    assert!(matches!(world.owed()[..], [Effect::CallModel { whole: true, not_before: None, .. }]));
    assert_eq!(world.finish().answer, "whole");
}

#[test]
fn on_overflow_the_oldest_turns_go_and_the_goal_stays() {
    // proves C6
    let mut script: Vec<Move> = (0..12).map(|n| Move::Calls(vec![read(&"x".repeat(100 + n))])).collect();
    script.push(Move::Fails(2, FailureClass::Overflow, Box::new(Move::Text("done"))));
    let mut world = World::new("operator", script);
    world.say("the goal");
    assert_eq!(world.finish().answer, "done");
    let history = &world.state.transcript.history;
    assert_eq!(history[0], Message::user("the goal"));
    assert!(history.len() < 16, "{}", history.len());
    assert_eq!(world.fold(), world.state);
}

#[test]
fn a_history_that_can_not_be_shortened_any_more_fails_with_overflow() {
    // proves C6
    let never = Move::Fails(99, FailureClass::Overflow, Box::new(Move::Text("x")));
    let mut world = World::new("operator", vec![Move::Calls(vec![read("a")]), never]);
    world.say("go");
    let ended = world.finish();
    assert_eq!(ended.failure.map(|failure| failure.class), Some(FailureClass::Overflow));
}

#[test]
fn an_unfinished_call_is_settled_by_its_class_first_and_then_by_the_policy() {
    // proves J4
    for (effect, row, executions, outcome) in [
        (ReadOnly, UnfinishedCall::Interrupt, 2, OutcomeKind::Ok),
        (Idempotent, UnfinishedCall::Interrupt, 2, OutcomeKind::Ok),
        (EffectClass::Verifiable, UnfinishedCall::Interrupt, 1, OutcomeKind::Ok),
        (Once, UnfinishedCall::RunAgain, 2, OutcomeKind::Ok),
        (Once, UnfinishedCall::Interrupt, 1, OutcomeKind::Interrupted),
        (Once, UnfinishedCall::AskOrInterrupt, 1, OutcomeKind::Interrupted),
        (Once, UnfinishedCall::Ask, 2, OutcomeKind::Ok),
    ] {
        let mut policy = policy("default");
        policy.unfinished_call = row;
        let mut world = World::with_policy(policy, vec![Move::Calls(vec![call("it", effect)]), Move::Text("done")]);
        world.say("go");
        while !world.owed().iter().any(|effect| matches!(effect, Effect::RunCall { .. })) {
            let effect = world.owed().remove(0);
            let fact = world.perform(&effect);
            world.put(fact);
        }
        let running = world.owed().remove(0);
        let _lost = world.perform(&running);
        world.crash();
        assert_eq!(world.finish().reason, EndReason::Completed);
        assert_eq!(world.executed.values().copied().collect::<Vec<_>>(), [executions], "{effect:?} {row:?}");
        assert_eq!(world.results()[0].0, outcome, "{effect:?} {row:?}");
    }
}

#[test]
fn three_resumes_without_progress_park_the_run() {
    // proves J3
    let mut world = World::new("default", vec![Move::Text("x")]);
    world.say("go");
    for _ in 0..3 {
        world.crash();
        assert!(matches!(world.owed()[..], [Effect::Pin(_)]));
    }
    world.crash();
    assert!(matches!(world.owed()[..], [Effect::Ask(_)]));
    assert_eq!(world.finish().answer, "x", "a person lets it go on");
}

#[test]
fn a_failed_run_can_be_tried_again_on_the_same_history() {
    // proves J3
    let mut world = World::new("default", vec![Move::Fails(1, FailureClass::Auth, Box::new(Move::Text("now")))]);
    world.say("go");
    assert_eq!(world.finish().reason, EndReason::Failed);
    world.script = vec![Move::Text("now")];
    let run_settings = Box::new(world.run_settings.clone());
    world.put(Fact::Retried(run_settings.clone()));
    let ended = world.finish();
    assert_eq!((ended.reason, ended.answer.as_str()), (EndReason::Completed, "now"));
    assert_eq!(world.state.transcript.history.len(), 2);
    assert!(world.put(Fact::Retried(run_settings)).is_empty(), "a completed run is not tried again");
}

#[test]
fn the_same_message_id_never_counts_twice() {
    // proves J6
    let mut world = World::new("default", vec![Move::Text("x")]);
    let run_settings = Box::new(world.run_settings.clone());
    let message = || Fact::Message {
        message_id: "one".into(),
        text: "hi".into(),
        attachments: Vec::new(),
        run_settings: run_settings.clone(),
    };
    assert!(!world.put(message()).is_empty());
    assert!(world.put(message()).is_empty());
    world.finish();
    assert!(world.put(message()).is_empty());
}

#[test]
fn approvals_ask_where_a_person_is_and_deny_where_nobody_is() {
    // proves T8
    let asks = || vec![Move::Calls(vec![call("cmd", Once).judged(Verdict::Ask)]), Move::Text("done")];
    let mut alone = World::new("default", asks());
    alone.say("go");
    alone.finish();
    assert_eq!(alone.results()[0].0, OutcomeKind::Denied);
    assert!(alone.executed.is_empty());

    let mut attended = World::new("default", asks()).attended();
    attended.say("go");
    attended.finish();
    assert_eq!(attended.results()[0].0, OutcomeKind::Ok);
    assert!(attended.kinds().contains(&"QuestionAsked".to_owned()));

    // The wait is durable; a process that resumes it without a person denies at once.
    let mut left = World::new("default", asks()).attended();
    left.say("go");
    while !left.owed().iter().any(|effect| matches!(effect, Effect::Ask(_))) {
        let effect = left.owed().remove(0);
        let fact = left.perform(&effect);
        left.put(fact);
    }
    left.crash();
    let judge = left.owed().remove(0);
    let judged = left.perform(&judge);
    left.put(judged);
    assert!(matches!(left.owed()[..], [Effect::Ask(_)]), "still asked after a crash");
    left.run_settings.attendance = windlass_vocab::Attendance::Unattended;
    left.crash();
    left.finish();
    assert_eq!(left.results()[0].0, OutcomeKind::Denied);
}

#[test]
fn arguments_a_person_edited_are_what_runs_even_after_a_crash() {
    // proves T8, J4
    let mut policy = policy("default");
    policy.unfinished_call = UnfinishedCall::RunAgain;
    let asks = vec![Move::Calls(vec![call("cmd", Once).judged(Verdict::Ask)]), Move::Text("done")];
    let mut world = World::with_policy(policy, asks).attended();
    world.say("go");
    let question = loop {
        match world.owed().remove(0) {
            Effect::Ask(asked) => break asked.question,
            effect => {
                let fact = world.perform(&effect);
                world.put(fact);
            }
        }
    };
    let safer = windlass_vocab::Json::parse("{\"safer\":true}").expect("JSON");
    let answer = Answer::with(QuestionOption::Edit, safer.clone());
    world.put(Fact::Answered { question, answer, by: AnsweredBy::Person });
    let runs =
        |world: &World| matches!(&world.owed()[..], [Effect::RunCall { edited: Some(edited), .. }] if *edited == safer);
    assert!(runs(&world));
    world.crash();
    assert!(runs(&world), "the edit survives the crash");
    world.finish();
    assert!(world.results()[0].1.starts_with("[The person changed the arguments to {\"safer\":true}]"));
}

/// Performs the first outstanding effect, `times` times.
fn go(world: &mut World, times: u32) {
    for _ in 0..times {
        let effect = world.owed().remove(0);
        let fact = world.perform(&effect);
        world.put(fact);
    }
}

/// Returns a world in which a person is asked about a command.
fn asked_about_a_command() -> (World, QuestionId) {
    let asks = vec![Move::Calls(vec![call("cmd", Once).judged(Verdict::Ask)]), Move::Text("done")];
    let mut world = World::new("default", asks).attended();
    world.say("go");
    go(&mut world, 2);
    let [Effect::Ask(asked)] = &world.owed()[..] else { panic!("it asks") };
    let question = asked.question;
    (world, question)
}

#[test]
fn a_no_with_a_reason_tells_the_model_the_reason() {
    // proves T8, J3
    for (reason, told) in [(Some("use pnpm"), "and says: use pnpm"), (None, "Do not repeat it")] {
        let (mut world, question) = asked_about_a_command();
        let answer = Answer { reason: reason.map(str::to_owned), ..Answer::plain(QuestionOption::No) };
        world.put(Fact::Answered { question, answer, by: AnsweredBy::Person });
        world.crash();
        world.finish();
        let (outcome, text) = world.results().remove(0);
        assert!(outcome == OutcomeKind::Denied && text.contains(told), "{text}");
    }
}

#[test]
fn an_edit_needs_arguments_and_nothing_else_may_bring_any() {
    // proves T8
    let (mut world, question) = asked_about_a_command();
    let other = windlass_vocab::Json::parse("{\"other\":1}").expect("JSON");
    for (option, arguments) in [(QuestionOption::Edit, None), (QuestionOption::Once, Some(other))] {
        let answer = Answer { option, arguments, reason: None };
        assert!(world.put(Fact::Answered { question, answer, by: AnsweredBy::Person }).is_empty(), "{option:?}");
    }
}

#[test]
fn a_person_is_asked_about_a_call_when_its_turn_comes_not_before() {
    // proves T8
    let calls = vec![call("test", Once), call("push", Once).judged(Verdict::Ask)];
    let mut world = World::new("default", vec![Move::Calls(calls), Move::Text("done")]).attended();
    world.say("go");
    go(&mut world, 2);
    assert!(matches!(world.owed()[..], [Effect::RunCall { .. }]), "nothing is asked while the first runs");
    go(&mut world, 1);
    assert!(matches!(world.owed()[..], [Effect::Ask(_)]));
    world.finish();
    assert_eq!(world.executed.len(), 2);
}

#[test]
fn words_that_come_during_a_wrap_up_wait_for_the_next_run() {
    // proves L7
    let mut policy = policy("default");
    policy.turn_cap = 1;
    let mut world = World::with_policy(policy, vec![Move::Calls(vec![call("x", Once)])]);
    world.say("go");
    go(&mut world, 3);
    assert!(!outstanding(&world.state).contains(&Effect::Receive));
    assert!(world.say("and the time?").is_empty());
    assert_eq!(world.finish().reason, EndReason::Unfinished);
}

#[test]
fn a_complete_answer_at_the_cap_stays_one_whatever_was_said_meanwhile() {
    // proves L5, L7
    let mut policy = policy("default");
    policy.turn_cap = 1;
    policy.at_cap = windlass_vocab::TurnCapAction::Fail;
    let mut world = World::with_policy(policy, vec![Move::Text("the answer")]);
    world.say("go");
    go(&mut world, 1);
    world.say("thanks");
    let ended = world.finish();
    assert_eq!((ended.reason, ended.answer.as_str()), (EndReason::Completed, "the answer"));
}

#[test]
fn a_settlement_asked_of_a_person_is_taken_as_interrupted_where_nobody_is() {
    // proves J4
    let script = vec![Move::Calls(vec![call("cmd", Once)]), Move::Text("done")];
    let mut world = World::new("default", script.clone()).attended();
    world.say("go");
    go(&mut world, 2);
    world.crash();
    assert!(matches!(world.owed()[..], [Effect::Ask(_)]));
    world.run_settings.attendance = windlass_vocab::Attendance::Unattended;
    world.crash();
    assert_eq!(world.finish().reason, EndReason::Completed);
    assert_eq!(world.results()[0].0, OutcomeKind::Interrupted);

    let mut asks = World::new("task", script).attended();
    asks.say("go");
    go(&mut asks, 2);
    asks.crash();
    asks.run_settings.attendance = windlass_vocab::Attendance::Unattended;
    asks.crash();
    assert!(matches!(asks.owed()[..], [Effect::Ask(_)]), "this policy wants a person");
}

#[test]
fn the_goal_of_a_retried_run_is_what_the_person_said() {
    // proves C6
    let mut policy = policy("default");
    policy.turn_cap = 1;
    let mut world = World::with_policy(policy, vec![Move::Calls(vec![call("x", Once)])]);
    world.say("the real request");
    world.finish();
    world.script = vec![Move::Fails(3, FailureClass::Overflow, Box::new(Move::Text("ok")))];
    let run_settings = Box::new(world.run_settings.clone());
    world.put(Fact::Retried(run_settings));
    world.finish();
    assert_eq!(world.state.transcript.history[0], Message::user("the real request"));
}

#[test]
fn without_tools_plain_text_ends_a_run_even_where_a_tool_should() {
    // proves L1
    let mut world = World::new("task", vec![Move::Text("hello")]);
    world.offer = 0;
    world.say("hi");
    let ended = world.finish();
    assert_eq!((ended.reason, ended.turns), (EndReason::Completed, 1));
}

#[test]
fn a_stopped_attempt_is_charged_by_estimate() {
    // proves M4
    let mut world = World::new("default", vec![Move::Text("never")]);
    world.say("go");
    go(&mut world, 1);
    world.put(Fact::Stopped(StopBy::Person));
    let ended = world.finish();
    assert!(ended.usage.estimated && ended.usage.output > 0, "{:?}", ended.usage);
}

#[test]
fn a_resumed_run_has_the_deadline_of_whoever_resumes_it() {
    // proves L8
    let mut world = World::new("default", vec![Move::Text("x")]);
    world.run_settings.deadline = Some(windlass_vocab::Timestamp(5_000));
    world.say("go");
    world.crash();
    assert_eq!(world.state.control.run.as_ref().and_then(|run| run.deadline), None);
}
