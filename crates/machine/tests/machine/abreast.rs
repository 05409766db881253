//! Replies with more calls than may run in parallel.

use windlass_machine::Effect;
use windlass_vocab::{EffectClass, Parallel};

use crate::support::{Move, World, call, policy};

#[test]
fn of_many_calls_a_few_run_at_once_and_all_are_run_in_order() {
    // proves L9
    const CALLS: usize = 100;
    for (parallel, effect) in [(Parallel::On, EffectClass::Once), (Parallel::Safe, EffectClass::ReadOnly)] {
        let mut policy = policy("operator");
        policy.parallel = parallel;
        let calls = (0..CALLS).map(|number| call("t", effect).with(&format!("{{\"n\":{number}}}"))).collect();
        let mut world = World::with_policy(policy, vec![Move::Calls(calls), Move::Text("done")]);
        world.say("go");
        let (mut most, mut run) = (0, Vec::new());
        while world.state.control.run.is_some() {
            let owed = world.owed();
            most = most.max(owed.iter().filter(|effect| matches!(effect, Effect::RunCall { .. })).count());
            if let Effect::RunCall { request, .. } = &owed[0] {
                run.push(request.call.index as usize);
            }
            let fact = world.perform(&owed[0]);
            world.put(fact);
        }
        assert_eq!((most, run), (16, (0..CALLS).collect()), "{parallel:?}");
        assert_eq!(world.results().len(), CALLS);
    }
}
