//! Errors in settings. Every message says where the value is and what is wrong. What to do about it is the door's to say:
//! it knows the flags and commands that help.

use std::io;
use std::path::PathBuf;

use windlass::door::ModelProvider;
use windlass_vocab::Failure;

use super::origin::SettingOrigin;
use super::untrusted_folder::UntrustedFolder;
use crate::models::known_models::KnownModels;
use crate::models::software::Software;

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
    #[error("{origin}: {setting} is not taken from a project you have not trusted")]
    Untrusted {
        /// Where the setting is.
        origin: SettingOrigin,
        /// The setting.
        setting: &'static str,
        /// The project's folder.
        folder: UntrustedFolder,
    },
    /// A key of one provider would be sent to another.
    #[error("{origin}: this is a key for {}, and {base_url} is {}", key_of.name, server_of.name)]
    KeyOfOther {
        /// Where the key is.
        origin: SettingOrigin,
        /// The provider whose key it is.
        key_of: &'static ModelProvider,
        /// The server that would get it.
        base_url: String,
        /// The provider whose server that is.
        server_of: &'static ModelProvider,
    },
    /// An address contains a name or a password.
    #[error("{origin}: the address holds a name or password")]
    PasswordInAddress {
        /// Where the address is.
        origin: SettingOrigin,
    },
    /// A file that holds a key can be read by other users.
    #[error("{origin}: others can read this file and the key in it")]
    KeyReadable {
        /// Where the key is.
        origin: SettingOrigin,
        /// The file.
        path: PathBuf,
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
    #[error("no model is configured and none of yours runs on this machine")]
    NoServer,
    /// What stands before the colon of a model's name is no provider.
    #[error("{origin}: there is no provider {prefix:?}{}", question(near))]
    NoProvider {
        /// Where the model was named.
        origin: SettingOrigin,
        /// What stands there.
        prefix: String,
        /// The provider with nearly this name.
        near: Option<&'static str>,
    },
    /// A model is named whose provider wants a key, and there is none.
    #[error("there is no key for {provider}, whose model {model} is named")]
    NoKey {
        /// The model's name.
        model: String,
        /// The provider's name.
        provider: &'static str,
        /// The variable that holds its key.
        variable: &'static str,
    },
    /// A model is named that its server does not list.
    #[error("{base_url} lists no model {model:?}; it has {}", near.join(", "))]
    NotListed {
        /// The model's id.
        model: String,
        /// The server.
        base_url: String,
        /// Similar ids of that server.
        near: Vec<String>,
    },
    /// The session's conversation would go to another server than before, and nobody named that server.
    #[error("this session talked to {began}, and would now talk to {now}, which nobody named")]
    OtherServer {
        /// The server the session began with.
        began: String,
        /// The server it would use now.
        now: String,
    },
    /// A server on this machine that may be somebody else's.
    #[error("{doubt}; it is not used unasked")]
    NotUsedUnasked {
        /// The server, and why it may be somebody else's.
        doubt: String,
        /// The server's address.
        base_url: String,
    },
    /// A server on this machine that has no model.
    #[error("{} runs on this machine but has no model yet", software.name())]
    NoModelHere {
        /// The server's program.
        software: Software,
    },
    /// A model is named that no server on this machine has.
    #[error("{origin}: no server is configured for the model {model:?}{}", in_sentences(here))]
    NoServerFor {
        /// Where the model was named.
        origin: SettingOrigin,
        /// The model.
        model: String,
        /// Which models run here instead, a sentence for each server.
        here: Vec<String>,
    },
    /// A server is configured, but no model.
    #[error("no model is named for {base_url}. {known}")]
    NoModel {
        /// The server.
        base_url: String,
        /// The provider whose server that is, if the settings say so.
        provider: Option<&'static ModelProvider>,
        /// What is known of the server's models.
        known: KnownModels,
    },
    /// The configured server was asked for its models, and refused the key.
    #[error("{}", .0.message)]
    KeyRefused(Failure),
    /// No data folder can be determined.
    #[error("it is not known where to keep sessions: HOME is not set")]
    NoDataDir,
}

fn question(near: &Option<&str>) -> String {
    near.map_or_else(String::new, |near| format!("; did you mean {near:?}?"))
}

fn in_sentences(sentences: &[String]) -> String {
    sentences.iter().map(|sentence| format!(". {sentence}")).collect()
}

impl SettingsError {
    pub(super) fn wrong(origin: SettingOrigin, problem: impl Into<String>) -> Self {
        Self::Wrong { origin, problem: problem.into() }
    }
}
