//! Servers that people run on their own machine, looked for where they usually listen: all at once and
//! for a moment only. What answers there and has no list of models is somebody else.

use std::time::Duration;

use super::models_of;
use crate::settings::Endpoint;

/// A server on this machine answers in a millisecond or two, or is not there.
const LOOK_LIMIT: Duration = Duration::from_millis(300);

pub(super) const OLLAMA_ADVICE: &str = "`ollama pull qwen3` gets one";

/// A server to look for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LocalServer {
    /// What people call it.
    pub(crate) name: &'static str,
    /// Where it is.
    pub(crate) base_url: String,
    /// How it gets a model.
    pub(crate) advice: &'static str,
}

impl LocalServer {
    /// Ollama at this address.
    pub(crate) fn ollama(base_url: &str) -> Self {
        Self { name: "Ollama", base_url: base_url.to_owned(), advice: OLLAMA_ADVICE }
    }

    /// A llama.cpp server at this address.
    pub(crate) fn llama_cpp(base_url: &str) -> Self {
        Self { name: "the llama.cpp server", base_url: base_url.to_owned(), advice: "start it with `-m MODEL.gguf`" }
    }

    /// Those that are looked for, the first that has a model wins.
    pub(crate) fn usual() -> Vec<Self> {
        vec![Self::ollama("http://127.0.0.1:11434/v1"), Self::llama_cpp("http://127.0.0.1:8080/v1")]
    }
}

/// What was seen where a server may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Nothing that is such a server.
    Nothing,
    /// A server with these models.
    Models(Vec<String>),
}

impl Seen {
    pub(super) fn ids(&self) -> &[String] {
        match self {
            Self::Nothing => &[],
            Self::Models(ids) => ids,
        }
    }
}

/// Looks for all of them at the same time.
pub(super) async fn look(servers: &[LocalServer]) -> Vec<(LocalServer, Seen)> {
    let looking: Vec<_> = servers.iter().cloned().map(|server| tokio::spawn(look_at(server))).collect();
    let mut seen = Vec::with_capacity(looking.len());
    for one in looking {
        seen.extend(one.await.ok());
    }
    seen
}

async fn look_at(server: LocalServer) -> (LocalServer, Seen) {
    let seen = match models_of(&Endpoint::found(&server.base_url), LOOK_LIMIT).await {
        Ok(models) => Seen::Models(models.into_iter().map(|model| model.id).collect()),
        Err(_) => Seen::Nothing,
    };
    (server, seen)
}
