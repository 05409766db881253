//! Replies that are held to a schema, where a run is stopped in the middle of one.

use windlass_machine::preset;
use windlass_runtime::SessionActivity;
use windlass_testkit::{BodyPoint, FaultKind, ReplyPace, Script, ScriptStep, ScriptedModel};
use windlass_vocab::{
    Attendance, Delta, DeltaBody, Dialect, Event, ModelReplied, Part, Policy, Record, RunModel, StopBy, StreamIdle,
};

use crate::support::{Bomb, World};

/// Stops a run when this much of the text has come, and returns what is recorded of the reply.
async fn stopped_after(pieces: usize, text: &str) -> ModelReplied {
    let pace = ReplyPace { delta_chars: 10, ..ReplyPace::default() };
    let idle = FaultKind::Idle { after: BodyPoint::Pieces(1 + pieces) }.times(u32::MAX);
    let step = ScriptStep::say(text).thinking("Hm.").pace(pace).fault(idle);
    let patient = StreamIdle { first_ms: 3_600_000, next_ms: 3_600_000 };
    let policy = Policy { stream_idle: patient, ..preset("default").expect("a preset") };
    let world = World::new(policy, ScriptedModel::new(Script::of([step])), Attendance::Unattended);
    let mut agent = world.agent();
    agent.models =
        vec![RunModel { constrained: true, dialect: Some(Dialect::BareJson), ..RunModel::named("scripted") }];
    let session = world.hub(&Bomb::at(None)).open(World::opening(), agent).await.expect("opened");
    let mut events = session.events();
    session.send("m".into(), "go").await.expect("sent");
    // All that comes of the reply comes at once; its text is held back, its thinking is not.
    while !matches!(events.next().await.expect("open"), Event::Delta(Delta { body: DeltaBody::ThinkingStarted {}, .. }))
    {
    }
    session.stop(StopBy::Person).await.expect("stopped");
    assert_eq!(session.settled().await, SessionActivity::Idle);
    let replies = world.records().into_iter().filter_map(|record| match record {
        Record::ModelReplied(replied) => Some(replied),
        _ => None,
    });
    let mut replies: Vec<_> = replies.collect();
    assert_eq!(replies.len(), 1);
    replies.remove(0)
}

// proves L8, M4: a stopped reply is recorded and charged as far as it came; of an answer the text, never its JSON
#[tokio::test]
async fn a_stopped_answer_is_kept_as_text_and_charged() {
    let replied = stopped_after(4, r#"{"answer": "It says \"one\", and more would follow after it."}"#).await;
    assert!(replied.partial);
    let [Part::Text { text }] = &replied.parts[..] else { panic!("{:?}", replied.parts) };
    assert_eq!(text, "It says \"one\", and more wo");
    assert_eq!(replied.usage.output, 40 / 4, "{:?}", replied.usage);
}

// proves L8, M4: an unfinished call is charged, and nothing of it is shown
#[tokio::test]
async fn a_stopped_call_is_charged_and_not_shown() {
    let call = r#"{"name": "scripted.set", "arguments": {"label": "a label that goes on and on"}}"#;
    let replied = stopped_after(6, call).await;
    assert_eq!(replied.parts, []);
    assert_eq!(replied.usage.output, 60 / 4, "{:?}", replied.usage);
}
