//! What the servers accept, one row each. A model's row may say otherwise.

use windlass_vocab::PromptCache;

use crate::abilities::Abilities;
use crate::ability::{Ability, CallIdForm, LengthField, ReasoningControl, ReasoningReturn, ResponseFormat, WireKind};
use crate::server_kind::ServerKind;

/// A server of which nothing is known: it speaks Chat Completions. Many servers apply a schema to the whole reply, so
/// that the model could not call tools; the schema is sent when none may be called.
const OTHER: Abilities = Abilities {
    wires: &[WireKind::Chat],
    native_calls: Ability::Unknown,
    parallel_calls: Ability::Unknown,
    images: Ability::Unknown,
    json_schema: Ability::Unknown,
    response_format: ResponseFormat::WithoutTools,
    reasoning: ReasoningControl::Unknown,
    reasoning_return: ReasoningReturn::Never,
    silent_reasoning: Ability::Unknown,
    length_field: LengthField::MaxTokens,
    temperature: Ability::Unknown,
    tool_choice_named: Ability::Unknown,
    stream_usage_option: Ability::Unknown,
    prompt_cache_key: Ability::Unknown,
    prompt_cache: None,
    user_after_results: Ability::Unknown,
    call_ids: CallIdForm::Any,
};

/// How long providers keep what they have read without being asked for it again.
const FIVE_MINUTES: u64 = 300_000;

/// A server that accepts the usual fields of Chat Completions.
const COMPATIBLE: Abilities = Abilities { stream_usage_option: Ability::Yes, ..OTHER };

/// Returns what a server of this kind accepts.
pub(crate) fn abilities_of_server(server: ServerKind) -> Abilities {
    match server {
        ServerKind::OpenAi => Abilities {
            wires: &[WireKind::Chat, WireKind::Responses],
            response_format: ResponseFormat::Always,
            length_field: LengthField::MaxCompletionTokens,
            prompt_cache_key: Ability::Yes,
            call_ids: CallIdForm::UpTo40,
            // Kept for five to ten minutes after the last use.
            prompt_cache: Some(PromptCache { keeps_ms: Some(FIVE_MINUTES), least_tokens: 1_024, counts_writes: false }),
            ..COMPATIBLE
        },
        // Its endpoint for Chat Completions ignores schemas and caching.
        ServerKind::Anthropic => Abilities {
            wires: &[WireKind::Messages, WireKind::Chat],
            response_format: ResponseFormat::Always,
            prompt_cache: Some(PromptCache { keeps_ms: Some(FIVE_MINUTES), least_tokens: 0, counts_writes: true }),
            ..COMPATIBLE
        },
        // Its reasoning models require their reasoning in a tool loop. It knows JSON, and no schema.
        ServerKind::DeepSeek => Abilities {
            json_schema: Ability::No,
            response_format: ResponseFormat::Never,
            reasoning_return: ReasoningReturn::Field,
            // Kept for hours; nobody says for how many.
            prompt_cache: Some(PromptCache::default()),
            ..COMPATIBLE
        },
        // It refuses fields that it does not know, and reports usage without being asked.
        ServerKind::Mistral => Abilities {
            stream_usage_option: Ability::No,
            prompt_cache_key: Ability::No,
            user_after_results: Ability::No,
            call_ids: CallIdForm::NineCharacters,
            ..COMPATIBLE
        },
        ServerKind::OpenRouter
        | ServerKind::Groq
        | ServerKind::Vllm
        | ServerKind::LlamaCpp
        | ServerKind::Gemini
        | ServerKind::Xai
        | ServerKind::Alibaba
        | ServerKind::Cerebras
        | ServerKind::Together
        | ServerKind::Fireworks => COMPATIBLE,
        // It searches the web itself and takes no tools.
        ServerKind::Perplexity => Abilities { native_calls: Ability::No, tool_choice_named: Ability::No, ..OTHER },
        // It ignores fields that it does not know.
        ServerKind::Ollama => Abilities { stream_usage_option: Ability::Yes, prompt_cache_key: Ability::No, ..OTHER },
        ServerKind::LmStudio => Abilities { stream_usage_option: Ability::Yes, ..OTHER },
        ServerKind::Nvidia | ServerKind::HuggingFace | ServerKind::Other => OTHER,
    }
}
