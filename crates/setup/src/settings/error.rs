//! What can be wrong with settings. Every text says where the value stands and what to do.

use std::io;
use std::path::PathBuf;

use super::origin::SettingOrigin;

/// The settings can't be used as they are.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// A value is wrong.
    #[error("{origin}: {problem}")]
    Wrong {
        /// Where it stands.
        origin: SettingOrigin,
        /// A sentence.
        problem: String,
    },
    /// A project's file asks for what only a trusted folder may have.
    #[error(
        "{origin}: {setting} is not taken from a project you have not trusted. Read the file; then take the line out, \
         or {how}"
    )]
    Untrusted {
        /// Where it stands.
        origin: SettingOrigin,
        /// What it asks for.
        setting: &'static str,
        /// How the folder is trusted.
        how: String,
    },
    /// A file is there but can't be read.
    #[error("{}: the file can't be read: {problem}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// A file of MCP servers can't be used.
    #[error("{}: {problem}", path.display())]
    Servers {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The workspace is no folder.
    #[error("{origin}: the workspace {} can't be used: {source}", path.display())]
    Workspace {
        /// Who named it.
        origin: SettingOrigin,
        /// What was named.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// No server is known.
    #[error(
        "no model is configured and none of yours runs on this machine: set OPENAI_API_KEY, or start Ollama or a llama.cpp \
         server, or name a server with --base-url or OPENAI_BASE_URL (e.g. http://127.0.0.1:11434/v1). \
         `windlass init` writes it down; `windlass demo` shows a job without a model"
    )]
    NoServer,
    /// The session's words would go to another server than before, and nobody said so.
    #[error(
        "this session talked to {began}, and would now talk to {now}, which nobody named: say which with --base-url \
         or OPENAI_BASE_URL"
    )]
    OtherServer {
        /// Where it began.
        began: String,
        /// Where it would go.
        now: String,
    },
    /// A server on this machine that may be somebody else's.
    #[error(
        "{doubt}; it is not used unasked. To use it, name it: --base-url {base_url}, or OPENAI_BASE_URL={base_url}, \
         or `base_url = {base_url:?}` in windlass.toml"
    )]
    NotUsedUnasked {
        /// What it is and why it may be somebody else's.
        doubt: String,
        /// Where it is.
        base_url: String,
    },
    /// A server on this machine, but nothing in it.
    #[error(
        "{server} runs on this machine but has no model yet: {advice}; or set OPENAI_API_KEY. \
         `windlass demo` shows a job without a model"
    )]
    NoModelHere {
        /// Its name.
        server: &'static str,
        /// How it gets one.
        advice: &'static str,
    },
    /// A model, but nobody here has it.
    #[error("{origin}: no server is configured for the model {model:?}: {found}")]
    NoServerFor {
        /// Who named it.
        origin: SettingOrigin,
        /// The model.
        model: String,
        /// What runs here instead, and what to do.
        found: String,
    },
    /// A server, but no model.
    #[error(
        "no model is named for {base_url}: give --model, or set OPENAI_MODEL, or write `model = \"…\"` in windlass.toml{known}"
    )]
    NoModel {
        /// The server.
        base_url: String,
        /// What is known of its models: nothing, or a sentence after a blank.
        known: String,
    },
    /// There is nowhere to put things.
    #[error("it is not known where to keep sessions: set HOME, or give --data-dir")]
    NoDataDir,
}

impl SettingsError {
    pub(super) fn wrong(origin: SettingOrigin, problem: impl Into<String>) -> Self {
        Self::Wrong { origin, problem: problem.into() }
    }
}
