use windlass_vocab::{EffectClass, Json, PlanItem, PlanStatus, Timestamp, ToolName, ToolSpec, TurnMode};

use super::TailSources;

fn tool(name: &str, effect: EffectClass) -> ToolSpec {
    ToolSpec {
        name: ToolName(name.into()),
        wire_name: name.replace('.', "_"),
        description: String::new(),
        schema: Json::from(&serde_json::json!({"type": "object"})),
        effect,
        ending: None,
        repeatable: false,
        reads_files: name == "local.read_file",
        tags: std::collections::BTreeSet::new(),
    }
}

// proves C1: the reminders in their order, and each only where it applies
#[test]
fn the_tail_reminds_only_of_what_applies_to_this_turn() {
    let now: Timestamp = "2026-11-16T22:30:00.000Z".parse().expect("a time");
    let plan = [PlanItem { step: "Look.".into(), status: PlanStatus::Doing }];
    let files = [tool("local.read_file", EffectClass::ReadOnly), tool("local.run_command", EffectClass::Once)];
    let served = [tool("hub.search", EffectClass::ReadOnly)];
    let today = "Today is 2026-11-16 (UTC).";
    let prefer = "Use the tools rather than guess what they can find out.";
    let honest = "You can't call tools in this turn: say what you don't know, and claim no work that was not done.";
    let links = "Name files by their path in the workspace, with the line where it helps: src/main.rs:12.";
    let platform = format!("Commands run on {}.", std::env::consts::OS);
    let planned = format!("Your plan:\n{}", plan[0]);
    for (mode, offer, plan, want) in [
        (TurnMode::Tools, &files[..], &plan[..], vec![today, prefer, links, &platform, &planned]),
        (TurnMode::WrapUp, &files, &[], vec![today, honest, links, &platform]),
        (TurnMode::Tools, &served, &[], vec![today, prefer]),
        (TurnMode::Talk, &[], &[], vec![today, honest]),
    ] {
        assert_eq!(TailSources { now, mode, offer, plan }.tail(), want.join("\n"));
    }
}
