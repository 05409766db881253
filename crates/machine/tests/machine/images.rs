//! Attachments and images in the conversation: what is sent of them, what they count, and what is left out of them (C9).

use crate::support::{Move, World, call, policy};
use windlass_machine::{AttemptKey, Fact, ReplayOutcome, replay};
use windlass_vocab::{
    AttachedText, Attachment, CompactionMethod, ContextBudget, EffectClass, EndReason, Failure, FailureCause,
    FailureClass, Hash, HistoryKeeping, ImageRef, Message, NextAttempt, OutcomeKind, Policy, Record, RunModel,
};

fn image(number: u8) -> ImageRef {
    ImageRef {
        name: format!("{number}.png"),
        media_type: "image/png".into(),
        bytes: 120_000,
        width: 1_500,
        height: 600,
        blob: Hash([number; 32]),
    }
}

/// An image of 1,500 × 600 pixels has so many tokens.
const TOKENS: u64 = 1_200;

/// What the models of a run are sent of an image.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sees {
    Images,
    Nothing,
}

fn world(sees: Sees, script: Vec<Move>) -> World {
    let policy = Policy { history: HistoryKeeping::Summarised, ..policy("operator") };
    let mut world = World::with_policy(policy, script);
    let known = |name: &str| RunModel { window: Some(16_000), images: sees == Sees::Images, ..RunModel::named(name) };
    world.run_settings.models = vec![known("first"), known("second")];
    // Nothing: then the estimates count.
    world.reported = 0;
    world
}

fn say(world: &mut World, id: &str, attachments: Vec<Attachment>) {
    let run_settings = Box::new(world.run_settings.clone());
    world.put(Fact::Message { message_id: id.into(), text: "Look.".into(), attachments, run_settings });
}

fn budgets(world: &World) -> Vec<ContextBudget> {
    let budget = |record: &Record| match record {
        Record::TurnStarted(started) => started.budget,
        _ => None,
    };
    world.journal.iter().flatten().filter_map(budget).collect()
}

fn images(world: &World) -> Vec<&ImageRef> {
    world.state.transcript.history.iter().flat_map(Message::images).collect()
}

fn assert_replayed(world: &World) {
    let batches = world.journal.len() as u64;
    assert_eq!(replay(world.state.session, &world.envelopes()), ReplayOutcome::Same { batches });
}

#[test]
fn a_message_is_sent_with_its_attached_texts_and_refers_to_its_images() {
    // proves C9, J7
    let mut world = world(Sees::Images, vec![Move::Text("done")]);
    let (name, media_type) = ("a.txt".to_owned(), "text/plain".to_owned());
    let text = AttachedText { name, media_type, bytes: 2, text: "hi".into(), cut: None, origin: None };
    say(&mut world, "m", vec![Attachment::Image(image(1)), Attachment::Text(text)]);
    let sent = "Look.\n\n<attachment name=\"a.txt\">\nhi\n</attachment>";
    assert_eq!(world.state.transcript.history[0], Message::User { text: sent.into(), images: vec![image(1)] });
    world.finish();
    assert_replayed(&world);
}

#[test]
fn images_count_for_a_model_that_sees_them_and_for_no_other() {
    // proves C3, C4, C9
    let history = |sees: Sees, attachments: Vec<Attachment>| {
        let mut world = world(sees, vec![Move::Text("done")]);
        say(&mut world, "m", attachments);
        world.finish();
        budgets(&world)[0].history
    };
    let two = || vec![Attachment::Image(image(1)), Attachment::Image(image(2))];
    assert_eq!(history(Sees::Images, two()), history(Sees::Images, vec![]) + 2 * TOKENS);
    assert_eq!(history(Sees::Nothing, two()), history(Sees::Nothing, vec![]));
    // Where the size is unknown, and where it is larger than any wire sends it, it is the most.
    for (width, height) in [(0, 0), (20_000, 20_000)] {
        let odd = Attachment::Image(ImageRef { width, height, ..image(1) });
        assert_eq!(history(Sees::Images, vec![odd]), history(Sees::Images, vec![]) + 1_600);
    }
}

#[test]
fn images_of_a_result_are_in_the_history_and_count() {
    // proves T6, C9
    let script = vec![Move::Calls(vec![call("chart", EffectClass::ReadOnly)]), Move::Text("done")];
    let mut world = world(Sees::Images, script);
    world.say("go");
    while world.state.control.run.is_some() {
        let effect = world.owed().remove(0);
        let mut fact = world.perform(&effect);
        if let Fact::CallDone { finished, .. } = &mut fact {
            finished.images = vec![image(3)];
        }
        world.put(fact);
    }
    let [first, second] = &budgets(&world)[..] else { panic!("two turns") };
    assert!((TOKENS..TOKENS + 200).contains(&(second.history - first.history)), "{second:?}");
    let result = world.state.transcript.history.iter().find(|message| !message.images().is_empty());
    assert!(matches!(result, Some(Message::Tool { outcome: OutcomeKind::Ok, .. })), "{result:?}");
    assert_replayed(&world);
}

#[test]
fn older_images_are_left_out_with_a_line_before_anything_is_summarised() {
    // proves C5, C9
    let mut world = world(Sees::Images, vec![Move::Text("done"); 20]);
    for number in 1..=14 {
        say(&mut world, &format!("m{number}"), vec![Attachment::Image(image(number))]);
        world.finish();
    }
    let methods: Vec<CompactionMethod> = world
        .journal
        .iter()
        .flatten()
        .filter_map(|record| match record {
            Record::Compacted(compacted) => Some(compacted.method),
            _ => None,
        })
        .collect();
    assert!(!methods.is_empty() && methods.iter().all(|method| *method == CompactionMethod::Shrunk), "{methods:?}");
    let left = images(&world);
    assert!(left.len() < 10 && left.last().is_some_and(|newest| newest.name == "14.png"), "{left:?}");
    let Message::User { text, images } = &world.state.transcript.history[0] else { panic!("a message") };
    assert!(images.is_empty());
    assert_eq!(text, "Look.\n[older image 1.png, 1500 × 600, 120 kB: no longer sent, to save room]");
    assert!(budgets(&world).iter().all(|budget| budget.used() < 16_000), "a request exceeds the window");
    assert_replayed(&world);
}

/// Pins the context of the run; returns the attempt that is then owed.
fn first_attempt(world: &mut World) -> AttemptKey {
    let effect = world.owed().remove(0);
    let fact = world.perform(&effect);
    world.put(fact);
    world.state.control.run.as_ref().and_then(|run| run.attempt_key()).expect("an attempt")
}

#[test]
fn images_are_left_out_once_a_server_refuses_one_and_the_turn_is_tried_again() {
    // proves C9, J10
    let mut world = world(Sees::Images, vec![Move::Text("done"); 3]);
    say(&mut world, "m1", vec![Attachment::Image(image(1))]);
    let attempt = first_attempt(&mut world);
    let refused = Failure::new(FailureClass::BadRequest, "Could not process image");
    let failure = Failure { cause: Some(FailureCause::ImageRefused), ..refused };
    world.put(Fact::Failed { attempt, failure: failure.clone(), usage: None });
    assert_eq!(world.nexts().pop(), Some(NextAttempt::Shorter));
    let line =
        "[image 1.png, 1500 × 600, 120 kB: not sent, because the model's server refused an image of this conversation]";
    assert_eq!(world.state.transcript.history, [Message::user(format!("Look.\n{line}"))]);
    assert_eq!(world.finish().reason, EndReason::Completed);
    // Where no image is sent, the same words are about something else.
    say(&mut world, "m2", Vec::new());
    let attempt = first_attempt(&mut world);
    world.put(Fact::Failed { attempt, failure, usage: None });
    assert_eq!(world.nexts().pop(), Some(NextAttempt::End));
    assert_replayed(&world);
}

#[test]
fn images_are_what_a_request_of_too_many_bytes_leaves_out_first() {
    // proves C9, J10
    let mut world = world(Sees::Images, vec![Move::Text("done")]);
    say(&mut world, "m1", vec![Attachment::Image(image(1))]);
    let attempt = first_attempt(&mut world);
    let failure = Failure { status: Some(413), ..Failure::new(FailureClass::Overflow, "Payload Too Large") };
    world.put(Fact::Failed { attempt, failure, usage: None });
    assert_eq!((world.nexts().pop(), images(&world).len()), (Some(NextAttempt::Shorter), 0));
    assert_eq!(world.finish().reason, EndReason::Completed);
}
