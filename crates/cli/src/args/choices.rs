//! `--mode` and `--durability`: settings of which there are a few, each with a name.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use windlass_setup::settings::{Durability, Mode};

/// Takes the name of a mode.
pub(super) fn mode() -> impl TypedValueParser<Value = Mode> {
    let help = |mode: Mode| match mode {
        Mode::Bypass => "Nothing is asked",
        Mode::Default => "Work in the workspace is allowed, commands are asked for",
        Mode::Strict => "Every change is asked for",
    };
    let names = Mode::ALL.map(|mode| PossibleValue::new(mode.as_str()).help(help(mode)));
    PossibleValuesParser::new(names).try_map(|name| Mode::parsed(&name))
}

/// Takes the name of a durability.
pub(super) fn durability() -> impl TypedValueParser<Value = Durability> {
    let help = |durability: Durability| match durability {
        Durability::Full => "A power cut",
        Durability::Normal => "A crash of the process, not of the machine",
    };
    let names = Durability::ALL.map(|durability| PossibleValue::new(durability.as_str()).help(help(durability)));
    PossibleValuesParser::new(names).try_map(|name| Durability::parsed(&name))
}
