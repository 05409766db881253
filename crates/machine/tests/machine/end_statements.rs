//! The truth at the end of a run (S1, L3): what it may not be called, where the records show otherwise or show nothing.

use windlass_machine::{Effect, Fact, PlannedStep};
use windlass_vocab::{
    Answer, AnsweredBy, CallId, Change, EffectClass, EndReason, FileState, FilesChanged, Hash, MissingChange,
    OutcomeKind, OverviewFile, PinnedContext, Planning, Policy, QuestionOption, ReplyFault, RunId, TurnId,
    UnaskedChange, Verdict, VerdictReason, WorkspaceOverview,
};

use crate::support::{COMMAND, Move, World, call, policy};

/// Returns a run of `local-model` on this request, in a workspace with `a.txt` and `b.txt`.
fn world(request: &'static str, script: Vec<Move>) -> World {
    let mut world = World::new("local-model", script);
    world.say(request);
    let context = PinnedContext { prefix: "You are a test.".into(), offer: world.specs(), ..PinnedContext::default() };
    let text = Some("one\ntwo\n".to_owned());
    let file = |path: &str| OverviewFile { path: path.to_owned(), size: 1, text: text.clone(), origin: None };
    let files = ["a.txt", "b.txt"].map(file).to_vec();
    let overview = WorkspaceOverview { files, is_for_judge: true, ..<_>::default() };
    world.put(Fact::Pinned(context, Some(Box::new(overview))));
    world
}

// proves J4, L3: after a crash nobody has compared the files, so nothing is said of them
#[test]
fn a_command_that_a_crash_interrupted_may_have_changed_anything() {
    let command = call(COMMAND, EffectClass::Once).coming_out(OutcomeKind::Interrupted);
    let script = vec![Move::Calls(vec![command]), Move::Text("I have replaced x in a.txt.")];
    let changes = world("Replace x by y in a.txt.", script).finish().changes.expect("a statement");
    assert_eq!((changes.missing, changes.not_changed.len(), changes.commands.len()), (None, 0, 1), "{changes:?}");
}

// proves S1: a new file does not stand for the one that was to be changed
#[test]
fn a_file_made_in_place_of_the_change_of_another_is_sent_back() {
    let script = vec![Move::Calls(vec![call("t0", EffectClass::ReadOnly)]), Move::Text("I have replaced x in a.txt.")];
    for (request, is_sent_back) in [("Replace x by y in a.txt.", true), ("Split a.txt into parts.", false)] {
        let mut world = world(request, script.clone());
        let now = FileState::File { blob: Hash([1; 32]), mode: 0o644, inode: None };
        let made = ("a_new.txt".to_owned(), Change { was: FileState::Absent, now });
        let call = CallId { run: RunId(1), turn: TurnId(1), index: 0 };
        world.put(Fact::FilesChanged(FilesChanged { call, changes: [made].into(), ..FilesChanged::default() }));
        let ended = world.finish();
        let fault = ReplyFault::NotChanged { files: vec!["a.txt".into()] };
        assert_eq!(world.nudges().iter().any(|nudged| nudged.faults.contains(&fault)), is_sent_back, "{request}");
        assert_eq!(ended.reason == EndReason::Completed, !is_sent_back, "{request}");
    }
}

// proves S1, X4: what was denied is not done, whatever the request is taken for
#[test]
fn a_claim_after_a_denied_call_is_sent_back_and_corrected() {
    let denied = call(COMMAND, EffectClass::Once).coming_out(OutcomeKind::Denied);
    let script = vec![Move::Calls(vec![denied]), Move::Text("I have deleted b.txt.")];
    let mut world = world("Tidy this up as we agreed.", script);
    let ended = world.finish();
    assert!(world.nudges().iter().any(|nudged| nudged.faults == [ReplyFault::CallsFailed {}]));
    assert_eq!(ended.reason, EndReason::Unfinished);
    assert_eq!(ended.changes.expect("a statement").missing, Some(MissingChange::Claimed));
}

// proves X4, S1: where nobody can say what is meant, a run asks instead of trying on; words without a claim are an answer
#[test]
fn an_order_that_is_not_clear_ends_with_a_question_where_nobody_is_there() {
    let unclear = UnaskedChange::Unclear {};
    let asks = |change: UnaskedChange| {
        call(COMMAND, EffectClass::Once).judged(Verdict::Ask).because(VerdictReason::Unasked { change })
    };
    for (request, because, reason) in [
        ("Fix the figures, please.", unclear.clone(), EndReason::Asked),
        ("Tidy this up as we agreed.", unclear, EndReason::Asked),
        ("Which one?", UnaskedChange::InAnswer {}, EndReason::Completed),
    ] {
        let script = vec![Move::Calls(vec![asks(because.clone())]), Move::Text("Do you mean a.txt or b.txt?")];
        let mut world = world(request, script);
        let run = world.state.control.run.as_ref().expect("a run");
        assert_eq!(run.unasked_change(&["a.txt".to_owned()], &[]), Some(because), "{request}");
        let ended = world.finish();
        assert_eq!(ended.reason, reason, "{request}");
        let asks = ended.answer.starts_with("The request does not say exactly what to change");
        assert_eq!(asks, reason == EndReason::Asked, "{}", ended.answer);
    }
    let mut world = world("Fix the figures, please.", vec![Move::Text("Which figures are meant?")]);
    assert_eq!((world.finish().reason, world.nudges().len()), (EndReason::Completed, 0));
}

// proves S3, L3: steps that end without doing anything do not complete a request
#[test]
fn a_plan_whose_steps_changed_nothing_is_not_completed() {
    for (preset, reason) in [("local-model", EndReason::Unfinished), ("default", EndReason::Completed)] {
        let planned = Policy { planning: Planning::Always, ..policy(preset) };
        let mut world = World::with_policy(planned, vec![Move::Text("1. write"), Move::Text("sum.txt is written.")]);
        world.plan = ["add up", "write"].map(|step| PlannedStep { step: step.to_owned(), file: None }).to_vec();
        world.child_ends = vec![EndReason::Completed];
        world.say("Write the sum into sum.txt.");
        assert_eq!(world.finish().reason, reason, "{preset}");
    }
}

// proves T8, S2: a person's no is final: the same call is not put to them again, and the model is not sent on
#[test]
fn what_a_person_refused_is_not_asked_again_nor_nudged_for() {
    let asks = || call(COMMAND, EffectClass::Once).with(r#"{"command":"rm b.txt"}"#).judged(Verdict::Ask);
    let script = vec![Move::Calls(vec![asks()]), Move::Calls(vec![asks()]), Move::Text("Done.")];
    let mut world = World::new("local-model", script).attended();
    world.say("Delete b.txt.");
    let mut asked_times = 0;
    while world.state.control.run.is_some() {
        let effect = world.owed().remove(0);
        let fact = match &effect {
            Effect::Ask(asked) => {
                asked_times += 1;
                let answer = Answer::plain(QuestionOption::No);
                Fact::Answered { question: asked.question, answer, by: AnsweredBy::Person }
            }
            _ => world.perform(&effect),
        };
        world.put(fact);
    }
    assert_eq!((asked_times, world.nudges().len()), (1, 0), "{:?}", world.nudges());
}
