//! Calls written as text (T4): the fallback where a server supports no tools, and calls that can't be parsed.

use std::collections::BTreeSet;

use crate::support::{Move, World, policy};
use windlass_machine::{Effect, Fact, ReplayOutcome, TextModels, replay};
use windlass_vocab::{
    ContextPinned, Dialect, EndReason, Failure, FailureClass, ModelName, NextAttempt, Nudge, NudgeCause, Part,
    PinnedContext, Policy, Record, RunModel, StopReason, TextCalls, Usage,
};

fn world(policy: Policy) -> World {
    World::with_policy(policy, vec![Move::Text("done")])
}

/// Starts a run and continues until the model is called.
fn begun(world: &mut World) -> windlass_machine::AttemptKey {
    world.say("go");
    loop {
        match &world.owed()[..] {
            [Effect::CallModel { key, .. }, ..] => return *key,
            [effect, ..] => {
                let fact = world.perform(&effect.clone());
                world.put(fact);
            }
            [] => panic!("nothing is owed"),
        }
    }
}

fn refuse_tools(world: &mut World, attempt: windlass_machine::AttemptKey) -> Vec<Record> {
    let failure = Failure { no_tools: true, ..Failure::new(FailureClass::BadRequest, "does not support tools") };
    world.put(Fact::Failed { attempt, failure, usage: None })
}

fn malformed(attempt: windlass_machine::AttemptKey) -> Fact {
    Fact::Replied {
        attempt,
        parts: vec![Part::Text { text: "<tool>".into() }],
        stop: StopReason::Stop,
        usage: Usage::default(),
        calls: vec![],
        misfit: None,
        malformed: Some("Write it again.".into()),
        retrieved: 0,
    }
}

// proves T4
#[test]
fn where_a_server_takes_no_tools_the_run_goes_on_with_calls_as_text() {
    for (name, dialect) in [("default", Dialect::ToolBlock), ("local-model", Dialect::Bracket)] {
        let mut world = world(policy(name));
        let key = begun(&mut world);
        assert_eq!(world.state.control.text_models(), TextModels::None, "{name}");
        let batch = refuse_tools(&mut world, key);
        let next = NextAttempt::Dialect { dialect };
        assert!(matches!(&batch[..], [Record::AttemptFailed(failed)] if failed.next == next), "{batch:?}");
        // The other model of the chain keeps its own format.
        let only_first = TextModels::Some(vec![(dialect, BTreeSet::from(["first".into()]))]);
        assert_eq!(world.state.control.text_models(), only_first);
        for crashed in [false, true] {
            if crashed {
                world.crash();
            }
            assert!(matches!(world.owed()[..], [Effect::Pin(_)]), "the context comes first");
        }
        let context = PinnedContext { prefix: "As text.".into(), dialect: Some(dialect), ..PinnedContext::default() };
        let batch = world.put(Fact::Pinned(context.clone(), None));
        assert_eq!(
            batch,
            [Record::from(ContextPinned { context: Some(context), joined: BTreeSet::new(), overview: None })]
        );
        assert!(matches!(&world.owed()[..], [Effect::CallModel { key: again, .. }] if again.attempt == 2));
        assert_eq!(world.finish().reason, EndReason::Completed);
        assert!(matches!(replay(world.state.session, &world.envelopes()), ReplayOutcome::Same { .. }));
        // The session's next run starts with this dialect.
        world.say("more");
        assert_eq!(world.state.control.text_models(), only_first);
        assert_eq!(world.state.control.dialect_of(&"first".into()), Some(dialect));
        assert_eq!(world.state.control.dialect_of(&"second".into()), None);
    }
}

// proves T4, M2
#[test]
fn when_every_model_of_the_chain_takes_no_tools_all_calls_are_text() {
    let mut world = world(policy("default"));
    let key = begun(&mut world);
    refuse_tools(&mut world, key);
    let text_calls = TextCalls {
        dialect: Dialect::ToolBlock,
        rules: "Write blocks.".into(),
        models: BTreeSet::from(["first".into()]),
        prefix: None,
    };
    let context = PinnedContext { prefix: "Work.".into(), text_calls: Some(text_calls), ..PinnedContext::default() };
    world.put(Fact::Pinned(context, None));
    let [Effect::CallModel { key, .. }] = world.owed()[..] else { panic!("a call: {:?}", world.owed()) };
    // The first model is down, and the second turns out to take no tools either.
    let down = Failure { status: Some(404), ..Failure::new(FailureClass::BadRequest, "gone") };
    world.put(Fact::Failed { attempt: key, failure: down, usage: None });
    let [Effect::CallModel { key, .. }] = world.owed()[..] else { panic!("a call: {:?}", world.owed()) };
    let batch = refuse_tools(&mut world, key);
    let next = NextAttempt::Dialect { dialect: Dialect::ToolBlock };
    assert!(matches!(&batch[..], [Record::AttemptFailed(failed)] if failed.next == next), "{batch:?}");
    assert_eq!(world.state.control.text_models(), TextModels::All(Dialect::ToolBlock));
}

// proves T4
#[test]
fn a_policy_that_knows_no_other_way_fails_with_what_to_do() {
    for dialects in [vec![Dialect::Native], vec![Dialect::ToolBlock]] {
        let mut world = world(Policy { dialects: dialects.clone(), ..policy("default") });
        let key = begun(&mut world);
        let batch = refuse_tools(&mut world, key);
        let ends = matches!(&batch[..], [Record::AttemptFailed(_), Record::RunEnded(ended)] if ended.reason == EndReason::Failed);
        // Where calls are text already, no server can reject tools; the world here pins none.
        assert!(ends || dialects == [Dialect::ToolBlock], "{batch:?}");
    }
}

// proves T4
#[test]
fn the_first_textual_dialect_of_a_row_without_native_is_pinned() {
    for (dialects, want) in [
        (vec![Dialect::ToolBlock], Some(Dialect::ToolBlock)),
        (vec![Dialect::Lines, Dialect::Bracket], Some(Dialect::Lines)),
        (vec![Dialect::Probe, Dialect::BareJson], Some(Dialect::BareJson)),
        (vec![Dialect::Native, Dialect::ToolBlock], None),
        (vec![Dialect::Probe], None),
        (vec![], None),
    ] {
        let mut world = world(Policy { dialects: dialects.clone(), ..policy("default") });
        world.say("go");
        let text_models = want.map_or(TextModels::None, TextModels::All);
        assert_eq!(world.state.control.text_models(), text_models, "{dialects:?}");
    }
}

// proves M2, T4: what is known of a model counts more than the policy
#[test]
fn a_model_writes_calls_in_its_own_dialect() {
    let of = |name: &str, dialect, toolless| RunModel { dialect, toolless, ..RunModel::named(name) };
    let groups = |all: &[(Dialect, &str)]| {
        let group = |(dialect, model): &(Dialect, &str)| (*dialect, BTreeSet::from([ModelName::from(*model)]));
        TextModels::Some(all.iter().map(group).collect())
    };
    for (preset, first, second, want) in [
        ("default", Some(Dialect::ToolTag), None, groups(&[(Dialect::ToolTag, "first")])),
        ("default", Some(Dialect::ToolTag), Some(Dialect::ToolTag), TextModels::All(Dialect::ToolTag)),
        (
            "default",
            Some(Dialect::Bracket),
            Some(Dialect::ToolTag),
            groups(&[(Dialect::Bracket, "first"), (Dialect::ToolTag, "second")]),
        ),
        ("task", Some(Dialect::Native), None, groups(&[(Dialect::ToolBlock, "second")])),
        ("task", None, Some(Dialect::ToolTag), groups(&[(Dialect::ToolBlock, "first"), (Dialect::ToolTag, "second")])),
        ("default", Some(Dialect::Probe), Some(Dialect::Native), TextModels::None),
    ] {
        let mut world = world(policy(preset));
        world.run_settings.models = vec![of("first", first, false), of("second", second, false)];
        world.say("go");
        assert_eq!(world.state.control.text_models(), want, "{preset} {first:?} {second:?}");
    }
    // A model that is configured to call natively and can't falls back as any other.
    let mut world = world(policy("default"));
    world.run_settings.models = vec![of("first", Some(Dialect::Native), true), of("second", None, false)];
    world.say("go");
    assert_eq!(world.state.control.dialect_of(&"first".into()), Some(Dialect::ToolBlock));
}

// proves T4, L6
#[test]
fn a_call_that_can_not_be_read_counts_as_none_and_goes_back_to_the_model() {
    for name in ["default", "task"] {
        let mut world = world(policy(name));
        let key = begun(&mut world);
        let batch = world.put(malformed(key));
        let [Record::ModelReplied(_), Record::Nudged(nudged), Record::TurnStarted(_)] = &batch[..] else {
            panic!("{name}: {batch:?}")
        };
        assert_eq!((nudged.why, nudged.text.as_str()), (NudgeCause::Reply(Nudge::NoToolCall), "Write it again."));
        assert!(matches!(replay(world.state.session, &world.envelopes()), ReplayOutcome::Same { .. }));
    }
}

// proves T4, S2
#[test]
fn calls_that_can_never_be_read_end_in_a_summary_without_tools() {
    let mut world = world(policy("default"));
    let mut key = begun(&mut world);
    let mut replies = 0;
    loop {
        world.put(malformed(key));
        replies += 1;
        match world.owed()[..] {
            [Effect::CallModel { mode: windlass_vocab::TurnMode::WrapUp, .. }] => break,
            [Effect::CallModel { key: next, .. }] => key = next,
            ref other => panic!("{other:?}"),
        }
        assert!(replies < 20, "it is bounded");
    }
    assert_eq!(replies, 6);
    assert_eq!(world.finish().reason, EndReason::Unfinished);
}
