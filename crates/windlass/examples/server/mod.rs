//! The server that the environment names: OPENAI_MODEL, and where they differ from the usual
//! OPENAI_BASE_URL and OPENAI_API_KEY. For Ollama: `OPENAI_BASE_URL=http://127.0.0.1:11434/v1`.

use std::env::var;

use anyhow::Context as _;
use windlass::{Agent, Builder};

/// An agent of that server, to be completed.
pub(crate) fn builder() -> anyhow::Result<Builder> {
    Ok(Agent::builder()
        .base_url(var("OPENAI_BASE_URL").unwrap_or_else(|_| "https://api.openai.com/v1".to_owned()))
        .api_key(var("OPENAI_API_KEY").unwrap_or_default())
        .model(var("OPENAI_MODEL").context("set OPENAI_MODEL to the id of a model")?))
}
