//! Replies without a call where one is needed (L6): no nudge is repeated forever.

use crate::support::{Move, World, call, policy};
use windlass_machine::{Effect, Fact};
use windlass_vocab::{
    Answer, AnsweredBy, Dialect, EffectClass, EndReason, Ending, Json, Nudge, NudgeCause, PinnedContext,
    QuestionOption, ToolName, ToolSpec,
};

fn task_completion() -> ToolSpec {
    ToolSpec {
        name: ToolName("local.task_completion".into()),
        wire_name: "task_completion".into(),
        description: "Ends the run.".into(),
        schema: Json::parse(r#"{"type":"object","required":["result"]}"#).expect("JSON"),
        effect: EffectClass::ReadOnly,
        ending: Some(Ending::Completed),
        repeatable: false,
        reads_files: false,
        tags: std::collections::BTreeSet::new(),
    }
}

/// Returns a run of `task` whose model writes only text, in this dialect.
fn talking(dialect: Option<Dialect>) -> World {
    let mut world = World::new("task", vec![Move::Text("I think I am done.")]);
    world.say("go");
    let offer = vec![task_completion()];
    world.put(Fact::Pinned(
        PinnedContext { prefix: "You are a test.".into(), offer, dialect, ..PinnedContext::default() },
        None,
    ));
    world
}

fn no_tool_call(world: &World) -> Vec<String> {
    let nudges = world.nudges().into_iter();
    nudges.filter(|nudged| nudged.why == NudgeCause::Reply(Nudge::NoToolCall)).map(|nudged| nudged.text).collect()
}

#[test]
fn after_three_nudges_the_text_changes_and_after_five_the_run_ends_unfinished() {
    // proves L6, S2
    for (dialect, form) in [
        (None, "a tool call of `task_completion` with the arguments {\"result\": \"...\"}, made as a call"),
        (
            Some(Dialect::ToolBlock),
            "<tool>\n<server_name>local</server_name>\n<tool_name>task_completion</tool_name>\n<arguments>\n\
             {\"result\": \"...\"}\n</arguments>\n</tool>",
        ),
        (Some(Dialect::Bracket), "[local.task_completion(result=\"...\")]"),
        (Some(Dialect::ToolTag), "<tool name=\"task_completion\">\n<result>...</result>\n</tool>"),
        (Some(Dialect::Lines), "Tool: local.task_completion\nArguments: {\"result\": \"...\"}"),
        (Some(Dialect::BareJson), "{\"name\": \"local.task_completion\", \"arguments\": {\"result\": \"...\"}}"),
    ] {
        let mut world = talking(dialect);
        let ended = world.finish();
        assert_eq!((ended.reason, ended.turns), (EndReason::Unfinished, 7), "six replies and the summary");
        assert_eq!(ended.answer, "This is done, that is not.");
        let told = no_tool_call(&world);
        assert_eq!(told.len(), 5);
        assert!(told[0] == told[1] && told[1] == told[2] && told[2] != told[3], "{told:?}");
        for text in &told[3..] {
            assert!(text.contains(form) && text.contains("- when the job is done: task_completion"), "{text}");
        }
    }
}

#[test]
fn where_a_person_is_there_they_are_asked_whether_it_should_go_on() {
    // proves L6, T8
    for option in [QuestionOption::Once, QuestionOption::No] {
        let mut world = World::new("task", vec![Move::Text("I think I am done.")]).attended();
        world.say("go");
        let question = loop {
            match world.owed().remove(0) {
                Effect::Ask(asked) => break asked,
                effect => {
                    let fact = world.perform(&effect);
                    world.put(fact);
                }
            }
        };
        assert!(question.preview.as_ref().is_some_and(|preview| preview.title.contains("told five times in a row")));
        assert_eq!(no_tool_call(&world).len(), 5);
        world.crash();
        assert!(matches!(world.owed()[..], [Effect::Ask(_)]), "still asked after a crash");
        let answer = Answer::plain(option);
        world.put(Fact::Answered { question: question.question, answer, by: AnsweredBy::Person });
        let end = Move::Calls(vec![call("end", EffectClass::ReadOnly).ending(Ending::Completed)]);
        world.script = vec![end];
        let ended = world.finish();
        let goes_on = option == QuestionOption::Once;
        assert_eq!(ended.reason, if goes_on { EndReason::Completed } else { EndReason::Unfinished });
        assert_eq!(no_tool_call(&world).len(), if goes_on { 6 } else { 5 }, "told once more what is missing");
        let halts: Vec<String> = world
            .nudges()
            .into_iter()
            .filter(|nudged| nudged.why == NudgeCause::Halt)
            .map(|nudged| nudged.text)
            .collect();
        assert_eq!(halts.len(), usize::from(!goes_on));
        assert!(halts.iter().all(|text| text.contains("asked again and again to call a tool")), "{halts:?}");
    }
}

#[test]
fn a_call_in_between_starts_the_count_again() {
    // proves L6
    let text = || vec![Move::Text("words"); 5];
    let mut script = text();
    script.push(Move::Calls(vec![call("t0", EffectClass::Once)]));
    script.extend(text());
    script.push(Move::Calls(vec![call("end", EffectClass::ReadOnly).ending(Ending::Completed)]));
    let mut world = World::new("task", script);
    world.say("go");
    let ended = world.finish();
    assert_eq!((ended.reason, ended.turns), (EndReason::Completed, 12));
}

#[test]
fn an_output_that_never_fits_is_sent_back_with_its_schema_after_three_times() {
    // proves L10
    let mut policy = policy("default");
    policy.output_corrections = 5;
    let mut world = World::with_policy(policy, vec![Move::Misfit("{\"n\": 2}")]).typed();
    world.say("go");
    assert_eq!(world.finish().reason, EndReason::Failed);
    let told: Vec<bool> = world.nudges().iter().map(|nudged| nudged.text.contains("This is its schema")).collect();
    assert_eq!(told, [false, false, false, true, true]);
}
