//! Tool schemas and the rules for writing calls, where calls are text (T4).

use windlass_tools::dialect::{ScriptLanguages, prompt, script_prompt};
use windlass_vocab::{Dialect, RunStarted, ToolSpec};

const CONSTRAINED: &str = include_str!("../prompts/constrained.md");

/// Returns the schemas and rules; nothing where the wire carries them.
pub(crate) fn section(
    run: &RunStarted,
    offer: &[ToolSpec],
    dialect: Option<Dialect>,
    languages: ScriptLanguages,
) -> Option<String> {
    let parallel = run.policy.parallel.into();
    match dialect? {
        Dialect::Script => script_prompt(offer, languages),
        Dialect::BareJson => {
            let rules = prompt(Dialect::BareJson, offer, parallel)?;
            Some(if run.asks_for_json_answers() { format!("{rules}\n\n{}", CONSTRAINED.trim()) } else { rules })
        }
        dialect @ (Dialect::Native
        | Dialect::ToolBlock
        | Dialect::Bracket
        | Dialect::Lines
        | Dialect::ToolTag
        | Dialect::Probe) => prompt(dialect, offer, parallel),
    }
}
