//! Properties: whatever happens in whatever order, runs end, histories are valid, and the journal is complete.

use crate::support::{Ask, Move, World, call};
use proptest::prelude::*;
use windlass_machine::legal;
use windlass_machine::{Effect, Fact, PRESETS, ReplayOutcome, replay};
use windlass_vocab::{
    Attendance, CallId, CallInHistory, EffectClass, EndReason, Ending, FailureClass, Json, Message, OutcomeKind, RunId,
    RunModel, StopBy, TurnId, Verdict,
};

/// The next event.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// The n-th outstanding effect is performed and its fact recorded.
    Perform(usize),
    /// The n-th outstanding effect is performed, and the process dies before it can record that.
    DieAfter(usize),
    Crash,
    Stop(StopBy),
    Say,
}

fn effect_class() -> impl Strategy<Value = EffectClass> {
    prop_oneof![
        Just(EffectClass::ReadOnly),
        Just(EffectClass::Idempotent),
        Just(EffectClass::Verifiable),
        Just(EffectClass::Once)
    ]
}

fn ask() -> impl Strategy<Value = Ask> {
    let outcome = prop_oneof![
        4 => Just(OutcomeKind::Ok),
        1 => Just(OutcomeKind::ToolError),
        1 => Just(OutcomeKind::InfrastructureError),
        1 => Just(OutcomeKind::TimedOut)
    ];
    let verdict = prop_oneof![
        5 => Just(Verdict::Allow),
        1 => Just(Verdict::Ask),
        1 => Just(Verdict::deny("no")),
        1 => Just(Verdict::invalid("bad")),
        1 => Just(Verdict::Unknown { reason: "what?".into(), unavailable: None })
    ];
    let ending = prop_oneof![9 => Just(None), 1 => Just(Some(Ending::Completed)), 1 => Just(Some(Ending::Asked))];
    (effect_class(), outcome, verdict, ending, 0..3u8, prop_oneof![Just("t0"), Just("t1"), Just("t2")]).prop_map(
        |(effect, outcome, verdict, ending, argument, tool)| Ask {
            ending,
            ..call(tool, effect).coming_out(outcome).judged(verdict).with(&format!("{{\"n\":{argument}}}"))
        },
    )
}

pub(crate) fn a_move() -> impl Strategy<Value = Move> {
    let plain = prop_oneof![
        2 => Just(Move::Text("words")),
        1 => Just(Move::Text("{\"n\": 1}")),
        1 => Just(Move::Misfit("{\"n\": 2}")),
        1 => Just(Move::Empty),
        1 => Just(Move::CutOff("half")),
        1 => Just(Move::Filtered),
        6 => prop::collection::vec(ask(), 1..4).prop_map(Move::Calls)
    ];
    let class = prop_oneof![
        3 => Just(FailureClass::Transient),
        2 => Just(FailureClass::Overflow),
        1 => Just(FailureClass::Auth)
    ];
    (plain, prop::option::weighted(0.3, (1..4u32, class)), prop::bool::weighted(0.1)).prop_map(
        |(plain, fails, dies)| {
            let step = if dies { Move::Dies(Box::new(plain)) } else { plain };
            match fails {
                Some((times, class)) => Move::Fails(times, class, Box::new(step)),
                None => step,
            }
        },
    )
}

pub(crate) fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        10 => (0..4usize).prop_map(Event::Perform),
        2 => (0..4usize).prop_map(Event::DieAfter),
        1 => Just(Event::Crash),
        1 => Just(Event::Say),
        1 => prop_oneof![Just(Event::Stop(StopBy::Person)), Just(Event::Stop(StopBy::Deadline))]
    ]
}

fn sized(name: &str, window: u64) -> RunModel {
    RunModel { window: Some(window), ..RunModel::named(name) }
}

pub(crate) fn happen(world: &mut World, event: Event) {
    let owed = world.owed();
    let nth = |n: usize| owed.get(n % owed.len().max(1)).cloned();
    match event {
        Event::Perform(n) => {
            if let Some(effect) = nth(n) {
                let fact = world.perform(&effect);
                world.put(fact);
            }
        }
        Event::DieAfter(n) => {
            if let Some(effect) = nth(n) {
                if !matches!(effect, Effect::Ask(_)) {
                    let _lost = world.perform(&effect);
                }
                world.crash();
            }
        }
        Event::Crash => world.crash(),
        Event::Stop(by) => {
            world.put(Fact::Stopped(by));
        }
        Event::Say => {
            world.say("more");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    // proves J3, J10, L3: `World::put` checks validity and decides again, `crash` compares fold and state
    #[test]
    fn any_sequence_of_inputs_crashes_cancels_and_steering_ends(
        preset in 0..PRESETS.len(),
        attended in any::<bool>(),
        typed in any::<bool>(),
        window in prop::option::of(300..2_000u64),
        summary in a_move(),
        script in prop::collection::vec(a_move(), 1..8),
        events in prop::collection::vec(event(), 0..60),
    ) {
        let world = World::new(PRESETS[preset], script);
        let mut world = if typed { world.typed() } else { world };
        world.run_settings.models = window.map(|window| sized("first", window)).into_iter().collect();
        world.summary = summary;
        world.run_settings.attendance = if attended { Attendance::Attended } else { Attendance::Unattended };
        world.say("begin");
        for event in events {
            happen(&mut world, event);
        }
        if world.state.control.run.is_some() {
            world.finish();
        }
        // proves L10: only a completed run that had to produce an output has one
        let ended = world.state.control.last.clone().expect("a run").1;
        if ended.output.is_some() {
            prop_assert!(typed && ended.reason == EndReason::Completed);
        }
        prop_assert_eq!(world.fold(), world.state);
    }

    // proves J8: `World::put` checks validity, so every fork's history is valid
    #[test]
    fn a_fork_of_anything_anywhere_goes_on_and_is_decided_again_as_it_stands(
        preset in 0..PRESETS.len(),
        script in prop::collection::vec(a_move(), 1..8),
        events in prop::collection::vec(event(), 0..30),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut world = World::new(PRESETS[preset], script);
        world.run_settings.models = vec![sized("first", 600)];
        world.say("begin");
        for event in events {
            happen(&mut world, event);
        }
        let mut fork = world.forked_after(1 + cut.index(world.journal.len()));
        prop_assert_eq!(&fork.state.control.run, &None, "nothing is open");
        fork.say("another way");
        fork.finish();
        let batches = fork.journal.len() as u64;
        prop_assert_eq!(replay(fork.state.session, &fork.envelopes()), ReplayOutcome::Same { batches });
    }
}

fn any_call() -> impl Strategy<Value = CallId> {
    (1..3u32, 0..3u32).prop_map(|(turn, index)| CallId { run: RunId(1), turn: TurnId(turn), index })
}

fn any_message() -> impl Strategy<Value = Message> {
    let called = |call| CallInHistory { call, provider_id: None, name: "t".into(), arguments: Json::empty_object() };
    prop_oneof![
        Just(Message::user("words")),
        prop::collection::btree_set(any_call(), 0..3).prop_map(move |calls| Message::Assistant {
            parts: vec![],
            calls: calls.into_iter().map(called).collect(),
            model: "m".into(),
        }),
        any_call().prop_map(|call| Message::Tool {
            call,
            provider_id: None,
            name: "t".into(),
            outcome: OutcomeKind::Ok,
            text: "result".into(),
            images: Vec::new(),
        })
    ]
}

proptest! {
    // proves J10
    #[test]
    fn any_history_from_elsewhere_is_made_legal_on_a_copy(history in prop::collection::vec(any_message(), 0..12)) {
        let sent = legal(&history).into_owned();
        prop_assert!(matches!(legal(&sent), std::borrow::Cow::Borrowed(_)), "still illegal: {sent:?}");
        let words = |history: &[Message]| history.iter().filter(|message| matches!(message, Message::User { .. })).count();
        prop_assert_eq!(words(&sent), words(&history), "a person's words are never dropped");
    }
}
