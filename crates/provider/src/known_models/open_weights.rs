//! Open weights, by the names that Ollama gives them, with the window they were trained for. A server may have been
//! started with a smaller one: it is asked.

use super::row::{IdScope, KnownModel, LOW_TO_HIGH};
use crate::ability::{Ability, ReasoningControl};
use crate::server_kind::ServerKind;
use windlass_vocab::{Dialect, ListPrices};

const fn open(id: &'static str) -> KnownModel {
    let row = KnownModel::named(ServerKind::Ollama, id, IdScope::Sizes).images(Ability::No).temperature(Ability::Yes);
    KnownModel { prices: Some(ListPrices::FREE), ..row }
}

/// One that talks and calls tools.
const fn caller(id: &'static str, window: u64) -> KnownModel {
    open(id).window(window).calls(Ability::Yes, Ability::Unknown).reasoning(ReasoningControl::NoReasoning)
}

/// One that reasons and calls tools; reasoning can be switched off.
const fn thinker(id: &'static str, window: u64) -> KnownModel {
    caller(id, window).reasoning(ReasoningControl::Switch)
}

/// One that calls tools, but does better with calls as text.
const fn small(id: &'static str, window: u64) -> KnownModel {
    caller(id, window).dialect(Dialect::ToolTag)
}

/// One that only talks.
const fn talker(id: &'static str, window: u64) -> KnownModel {
    open(id).window(window).calls(Ability::No, Ability::No).reasoning(ReasoningControl::NoReasoning)
}

pub(super) const MODELS: &[KnownModel] = &[
    talker("codellama", 16_384),
    caller("command-r", 131_072),
    thinker("deepseek-r1", 131_072).reasoning(ReasoningControl::Fixed),
    open("deepseek-v3").window(163_840).reasoning(ReasoningControl::NoReasoning),
    thinker("deepseek-v3.1", 163_840),
    thinker("deepseek-v3.2", 163_840),
    caller("devstral", 131_072),
    caller("devstral-2", 262_144),
    caller("devstral-small-2", 262_144).images(Ability::Yes),
    talker("gemma2", 8_192),
    talker("gemma3", 131_072).images(Ability::Yes),
    talker("gemma3:1b", 32_768),
    talker("gemma3:270m", 32_768),
    talker("gemma3n", 32_768),
    thinker("gemma4:31b", 262_144).images(Ability::Yes),
    thinker("glm-4.5", 131_072),
    thinker("glm-4.6", 202_752),
    thinker("glm-4.7", 202_752),
    thinker("glm-5", 202_752),
    thinker("glm-5.1", 202_752),
    caller("gpt-oss", 131_072).reasoning(LOW_TO_HIGH),
    caller("granite3.3", 131_072),
    caller("kimi-k2", 262_144),
    thinker("kimi-k2-thinking", 262_144).reasoning(ReasoningControl::Fixed),
    thinker("kimi-k2.5", 262_144).images(Ability::Yes),
    thinker("kimi-k2.6", 262_144).images(Ability::Yes),
    talker("llama2", 4_096),
    talker("llama3", 8_192),
    caller("llama3.1", 131_072),
    caller("llama3.2", 131_072),
    open("llama3.2-vision").window(131_072).images(Ability::Yes).reasoning(ReasoningControl::NoReasoning),
    caller("llama3.3", 131_072),
    open("llama4").images(Ability::Yes).reasoning(ReasoningControl::NoReasoning),
    open("magistral").calls(Ability::Yes, Ability::Unknown).reasoning(ReasoningControl::Fixed),
    thinker("minimax-m2", 204_800),
    thinker("minimax-m2.5", 204_800),
    caller("ministral-3", 262_144).images(Ability::Yes),
    caller("mistral", 32_768),
    caller("mistral-large-3", 262_144).images(Ability::Yes),
    caller("mistral-nemo", 131_072),
    caller("mistral-small3.1", 131_072).images(Ability::Yes),
    caller("mistral-small3.2", 131_072).images(Ability::Yes),
    caller("mixtral:8x22b", 65_536),
    caller("mixtral:8x7b", 32_768),
    talker("phi4", 16_384),
    caller("phi4-mini", 131_072),
    caller("qwen2.5", 32_768),
    caller("qwen2.5-coder", 32_768),
    small("qwen2.5-coder:0.5b", 32_768),
    small("qwen2.5-coder:1.5b", 32_768),
    small("qwen2.5-coder:3b", 32_768),
    small("qwen2.5-coder:7b", 32_768),
    thinker("qwen3", 40_960),
    caller("qwen3-coder", 262_144),
    caller("qwen3-coder-next", 262_144),
    open("qwen3-next").window(262_144).calls(Ability::Yes, Ability::Unknown),
    open("qwen3-vl").window(262_144).calls(Ability::Yes, Ability::Unknown).images(Ability::Yes),
    thinker("qwen3.5", 262_144).images(Ability::Yes),
    thinker("qwen3.6", 262_144).images(Ability::Yes),
    open("qwq").calls(Ability::Yes, Ability::Unknown).reasoning(ReasoningControl::Fixed),
    talker("smollm2", 8_192).calls(Ability::Unknown, Ability::Unknown),
    talker("tinyllama", 2_048),
];
