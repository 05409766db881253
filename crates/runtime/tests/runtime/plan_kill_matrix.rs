//! The kill matrix of a run with a plan, in process: it is stopped around every append of the parent and of its children,
//! inside every model call and around every effect, and then once more while it recovers.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use serde_json::json;
use windlass_machine::preset;
use windlass_store::SessionLog as _;
use windlass_testkit::{FaultKind, KillTarget, Scene, Script, ScriptStep, ScriptedModel, count_ways_to_die};
use windlass_vocab::{Attendance, EndReason, Planning, Policy, Record};

use crate::support::{Bomb, End, Point, Side, World, futures_now};

const PLAN: &str = "1. Read the number.\n2. Set the number.\n3. Pay the bill.";

/// A plan of three steps: one that only reads, one that may run again, and one that may not. The call of the planner
/// fails once, and so does the one for the answer.
fn world() -> World {
    let step = |number: usize, tool: &str, says: &str| {
        let call = ScriptStep::call(&format!("scripted__{tool}"), json!({ "n": number }));
        Scene::when(&format!("This step ({number} of 3)"), [call, ScriptStep::say(says)])
    };
    let unavailable = || FaultKind::status(503).times(1);
    let script = Script::default()
        .scene(Scene::when("Write the plan for this request", [ScriptStep::say(PLAN).fault(unavailable())]))
        .scene(Scene::when("Write the answer to the request", [ScriptStep::say("All done.").fault(unavailable())]))
        .scene(step(1, "read", "It is 7."))
        .scene(step(2, "set", "It is set."))
        .scene(step(3, "pay", "It is paid."));
    let policy = Policy { planning: Planning::Always, ..preset("default").expect("a preset") };
    World::new(policy, ScriptedModel::new(script), Attendance::Unattended)
}

/// What must be the same however often the process died: how the run and each of its steps ended, and the sessions.
#[derive(Debug, PartialEq)]
struct PlanOutcome {
    end: (EndReason, String, u32),
    steps: Vec<EndReason>,
    sessions: usize,
}

impl PlanOutcome {
    fn of(world: &World, end: (EndReason, String, u32)) -> Self {
        let reason = |record: Record| match record {
            Record::ChildReported(report) => Some(report.reason),
            _ => None,
        };
        let steps = world.records().into_iter().filter_map(reason).collect();
        let sessions = futures_now(world.store.sessions("me")).expect("a store").len();
        Self { end, steps, sessions }
    }
}

/// Runs processes until one of them gets to the end; each of the first dies at its point, as far as it gets there.
/// Returns the outcome and the number of deaths.
async fn run(world: &World, deaths: &[Point]) -> (PlanOutcome, usize) {
    let mut died = 0;
    for death in deaths.iter().map(|point| Some(*point)).chain([None]) {
        match world.process(&Bomb::at(death)).await {
            End::Ended(ended) => return (PlanOutcome::of(world, (ended.reason, ended.answer, ended.turns)), died),
            End::Crashed => died += 1,
        }
    }
    panic!("the run must end after {deaths:?}")
}

/// How often each tool of a step took effect.
fn effects(world: &World) -> BTreeMap<String, usize> {
    let counts = windlass_testkit::counts(world.dir.path()).expect("a folder");
    counts.into_iter().map(|(tool, effects)| (tool, effects.into_values().sum())).collect()
}

fn around_append(n: u64) -> [Point; 2] {
    [Point::Append(Side::Before, n), Point::Append(Side::After, n)]
}

// proves S3, J2, J3, J4: a plan that dies anywhere, twice, ends as if undisturbed, and what may run only once does
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_kill_matrix_in_process_for_a_plan() {
    let (whole, bomb) = (world(), Bomb::at(None));
    let End::Ended(ended) = whole.process(&bomb).await else { panic!("the undisturbed run must end") };
    let expected = PlanOutcome::of(&whole, (ended.reason, ended.answer, ended.turns));
    assert_eq!(expected.steps, [EndReason::Completed; 3]);
    assert_eq!((expected.end.0, expected.sessions), (EndReason::Completed, 4));
    assert_eq!(effects(&whole).values().sum::<usize>(), 3);
    let mut points: Vec<Point> = (1..=bomb.appends.load(Ordering::SeqCst)).flat_map(around_append).collect();
    points.extend((1..=bomb.models.load(Ordering::SeqCst)).map(Point::Model));
    for n in 1..=bomb.tools.load(Ordering::SeqCst) {
        points.extend([Point::Tool(Side::Before, n), Point::Tool(Side::After, n)]);
    }
    let mut checked = 0;
    for (index, first) in points.iter().enumerate() {
        for second in (1..).flat_map(around_append).skip(index % 5).step_by(5) {
            let world = world();
            let (found, died) = run(&world, &[*first, second]).await;
            assert!(died > 0, "{first:?} is not reached");
            assert_eq!(found, expected, "dying at {first:?}, then {second:?}");
            let paid = effects(&world).get("pay").copied().unwrap_or_default();
            assert!(paid <= 1, "paid {paid} times, dying at {first:?}, then {second:?}");
            assert_eq!(world.model.refused(), Vec::<String>::new(), "dying at {first:?}, then {second:?}");
            checked += 1;
            if died == 1 {
                break;
            }
        }
    }
    count_ways_to_die(KillTarget::InProcess, "a plan", checked).expect("as stated");
}
