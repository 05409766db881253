//! Whose model an id without a provider is. A key that is set says which provider is usually called; an id that is well
//! known to be another's is not sent there, because it would only be refused.

use windlass_provider::known_models::{is_sold_by_maker_only, sellers};
use windlass_provider::server_kind::ServerKind;

use crate::model_providers::{ModelProvider, PROVIDERS};

/// What people write before the colon for services that need more than a key and a fixed address.
const FOREIGN_PREFIXES: [&str; 10] = [
    "azure",
    "azure_openai",
    "bedrock",
    "aws",
    "vertex",
    "vertexai",
    "vertex_ai",
    "google_vertex",
    "github",
    "copilot",
];

/// Returns the provider that is meant by an id alone, where `usual` is called for ids of which nothing is known. Of several
/// that sell the model, the first that is set up counts; a server on one's own machine needs no key.
pub fn provider_of_id(
    id: &str,
    usual: &'static ModelProvider,
    is_set_up: impl Fn(&'static ModelProvider) -> bool,
) -> &'static ModelProvider {
    let of_kind = |kind: ServerKind| PROVIDERS.into_iter().find(|provider| provider.server == kind);
    let mut known: Vec<&'static ModelProvider> = sellers(id).filter_map(of_kind).collect();
    if known.is_empty() {
        // A model that is newer than the table.
        let makes = |provider: &&'static ModelProvider| provider.own_ids.iter().any(|start| id.starts_with(start));
        known.extend(PROVIDERS.into_iter().find(makes));
    }
    let is_closed = known.iter().any(|provider| is_sold_by_maker_only(provider.server));
    if known.contains(&usual) || (hosts_others(usual.server) && !is_closed) {
        return usual;
    }
    let set_up = known.iter().find(|provider| is_set_up(provider));
    let own = || known.iter().find(|provider| provider.server.is_own_software());
    set_up.or_else(own).or(known.first()).copied().unwrap_or(usual)
}

/// Returns what stands before the colon of an id, where it can only be meant for a provider that does not exist: the ids
/// of `hosted`, a provider with keys, are not written so. Without such a provider only well-known services count.
#[must_use]
pub fn unknown_prefix<'n>(name: &'n str, hosted: Option<&ModelProvider>) -> Option<&'n str> {
    let (prefix, id) = name.split_once(':')?;
    if id.is_empty() || !prefix.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')) {
        return None;
    }
    let is_meant = match hosted {
        // OpenAI's ids of trained models begin so.
        Some(_) => prefix != "ft" && sellers(name).next().is_none(),
        None => FOREIGN_PREFIXES.contains(&prefix),
    };
    is_meant.then_some(prefix)
}

/// Whether a provider serves models that others make, under ids of its own.
fn hosts_others(server: ServerKind) -> bool {
    match server {
        ServerKind::OpenAi
        | ServerKind::Anthropic
        | ServerKind::Gemini
        | ServerKind::DeepSeek
        | ServerKind::Mistral
        | ServerKind::Xai
        | ServerKind::Alibaba
        | ServerKind::Perplexity => false,
        ServerKind::OpenRouter
        | ServerKind::Groq
        | ServerKind::Cerebras
        | ServerKind::Together
        | ServerKind::Fireworks
        | ServerKind::Nvidia
        | ServerKind::HuggingFace
        | ServerKind::Ollama
        | ServerKind::LmStudio
        | ServerKind::LlamaCpp
        | ServerKind::Vllm
        | ServerKind::Other => true,
    }
}

#[cfg(test)]
mod tests {
    use super::{provider_of_id, unknown_prefix};
    use crate::model_providers::{ModelProvider, OPENAI, PROVIDERS};

    fn provider(prefix: &str) -> &'static ModelProvider {
        PROVIDERS.into_iter().find(|provider| provider.prefix == prefix).expect("a provider")
    }

    // proves M2: a well-known model is looked for where it is sold
    #[test]
    fn an_id_alone_means_the_provider_whose_model_it_is() {
        for (id, usual, set_up, expected) in [
            ("claude-sonnet-4-5", "openai", &["anthropic"][..], "anthropic"),
            ("claude-sonnet-4-5", "openai", &[], "anthropic"),
            ("claude-sonnet-4-5", "openrouter", &[], "anthropic"),
            ("claude-of-tomorrow", "openai", &[], "anthropic"),
            ("gemini-2.5-pro", "openai", &[], "gemini"),
            ("deepseek-chat", "anthropic", &[], "deepseek"),
            ("gpt-5", "anthropic", &[], "openai"),
            ("gpt-4.1-mini", "openai", &[], "openai"),
            ("of-nobody", "anthropic", &[], "anthropic"),
            // Open weights: a server that has them, else one's own.
            ("gpt-oss-120b", "openai", &["cerebras"], "cerebras"),
            ("gpt-oss-120b", "openai", &[], "ollama"),
            ("qwen3:8b", "openai", &[], "ollama"),
            ("qwen3-8b", "groq", &[], "groq"),
            // What hosts write with a vendor's name is theirs.
            ("openai/gpt-5", "openrouter", &["openai"], "openrouter"),
        ] {
            let found = provider_of_id(id, provider(usual), |provider| set_up.contains(&provider.prefix));
            assert_eq!(found.prefix, expected, "{id} where {usual} is usual");
        }
    }

    #[test]
    fn a_prefix_that_is_no_providers_is_found() {
        for (name, hosted, expected) in [
            ("azure:gpt-5", Some(&OPENAI), Some("azure")),
            ("azure:gpt-5", None, Some("azure")),
            ("foo:bar", Some(&OPENAI), Some("foo")),
            ("foo:bar", None, None),
            ("ft:gpt-4.1:org::x", Some(&OPENAI), None),
            ("qwen3:8b", Some(&OPENAI), None),
            ("openai/gpt-5:free", Some(&OPENAI), None),
            ("anthropic.claude-v1:0", Some(&OPENAI), None),
            ("gpt-5", Some(&OPENAI), None),
        ] {
            assert_eq!(unknown_prefix(name, hosted), expected, "{name}");
        }
    }
}
