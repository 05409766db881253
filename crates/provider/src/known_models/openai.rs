//! Models of OpenAI.

use super::row::{IdScope, KnownModel, LOW_TO_HIGH, MINIMAL_TO_HIGH};
use crate::ability::EffortLevel::{High, Low, Medium, None as Off, XHigh};
use crate::ability::{Ability, ReasoningControl, WireKind};
use crate::server_kind::ServerKind;

const OFF_TO_HIGH: ReasoningControl = ReasoningControl::Levels(&[Off, Low, Medium, High]);
const OFF_TO_XHIGH: ReasoningControl = ReasoningControl::Levels(&[Off, Low, Medium, High, XHigh]);
const LOW_TO_XHIGH: ReasoningControl = ReasoningControl::Levels(&[Low, Medium, High, XHigh]);
const MEDIUM_TO_XHIGH: ReasoningControl = ReasoningControl::Levels(&[Medium, High, XHigh]);
const ONLY_HIGH: ReasoningControl = ReasoningControl::Levels(&[High]);
const ONLY_MEDIUM: ReasoningControl = ReasoningControl::Levels(&[Medium]);

/// A model that does not reason.
const fn plain(id: &'static str, window: u64, max_output: u64) -> KnownModel {
    KnownModel::named(ServerKind::OpenAi, id, IdScope::Snapshots)
        .window(window)
        .max_output(max_output)
        .calls(Ability::Yes, Ability::Yes)
        .images(Ability::Yes)
        .json_schema(Ability::Yes)
        .reasoning(ReasoningControl::NoReasoning)
        .temperature(Ability::Yes)
}

/// A model that reasons: it refuses a temperature. Responses keeps its reasoning between turns.
const fn reasoner(id: &'static str, window: u64, max_output: u64, reasoning: ReasoningControl) -> KnownModel {
    plain(id, window, max_output)
        .reasoning(reasoning)
        .temperature(Ability::No)
        .wires(&[WireKind::Responses, WireKind::Chat])
}

/// One of the o series, which calls one tool at a time.
const fn o_series(id: &'static str) -> KnownModel {
    reasoner(id, 200_000, 100_000, LOW_TO_HIGH).calls(Ability::Yes, Ability::No)
}

/// One of GPT-5 with a window of 400,000 tokens.
const fn gpt_5(id: &'static str, reasoning: ReasoningControl) -> KnownModel {
    reasoner(id, 400_000, 128_000, reasoning).max_input(272_000)
}

/// One of GPT-5 with a window of 1,050,000 tokens.
const fn long_gpt_5(id: &'static str, reasoning: ReasoningControl) -> KnownModel {
    reasoner(id, 1_050_000, 128_000, reasoning).max_input(922_000)
}

/// One that only Responses serves.
const fn responses_only(row: KnownModel) -> KnownModel {
    row.wires(&[WireKind::Responses])
}

pub(super) const MODELS: &[KnownModel] = &[
    responses_only(o_series("codex-mini")).priced(1_500_000, 6_000_000).cached(375_000),
    plain("gpt-3.5-turbo", 16_385, 4_096).images(Ability::No).json_schema(Ability::No).priced(500_000, 1_500_000),
    plain("gpt-4", 8_192, 4_096)
        .images(Ability::No)
        .json_schema(Ability::No)
        .calls(Ability::Yes, Ability::Unknown)
        .priced(30_000_000, 60_000_000),
    plain("gpt-4-turbo", 128_000, 4_096).json_schema(Ability::No).priced(10_000_000, 30_000_000),
    plain("gpt-4.1", 1_047_576, 32_768).priced(2_000_000, 8_000_000).cached(500_000),
    plain("gpt-4.1-mini", 1_047_576, 32_768).priced(400_000, 1_600_000).cached(100_000),
    plain("gpt-4.1-nano", 1_047_576, 32_768).priced(100_000, 400_000).cached(25_000),
    plain("gpt-4o", 128_000, 16_384).priced(2_500_000, 10_000_000).cached(1_250_000),
    plain("gpt-4o-2024-05-13", 128_000, 4_096).json_schema(Ability::No).priced(5_000_000, 15_000_000),
    plain("gpt-4o-mini", 128_000, 16_384).priced(150_000, 600_000).cached(75_000),
    gpt_5("gpt-5", MINIMAL_TO_HIGH).priced(1_250_000, 10_000_000).cached(125_000),
    plain("gpt-5-chat", 128_000, 16_384)
        .calls(Ability::No, Ability::No)
        .temperature(Ability::Unknown)
        .priced(1_250_000, 10_000_000)
        .cached(125_000),
    responses_only(gpt_5("gpt-5-codex", LOW_TO_HIGH)).priced(1_250_000, 10_000_000).cached(125_000),
    gpt_5("gpt-5-mini", MINIMAL_TO_HIGH).priced(250_000, 2_000_000).cached(25_000),
    gpt_5("gpt-5-nano", MINIMAL_TO_HIGH).priced(50_000, 400_000).cached(5_000),
    responses_only(gpt_5("gpt-5-pro", ONLY_HIGH)).priced(15_000_000, 120_000_000),
    gpt_5("gpt-5.1", OFF_TO_HIGH).priced(1_250_000, 10_000_000).cached(125_000),
    reasoner("gpt-5.1-chat", 128_000, 16_384, ONLY_MEDIUM).priced(1_250_000, 10_000_000).cached(125_000),
    responses_only(gpt_5("gpt-5.1-codex", LOW_TO_HIGH)).priced(1_250_000, 10_000_000).cached(125_000),
    responses_only(gpt_5("gpt-5.1-codex-max", LOW_TO_XHIGH)).priced(1_250_000, 10_000_000).cached(125_000),
    responses_only(gpt_5("gpt-5.1-codex-mini", LOW_TO_HIGH)).priced(250_000, 2_000_000).cached(25_000),
    gpt_5("gpt-5.2", OFF_TO_XHIGH).priced(1_750_000, 14_000_000).cached(175_000),
    reasoner("gpt-5.2-chat", 128_000, 16_384, ONLY_MEDIUM).priced(1_750_000, 14_000_000).cached(175_000),
    responses_only(gpt_5("gpt-5.2-codex", LOW_TO_XHIGH)).priced(1_750_000, 14_000_000).cached(175_000),
    responses_only(gpt_5("gpt-5.2-pro", MEDIUM_TO_XHIGH)).priced(21_000_000, 168_000_000),
    plain("gpt-5.3-chat", 128_000, 16_384)
        .reasoning(ReasoningControl::Unknown)
        .temperature(Ability::Unknown)
        .priced(1_750_000, 14_000_000)
        .cached(175_000),
    responses_only(gpt_5("gpt-5.3-codex", OFF_TO_XHIGH)).priced(1_750_000, 14_000_000).cached(175_000),
    long_gpt_5("gpt-5.4", OFF_TO_XHIGH).priced(2_500_000, 15_000_000).cached(250_000).long_input(272_000, 22_500_000),
    gpt_5("gpt-5.4-mini", OFF_TO_XHIGH).priced(750_000, 4_500_000).cached(75_000),
    gpt_5("gpt-5.4-nano", OFF_TO_XHIGH).priced(200_000, 1_250_000).cached(20_000),
    responses_only(long_gpt_5("gpt-5.4-pro", MEDIUM_TO_XHIGH))
        .priced(30_000_000, 180_000_000)
        .long_input(272_000, 270_000_000),
    long_gpt_5("gpt-5.5", OFF_TO_XHIGH).priced(5_000_000, 30_000_000).cached(500_000).long_input(272_000, 45_000_000),
    responses_only(long_gpt_5("gpt-5.5-pro", MEDIUM_TO_XHIGH))
        .priced(30_000_000, 180_000_000)
        .long_input(272_000, 270_000_000),
    long_gpt_5("gpt-5.6", OFF_TO_XHIGH)
        .priced(5_000_000, 30_000_000)
        .cached(500_000)
        .written(6_250_000)
        .long_input(272_000, 45_000_000),
    long_gpt_5("gpt-5.6-luna", OFF_TO_XHIGH)
        .priced(200_000, 1_200_000)
        .cached(20_000)
        .written(250_000)
        .long_input(272_000, 1_800_000),
    long_gpt_5("gpt-5.6-sol", OFF_TO_XHIGH)
        .priced(5_000_000, 30_000_000)
        .cached(500_000)
        .written(6_250_000)
        .long_input(272_000, 45_000_000),
    long_gpt_5("gpt-5.6-terra", OFF_TO_XHIGH)
        .priced(2_000_000, 12_000_000)
        .cached(200_000)
        .written(2_500_000)
        .long_input(272_000, 18_000_000),
    o_series("o1").priced(15_000_000, 60_000_000).cached(7_500_000),
    responses_only(o_series("o1-pro")).priced(150_000_000, 600_000_000),
    o_series("o3").priced(2_000_000, 8_000_000).cached(500_000),
    o_series("o3-mini").images(Ability::No).priced(1_100_000, 4_400_000).cached(550_000),
    responses_only(o_series("o3-pro")).priced(20_000_000, 80_000_000),
    o_series("o4-mini").priced(1_100_000, 4_400_000).cached(275_000),
];
