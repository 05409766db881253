//! Which provider or server software answers at an address. What it accepts depends on that
//! ([`Abilities`](crate::abilities::Abilities)), and so do the prices of its models ([`list_prices`](crate::known_models::list_prices)).

use windlass_vocab::ModelSoftware;

/// A provider of models, or software that serves models on one's own machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ServerKind {
    /// OpenAI.
    OpenAi,
    /// Anthropic.
    Anthropic,
    /// Google's Gemini, by its endpoint for OpenAI clients.
    Gemini,
    /// DeepSeek.
    DeepSeek,
    /// Mistral.
    Mistral,
    /// xAI.
    Xai,
    /// Alibaba Cloud, which makes and serves Qwen.
    Alibaba,
    /// OpenRouter, which forwards to the makers of models and to others.
    OpenRouter,
    /// Groq.
    Groq,
    /// Cerebras.
    Cerebras,
    /// Together AI.
    Together,
    /// Fireworks AI.
    Fireworks,
    /// NVIDIA's hosted models.
    Nvidia,
    /// Hugging Face's router.
    HuggingFace,
    /// Perplexity.
    Perplexity,
    /// Ollama.
    Ollama,
    /// The server of llama.cpp.
    LlamaCpp,
    /// vLLM.
    Vllm,
    /// LM Studio.
    LmStudio,
    /// Any other; nothing is known of it.
    Other,
}

/// The hosts of the providers.
const HOSTS: [(&str, ServerKind); 17] = [
    ("api.openai.com", ServerKind::OpenAi),
    ("api.anthropic.com", ServerKind::Anthropic),
    ("generativelanguage.googleapis.com", ServerKind::Gemini),
    ("api.deepseek.com", ServerKind::DeepSeek),
    ("api.mistral.ai", ServerKind::Mistral),
    ("api.x.ai", ServerKind::Xai),
    ("dashscope.aliyuncs.com", ServerKind::Alibaba),
    ("dashscope-intl.aliyuncs.com", ServerKind::Alibaba),
    ("openrouter.ai", ServerKind::OpenRouter),
    ("api.groq.com", ServerKind::Groq),
    ("api.cerebras.ai", ServerKind::Cerebras),
    ("api.together.xyz", ServerKind::Together),
    ("api.together.ai", ServerKind::Together),
    ("api.fireworks.ai", ServerKind::Fireworks),
    ("integrate.api.nvidia.com", ServerKind::Nvidia),
    ("router.huggingface.co", ServerKind::HuggingFace),
    ("api.perplexity.ai", ServerKind::Perplexity),
];

impl ServerKind {
    /// Returns what is known of the server at this address. Ollama and LM Studio are recognized by their ports, which
    /// hardly anything else uses; the ports of llama.cpp and vLLM are common ones and say nothing.
    #[must_use]
    pub fn at(base_url: &str) -> Self {
        let (_, rest) = base_url.split_once("://").unwrap_or_default();
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (host, port),
            Some(_) | None => (authority, ""),
        };
        let known = HOSTS.iter().find(|(known, _)| host.eq_ignore_ascii_case(known));
        match (known, port) {
            (Some((_, kind)), _) => *kind,
            (None, "11434") => Self::Ollama,
            (None, "1234") => Self::LmStudio,
            (None, _) => Self::Other,
        }
    }

    /// Whether this is software that people run on their own machines, where tokens cost nothing.
    #[must_use]
    pub fn is_own_software(self) -> bool {
        self.software().is_some()
    }

    /// Returns the software that people run on their own machines, if this is such.
    #[must_use]
    pub fn software(self) -> Option<ModelSoftware> {
        match self {
            Self::Ollama => Some(ModelSoftware::Ollama),
            Self::LlamaCpp => Some(ModelSoftware::LlamaCpp),
            Self::Vllm => Some(ModelSoftware::Vllm),
            Self::LmStudio => Some(ModelSoftware::LmStudio),
            Self::OpenAi
            | Self::Anthropic
            | Self::Gemini
            | Self::DeepSeek
            | Self::Mistral
            | Self::Xai
            | Self::Alibaba
            | Self::OpenRouter
            | Self::Groq
            | Self::Cerebras
            | Self::Together
            | Self::Fireworks
            | Self::Nvidia
            | Self::HuggingFace
            | Self::Perplexity
            | Self::Other => None,
        }
    }

    /// Whether a server of this kind can be asked about its models without a model call (M8): software that people run
    /// themselves, and what may be such.
    #[must_use]
    pub fn can_be_asked(self) -> bool {
        self == Self::Other || self.is_own_software()
    }
}

impl From<ModelSoftware> for ServerKind {
    fn from(software: ModelSoftware) -> Self {
        match software {
            ModelSoftware::Ollama => Self::Ollama,
            ModelSoftware::LlamaCpp => Self::LlamaCpp,
            ModelSoftware::LmStudio => Self::LmStudio,
            ModelSoftware::Vllm => Self::Vllm,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ServerKind;

    #[test]
    fn a_server_is_recognized_by_its_host_or_its_usual_port() {
        for (address, kind) in [
            ("https://api.openai.com/v1", ServerKind::OpenAi),
            ("https://API.OpenAI.com:443/v1", ServerKind::OpenAi),
            ("https://api.deepseek.com", ServerKind::DeepSeek),
            ("https://openrouter.ai/api/v1", ServerKind::OpenRouter),
            ("http://127.0.0.1:11434/v1", ServerKind::Ollama),
            ("http://[::1]:11434/v1", ServerKind::Ollama),
            ("http://localhost:1234/v1", ServerKind::LmStudio),
            ("http://127.0.0.1:8080/v1", ServerKind::Other),
            ("https://api.openai.com.evil.example/v1", ServerKind::Other),
            ("https://evil.example/api.openai.com", ServerKind::Other),
            ("api.openai.com", ServerKind::Other),
            ("", ServerKind::Other),
        ] {
            assert_eq!(ServerKind::at(address), kind, "{address}");
        }
    }
}
