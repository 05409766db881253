use std::collections::BTreeSet;

use super::{
    BetterPreset, JobTally, MeasuredModel, best, best_measurement, better, better_with_scripts, measured_models,
    measurements,
};
use crate::ability::Ability;
use crate::known_models::known_model;
use crate::server_kind::ServerKind;
use windlass_vocab::Dialect;

// proves M2: what is shown and set by itself was measured, with enough tries to mean something
#[test]
fn every_measurement_is_plausible_and_every_setting_stands_once() {
    let mut seen = BTreeSet::new();
    for row in measured_models() {
        let MeasuredModel { id, needs_tools, questions, talk, refusals, unasked_changes, .. } = *row;
        let setting = (id, row.preset, format!("{:?}", row.dialect), row.constrained);
        assert!(seen.insert(setting.clone()), "{id} has two rows for {setting:?}");
        let kinds = [needs_tools, questions, talk, refusals];
        assert!(kinds.iter().all(|tally| tally.tries > 0 && tally.count <= tally.tries), "{row:?}");
        assert!(needs_tools.tries >= 20, "{id}: {} tries are too few to choose a setting by", needs_tools.tries);
        let tries: u32 = kinds.iter().map(|tally| tally.tries).sum();
        assert!(unasked_changes.tries == tries && unasked_changes.count <= tries, "{row:?}");
        let date: Vec<usize> = row.date.split('-').map(|part| part.parse().expect("a number")).collect();
        assert!(matches!(date[..], [2026..=2099, 1..=12, 1..=31]), "{}", row.date);
        let version: Vec<u32> = row.version.split('.').map(|part| part.parse().expect("a number")).collect();
        assert_eq!(version.len(), 3, "{}", row.version);
        assert!(!row.constrained || row.dialect == Dialect::BareJson, "{id}: only JSON can be held to a schema");
        assert!(row.dialect != Dialect::Probe && !row.weights.is_empty(), "{row:?}");
        assert!(id.split_once(':').is_some_and(|(_, size)| !size.is_empty()), "{id} does not name a size");
        assert!(known_model(ServerKind::Ollama, id).is_some_and(|row| row.native_calls != Ability::No), "{id}");
    }
}

// proves M2: one model has many names
#[test]
fn a_measured_model_is_found_by_the_names_that_servers_give_it() {
    use ServerKind::{LlamaCpp, LmStudio, Ollama, Other, Vllm};
    for (server, id) in [
        (Ollama, "qwen2.5-coder:1.5b"),
        (Ollama, "qwen2.5-coder:1.5b-instruct-q4_K_M"),
        (Ollama, "hf.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF:Q4_K_M"),
        (LlamaCpp, "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"),
        (LlamaCpp, "/home/ada/models/Qwen2.5-Coder-1.5B-Instruct-Q4_K_M.gguf"),
        (LlamaCpp, r"C:\models\Qwen2.5-Coder-1.5B.Q4_K_M.gguf"),
        (LmStudio, "qwen2.5-coder-1.5b-instruct"),
        (LmStudio, "lmstudio-community/Qwen2.5-Coder-1.5B-Instruct-GGUF"),
        (Vllm, "Qwen/Qwen2.5-Coder-1.5B-Instruct"),
        (Other, "qwen2.5-coder-1.5b"),
    ] {
        let found = best_measurement(server, id).map(|row| (row.id, row.preset, row.dialect));
        assert_eq!(found, Some(("qwen2.5-coder:1.5b", "local-model", Dialect::ToolTag)), "{id}");
        let scripts = better_with_scripts(server, id, Some(Dialect::ToolTag)).map(|row| (row.preset, row.dialect));
        assert_eq!(scripts, Some(("local-model", Dialect::Script)), "{id}");
        assert_eq!(better_with_scripts(server, id, Some(Dialect::Script)), None, "they are used: {id}");
    }
    for id in [
        "qwen2.5-coder:7b",
        "qwen2.5-coder:14b",
        "qwen2.5-coder",
        "qwen2.5:1.5b",
        "qwen2.5-coder:1.5b-base",
        "Qwen2.5-Coder-1.5B-base.Q4_K_M.gguf",
        "qwen2.5-coder:11.5b",
        "qwen2.5-coder:1.5bn",
        "",
    ] {
        assert_eq!(measurements(Ollama, id), Vec::<&MeasuredModel>::new(), "{id}");
    }
}

const ROW: MeasuredModel = MeasuredModel {
    id: "m:1b",
    weights: "Q4_K_M",
    date: "2026-11-17",
    version: "0.1.0",
    preset: "default",
    dialect: Dialect::Native,
    constrained: false,
    needs_tools: JobTally::of(10, 20),
    questions: JobTally::of(0, 4),
    talk: JobTally::of(0, 5),
    refusals: JobTally::of(0, 3),
    unasked_changes: JobTally::of(0, 32),
};
static HALF: MeasuredModel = ROW;
static SAME_CONSTRAINED: MeasuredModel = MeasuredModel { constrained: true, needs_tools: JobTally::of(30, 60), ..ROW };
static BETTER_CONSTRAINED: MeasuredModel =
    MeasuredModel { constrained: true, needs_tools: JobTally::of(31, 60), ..ROW };
static NONE: MeasuredModel = MeasuredModel { needs_tools: JobTally::of(0, 20), ..ROW };

// proves T4: constrained calls are on by themselves only where they were measured to help
#[test]
fn the_best_setting_did_the_largest_share_and_a_constrained_one_must_show_a_gain() {
    for (rows, expected) in [
        (vec![&HALF, &SAME_CONSTRAINED], Some(&HALF)),
        (vec![&SAME_CONSTRAINED, &HALF], Some(&HALF)),
        (vec![&HALF, &BETTER_CONSTRAINED], Some(&BETTER_CONSTRAINED)),
        (vec![&BETTER_CONSTRAINED, &HALF], Some(&BETTER_CONSTRAINED)),
        (vec![&NONE], None),
        (vec![], None),
    ] {
        assert_eq!(best(&rows), expected);
    }
}

static OTHER_PRESET: MeasuredModel = MeasuredModel { preset: "local-model", needs_tools: JobTally::of(40, 60), ..ROW };
static OTHER_SAME: MeasuredModel = MeasuredModel { preset: "local-model", needs_tools: JobTally::of(30, 60), ..ROW };

// proves M2: a preset is suggested only where it was measured to do more than the one in use
#[test]
fn a_preset_is_better_only_if_it_did_a_larger_share_in_the_same_dialect() {
    let of = |rows: &[&'static MeasuredModel], preset, dialect| better(rows, preset, dialect);
    let both = [&HALF, &OTHER_PRESET];
    let gain = BetterPreset { better: &OTHER_PRESET, in_use: Some(&HALF) };
    assert_eq!(of(&both, "default", Dialect::Native), Some(gain));
    let unmeasured = BetterPreset { better: &OTHER_PRESET, in_use: None };
    assert_eq!(of(&both, "task", Dialect::Native), Some(unmeasured));
    assert_eq!(of(&both, "local-model", Dialect::Native), None, "it is in use");
    assert_eq!(of(&both, "default", Dialect::ToolTag), None, "another dialect was not measured");
    assert_eq!(of(&[&OTHER_SAME, &HALF], "default", Dialect::Native), None, "no gain");
    assert_eq!(of(&[&NONE], "local-model", Dialect::Native), None);
}
