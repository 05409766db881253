//! Tools without files.

use serde_json::json;
use windlass_vocab::{Ending, OutcomeKind, PlanItem, PlanStatus};

use crate::room::Room;

// proves T10
#[test]
fn the_plan_is_replaced_whole() {
    let room = Room::with(&[]);
    let items = json!([{"step": "dig", "status": "done"}, {"step": "fill", "status": "doing"}]);
    let outcome = room.call("todo", &json!({"items": items}));
    assert_eq!(outcome.text, "The plan has 2 steps, 1 of them done.\n[x] dig\n[>] fill");
    let item = |step: &str, status| PlanItem { step: step.into(), status };
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
