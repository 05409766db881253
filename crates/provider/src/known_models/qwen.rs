//! Models of Alibaba Cloud that are sold by it alone.

use super::row::{IdScope, KnownModel};
use crate::ability::{Ability, ReasoningControl};
use crate::server_kind::ServerKind;

const fn qwen(id: &'static str) -> KnownModel {
    KnownModel::named(ServerKind::Alibaba, id, IdScope::Snapshots)
        .calls(Ability::Yes, Ability::Unknown)
        .temperature(Ability::Yes)
}

/// One whose reasoning is switched, with a budget besides.
const fn reasoner(id: &'static str, window: u64, max_output: u64) -> KnownModel {
    qwen(id).window(window).max_output(max_output).reasoning(ReasoningControl::Switch)
}

const fn plain(id: &'static str, window: u64, max_output: u64) -> KnownModel {
    qwen(id).window(window).max_output(max_output).reasoning(ReasoningControl::NoReasoning)
}

pub(super) const MODELS: &[KnownModel] = &[
    reasoner("qwen-flash", 1_000_000, 32_768).images(Ability::No),
    plain("qwen-max", 32_768, 8_192).images(Ability::No).priced(1_600_000, 6_400_000),
    // Names that have stood for several generations: their windows are not certain.
    qwen("qwen-plus").reasoning(ReasoningControl::Switch).images(Ability::No).priced(400_000, 1_200_000),
    qwen("qwen-turbo").reasoning(ReasoningControl::Switch).images(Ability::No).priced(50_000, 200_000),
    plain("qwen3-coder-flash", 1_000_000, 65_536).images(Ability::No),
    plain("qwen3-coder-plus", 1_000_000, 65_536).images(Ability::No),
    plain("qwen3-max", 262_144, 65_536).images(Ability::No),
    reasoner("qwen3.5-plus", 1_000_000, 65_536).images(Ability::Yes),
    reasoner("qwen3.6-plus", 1_000_000, 65_536).images(Ability::Yes),
    reasoner("qwen3.7-max", 1_000_000, 65_536)
        .images(Ability::No)
        .priced(2_500_000, 7_500_000)
        .cached(500_000)
        .written(3_125_000),
    reasoner("qwen3.7-plus", 1_000_000, 65_536).images(Ability::Yes),
];
