//! Models of Mistral. Its ids contain the month of a release, and one name has had different prices over time: each row
//! is for one id.

use super::row::{IdScope, KnownModel};
use crate::ability::EffortLevel::{High, None as Off};
use crate::ability::{Ability, ReasoningControl};
use crate::server_kind::ServerKind;

const OFF_OR_HIGH: ReasoningControl = ReasoningControl::Levels(&[Off, High]);

const fn mistral(id: &'static str, window: u64) -> KnownModel {
    KnownModel::named(ServerKind::Mistral, id, IdScope::Exact)
        .window(window)
        .calls(Ability::Yes, Ability::Yes)
        .json_schema(Ability::Yes)
        .images(Ability::No)
        .temperature(Ability::Yes)
        .reasoning(ReasoningControl::NoReasoning)
}

const fn with_images(id: &'static str, window: u64) -> KnownModel {
    mistral(id, window).images(Ability::Yes)
}

const fn medium_3_5(id: &'static str) -> KnownModel {
    with_images(id, 262_144).reasoning(OFF_OR_HIGH).priced(1_500_000, 7_500_000)
}

const fn small_4(id: &'static str) -> KnownModel {
    with_images(id, 256_000).reasoning(OFF_OR_HIGH).priced(150_000, 600_000)
}

const fn magistral(id: &'static str) -> KnownModel {
    mistral(id, 128_000).reasoning(ReasoningControl::Fixed)
}

pub(super) const MODELS: &[KnownModel] = &[
    mistral("codestral-2508", 256_000).priced(300_000, 900_000),
    mistral("codestral-latest", 256_000).priced(300_000, 900_000),
    mistral("devstral-2512", 256_000).priced(400_000, 2_000_000),
    mistral("devstral-latest", 256_000).priced(400_000, 2_000_000),
    mistral("devstral-medium-2507", 128_000).priced(400_000, 2_000_000),
    mistral("devstral-small-2507", 128_000).priced(100_000, 300_000),
    magistral("magistral-medium-latest").priced(2_000_000, 5_000_000),
    magistral("magistral-small-latest").priced(500_000, 1_500_000),
    with_images("ministral-8b-2512", 262_144).priced(150_000, 150_000),
    mistral("mistral-large-2411", 128_000).priced(2_000_000, 6_000_000),
    with_images("mistral-large-2512", 262_144).priced(500_000, 1_500_000),
    with_images("mistral-large-latest", 262_144).priced(500_000, 1_500_000),
    with_images("mistral-medium-2505", 131_072).priced(400_000, 2_000_000),
    with_images("mistral-medium-2508", 131_072).priced(400_000, 2_000_000),
    medium_3_5("mistral-medium-2604"),
    medium_3_5("mistral-medium-latest"),
    with_images("mistral-small-2506", 128_000).priced(100_000, 300_000),
    small_4("mistral-small-2603"),
    small_4("mistral-small-latest"),
    with_images("pixtral-large-latest", 128_000).priced(2_000_000, 6_000_000),
];
