//! Repeated crashes in the middle of calls.

use windlass_machine::Effect;
use windlass_vocab::{EffectClass, EndReason, OutcomeKind};

use crate::support::{Move, World, call};

/// More than any guard tolerates.
const CRASHES: usize = 7;

#[test]
fn calls_that_crashes_cut_short_are_not_held_against_the_model() {
    // proves L11, J3
    let again = Move::Calls(vec![call("cmd", EffectClass::Once)]);
    let mut script = vec![again; CRASHES];
    script.push(Move::Text("done"));
    let mut world = World::new("default", script);
    world.say("go");
    for _ in 0..CRASHES {
        while !world.owed().iter().any(|effect| matches!(effect, Effect::RunCall { .. })) {
            let effect = world.owed().remove(0);
            let fact = world.perform(&effect);
            world.put(fact);
        }
        world.crash();
    }
    let ended = world.finish();
    assert_eq!((ended.reason, ended.answer.as_str()), (EndReason::Completed, "done"));
    let outcomes: Vec<OutcomeKind> = world.results().iter().map(|(outcome, _)| *outcome).collect();
    assert_eq!(outcomes, [OutcomeKind::Interrupted; CRASHES]);
    assert!(!world.journal.iter().flatten().any(|record| matches!(record.kind(), "Nudged" | "ToolWithheld")));
}
