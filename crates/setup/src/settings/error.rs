//! Errors in settings. Every message says where the value is and what to do.

use std::io;
use std::path::PathBuf;

use super::origin::SettingOrigin;

/// The settings can't be used as they are.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// A value is wrong.
    #[error("{origin}: {problem}")]
    Wrong {
        /// Where the value is.
        origin: SettingOrigin,
        /// A sentence about the problem.
        problem: String,
    },
    /// A project's file sets something that only a trusted folder may set.
    #[error(
        "{origin}: {setting} is not taken from a project you have not trusted. Read the file; then take the line out, \
         or {how}"
    )]
    Untrusted {
        /// Where the setting is.
        origin: SettingOrigin,
        /// The setting.
        setting: &'static str,
        /// How to trust the folder.
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
    /// The workspace is not a folder.
    #[error("{origin}: the workspace {} can't be used: {source}", path.display())]
    Workspace {
        /// Where the workspace was named.
        origin: SettingOrigin,
        /// The path that was named.
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
    /// The session's conversation would go to another server than before, and nobody named that server.
    #[error(
        "this session talked to {began}, and would now talk to {now}, which nobody named: say which with --base-url \
         or OPENAI_BASE_URL"
    )]
    OtherServer {
        /// The server the session began with.
        began: String,
        /// The server it would use now.
        now: String,
    },
    /// A server on this machine that may be somebody else's.
    #[error(
        "{doubt}; it is not used unasked. To use it, name it: --base-url {base_url}, or OPENAI_BASE_URL={base_url}, \
         or `base_url = {base_url:?}` in windlass.toml"
    )]
    NotUsedUnasked {
        /// The server, and why it may be somebody else's.
        doubt: String,
        /// The server's address.
        base_url: String,
    },
    /// A server on this machine that has no model.
    #[error(
        "{server} runs on this machine but has no model yet: {advice}; or set OPENAI_API_KEY. \
         `windlass demo` shows a job without a model"
    )]
    NoModelHere {
        /// The server's name.
        server: &'static str,
        /// How to give it a model.
        advice: &'static str,
    },
    /// A model is named that no server on this machine has.
    #[error("{origin}: no server is configured for the model {model:?}: {found}")]
    NoServerFor {
        /// Where the model was named.
        origin: SettingOrigin,
        /// The model.
        model: String,
        /// Which models run here instead, and what to do.
        found: String,
    },
    /// A server is configured, but no model.
    #[error(
        "no model is named for {base_url}: give --model, or set OPENAI_MODEL, or write `model = \"…\"` in windlass.toml{known}"
    )]
    NoModel {
        /// The server.
        base_url: String,
        /// The known models of the server: empty, or a sentence with a leading space.
        known: String,
    },
    /// No data folder can be determined.
    #[error("it is not known where to keep sessions: set HOME, or give --data-dir")]
    NoDataDir,
}

impl SettingsError {
    pub(super) fn wrong(origin: SettingOrigin, problem: impl Into<String>) -> Self {
        Self::Wrong { origin, problem: problem.into() }
    }
}
