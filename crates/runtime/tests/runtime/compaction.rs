//! A conversation that gets too long for the model's window, with a scripted model.

use std::sync::atomic::Ordering;

use serde_json::json;
use windlass_machine::preset;
use windlass_runtime::CompactionUndo;
use windlass_testkit::{
    AfterSteps, FaultKind, KillTarget, Scene, Script, ScriptStep, ScriptedModel, count_ways_to_die,
};
use windlass_vocab::{
    Attendance, CompactionMethod, DeltaBody, Dialect, EndReason, Event, HistoryKeeping, MaxTokens, ModelRole, Policy,
    Record, Sampling, TurnMode,
};

use crate::support::{Bomb, End, Point, Side, World};

/// Fourteen calls with long arguments, then an answer; whoever asks without tools gets the summary.
fn script(summary: ScriptStep) -> Script {
    let work = (0..14).map(|n| ScriptStep::call("scripted__set", json!({ "n": n, "text": "x".repeat(600) })));
    Script::default()
        .scene(Scene::without_tools([summary]).then(AfterSteps::RepeatLast))
        .scene(Scene { steps: work.chain([ScriptStep::say("All done.")]).collect(), ..Scene::default() })
}

fn world(summary: ScriptStep) -> World {
    let policy = Policy { history: HistoryKeeping::Summarised, ..preset("default").expect("a preset") };
    let mut world = World::new(policy, ScriptedModel::new(script(summary)), Attendance::Unattended);
    world.window = Some(4_700);
    world
}

fn compactions(world: &World) -> Vec<(CompactionMethod, Option<String>)> {
    let compacted = |record| match record {
        Record::Compacted(compacted) => Some((compacted.method, compacted.summary)),
        _ => None,
    };
    world.records().into_iter().filter_map(compacted).collect()
}

// proves C5, M9
#[tokio::test]
async fn a_summary_is_written_by_the_model_and_shown_to_nobody_else() {
    let world = world(ScriptStep::say("THE SUMMARY"));
    let session = world.open(&Bomb::at(None)).await.expect("opened");
    let mut events = session.events();
    session.send("m".into(), "the goal").await.expect("sent");
    let ended = loop {
        match events.next().await.expect("the session is open") {
            Event::Delta(delta) => {
                let shown = matches!(&delta.body, DeltaBody::TextDelta { text } if text.contains("SUMMARY"));
                assert!(!shown, "a summary is not part of the answer");
            }
            Event::Record(envelope) => {
                if let Record::RunEnded(ended) = &envelope.record {
                    break ended.clone();
                }
            }
        }
    };
    assert_eq!((ended.reason, ended.answer.as_str()), (EndReason::Completed, "All done."));
    assert_eq!(world.model.refused(), Vec::<String>::new());
    let written = compactions(&world);
    assert!(!written.is_empty(), "the window is too small for all of it");
    for (method, summary) in written {
        assert_eq!((method, summary.as_deref()), (CompactionMethod::Summarised, Some("THE SUMMARY")));
    }
    let heard = world.model.heard_requests();
    let summaries = heard.iter().filter(|heard| heard.mode == TurnMode::Summary);
    assert!(summaries.clone().all(|heard| heard.messages > 2), "it is sent what it summarises");
    let replies = world
        .records()
        .into_iter()
        .filter(|record| matches!(record, Record::ModelReplied(replied) if replied.role == ModelRole::Summary));
    assert_eq!(replies.count(), summaries.count());
}

// proves C5
#[tokio::test]
async fn a_run_goes_on_with_a_plain_summary_where_the_model_writes_none() {
    let world = world(ScriptStep::say("never").fault(FaultKind::status(401).times(u32::MAX)));
    let session = world.open(&Bomb::at(None)).await.expect("opened");
    session.send("m".into(), "the goal").await.expect("sent");
    session.settled().await;
    let answers = world.records().into_iter().filter_map(|record| match record {
        Record::RunEnded(ended) => Some(ended.answer),
        _ => None,
    });
    assert_eq!(answers.collect::<Vec<_>>(), ["All done."]);
    let methods: Vec<_> = compactions(&world).into_iter().map(|(method, _)| method).collect();
    assert!(!methods.is_empty() && methods.iter().all(|method| *method == CompactionMethod::Plain), "{methods:?}");
}

// proves C5, T10: a cold resume after compaction
#[tokio::test]
async fn what_was_left_out_is_found_through_recall_by_another_process() {
    let facts = [("harbour", "The harbour master is Ines Kvist."), ("door", "The door opens with 7314-blue.")];
    let talk = |words: &str| Scene::when(words, [ScriptStep::say("Noted.")]);
    let ask = |(word, _): &(&str, &str)| {
        let call = ScriptStep::call("recall", json!({ "query": word }));
        Scene::when(&format!("Question: {word}"), [call, ScriptStep::say("Found.")])
    };
    let mut script =
        Script::default().scene(Scene::without_tools([ScriptStep::say("Nothing much.")]).then(AfterSteps::RepeatLast));
    script = facts.iter().map(ask).fold(script, Script::scene);
    script = script.scene(talk("Tell"));
    let policy = Policy { history: HistoryKeeping::Summarised, ..preset("default").expect("a preset") };
    let mut world = World::new(policy, ScriptedModel::new(script), Attendance::Unattended);
    world.window = Some(4_700);
    let mut number = 0;
    let mut send = async |text: String| {
        let session = world.open(&Bomb::at(None)).await.expect("opened");
        number += 1;
        session.send(format!("m{number}").into(), text).await.expect("sent");
        session.settled().await;
        session.close().await;
    };
    for (_, fact) in facts {
        send(format!("Tell: {fact}")).await;
    }
    for _ in 0..14 {
        send(format!("Tell: {}", "nothing ".repeat(400))).await;
    }
    assert!(!compactions(&world).is_empty(), "the facts are no longer sent");
    for (word, fact) in facts.into_iter().chain(facts) {
        send(format!("Question: {word}?")).await;
        let found = world.records().into_iter().rev().find_map(|record| match record {
            Record::CallFinished(finished) => Some(finished.text),
            _ => None,
        });
        let found = found.expect("a result");
        assert!(found.contains(fact), "{word}: {found}");
        // What is still sent is not found again, and neither is what an earlier call of the tool had found.
        assert!(!found.contains("Question: ") && found.matches(fact).count() == 1, "{word}: {found}");
    }
    assert_eq!(world.model.refused(), Vec::<String>::new());
}

// proves T4, M3: a limit that the budget set is as good as one of the policy
#[tokio::test]
async fn a_call_in_text_that_reaches_the_limit_of_the_budget_is_not_run() {
    // Only the closing tag is missing, as where it is a stop sequence.
    let open =
        "<tool>\n<server_name>scripted</server_name>\n<tool_name>read</tool_name>\n<arguments>{\"n\": 1}</arguments>";
    let script = Script::of([ScriptStep::say(open).usage(9, 50_000), ScriptStep::say("Read.")]);
    let sampling = Sampling { max_tokens: MaxTokens::Budget, ..Sampling::default() };
    let policy = Policy { dialects: vec![Dialect::ToolBlock], sampling, ..preset("default").expect("a preset") };
    for (window, runs) in [(Some(40_000), false), (None, true)] {
        let mut world = World::new(policy.clone(), ScriptedModel::new(script.clone()), Attendance::Unattended);
        world.window = window;
        let session = world.open(&Bomb::at(None)).await.expect("opened");
        session.send("m".into(), "go").await.expect("sent");
        session.settled().await;
        let ran = world.records().iter().any(|record| matches!(record, Record::CallStarted(_)));
        assert_eq!(ran, runs, "{window:?}");
    }
}

/// Runs processes until one of them gets to the end; the first dies at `death`.
async fn outcome(world: &World, death: Option<Point>) -> (EndReason, String, u32) {
    for death in death.map(Some).into_iter().chain([None]) {
        if let End::Ended(ended) = world.process(&Bomb::at(death)).await {
            return (ended.reason, ended.answer, ended.turns);
        }
    }
    panic!("the run must end after {death:?}")
}

// proves J3, C5, M9: a summary in flight
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_kill_matrix_of_a_summary_in_process_ends_as_if_undisturbed() {
    let summaries = [ScriptStep::say("THE SUMMARY"), ScriptStep::say("").fault(FaultKind::status(503).times(1))];
    let mut checked = 0;
    for summary in summaries {
        let (whole, bomb) = (world(summary.clone()), Bomb::at(None));
        let End::Ended(ended) = whole.process(&bomb).await else { panic!("the undisturbed run must end") };
        let expected = ((ended.reason, ended.answer, ended.turns), compactions(&whole));
        assert!(!expected.1.is_empty());
        let appends = 1..=bomb.appends.load(Ordering::SeqCst);
        let around = appends.flat_map(|n| [Point::Append(Side::Before, n), Point::Append(Side::After, n)]);
        for death in around.chain((1..=bomb.models.load(Ordering::SeqCst)).map(Point::Model)) {
            let world = world(summary.clone());
            let found = (outcome(&world, Some(death)).await, compactions(&world));
            assert_eq!(found, expected, "dying at {death:?}");
            assert_eq!(world.model.refused(), Vec::<String>::new());
            checked += 1;
        }
    }
    count_ways_to_die(KillTarget::InProcess, "a summary", checked).expect("as stated");
}

// proves C5, W6
#[tokio::test]
async fn a_compaction_that_was_only_asked_for_is_withdrawn_and_one_that_no_longer_fits_stays() {
    let talk = Scene::when("Tell", [ScriptStep::say("Noted.")]);
    let summary = Scene::without_tools([ScriptStep::say("THE SUMMARY")]).then(AfterSteps::RepeatLast);
    let policy = Policy { history: HistoryKeeping::Summarised, ..preset("default").expect("a preset") };
    let model = ScriptedModel::new(Script::default().scene(summary).scene(talk));
    let mut world = World::new(policy, model, Attendance::Unattended);
    world.window = Some(4_700);
    let session = world.open(&Bomb::at(None)).await.expect("opened");
    let mut number = 0;
    let mut tell = async |words: &str| {
        number += 1;
        session.send(format!("m{number}").into(), format!("Tell: {words}")).await.expect("sent");
        session.settled().await;
    };
    tell("first").await;
    assert_eq!(session.undo_compaction().await, Ok(CompactionUndo::Nothing));
    session.compact().await.expect("taken");
    assert_eq!(session.undo_compaction().await, Ok(CompactionUndo::Withdrawn));
    tell("second").await;
    assert_eq!(compactions(&world), [], "it was withdrawn");
    session.compact().await.expect("taken");
    tell("third").await;
    assert_eq!(compactions(&world).len(), 1);
    assert_eq!(session.undo_compaction().await, Ok(CompactionUndo::Restored));
    while compactions(&world).len() < 3 {
        tell(&"nothing ".repeat(300)).await;
    }
    assert_eq!(session.undo_compaction().await, Ok(CompactionUndo::TooLong));
    assert_eq!(compactions(&world).len(), 3, "the summary stays");
}

// proves C5: the wish for a summary is stored, so it survives the close of an idle session, and one run fulfils it
#[tokio::test]
async fn a_summary_that_was_asked_for_is_made_after_the_session_was_closed() {
    let talk = Scene::when("Tell", [ScriptStep::say("Noted.")]);
    let summary = Scene::without_tools([ScriptStep::say("THE SUMMARY")]).then(AfterSteps::RepeatLast);
    let policy = Policy { history: HistoryKeeping::Summarised, ..preset("default").expect("a preset") };
    let model = ScriptedModel::new(Script::default().scene(summary).scene(talk));
    let world = World::new(policy, model, Attendance::Unattended);
    let mut made = Vec::new();
    for number in 1..=5 {
        let session = world.open(&Bomb::at(None)).await.expect("opened");
        session.send(format!("m{number}").into(), format!("Tell: {number}")).await.expect("sent");
        session.settled().await;
        if number == 3 {
            session.compact().await.expect("taken");
            session.compact().await.expect("taken");
        }
        session.close().await;
        made.push(compactions(&world).len());
    }
    assert_eq!(made, [0, 0, 0, 1, 1]);
    let asked = world.records().into_iter().filter(|record| match record {
        Record::SessionChanged(changed) => changed.compact.is_some(),
        _ => false,
    });
    assert_eq!(asked.count(), 1, "it is asked for once");
}
