//! Models of Google. Prices are those for text.

use super::row::{IdScope, KnownModel, LOW_TO_HIGH, MINIMAL_TO_HIGH};
use crate::ability::EffortLevel::{High, Low};
use crate::ability::{Ability, ReasoningControl};
use crate::server_kind::ServerKind;

const fn gemini(id: &'static str, max_output: u64, reasoning: ReasoningControl) -> KnownModel {
    KnownModel::named(ServerKind::Gemini, id, IdScope::Snapshots)
        .window(1_048_576)
        .max_output(max_output)
        .calls(Ability::Yes, Ability::Yes)
        .images(Ability::Yes)
        .json_schema(Ability::Yes)
        .temperature(Ability::Yes)
        .reasoning(reasoning)
}

const fn budget(least: u32, most: u32) -> ReasoningControl {
    ReasoningControl::Budget { least, most: Some(most) }
}

pub(super) const MODELS: &[KnownModel] = &[
    gemini("gemini-2.0-flash", 8_192, ReasoningControl::NoReasoning).priced(100_000, 400_000).cached(25_000),
    gemini("gemini-2.0-flash-lite", 8_192, ReasoningControl::NoReasoning).priced(75_000, 300_000),
    gemini("gemini-2.5-flash", 65_536, budget(0, 24_576)).priced(300_000, 2_500_000).cached(30_000),
    gemini("gemini-2.5-flash-lite", 65_536, budget(512, 24_576)).priced(100_000, 400_000).cached(10_000),
    gemini("gemini-2.5-pro", 65_536, budget(128, 32_768))
        .priced(1_250_000, 10_000_000)
        .cached(125_000)
        .long_input(200_000, 15_000_000),
    gemini("gemini-3-flash-preview", 65_536, MINIMAL_TO_HIGH).priced(500_000, 3_000_000).cached(50_000),
    gemini("gemini-3-pro-preview", 65_536, ReasoningControl::Levels(&[Low, High]))
        .priced(2_000_000, 12_000_000)
        .cached(200_000)
        .long_input(200_000, 18_000_000),
    gemini("gemini-3.1-flash-lite", 65_536, MINIMAL_TO_HIGH).priced(250_000, 1_500_000).cached(25_000),
    gemini("gemini-3.1-flash-lite-preview", 65_536, MINIMAL_TO_HIGH).priced(250_000, 1_500_000).cached(25_000),
    gemini("gemini-3.1-pro-preview", 65_536, LOW_TO_HIGH)
        .priced(2_000_000, 12_000_000)
        .cached(200_000)
        .long_input(200_000, 18_000_000),
    gemini("gemini-3.5-flash", 65_536, MINIMAL_TO_HIGH).priced(1_500_000, 9_000_000).cached(150_000),
    gemini("gemini-3.5-flash-lite", 65_536, ReasoningControl::Unknown).priced(300_000, 2_500_000).cached(30_000),
    gemini("gemini-3.6-flash", 65_536, ReasoningControl::Unknown).priced(1_500_000, 7_500_000).cached(150_000),
];
