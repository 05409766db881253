//! Software that people run on their own machines to serve models.

use serde::{Deserialize, Serialize};

/// A program that serves models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelSoftware {
    /// Ollama.
    Ollama,
    /// The server of llama.cpp.
    LlamaCpp,
    /// LM Studio.
    LmStudio,
    /// vLLM.
    Vllm,
}
