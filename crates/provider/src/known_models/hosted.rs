//! Models that others make, at the providers that host them. A provider's limits and prices are its own.

use super::row::{IdScope, KnownModel, LOW_TO_HIGH};
use crate::ability::{Ability, ReasoningControl};
use crate::server_kind::ServerKind;

const fn hosted(seller: ServerKind, id: &'static str, window: u64) -> KnownModel {
    KnownModel::named(seller, id, IdScope::Exact)
        .window(window)
        .calls(Ability::Yes, Ability::Unknown)
        .images(Ability::No)
        .temperature(Ability::Yes)
}

const fn gpt_oss(seller: ServerKind, id: &'static str) -> KnownModel {
    hosted(seller, id, 131_072).reasoning(LOW_TO_HIGH)
}

const fn llama(seller: ServerKind, id: &'static str) -> KnownModel {
    hosted(seller, id, 131_072).reasoning(ReasoningControl::NoReasoning)
}

/// One of Perplexity, which takes no tools.
const fn sonar(id: &'static str, window: u64, reasoning: ReasoningControl) -> KnownModel {
    KnownModel::named(ServerKind::Perplexity, id, IdScope::Exact)
        .window(window)
        .calls(Ability::No, Ability::No)
        .reasoning(reasoning)
}

pub(super) const MODELS: &[KnownModel] = &[
    llama(ServerKind::Groq, "llama-3.1-8b-instant").priced(50_000, 80_000),
    llama(ServerKind::Groq, "llama-3.3-70b-versatile").max_output(32_768).priced(590_000, 790_000),
    llama(ServerKind::Groq, "meta-llama/llama-4-scout-17b-16e-instruct")
        .max_output(8_192)
        .images(Ability::Yes)
        .json_schema(Ability::Yes)
        .priced(110_000, 340_000),
    hosted(ServerKind::Groq, "moonshotai/kimi-k2-instruct-0905", 262_144)
        .max_output(16_384)
        .reasoning(ReasoningControl::NoReasoning)
        .priced(1_000_000, 3_000_000)
        .cached(500_000),
    gpt_oss(ServerKind::Groq, "openai/gpt-oss-120b")
        .max_output(65_536)
        .json_schema(Ability::Yes)
        .priced(150_000, 600_000)
        .cached(75_000),
    gpt_oss(ServerKind::Groq, "openai/gpt-oss-20b")
        .max_output(65_536)
        .json_schema(Ability::Yes)
        .priced(75_000, 300_000)
        .cached(37_500),
    hosted(ServerKind::Groq, "qwen/qwen3-32b", 131_072)
        .max_output(40_960)
        .reasoning(ReasoningControl::Switch)
        .priced(290_000, 590_000),
    gpt_oss(ServerKind::Cerebras, "gpt-oss-120b").max_output(40_960).json_schema(Ability::Yes).priced(350_000, 750_000),
    hosted(ServerKind::Cerebras, "zai-glm-4.7", 131_072).max_output(40_960).priced(2_250_000, 2_750_000),
    hosted(ServerKind::Together, "Qwen/Qwen3-235B-A22B-Instruct-2507-tput", 262_144)
        .reasoning(ReasoningControl::NoReasoning),
    hosted(ServerKind::Together, "deepseek-ai/DeepSeek-V4-Pro", 512_000)
        .json_schema(Ability::Yes)
        .reasoning(ReasoningControl::Switch)
        .priced(1_740_000, 3_480_000)
        .cached(200_000),
    llama(ServerKind::Together, "meta-llama/Llama-3.3-70B-Instruct-Turbo").priced(880_000, 880_000),
    hosted(ServerKind::Together, "moonshotai/Kimi-K2.6", 262_144)
        .images(Ability::Yes)
        .json_schema(Ability::Yes)
        .reasoning(ReasoningControl::Switch)
        .priced(1_200_000, 4_500_000)
        .cached(200_000),
    gpt_oss(ServerKind::Together, "openai/gpt-oss-120b").priced(150_000, 600_000),
    gpt_oss(ServerKind::Together, "openai/gpt-oss-20b").json_schema(Ability::Yes).priced(50_000, 200_000),
    hosted(ServerKind::Together, "zai-org/GLM-5.1", 202_752)
        .json_schema(Ability::Yes)
        .reasoning(ReasoningControl::Switch)
        .priced(1_400_000, 4_400_000),
    hosted(ServerKind::Fireworks, "accounts/fireworks/models/glm-5p1", 202_800)
        .reasoning(ReasoningControl::Switch)
        .priced(1_400_000, 4_400_000)
        .cached(260_000),
    gpt_oss(ServerKind::Fireworks, "accounts/fireworks/models/gpt-oss-120b").priced(150_000, 600_000).cached(15_000),
    gpt_oss(ServerKind::Fireworks, "accounts/fireworks/models/gpt-oss-20b").priced(70_000, 300_000).cached(35_000),
    hosted(ServerKind::Fireworks, "accounts/fireworks/models/kimi-k2p6", 262_000)
        .images(Ability::Yes)
        .reasoning(ReasoningControl::Switch)
        .priced(950_000, 4_000_000)
        .cached(160_000),
    sonar("sonar", 128_000, ReasoningControl::NoReasoning).priced(1_000_000, 1_000_000),
    sonar("sonar-deep-research", 128_000, ReasoningControl::Unknown).priced(2_000_000, 8_000_000),
    sonar("sonar-pro", 200_000, ReasoningControl::NoReasoning).priced(3_000_000, 15_000_000),
    sonar("sonar-reasoning-pro", 128_000, ReasoningControl::Unknown).priced(2_000_000, 8_000_000),
];
