//! `--dialect`: how a model writes calls, as in the policy's field `dialects`.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use windlass_vocab::Dialect;

const DIALECTS: [(&str, Dialect, &str); 8] = [
    ("native", Dialect::Native, "The server's own calls"),
    ("probe", Dialect::Probe, "What turns out to work"),
    ("tool_block", Dialect::ToolBlock, "<tool> blocks in the text"),
    ("bracket", Dialect::Bracket, "[server.tool(name=\"value\")]"),
    ("lines", Dialect::Lines, "Tool: and Arguments: lines"),
    ("tool_tag", Dialect::ToolTag, "<tool name=\"…\"> blocks, explained in few words, for small models"),
    ("script", Dialect::Script, "A Python or shell block, run as a command, for small models"),
    ("bare_json", Dialect::BareJson, "JSON without tags"),
];

/// Parses a dialect's name, as in windlass.toml.
pub(super) fn parser() -> impl TypedValueParser<Value = Dialect> {
    let names = DIALECTS.map(|(name, _, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(names).map(|name| dialect_named(&name))
}

/// Returns a dialect's name, as in windlass.toml.
pub(crate) fn dialect_name(dialect: Dialect) -> &'static str {
    DIALECTS.iter().find(|(_, known, _)| *known == dialect).map_or("native", |(name, ..)| *name)
}

fn dialect_named(name: &str) -> Dialect {
    DIALECTS.iter().find(|(known, ..)| *known == name).map_or(Dialect::Native, |(_, dialect, _)| *dialect)
}

#[cfg(test)]
mod tests {
    use super::DIALECTS;

    #[test]
    fn a_dialect_has_the_name_that_it_has_in_a_file() {
        for (name, dialect, _) in DIALECTS {
            assert_eq!(serde_json::to_value(dialect).expect("it serialises"), name);
        }
    }
}
