//! Progress guards (L11): they stop a run that makes no progress and don't affect one that does. Mistakes are counted
//! in turns the model has seen, so each rule is tested with several calls per reply.

use crate::support::{Ask, KEEPS, Move, POLL, World, call, policy};
use windlass_machine::{Effect, Fact};
use windlass_vocab::{
    Answer, AnsweredBy, CallFinished, EffectClass, EndReason, FailureClass, Guard, NudgeCause, OutcomeKind,
    QuestionOption, Record, TurnMode, Verdict,
};

use EffectClass::{Once, ReadOnly};

const A: &str = "{\"path\":\"a\"}";

fn read(path: &str) -> Ask {
    call("read", ReadOnly).reading().with(&format!("{{\"path\":\"{path}\"}}"))
}

/// Returns a call with this outcome and arguments of its own.
fn failing(tool: &'static str, n: usize, outcome: OutcomeKind) -> Ask {
    call(tool, Once).with(&format!("{{\"n\":{n}}}")).coming_out(outcome)
}

fn invalid(tool: &'static str, n: usize) -> Ask {
    call(tool, Once).with(&format!("{{\"n\":{n}}}")).judged(Verdict::invalid(format!("no such field {n}")))
}

fn denied(tool: &'static str, n: usize) -> Ask {
    call(tool, Once).with(&format!("{{\"n\":{n}}}")).judged(Verdict::deny("not allowed"))
}

fn run(preset: &str, script: Vec<Move>) -> World {
    let mut world = World::new(preset, script);
    world.say("go");
    world.finish();
    world
}

fn finished(world: &World) -> Vec<&CallFinished> {
    let records = world.journal.iter().flatten();
    records
        .filter_map(|record| if let Record::CallFinished(finished) = record { Some(finished) } else { None })
        .collect()
}

fn withheld(world: &World) -> bool {
    world.kinds().iter().any(|kind| kind == "ToolWithheld")
}

#[test]
fn a_file_read_that_comes_out_as_before_says_so_and_one_that_does_not_is_shown() {
    // proves L11
    let mut script = vec![Move::Calls(vec![read("a")]); 2];
    script.extend([Move::Calls(vec![call("write", Once)]), Move::Calls(vec![read("a")]), Move::Text("done")]);
    let mut world = World::new("default", script.clone());
    world.say("go");
    world.until_turn(4);
    world.change(A);
    world.finish();
    assert_eq!(world.executed.len(), 4, "every read really ran");
    let [first, second, _, third] = finished(&world)[..] else { panic!("four results") };
    assert_eq!(second.answered_from, Some(first.call));
    assert_eq!(second.text, "[Unchanged since call 1.1.0, which asked the same: its result above still holds.]");
    assert_eq!((third.answered_from, third.text.ends_with("after 1 changes")), (None, true), "{third:?}");

    let unguarded = run("operator", script);
    assert!(finished(&unguarded).iter().all(|finished| finished.answered_from.is_none()));
}

#[test]
fn no_read_is_remembered_across_a_resume_a_message_or_a_wait_for_a_person() {
    // proves L11
    for what in ["a resume", "a message", "an approval"] {
        let asks = call("command", Once).judged(Verdict::Ask);
        let between = if what == "an approval" { asks } else { call("write", Once) };
        let reads = || Move::Calls(vec![read("a")]);
        let script = vec![reads(), Move::Calls(vec![between]), reads(), Move::Text("done")];
        let mut world = World::new("default", script).attended();
        world.say("go");
        world.until_turn(3);
        match what {
            "a resume" => world.crash(),
            "a message" => assert!(!world.say("I fixed a, read it again").is_empty()),
            _ => {}
        }
        world.finish();
        let last = finished(&world).pop().expect("a result");
        assert_eq!(last.answered_from, None, "after {what}");
    }
}

#[test]
fn a_read_whose_earlier_result_was_cut_shortened_or_dropped_is_shown_again() {
    // proves L11, C6
    let again = Move::Fails(1, FailureClass::Overflow, Box::new(Move::Calls(vec![read("a")])));
    let mut world = World::new("default", vec![Move::Calls(vec![read("a")]), again, Move::Text("done")]);
    world.say("go");
    world.until_turn(1);
    let model = world.owed().remove(0);
    let fact = world.perform(&model);
    world.put(fact);
    let [Effect::RunCall { request, .. }] = &world.owed()[..] else { panic!("it runs") };
    let (call, text) = (request.call, "x".repeat(10_000));
    let result = |text: String, cut| windlass_machine::CallResult {
        cut,
        ..windlass_machine::CallResult::new(OutcomeKind::Ok, text)
    };
    world.put(Fact::CallDone { call, finished: result(text.clone(), None) });
    while !matches!(world.owed()[..], [Effect::RunCall { .. }]) {
        let effect = world.owed().remove(0);
        let fact = world.perform(&effect);
        world.put(fact);
    }
    let [Effect::RunCall { request, .. }] = &world.owed()[..] else { panic!("it runs") };
    let call = request.call;
    world.put(Fact::CallDone { call, finished: result(text.clone(), None) });
    world.finish();
    assert!(world.kinds().contains(&"Compacted".to_owned()));
    let last = finished(&world).pop().expect("a result");
    assert_eq!((last.answered_from, last.text.as_str()), (None, text.as_str()));

    // The part left out of a cut result may have changed.
    let mut world =
        World::new("default", vec![Move::Calls(vec![read("a")]), Move::Calls(vec![read("a")]), Move::Text("done")]);
    world.say("go");
    while world.state.control.run.is_some() {
        let effect = world.owed().remove(0);
        let fact = match &effect {
            Effect::RunCall { request, .. } => {
                let cut = windlass_vocab::Cut { total_chars: 9_000, shown_chars: 6_000, blob: None };
                Fact::CallDone { call: request.call, finished: result("shown".into(), Some(cut)) }
            }
            effect => world.perform(effect),
        };
        world.put(fact);
    }
    assert!(finished(&world).iter().all(|finished| finished.answered_from.is_none() && finished.text == "shown"));
}

#[test]
fn what_is_no_built_in_file_read_is_never_answered_from_memory() {
    // proves L11
    for tool in ["list_jobs", POLL] {
        let mut script = vec![Move::Calls(vec![call(tool, ReadOnly)]); 3];
        script.push(Move::Text("done"));
        let world = run("default", script);
        assert_eq!(world.executed.len(), 3, "{tool}: each call reached its server");
        assert!(finished(&world).iter().all(|finished| finished.answered_from.is_none()));
        // A poll whose result changes is not a cycle.
        assert_eq!(world.nudges().is_empty(), tool == POLL, "{tool}");
    }
}

#[test]
fn a_tool_whose_calls_all_failed_in_three_turns_in_a_row_is_withheld_and_the_model_is_told() {
    // proves L11
    let fails = |n: usize| Move::Calls(vec![failing("t0", n, OutcomeKind::ToolError), read(&n.to_string())]);
    let world = run("assistant", vec![fails(1), fails(2), fails(3), fails(4), Move::Text("done")]);
    let bad: Vec<_> = world.results().into_iter().filter(|(outcome, _)| *outcome != OutcomeKind::Ok).collect();
    assert_eq!(bad.len(), 4);
    assert_eq!(bad[3].0, OutcomeKind::Denied);
    let nudges = world.nudges();
    let [told] = &nudges[..] else { panic!("one nudge: {nudges:?}") };
    assert_eq!(told.why, NudgeCause::Withheld);
    let text = "t0 failed in three turns in a row and is withheld for the rest of this run. Use another way.\n\
                These tools are left: scripted__t1, scripted__t2.";
    assert_eq!(told.text, text);
}

#[test]
fn several_failing_calls_of_one_reply_are_one_mistake() {
    // proves L11
    for outcome in [OutcomeKind::ToolError, OutcomeKind::NotFound, OutcomeKind::TimedOut] {
        let five = |turn: usize| Move::Calls((0..5).map(|n| failing("t0", turn * 10 + n, outcome)).collect());
        let world = run("default", vec![five(1), five(2), Move::Calls(vec![call("t0", Once)]), Move::Text("done")]);
        assert!(!withheld(&world), "{outcome:?}");
        let (_, ended) = world.state.control.last.clone().expect("an end");
        assert_eq!((ended.reason, ended.turns), (EndReason::Completed, 4), "{outcome:?}");
    }
}

#[test]
fn five_calls_of_one_reply_with_the_same_error_end_nothing() {
    // proves L11
    let same = |verdict: Verdict| Move::Calls(vec![call("t0", Once).judged(verdict); 5]);
    for verdict in [
        Verdict::deny("no"),
        Verdict::invalid("no such field"),
        Verdict::Unknown { reason: "no such tool".into(), unavailable: None },
    ] {
        let world = run("default", vec![same(verdict.clone()), Move::Text("I see.")]);
        let (_, ended) = world.state.control.last.clone().expect("an end");
        assert_eq!((ended.reason, ended.answer.as_str()), (EndReason::Completed, "I see."), "{verdict:?}");
        assert!(!withheld(&world));
    }
}

#[test]
fn what_is_not_the_tools_fault_never_withholds_it() {
    // proves L11
    let turns = |ask: &dyn Fn(usize) -> Ask| -> Vec<Move> {
        let turn = |n: usize| Move::Calls(vec![ask(n), ask(n + 100), read(&n.to_string())]);
        (1..9).map(turn).chain([Move::Text("done")]).collect()
    };
    for (what, ask) in [
        ("infrastructure", &(|n| failing("t0", n, OutcomeKind::InfrastructureError)) as &dyn Fn(usize) -> Ask),
        ("not found", &|n| failing("t0", n, OutcomeKind::NotFound)),
        ("wrong arguments", &|n| invalid("t0", n)),
        ("denied", &|n| denied("t0", n)),
    ] {
        let world = run("assistant", turns(ask));
        assert!(!withheld(&world), "{what}");
        // Mistakes that the model can correct are explained to it, every third turn.
        let corrected = world.nudges().iter().filter(|nudged| nudged.why == NudgeCause::ErrorTurns).count();
        assert_eq!(corrected, if matches!(what, "not found" | "wrong arguments") { 2 } else { 0 }, "{what}");
    }
}

#[test]
fn a_row_of_failures_is_broken_by_whatever_works() {
    // proves L11
    let bad = |n: usize| failing("t0", n, OutcomeKind::ToolError);
    let turn = |n: usize, with: Option<Ask>| Move::Calls(std::iter::once(bad(n)).chain(with).collect());
    let works = || Some(call("t0", Once).with("{\"right\":1}"));
    // A call of the same tool works beside a failure, or another tool is used instead.
    let beside = vec![turn(1, None), turn(2, None), turn(3, works()), turn(4, None), turn(5, None), Move::Text("done")];
    let instead = Move::Calls(vec![call("t1", Once)]);
    let instead = vec![turn(1, None), turn(2, None), instead, turn(4, None), turn(5, None), Move::Text("done")];
    for script in [beside, instead] {
        assert!(!withheld(&run("default", script)));
    }
}

#[test]
fn two_turns_in_which_every_call_failed_earn_a_correction() {
    // proves L11
    let fails = |n: usize| Move::Calls(vec![failing("t0", n, OutcomeKind::ToolError), invalid("t1", n)]);
    let world = run("local-model", vec![fails(1), fails(2), Move::Text("done")]);
    assert_eq!(world.nudges().iter().map(|nudged| nudged.why).collect::<Vec<_>>(), [NudgeCause::ErrorTurns]);
    // One turn of five errors is one turn; a refusal is not an error.
    let five = Move::Calls((0..5).map(|n| invalid("t0", n)).collect());
    let refused = |n: usize| Move::Calls(vec![denied("t0", n)]);
    for script in [vec![five, Move::Text("done")], vec![refused(1), refused(2), refused(3), Move::Text("done")]] {
        assert!(run("local-model", script).nudges().is_empty());
    }
}

#[test]
fn the_same_error_in_five_turns_in_a_row_ends_the_run_and_a_denial_never_does() {
    // proves L11
    let mut policy = policy("task");
    policy.guards.remove(&Guard::Cycle);
    let same = || failing("t0", 0, OutcomeKind::ToolError);
    let mut world = World::with_policy(policy.clone(), vec![Move::Calls(vec![same(), invalid("t1", 3), same()])]);
    world.say("go");
    let ended = world.finish();
    assert_eq!((ended.reason, ended.turns), (EndReason::Failed, 5));
    assert_eq!(ended.answer, "The same error came back in five turns in a row");

    // Something that works in between, or another error, resets the count.
    for between in [call("t1", Once), invalid("t0", 1)] {
        let mut script = vec![Move::Calls(vec![same()]); 4];
        script.push(Move::Calls(vec![between]));
        script.extend(vec![Move::Calls(vec![same()]); 4]);
        script.push(Move::Filtered);
        let mut world = World::with_policy(policy.clone(), script);
        world.say("go");
        assert_eq!(world.finish().turns, 10);
    }

    let mut script = vec![Move::Calls(vec![denied("t0", 0), denied("t0", 0)]); 8];
    script.push(Move::Filtered);
    let mut world = World::with_policy(policy, script);
    world.say("go");
    assert_eq!(world.finish().turns, 9, "it went on after eight denials");
}

#[test]
fn a_person_who_speaks_starts_the_counts_again() {
    // proves L11
    let mut script: Vec<Move> = (0..5).map(|n| Move::Calls(vec![failing("t0", n, OutcomeKind::ToolError)])).collect();
    script[4] = Move::Calls(vec![call("t0", Once)]);
    script.push(Move::Text("done"));
    let mut world = World::new("default", script);
    world.say("go");
    world.until_turn(3);
    world.say("the service is up again");
    world.finish();
    assert!(!withheld(&world));
}

#[test]
fn a_cycle_escalates_from_nudge_to_withholding_to_a_pause() {
    // proves L11
    let script: Vec<Move> =
        vec![vec![call("a", Once)], vec![call("b", Once)], vec![call("a", Once)], vec![call("b", Once)]]
            .into_iter()
            .cycle()
            .take(60)
            .map(Move::Calls)
            .collect();
    let mut world = World::new("operator", script.clone());
    world.say("go");
    let ended = world.finish();
    assert_eq!(ended.reason, EndReason::Unfinished, "with nobody to ask it wraps up");
    let kinds = world.kinds();
    let of = |kind: &str| kinds.iter().position(|known| known == kind);
    assert!(of("Nudged") < of("ToolWithheld"), "{kinds:?}");

    let mut attended = World::new("operator", script).attended();
    attended.say("go");
    for _ in 0..1_000 {
        let effect = attended.owed().remove(0);
        if let Effect::Ask(asked) = &effect {
            let answer = Answer::plain(QuestionOption::No);
            attended.put(Fact::Answered { question: asked.question, answer, by: AnsweredBy::Person });
            break;
        }
        let fact = attended.perform(&effect);
        attended.put(fact);
    }
    assert_eq!(attended.finish().reason, EndReason::Unfinished);
}

#[test]
fn a_read_that_only_says_unchanged_is_part_of_a_cycle_like_the_full_one() {
    // proves L11
    let mut script = vec![Move::Calls(vec![read("a")]); 3];
    script.push(Move::Text("done"));
    let world = run("default", script);
    assert_eq!(world.nudges().iter().map(|nudged| nudged.why).collect::<Vec<_>>(), [NudgeCause::Cycle]);
}

#[test]
fn a_poll_is_exempt_from_the_guards() {
    // proves L11
    let mut policy = policy("default");
    policy.turn_cap = 12;
    let mut world = World::with_policy(policy, vec![Move::Calls(vec![call("poll", ReadOnly).repeatable()])]);
    world.say("wait for it");
    let ended = world.finish();
    assert_eq!(world.executed.len(), 12);
    assert_eq!(ended.turns, 13);
}

// proves L11, S1: what is made is not made twice, and who asks for it again and again is done
#[test]
fn a_change_that_repeats_the_last_one_is_not_made_again() {
    let change = |path: &str| call(KEEPS, Once).with(&format!("{{\"path\":\"{path}\"}}"));
    let script = |calls: &[&str]| {
        let moves = calls.iter().map(|path| Move::Calls(vec![change(path)]));
        moves.chain([Move::Text("I changed a.")]).collect::<Vec<_>>()
    };
    let world = run("local-model", script(&["a", "a", "a"]));
    assert_eq!((world.executed.len(), finished(&world).len(), world.nudges().len()), (1, 3, 0));
    assert_eq!(ends(&world), [EndReason::Completed], "the records show nothing missing");

    let mut world = World::new("local-model", script(&["a", "a", "a", "a"]));
    world.say("Write the total into total.txt.");
    world.finish();
    let nudges: Vec<String> = world.nudges().into_iter().map(|nudged| nudged.text).collect();
    assert!(matches!(&nudges[..], [text] if text.contains("total.txt")), "{nudges:?}");
    assert_eq!((world.executed.len(), ends(&world)), (1, vec![EndReason::Unfinished]));

    let mut moves = script(&["a", "a", "a"]);
    moves.insert(3, Move::Calls(vec![read("b")]));
    let mut world = World::new("local-model", moves);
    world.say("Write the total into total.txt.");
    world.finish();
    assert_eq!(finished(&world).len(), 4, "who reads after the nudge goes on");

    let world = run("local-model", script(&["a", "b", "a"]));
    assert_eq!((world.executed.len(), world.nudges().len()), (3, 0), "another change came between");
    let world = run("default", script(&["a", "a"]));
    assert_eq!(world.executed.len(), 2, "other presets make it again");
}

fn ends(world: &World) -> Vec<EndReason> {
    let ended = |record: &Record| if let Record::RunEnded(ended) = record { Some(ended.reason) } else { None };
    world.journal.iter().flatten().filter_map(ended).collect()
}

// proves S2: who writes the same call again and gets the same result is sampled more freely
#[test]
fn a_repeated_call_with_the_same_result_warms_the_next_turn() {
    let wrong = || Move::Calls(vec![failing("edit", 1, OutcomeKind::NotFound)]);
    for (preset, want) in [("local-model", [100, 100, 400, 700]), ("assistant", [100; 4])] {
        let mut world = World::new(preset, vec![wrong(), wrong(), wrong(), wrong()]);
        world.say("go");
        for (turn, want) in (1..).zip(want) {
            world.until_turn(turn);
            let run = world.state.control.run.as_ref().expect("a run");
            assert_eq!(run.temperature_milli(TurnMode::Tools), Some(want), "{preset}, turn {turn}");
        }
    }
}
