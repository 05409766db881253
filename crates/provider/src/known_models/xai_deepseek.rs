//! Models of xAI and of DeepSeek.

use super::row::{IdScope, KnownModel};
use crate::ability::EffortLevel::{High, Low, Max, Medium, None as Off};
use crate::ability::{Ability, ReasoningControl};
use crate::server_kind::ServerKind;

const fn grok(id: &'static str, window: u64) -> KnownModel {
    KnownModel::named(ServerKind::Xai, id, IdScope::Snapshots)
        .window(window)
        .calls(Ability::Yes, Ability::Unknown)
        .temperature(Ability::Yes)
}

/// A small, fast one.
const fn fast_grok(id: &'static str, reasoning: ReasoningControl) -> KnownModel {
    grok(id, 2_000_000).reasoning(reasoning).priced(200_000, 500_000).cached(50_000)
}

const fn deepseek(id: &'static str) -> KnownModel {
    KnownModel::named(ServerKind::DeepSeek, id, IdScope::Exact)
        .calls(Ability::Yes, Ability::Yes)
        .images(Ability::No)
        .temperature(Ability::Yes)
}

const fn deepseek_v4(id: &'static str) -> KnownModel {
    deepseek(id).window(1_000_000).max_output(384_000).reasoning(ReasoningControl::Levels(&[High, Max]))
}

pub(super) const MODELS: &[KnownModel] = &[
    grok("grok-3", 131_072).reasoning(ReasoningControl::NoReasoning).priced(3_000_000, 15_000_000).cached(750_000),
    grok("grok-3-mini", 131_072)
        .reasoning(ReasoningControl::Levels(&[Low, High]))
        .priced(300_000, 500_000)
        .cached(75_000),
    grok("grok-4", 256_000).reasoning(ReasoningControl::Fixed).priced(3_000_000, 15_000_000),
    fast_grok("grok-4-1-fast", ReasoningControl::Fixed).images(Ability::Yes).json_schema(Ability::Yes),
    fast_grok("grok-4-1-fast-non-reasoning", ReasoningControl::NoReasoning)
        .images(Ability::Yes)
        .json_schema(Ability::Yes),
    fast_grok("grok-4-1-fast-reasoning", ReasoningControl::Fixed).images(Ability::Yes).json_schema(Ability::Yes),
    fast_grok("grok-4-fast-non-reasoning", ReasoningControl::NoReasoning),
    fast_grok("grok-4-fast-reasoning", ReasoningControl::Fixed),
    grok("grok-4.3", 1_000_000)
        .images(Ability::Yes)
        .json_schema(Ability::Yes)
        .reasoning(ReasoningControl::Levels(&[Off, Low, Medium, High]))
        .priced(1_250_000, 2_500_000)
        .cached(200_000)
        .long_input(200_000, 5_000_000),
    grok("grok-4.5", 500_000)
        .images(Ability::Yes)
        .json_schema(Ability::Yes)
        .priced(2_000_000, 6_000_000)
        .cached(500_000)
        .long_input(200_000, 12_000_000),
    grok("grok-code-fast-1", 256_000).reasoning(ReasoningControl::Fixed).priced(200_000, 1_500_000).cached(20_000),
    // Names that have stood for several generations: their figures are not certain.
    deepseek("deepseek-chat").reasoning(ReasoningControl::NoReasoning),
    deepseek("deepseek-reasoner").reasoning(ReasoningControl::Fixed),
    deepseek_v4("deepseek-v4-flash").priced(140_000, 280_000).cached(2_800),
    deepseek_v4("deepseek-v4-pro").priced(435_000, 870_000).cached(3_625),
];
