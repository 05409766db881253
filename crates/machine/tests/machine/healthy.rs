//! The rule behind the guards (L11), as a property: a model that always makes progress within three turns of an error is
//! never stopped, never loses a tool, and never gets a stale result, whatever its replies are made of and whatever
//! happens in between.

use crate::support::{Ask, Move, POLL, World, call, policy};
use proptest::prelude::*;
use windlass_machine::Effect;
use windlass_vocab::{
    Attendance, EffectClass, EndReason, NudgeCause, OutcomeKind, Parallel, QuestionKind, Record, Verdict,
};

const TOOLS: [&str; 3] = ["t0", "t2", "t3"];
const PATHS: [&str; 2] = ["{\"path\":\"a\"}", "{\"path\":\"b\"}"];

/// A generated call.
#[derive(Clone, Copy, Debug)]
enum Drawn {
    /// It works and returns something new.
    Works(usize),
    /// It works and returns the same as before, like a test that still fails.
    Same(usize),
    Fails(usize, OutcomeKind, u8),
    Invalid(usize, u8),
    Unknown(u8),
    Denied(usize),
    Asks(usize),
    Reads(usize),
    Polls,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let outcome = prop_oneof![
        3 => Just(OutcomeKind::ToolError),
        1 => Just(OutcomeKind::NotFound),
        1 => Just(OutcomeKind::TimedOut),
        1 => Just(OutcomeKind::InfrastructureError)
    ];
    let tool = || 0..TOOLS.len();
    prop_oneof![
        1 => tool().prop_map(Drawn::Works),
        1 => tool().prop_map(Drawn::Same),
        6 => (tool(), outcome, 0..2u8).prop_map(|(tool, outcome, n)| Drawn::Fails(tool, outcome, n)),
        2 => (tool(), 0..2u8).prop_map(|(tool, n)| Drawn::Invalid(tool, n)),
        1 => (0..2u8).prop_map(Drawn::Unknown),
        2 => tool().prop_map(Drawn::Denied),
        1 => tool().prop_map(Drawn::Asks),
        3 => (0..PATHS.len()).prop_map(Drawn::Reads),
        1 => Just(Drawn::Polls)
    ]
}

/// Adds just enough working calls to the generated turns that at least one of any three consecutive turns brings
/// something new, and no tool fails in vain in three consecutive turns.
fn with_progress(turns: Vec<Vec<Drawn>>) -> Vec<Vec<Drawn>> {
    let (mut dry, mut in_vain) = (0, [0; TOOLS.len()]);
    let mut script = Vec::new();
    for mut turn in turns {
        for (tool, in_vain) in in_vain.iter_mut().enumerate() {
            let of_tool = |drawn: &Drawn| matches!(drawn, Drawn::Fails(of, ..) | Drawn::Invalid(of, _) if *of == tool);
            let works = |drawn: &Drawn| matches!(drawn, Drawn::Works(of) | Drawn::Same(of) if *of == tool);
            if turn.iter().any(of_tool) && !turn.iter().any(works) {
                *in_vain += 1;
            } else if turn.iter().any(works) {
                *in_vain = 0;
            }
            if *in_vain == 3 {
                turn.push(Drawn::Works(tool));
                *in_vain = 0;
            }
        }
        let is_new = |drawn: &Drawn| matches!(drawn, Drawn::Works(_) | Drawn::Polls);
        dry = if turn.iter().any(is_new) { 0 } else { dry + 1 };
        if dry == 3 {
            turn.push(Drawn::Works(turn.len() % TOOLS.len()));
            dry = 0;
        }
        script.push(turn);
    }
    script
}

fn ask(turn: usize, index: usize, drawn: Drawn) -> Ask {
    // Reads and idempotent calls are run again after a crash; the others are marked interrupted.
    let effect = if index.is_multiple_of(2) { EffectClass::Idempotent } else { EffectClass::Once };
    let tool = |tool: usize| call(TOOLS[tool], effect);
    match drawn {
        Drawn::Works(of) => tool(of).with(&format!("{{\"new\":[{turn},{index}]}}")),
        Drawn::Same(of) => tool(of).with("{\"same\":1}"),
        Drawn::Fails(of, outcome, n) => tool(of).with(&format!("{{\"bad\":{n}}}")).coming_out(outcome),
        Drawn::Invalid(of, n) => tool(of).judged(Verdict::invalid(format!("wrong {n}"))),
        Drawn::Unknown(n) => tool(0).judged(Verdict::Unknown { reason: format!("no tool {n}"), unavailable: None }),
        Drawn::Denied(of) => tool(of).judged(Verdict::deny("not allowed")),
        Drawn::Asks(of) => tool(of).with(&format!("{{\"asks\":[{turn},{index}]}}")).judged(Verdict::Ask),
        Drawn::Reads(path) => call("read", EffectClass::ReadOnly).reading().with(PATHS[path]),
        Drawn::Polls => call(POLL, EffectClass::ReadOnly),
    }
}

/// An external event.
#[derive(Clone, Copy, Debug)]
enum Event {
    Goes(usize),
    DiesAfter(usize),
    Crash,
    Says,
    Changes(usize),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        12 => (0..4usize).prop_map(Event::Goes),
        1 => (0..4usize).prop_map(Event::DiesAfter),
        1 => Just(Event::Crash),
        1 => Just(Event::Says),
        3 => (0..PATHS.len()).prop_map(Event::Changes)
    ]
}

fn happen(world: &mut World, event: Event) {
    let owed = world.owed();
    let nth = |n: usize| owed.get(n % owed.len().max(1)).cloned();
    match event {
        Event::Goes(n) => {
            if let Some(effect) = nth(n) {
                let fact = world.perform(&effect);
                world.put(fact);
            }
        }
        Event::DiesAfter(n) => {
            if let Some(effect) = nth(n).filter(|effect| !matches!(effect, Effect::Ask(_))) {
                let _lost = world.perform(&effect);
                world.crash();
            }
        }
        Event::Crash => world.crash(),
        Event::Says => drop(world.say("I changed something; look again")),
        Event::Changes(path) => world.change(PATHS[path]),
    }
}

/// Whether a guard has harmed the run.
fn hurts(record: &Record) -> bool {
    match record {
        Record::ToolWithheld(_) => true,
        Record::Nudged(nudged) => matches!(nudged.why, NudgeCause::Cycle | NudgeCause::Halt),
        Record::QuestionAsked(asked) => asked.kind == QuestionKind::Cycle,
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    // proves L11: `World::put` checks that every file read is answered with what it found
    #[test]
    fn a_model_that_makes_progress_within_three_turns_of_an_error_is_never_hurt(
        turns in prop::collection::vec(prop::collection::vec(drawn(), 1..7), 1..16),
        events in prop::collection::vec(event(), 0..120),
        parallel in prop_oneof![Just(Parallel::Off), Just(Parallel::On), Just(Parallel::Safe)],
        attended in any::<bool>(),
    ) {
        let mut policy = policy("default");
        (policy.turn_cap, policy.parallel) = (1_000, parallel);
        let turn = |(turn, calls): (usize, Vec<Drawn>)| {
            Move::Calls((0..).zip(calls).map(|(index, drawn)| ask(turn, index, drawn)).collect())
        };
        let mut script: Vec<Move> = with_progress(turns).into_iter().enumerate().map(turn).collect();
        script.push(Move::Text("done"));
        let mut world = World::with_policy(policy, script);
        world.run_settings.attendance = if attended { Attendance::Attended } else { Attendance::Unattended };
        world.say("begin");
        for event in events {
            if world.state.control.run.is_some() {
                happen(&mut world, event);
            }
        }
        if world.state.control.run.is_some() {
            world.finish();
        }
        let (_, ended) = world.state.control.last.clone().expect("an end");
        prop_assert_eq!((ended.reason, ended.answer.as_str()), (EndReason::Completed, "done"));
        let hurt = world.journal.iter().flatten().find(|record| hurts(record));
        prop_assert!(hurt.is_none(), "{hurt:?}");
    }

    // proves L11: a model that makes no progress is stopped
    #[test]
    fn a_model_that_repeats_a_reply_for_ever_is_stopped(
        calls in prop::collection::vec(drawn(), 1..7),
        attended in any::<bool>(),
    ) {
        let calls = calls.into_iter().filter(|drawn| !matches!(drawn, Drawn::Polls)).enumerate();
        let asks: Vec<Ask> = calls.map(|(index, drawn)| ask(0, index, drawn)).collect();
        prop_assume!(!asks.is_empty());
        let mut world = World::new("default", vec![Move::Calls(asks)]);
        world.run_settings.attendance = if attended { Attendance::Attended } else { Attendance::Unattended };
        world.say("begin");
        for _ in 0..1_000 {
            let parked = world.state.control.run.as_ref().is_none_or(|run| run.parked.is_some());
            if parked {
                break;
            }
            let effect = world.owed().remove(0);
            let fact = world.perform(&effect);
            world.put(fact);
        }
        match &world.state.control.run {
            Some(run) => prop_assert!(attended && run.turn.0 <= 10, "it asks in time: {}", run.turn.0),
            None => {
                let (_, ended) = world.state.control.last.clone().expect("an end");
                prop_assert!(ended.reason != EndReason::Completed && ended.turns <= 11, "{ended:?}");
            }
        }
    }
}
