//! The kill matrix in process: every preset is stopped around every append, inside every model call and around every
//! effect, and then once more while it recovers. The outcome must be that of an undisturbed run, finished calls must
//! not run again, and calls in flight are settled by their effect class.

use std::sync::atomic::Ordering;

use crate::support::fates::Left;
use crate::support::undoing::{Ended, Operation, Overwrite, Undoing, tree};
use crate::support::{Bomb, End, Point, Side, World};
use serde_json::json;
use windlass_machine::preset;
use windlass_testkit::{FaultKind, KillTarget, Scene, Script, ScriptStep, ScriptedModel, count_ways_to_die};
use windlass_vocab::{
    Attendance, CallId, Dialect, MessageId, Nudge, OutcomeKind, Parallel, Policy, Record, RunEnded, UnfinishedCall,
};

/// Returns a job with every class of effect, parallel calls, an approval, a rate limit, a dying stream and, where the
/// preset can recover from it, an empty reply.
fn script(policy: &Policy) -> Script {
    let work = vec![
        ScriptStep::call("scripted__read", json!({"n": 1})).and_call("scripted__read", json!({"n": 2})),
        ScriptStep::call("scripted__set", json!({"n": 3}))
            .and_call("scripted__book", json!({"n": 4}))
            .fault(FaultKind::status(503).times(1)),
        ScriptStep::call("scripted__pay", json!({"n": 5})).and_call("scripted__gated", json!({"n": 6})),
        ScriptStep::call("scripted__pay", json!({"n": 7}))
            .and_call("scripted__read", json!({"n": 8}))
            .fault(FaultKind::Cut { after: windlass_testkit::BodyPoint::Events(2) }.times(1)),
        if policy.nudges.contains(&Nudge::Empty) { ScriptStep::say("") } else { last(policy) },
    ];
    if !policy.dialects.contains(&Dialect::Native) {
        return Script::of(work.into_iter().flat_map(ScriptStep::in_blocks));
    }
    Script::default()
        .scene(Scene::when("Your last reply was empty", [last(policy)]))
        .scene(Scene { steps: work, ..Scene::default() })
}

fn last(policy: &Policy) -> ScriptStep {
    if policy.nudges.contains(&Nudge::NoToolCall) {
        ScriptStep::call("task_completion", json!({"result": "All done."}))
    } else {
        ScriptStep::say("All done.")
    }
}

fn world(policy: &Policy, attendance: Attendance) -> World {
    // The clock runs fast; no approval may expire meanwhile.
    let policy = Policy { approval_wait_ms: u64::from(u32::MAX), ..policy.clone() };
    World::new(policy.clone(), ScriptedModel::new(script(&policy)), attendance)
}

/// Returns what is compared: how the run ended. Usage differs when a call is made again.
fn outcome(ended: &RunEnded) -> (windlass_vocab::EndReason, String, u32) {
    (ended.reason, ended.answer.clone(), ended.turns)
}

/// A process that takes longer than this hangs.
const LONG: std::time::Duration = std::time::Duration::from_secs(60);

struct Undisturbed {
    end: RunEnded,
    points: Vec<Point>,
    /// The records of each append.
    appends: Vec<Vec<Record>>,
}

async fn undisturbed(policy: &Policy, attendance: Attendance) -> Undisturbed {
    let world = world(policy, attendance);
    let bomb = Bomb::at(None);
    let End::Ended(end) = world.process(&bomb).await else { panic!("the undisturbed run must end") };
    assert_eq!(world.model.refused(), Vec::<String>::new());
    Left::default().assert_fates(&world, &world.executed(), &policy.preset);
    let mut appends = world.batches();
    let number = bomb.appends.load(Ordering::SeqCst);
    if attendance == Attendance::Unattended {
        // A session created with its first message starts with two batches in one append.
        let second = appends.remove(1);
        appends[0].extend(second);
    }
    assert_eq!(u64::try_from(appends.len()), Ok(number));
    let mut points: Vec<Point> = (1..=number).flat_map(around_append).collect();
    points.extend((1..=bomb.models.load(Ordering::SeqCst)).map(Point::Model));
    for n in 1..=bomb.tools.load(Ordering::SeqCst) {
        points.extend([Point::Tool(Side::Before, n), Point::Tool(Side::After, n)]);
    }
    Undisturbed { end: *end, points, appends }
}

fn around_append(n: u64) -> [Point; 2] {
    [Point::Append(Side::Before, n), Point::Append(Side::After, n)]
}

/// Returns how many calls have run according to these records, except one that ends the run.
fn finished(records: &[Record]) -> usize {
    let ends = |call: CallId| {
        records.iter().any(|record| matches!(record, Record::CallRequested(r) if r.call == call && r.ending.is_some()))
    };
    let ran = |record: &&Record| match record {
        Record::CallFinished(finished) => finished.outcome == OutcomeKind::Ok && !ends(finished.call),
        _ => false,
    };
    records.iter().filter(ran).count()
}

impl Undisturbed {
    /// Asserts that the first process, which died at `point`, left exactly the expected records and effects.
    fn assert_left(&self, world: &World, point: Point, context: &str) {
        let kinds = |records: &[Record]| records.iter().map(|record| record.kind().to_owned()).collect::<Vec<_>>();
        let left = world.records();
        let executed: usize = world.executed().values().sum();
        // A person's answer and a call that runs meanwhile come in any order; everything else has a fixed order.
        let ordered = world.attendance == Attendance::Unattended || world.policy.parallel == Parallel::Off;
        if ordered {
            let whole: Vec<Record> = self.appends.iter().flatten().cloned().collect();
            let expected = match point {
                Point::Append(side, n) => {
                    let number = usize::try_from(n).expect("few") - usize::from(side == Side::Before);
                    self.appends[..number].iter().map(Vec::len).sum()
                }
                Point::Model(_) | Point::Tool(..) | Point::Restore(_) | Point::Unheard | Point::Unclear(..) => {
                    left.len()
                }
            };
            assert_eq!(kinds(&left), kinds(&whole[..expected]), "{context}: the journal");
        }
        let due = match point {
            // A call whose end is in an append has run before it.
            Point::Append(_, n) => finished(&self.appends[..usize::try_from(n).expect("few")].concat()),
            Point::Model(_) => finished(&left),
            Point::Tool(Side::Before, n) => usize::try_from(n).expect("few") - 1,
            Point::Tool(Side::After, n) => usize::try_from(n).expect("few"),
            Point::Restore(_) | Point::Unheard | Point::Unclear(..) => panic!("not a way to die here"),
        };
        if world.policy.parallel == Parallel::Off || matches!(point, Point::Model(_)) {
            assert_eq!(executed, due, "{context}: effects at the death");
        }
    }
}

/// Dies at each of `deaths` in turn, as far as the run reaches them, then runs to the end, and checks everything.
/// Returns how many of the deaths took place: at least the first.
async fn check(policy: &Policy, attendance: Attendance, undisturbed: &Undisturbed, deaths: &[Point]) -> usize {
    let world = world(policy, attendance);
    let context = format!("{} dying at {deaths:?}", policy.preset);
    let (mut left, mut died) = (Left::default(), 0);
    for death in deaths.iter().map(|point| Some(*point)).chain([None]) {
        let bomb = Bomb::at(death);
        let kinds = || world.records().iter().map(|r| r.kind().to_owned()).collect::<Vec<_>>();
        let process = tokio::time::timeout(LONG, world.process(&bomb)).await;
        match process.unwrap_or_else(|_| panic!("{context}: hangs at {death:?} after {:?}", kinds())) {
            End::Ended(end) => {
                assert!(died > 0, "{context}: ended before it died");
                assert_eq!(outcome(&end), outcome(&undisturbed.end), "{context}");
                break;
            }
            End::Crashed => {
                assert!(bomb.has_gone_off(), "{context}: crashed by itself, not at {death:?}");
                if let (0, Some(point)) = (died, death) {
                    undisturbed.assert_left(&world, point, &context);
                }
                died += 1;
                left.assert_no_more(&world, &world.executed(), &context);
                left = Left::by(&world.records(), world.executed());
            }
        }
    }
    assert_eq!(world.model.refused(), Vec::<String>::new(), "{context}");
    left.assert_fates(&world, &world.executed(), &context);
    died
}

/// Returns how many combinations of deaths were checked; each one took place.
async fn matrix(name: &str, attendance: Attendance) -> usize {
    let policy = preset(name).expect("a preset");
    let undisturbed = undisturbed(&policy, attendance).await;
    let mut checked = 0;
    for (index, first) in undisturbed.points.iter().enumerate() {
        // Then again while it recovers: around every third append of the second process, with another offset for each
        // first point. The first point that it does not reach leaves only one death.
        for second in (1..).flat_map(around_append).skip(index % 3).step_by(3) {
            let died = check(&policy, attendance, &undisturbed, &[*first, second]).await;
            checked += 1;
            if died == 1 {
                break;
            }
        }
    }
    checked
}

fn counted(name: &str, ways: usize) {
    count_ways_to_die(KillTarget::InProcess, name, ways).expect("as stated");
}

/// Runs the matrix of a preset. Under `ask` a person settles calls in flight; the other presets need nobody.
async fn matrix_of(name: &str) {
    let policy = preset(name).expect("a preset");
    let attendance = match policy.unfinished_call {
        UnfinishedCall::Ask => Attendance::Attended,
        UnfinishedCall::RunAgain | UnfinishedCall::Interrupt | UnfinishedCall::AskOrInterrupt => Attendance::Unattended,
    };
    counted(name, matrix(name, attendance).await);
}

// proves J3, J4, J2
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_kill_matrix_in_process_for_default() {
    matrix_of("default").await;
}

// proves J3, J4, J2
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_kill_matrix_in_process_for_local_model() {
    matrix_of("local-model").await;
}

// proves J3, J4, J2
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_kill_matrix_in_process_for_task() {
    matrix_of("task").await;
}

// proves J3, J4, J2
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_kill_matrix_in_process_for_assistant() {
    matrix_of("assistant").await;
}

// proves J3, J4, J2
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_kill_matrix_in_process_for_operator() {
    matrix_of("operator").await;
}

// proves J3, J4, J2
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_kill_matrix_in_process_for_durable_chat() {
    matrix_of("durable-chat").await;
}

// proves J3, J4, J2
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_kill_matrix_in_process_for_default_with_a_person() {
    counted("default, with a person", matrix("default", Attendance::Attended).await);
}

// proves J3: the precondition of the matrix
#[tokio::test]
async fn a_process_that_has_died_writes_nothing_more() {
    let world = world(&preset("default").expect("a preset"), Attendance::Attended);
    let bomb = Bomb::at(None);
    let session = world.open(&bomb).await.expect("opened");
    let before = world.records();
    bomb.blow();
    assert!(session.send(MessageId("m".into()), "go").await.is_err());
    session.close().await;
    assert_eq!(world.records(), before);
}

/// Returns a world with every kind of change to undo: a file created, a file replaced, a folder moved, parent folders
/// created.
async fn undoing() -> Undoing {
    let world = Undoing::new(&[
        Operation::Write("new/deep/x", "x".to_owned()),
        Operation::Move("a", "b", Overwrite::Yes),
        Operation::Move("folder", "away/folder", Overwrite::No),
        Operation::Write("folder", "a file now".to_owned()),
    ]);
    std::fs::create_dir(world.root().join("folder")).expect("a folder");
    for (path, content) in [("a", "a"), ("b", "b"), ("folder/f", "f")] {
        std::fs::write(world.root().join(path), content).expect("a file");
    }
    world.run_dying(&[]).await;
    world
}

// proves T9, J3: an undo in progress
#[tokio::test]
async fn the_kill_matrix_of_an_undo_in_process_leaves_every_file_as_it_was_before() {
    let undisturbed = undoing().await;
    let after = tree(undisturbed.root());
    let mut steps = Vec::new();
    loop {
        let bomb = Bomb::at(None);
        let Ended::With(Some(_)) = undisturbed.undo(&bomb, None).await else { break };
        steps.push(bomb.restores.load(Ordering::SeqCst));
    }
    assert_eq!(steps.len(), 4);
    let (before, mut checked) = (tree(undisturbed.root()), 0);
    for (wanted, restores) in steps.iter().enumerate() {
        // The lease, the start of the undo, its end.
        let appends = (1..=3).flat_map(|n| [Point::Append(Side::Before, n), Point::Append(Side::After, n)]);
        for death in appends.chain((1..=*restores).map(Point::Restore)) {
            let world = undoing().await;
            let made = world.undo_all(|number| (number == wanted).then_some(death)).await;
            assert_eq!(world.deaths.load(Ordering::SeqCst), 1, "undo {wanted} dying at {death:?}");
            assert_eq!(made, steps.len(), "undo {wanted} dying at {death:?}");
            assert_eq!(tree(world.root()), before, "undo {wanted} dying at {death:?}");
            if death == Point::Restore(1) {
                world.redo_all().await;
                assert_eq!(tree(world.root()), after, "undo {wanted} dying at {death:?}");
            }
            checked += 1;
        }
    }
    counted("an undo", checked);
    assert!(checked > 30, "{checked}");
}
