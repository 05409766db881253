//! A run that another process takes up: what the rules of the first decided, and what it showed a person, is judged again.

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

/// A world in which a person is asked about the first call of a reply.
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

// proves X6, T8: what another process showed is no longer there to be agreed to
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

// proves X6: the rules of today may allow what was asked about, and forbid it
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

// proves X6, T8: where nobody is there any more, today's reason is the one that is told
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

// proves J4, X6: it has not run, so nobody is asked whether it did, however often its judge dies
#[test]
fn a_crash_while_a_call_is_judged_again_is_no_call_cut_short() {
    for (tool, effect) in [("act", Once), (KEEPS, Once), ("act", Verifiable)] {
        for crashes in 1..=3 {
            let mut world = asking_about([(tool, effect)]);
            (0..crashes).for_each(|_| world.crash());
            judged(&world);
            step(&mut world);
            assert!(matches!(question(&world).kind, QuestionKind::Approval { .. }));
            // Waiting is durable: whoever comes back is asked again, however often they left.
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

// proves X6, L9: a call whose turn has not come is judged when it comes, and not by what was first shown of it
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

// proves L9, X6: calls that are judged again have no more room than others
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
        // The last first: what is judged is let run before anything has ended.
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

// proves X6, J3: a yes outlives the process it was given to if the same would be shown, which only its successor knows
#[test]
fn what_a_person_agreed_to_counts_after_a_crash_if_the_same_is_shown() {
    for effect in [ReadOnly, Idempotent, Verifiable, Once] {
        let mut world = asking(&[effect]);
        let shown = question(&world).preview.expect("a preview");
        answer(&mut world, QuestionOption::Once);
        assert_eq!(approved(&world), CallApproval::Yes);
        world.crash();
        match effect {
            // It may have run, so a person is asked what to do; that shows them nothing new.
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

// proves X6: the word of a person who was shown a second question is about that one
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

// proves T8, X5: a late question offers what the same question would have offered early, and its reason is recorded
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

// proves X6: whoever brings an answer is heard; a yes counts if the same would be shown now, a no always
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

// proves X6: nobody was asked about a call that a rule allowed, so "run it again" is no yes to what it does
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

/// Taken up by a version that left open questions as they were.
fn resume_as_of_old(world: &mut World) {
    let (attendance, approvals) = (world.run_settings.attendance, OpenApprovals::LeftAlone);
    world.put(Fact::Resumed { attendance, deadline: None, approvals });
}

// proves J7, J8: a journal of an older version, whose questions outlived a resume, is read and decided as it was
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
