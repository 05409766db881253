//! Tools that use no files.

use serde_json::json;
use windlass_tools::Permissions;
use windlass_vocab::{Ending, OutcomeKind, PlanItem, PlanStatus, ReplyCall, Verdict};

use super::room::Room;

// proves T10
#[test]
fn the_plan_is_replaced_whole() {
    let room = Room::with(&[]);
    let items = json!([{"step": "dig", "status": "done"}, {"step": "fill", "status": "doing"}]);
    let outcome = room.call("todo", &json!({"items": items}));
    assert_eq!(outcome.text, "The plan has 2 steps, 1 of them done.\n[x] dig\n[>] fill");
    let item = |step: &str, status| PlanItem::new(step, status);
    assert_eq!(outcome.plan, Some(vec![item("dig", PlanStatus::Done), item("fill", PlanStatus::Doing)]));
}

// proves L6
#[test]
fn an_ending_tool_answers_with_what_the_person_is_told() {
    let room = Room::with(&[]);
    for (tool, field, ending) in [
        ("task_completion", "result", Ending::Completed),
        ("ask_question", "question", Ending::Asked),
        ("converse", "message", Ending::Conversed),
    ] {
        assert_eq!(room.ok(tool, &json!({field: "All is well."})), "All is well.");
        assert!(room.refused(tool, &json!({field: " "})).contains("is empty"));
        let spec = room.offer.specs().iter().find(|spec| spec.wire_name == tool).unwrap();
        assert_eq!(spec.ending, Some(ending));
    }
}

// proves T7
#[test]
fn without_a_guard_no_command_is_run() {
    let room = Room::with(&[]);
    let outcome = room.call("run_command", &json!({"command": "touch ran"}));
    assert_eq!(outcome.kind, OutcomeKind::InfrastructureError);
    assert!(outcome.text.contains("Commands::guard"), "{}", outcome.text);
    assert!(!room.root().join("ran").exists());
}

// proves T3
#[test]
fn every_built_in_tool_has_a_schema_that_holds_and_a_description() {
    let room = Room::with(&[]);
    assert_eq!(room.offer.specs().len(), 13);
    for spec in room.offer.specs() {
        assert!(!spec.description.is_empty(), "{}", spec.name);
        let call = ReplyCall {
            name: spec.wire_name.clone(),
            arguments: r#"{"no such": 1}"#.into(),
            provider_id: None,
            mended: None,
        };
        let prepared = room.offer.prepare(&call, &Permissions::default(), &[]);
        let told =
            matches!(&prepared.verdict, Verdict::Invalid { reason, .. } if reason.contains("don't fit its schema"));
        assert!(told, "{}: {:?}", spec.name, prepared.verdict);
    }
}

// proves T8: a rule about a tool that does not exist can be told from one about a tool that does
#[test]
fn the_list_of_names_has_every_tool_that_is_built_in() {
    let room = Room::with(&[]);
    let mut names: Vec<&str> = room.offer.specs().iter().map(|spec| spec.name.bare()).collect();
    names.extend(["fetch_url", "find_tools", "read_skill", "recall", "wait_for_servers"]);
    names.sort_unstable();
    assert_eq!(names, windlass_tools::TOOL_NAMES);
}
