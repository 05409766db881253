//! Tool schemas and the rules for writing calls, where calls are text (T4).

use windlass_tools::dialect::{ScriptLanguages, prompt, script_prompt};
use windlass_vocab::{Dialect, Policy, ToolSpec};

/// Returns the schemas and rules; nothing where the wire carries them.
pub(crate) fn section(
    policy: &Policy,
    offer: &[ToolSpec],
    dialect: Option<Dialect>,
    languages: ScriptLanguages,
) -> Option<String> {
    match dialect? {
        Dialect::Script => script_prompt(offer, languages),
        dialect @ (Dialect::Native
        | Dialect::ToolBlock
        | Dialect::Bracket
        | Dialect::Lines
        | Dialect::BareJson
        | Dialect::ToolTag
        | Dialect::Probe) => prompt(dialect, offer, policy.parallel.into()),
    }
}
