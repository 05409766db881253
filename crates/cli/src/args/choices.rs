//! Parsers for `--mode` and `--durability`, which take one of a few names.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use windlass_setup::settings::{DurabilitySetting, ModeSetting};

/// Parses the name of a mode.
pub(super) fn mode() -> impl TypedValueParser<Value = ModeSetting> {
    let help = |mode: ModeSetting| match mode {
        ModeSetting::Bypass => "Nothing is asked",
        ModeSetting::Default => "Work in the workspace is allowed, commands are asked for",
        ModeSetting::Strict => "Every change is asked for",
    };
    let names = ModeSetting::ALL.map(|mode| PossibleValue::new(mode.as_str()).help(help(mode)));
    PossibleValuesParser::new(names).try_map(|name| ModeSetting::parsed(&name))
}

/// Parses the name of a durability.
pub(super) fn durability() -> impl TypedValueParser<Value = DurabilitySetting> {
    let help = |durability: DurabilitySetting| match durability {
        DurabilitySetting::Full => "A power cut",
        DurabilitySetting::Normal => "A crash of the process, not of the machine",
    };
    let names = DurabilitySetting::ALL.map(|durability| PossibleValue::new(durability.as_str()).help(help(durability)));
    PossibleValuesParser::new(names).try_map(|name| DurabilitySetting::parsed(&name))
}
