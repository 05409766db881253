//! Runs resumed by another process: the first process's permission checks and previews are checked again.

use std::sync::Arc;

use crate::support::{KEEPS, Move, World, call};
use windlass_machine::{CallApproval, CallResult, Effect, Fact, OpenApprovals, ReplayOutcome, replay};
use windlass_vocab::EffectClass::{self, Idempotent, Once, ReadOnly, Verifiable};
use windlass_vocab::{
    Answer, AnsweredBy, Attendance, EndReason, Json, OutcomeKind, Preview, QuestionAsked, QuestionKind, QuestionOption,
    Record, Remedy, TextOrigin, Verdict, VerdictReason,
};

fn step(world: &mut World) {
    let effect = world.owed().remove(0);
    let fact = world.perform(&effect);
    world.put(fact);
}

/// Returns a world in which a person is asked about the first call of a reply.
fn asking(effects: &[EffectClass]) -> World {
    asking_about(effects.iter().map(|effect| ("act", *effect)))
}

fn asking_about(calls: impl IntoIterator<Item = (&'static str, EffectClass)>) -> World {
    let calls = calls.into_iter().map(|(tool, effect)| call(tool, effect).judged(Verdict::Ask));
    let mut world = World::new("default", vec![Move::Calls(calls.collect()), Move::Text("done")]).attended();
    world.say("go");
    step(&mut world);
    step(&mut world);
    question(&world);
    world
}

fn question(world: &World) -> QuestionAsked {
    let [Effect::Ask(asked)] = &world.owed()[..] else { panic!("nobody is asked: {:?}", world.owed()) };
    asked.as_ref().clone()
}

fn answer_with(world: &mut World, asked: &QuestionAsked, answer: Answer) -> Vec<Record> {
    world.put(Fact::Answered { question: asked.question, answer, by: AnsweredBy::Person })
}

fn answer(world: &mut World, option: QuestionOption) {
    let asked = question(world);
    assert_ne!(answer_with(world, &asked, Answer::plain(option)), []);
}

fn approved(world: &World) -> CallApproval {
    let [Effect::RunCall { approved, .. }] = &world.owed()[..] else { panic!("it does not run: {:?}", world.owed()) };
    approved.clone()
}

fn judged(world: &World) -> windlass_vocab::CallId {
    let [Effect::CheckPermission { request, .. }] = &world.owed()[..] else { panic!("{:?}", world.owed()) };
    request.call
}

fn is_same(world: &World) {
    let replayed = replay(world.state.session, &world.envelopes());
    assert!(matches!(replayed, ReplayOutcome::Same { .. }), "{replayed:?}");
}

fn preview(body: &str) -> Option<Preview> {
    Some(Preview { title: "act".into(), body: body.into(), rule: Some("act".into()) })
}

// proves X6, T8: a preview that another process displayed can't be approved any more
#[test]
fn an_open_approval_is_withdrawn_by_a_resume_and_its_call_judged_again() {
    for effect in [ReadOnly, Idempotent, Verifiable, Once] {
        let mut world = asking(&[effect]);
        let old = question(&world);
        world.crash();
        let id = judged(&world);
        let yes = Answer::plain(QuestionOption::Once);
        assert_eq!(answer_with(&mut world, &old, yes.clone()), [], "a yes to the old question is none");
        world.put(Fact::CallNeedsApproval { call: id, preview: preview("outside"), because: None });
        let fresh = question(&world);
        assert_eq!(
            (fresh.preview.clone(), fresh.kind.clone()),
            (preview("outside"), QuestionKind::Approval { call: id })
        );
        assert!(fresh.question != old.question && fresh.expires > old.expires, "{fresh:?}");
        assert_eq!(answer_with(&mut world, &old, yes), []);
        answer(&mut world, QuestionOption::Once);
        assert_eq!(approved(&world), CallApproval::Yes);
        assert_eq!(world.finish().reason, EndReason::Completed);
        assert!(world.executed.values().all(|times| *times == 1), "{:?}", world.executed);
        is_same(&world);
    }
}

// proves X6: the current rules may allow or forbid what needed approval
#[test]
fn a_call_that_is_judged_again_runs_unasked_or_is_refused() {
    for attendance in [Attendance::Attended, Attendance::Unattended] {
        for effect in [ReadOnly, Once] {
            let mut world = asking(&[effect]);
            world.run_settings.attendance = attendance;
            world.crash();
            let call = judged(&world);
            world.put(Fact::CallAllowed { call });
            assert_eq!(approved(&world), CallApproval::No, "it is judged once more right before it runs");
            is_same(&world);

            let mut world = asking(&[effect]);
            world.run_settings.attendance = attendance;
            world.crash();
            let call = judged(&world);
            world.put(Fact::CallDone { call, finished: CallResult::new(OutcomeKind::Denied, "A rule forbids it.") });
            assert_eq!(world.results(), [(OutcomeKind::Denied, "A rule forbids it.".to_owned())]);
            is_same(&world);
        }
    }
}

// proves X6, T8: where nobody is available any more, the current reason is reported
#[test]
fn a_call_that_is_still_asked_about_is_denied_where_nobody_is_there() {
    let mut world = asking(&[Once]);
    world.run_settings.attendance = Attendance::Unattended;
    world.crash();
    let because = Some(VerdictReason::Protected { path: "AGENTS.md".into(), pattern: "AGENTS.md".into() });
    let call = judged(&world);
    world.put(Fact::CallNeedsApproval { call, preview: preview(""), because });
    let (outcome, text) = world.results()[0].clone();
    assert!(outcome == OutcomeKind::Denied && text.contains("AGENTS.md is protected"), "{text}");
    assert_eq!(world.last_remedy(), Some(Remedy::Unprotect { path: "AGENTS.md".into() }));
    is_same(&world);
}

// proves J4, X6: the call has not run, so nobody is asked whether it did, even after repeated crashes
#[test]
fn a_crash_while_a_call_is_judged_again_is_no_call_cut_short() {
    for (tool, effect) in [("act", Once), (KEEPS, Once), ("act", Verifiable)] {
        for crashes in 1..=3 {
            let mut world = asking_about([(tool, effect)]);
            (0..crashes).for_each(|_| world.crash());
            judged(&world);
            step(&mut world);
            assert!(matches!(question(&world).kind, QuestionKind::Approval { .. }));
            // The wait is durable: a person who comes back is asked again, however often they left.
            for _ in 0..5 {
                world.crash();
                step(&mut world);
                assert!(matches!(question(&world).kind, QuestionKind::Approval { .. }));
            }
            assert_eq!(world.finish().reason, EndReason::Completed);
            assert!(world.executed.values().all(|times| *times == 1), "{:?}", world.executed);
            assert!(!world.kinds().contains(&"CallSettled".to_owned()), "{:?}", world.kinds());
            is_same(&world);
        }
    }
}

// proves X6, L9: a waiting call is checked when it is next to start, and not by its first preview
#[test]
fn a_call_that_was_not_asked_about_yet_is_judged_again_when_its_turn_comes() {
    let mut world = asking(&[Once, Once]);
    world.crash();
    let first = judged(&world);
    step(&mut world);
    answer(&mut world, QuestionOption::No);
    let second = judged(&world);
    assert_ne!(first, second);
    world.put(Fact::CallNeedsApproval { call: second, preview: preview("outside"), because: None });
    assert_eq!(question(&world).preview, preview("outside"));
    assert_eq!(world.finish().reason, EndReason::Completed);
    is_same(&world);
}

// proves L9, X6: calls that are checked again count towards the limit like others
#[test]
fn no_more_than_sixteen_calls_are_judged_or_run_at_once() {
    let mut world = World::new(
        "operator",
        vec![Move::Calls((0..40).map(|_| call("act", ReadOnly).judged(Verdict::Ask)).collect()), Move::Text("done")],
    )
    .attended();
    world.say("go");
    step(&mut world);
    step(&mut world);
    world.crash();
    while world.state.control.run.as_ref().is_some_and(|run| run.turn.0 == 1) {
        let owed = world.owed();
        assert!(owed.len() <= 16, "{}", owed.len());
        // The last first: checked calls start before any call has finished.
        let effect = owed.last().expect("something is owed");
        let fact = match effect {
            Effect::CheckPermission { request, .. } => Fact::CallAllowed { call: request.call },
            effect => world.perform(effect),
        };
        world.put(fact);
    }
    assert_eq!(world.results().len(), 40);
    is_same(&world);
}

// proves X6, J3: an approval outlives its process if the preview is the same, which only the next process can tell
#[test]
fn what_a_person_agreed_to_counts_after_a_crash_if_the_same_is_shown() {
    for effect in [ReadOnly, Idempotent, Verifiable, Once] {
        let mut world = asking(&[effect]);
        let shown = question(&world).preview.expect("a preview");
        answer(&mut world, QuestionOption::Once);
        assert_eq!(approved(&world), CallApproval::Yes);
        world.crash();
        match effect {
            // It may have run, so a person is asked what to do; that question displays no new preview.
            Once => answer(&mut world, QuestionOption::RunAgain),
            Verifiable => step(&mut world),
            ReadOnly | Idempotent => {}
        }
        assert_eq!(approved(&world), CallApproval::IfShown(shown.into()), "{effect:?}");
        let [Effect::RunCall { request, .. }] = &world.owed()[..] else { panic!("{:?}", world.owed()) };
        let call = request.call;
        world.put(Fact::CallNeedsApproval { call, preview: preview("outside"), because: None });
        world.crash();
        judged(&world);
        world.put(Fact::CallAllowed { call });
        assert_eq!(approved(&world), CallApproval::No, "asking anew took the old yes back");
        is_same(&world);
    }
}

// proves X6: the answer to a second question is about that question's preview
#[test]
fn a_yes_to_a_late_question_is_compared_with_what_that_question_showed() {
    let mut world = asking(&[Idempotent]);
    answer(&mut world, QuestionOption::Once);
    world.crash();
    let [Effect::RunCall { request, .. }] = &world.owed()[..] else { panic!("{:?}", world.owed()) };
    let call = request.call;
    world.put(Fact::CallNeedsApproval { call, preview: preview("outside"), because: None });
    answer(&mut world, QuestionOption::Once);
    world.crash();
    assert_eq!(approved(&world), CallApproval::IfShown(preview("outside").expect("one").into()));
}

// proves T8, X5: a late question offers the same options as an early one, and its reason is recorded
#[test]
fn a_late_question_offers_what_its_reason_allows() {
    use QuestionOption::{Always, Edit, No, Once as JustOnce, Session};
    let protected = VerdictReason::Protected { path: "AGENTS.md".into(), pattern: "AGENTS.md".into() };
    let outside = VerdictReason::OutsideText { origin: TextOrigin::Page { url: "https://a.example".into() } };
    let mode = VerdictReason::Mode { mode: "default".into() };
    for (because, options) in [
        (protected, vec![No, JustOnce, Session, Edit]),
        (outside, vec![No, JustOnce, Edit]),
        (mode, vec![No, JustOnce, Session, Always, Edit]),
    ] {
        let moves = vec![Move::Calls(vec![call("act", Once)]), Move::Text("done")];
        let mut world = World::new("default", moves).attended();
        world.say("go");
        step(&mut world);
        step(&mut world);
        let [Effect::RunCall { request, .. }] = &world.owed()[..] else { panic!("{:?}", world.owed()) };
        let call = request.call;
        world.put(Fact::CallNeedsApproval { call, preview: preview(""), because: Some(because.clone()) });
        let asked = question(&world);
        assert_eq!((asked.options, asked.because), (options, Some(because)));
        is_same(&world);
    }
}

// proves X6: an answer the caller brings is accepted; an approval counts if the preview is the same, a no always
#[test]
fn an_answer_that_is_brought_along_is_for_what_the_earlier_process_showed() {
    let brought = |option| {
        let mut world = asking(&[Once]);
        let asked = question(&world);
        let (attendance, approvals) = (world.run_settings.attendance, OpenApprovals::Answered);
        world.put(Fact::Resumed { attendance, deadline: None, approvals });
        assert_eq!(question(&world), asked, "it is still there to be answered");
        answer(&mut world, option);
        is_same(&world);
        (world, asked)
    };
    let (world, asked) = brought(QuestionOption::Once);
    assert_eq!(approved(&world), CallApproval::IfShown(Arc::new(asked.preview.expect("a preview"))));
    let (world, _) = brought(QuestionOption::No);
    assert_eq!((world.results()[0].0, world.executed.len()), (OutcomeKind::Denied, 0));
}

// proves X6: a rule allowed the call and nobody was asked, so "run it again" is not an approval of its effect
#[test]
fn to_run_again_what_was_never_asked_about_is_judged_like_any_call() {
    let moves = vec![Move::Calls(vec![call("act", Once)]), Move::Text("done")];
    let mut world = World::new("default", moves).attended();
    world.say("go");
    step(&mut world);
    step(&mut world);
    assert_eq!(approved(&world), CallApproval::No);
    world.crash();
    answer(&mut world, QuestionOption::RunAgain);
    assert_eq!(approved(&world), CallApproval::No);
}

/// Resumes as an older version did, which left open questions as they were.
fn resume_as_of_old(world: &mut World) {
    let (attendance, approvals) = (world.run_settings.attendance, OpenApprovals::LeftAlone);
    world.put(Fact::Resumed { attendance, deadline: None, approvals });
}

// proves J7, J8: a journal of an older version, whose questions survived a resume, is replayed as it was
#[test]
fn an_answer_that_an_older_version_took_after_a_resume_counts() {
    let arguments = Json::parse(r#"{"other":1}"#).expect("JSON");
    let edit = Answer::with(QuestionOption::Edit, arguments.clone());
    let mut world = asking(&[Once, Once]);
    resume_as_of_old(&mut world);
    let asked = question(&world);
    answer_with(&mut world, &asked, edit);
    let [Effect::RunCall { edited, approved, .. }] = &world.owed()[..] else { panic!("{:?}", world.owed()) };
    assert_eq!((edited.as_ref(), approved), (Some(&arguments), &CallApproval::Yes));
    step(&mut world);
    assert_eq!(question(&world).because, None, "the second is asked about as it was first judged");
    is_same(&world);
    world.crash();
    judged(&world);
    assert_eq!(world.finish().reason, EndReason::Completed);
    is_same(&world);

    let mut world = asking(&[Once]);
    world.run_settings.attendance = Attendance::Unattended;
    resume_as_of_old(&mut world);
    assert_eq!(world.results()[0].0, OutcomeKind::Denied, "nobody was there to ask");
    is_same(&world);
}
