//! The contents of `windlass.toml`, table by table.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use toml::Spanned;
use windlass_sandbox::SandboxMode;
use windlass_vocab::{Dialect, PolicyPatch};

use super::durability::DurabilitySetting;
use super::mode::ModeSetting;
use super::model_list::ModelList;

/// The contents of a settings file. Absent means "not set here".
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FileSettings {
    pub(super) model: Option<Spanned<ModelList>>,
    pub(super) models: BTreeMap<String, Spanned<FileModel>>,
    /// The chains of other roles than the turn's, by the role's name.
    pub(super) roles: BTreeMap<Spanned<String>, Spanned<ModelList>>,
    pub(super) agents: BTreeMap<String, Spanned<FileAgent>>,
    pub(super) base_url: Option<Spanned<String>>,
    pub(super) api_key_env: Option<Spanned<String>>,
    pub(super) api_key: Option<Spanned<String>>,
    pub(super) preset: Option<Spanned<String>>,
    pub(super) system: Option<Spanned<String>>,
    pub(super) project_instructions: Option<Spanned<bool>>,
    pub(super) data_dir: Option<Spanned<PathBuf>>,
    pub(super) durability: Option<Spanned<DurabilitySetting>>,
    pub(super) trusted: Option<Spanned<Vec<PathBuf>>>,
    pub(super) policy: PolicyPatch,
    pub(super) permissions: FilePermissions,
    pub(super) tools: FileTools,
    pub(super) sandbox: FileSandbox,
    pub(super) hidden: FileHidden,
    pub(super) mcp: FileMcp,
    #[serde(rename = "mcpServers", alias = "mcp_servers")]
    pub(super) mcp_servers: Option<Spanned<toml::Value>>,
}

/// A table `[models.NAME]` as it is written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FileModel {
    /// The model's name with its server, or its id; by default NAME is the id.
    pub(super) model: Option<Spanned<String>>,
    pub(super) window: Option<Spanned<toml::Value>>,
    pub(super) max_output: Option<Spanned<toml::Value>>,
    pub(super) price_input: Option<Spanned<toml::Value>>,
    pub(super) price_output: Option<Spanned<toml::Value>>,
    pub(super) price_cached: Option<Spanned<toml::Value>>,
    /// The variable with the key for its server.
    pub(super) api_key_env: Option<Spanned<String>>,
    /// Whether it is sent images.
    pub(super) images: Option<Spanned<bool>>,
    /// Whether it is offered tools by the wire's own means.
    pub(super) tools: Option<Spanned<bool>>,
    /// Whether it is sent the schema of an answer.
    pub(super) json_schema: Option<Spanned<bool>>,
    /// Whether and how it reasons.
    pub(super) reasoning: Option<Spanned<String>>,
    /// The dialect it writes calls in.
    pub(super) dialect: Option<Spanned<Dialect>>,
    /// How many tools it is offered of a large catalogue.
    pub(super) tools_offered: Option<Spanned<u16>>,
    /// Whether its server is asked to hold its calls to a schema.
    pub(super) constrained: Option<Spanned<bool>>,
}

/// A table `[agents.NAME]` as it is written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FileAgent {
    /// The models it uses, in place of the file's own `model`.
    pub(super) model: Option<Spanned<ModelList>>,
    /// What follows the configured system prompt.
    pub(super) system: Option<Spanned<String>>,
}

/// The table `[permissions]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FilePermissions {
    pub(super) mode: Option<Spanned<ModeSetting>>,
    pub(super) allow: Vec<Spanned<String>>,
    pub(super) ask: Vec<Spanned<String>>,
    pub(super) deny: Vec<Spanned<String>>,
    pub(super) protected: Vec<Spanned<String>>,
    pub(super) unprotected: Vec<Spanned<String>>,
}

/// The table `[tools]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FileTools {
    pub(super) fetch_private: Vec<Spanned<String>>,
    pub(super) hide_env: Vec<Spanned<String>>,
    pub(super) keep_env: Vec<Spanned<String>>,
}

/// The table `[mcp]`: defaults for servers whose entries don't set these values.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FileMcp {
    /// In seconds, as in an entry.
    pub(super) startup_timeout: Option<Spanned<f64>>,
    /// In seconds, as in an entry.
    pub(super) call_timeout: Option<Spanned<f64>>,
}

/// The table `[hidden]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FileHidden {
    always: Vec<Spanned<String>>,
    linux: Vec<Spanned<String>>,
    macos: Vec<Spanned<String>>,
    windows: Vec<Spanned<String>>,
    default: Vec<Spanned<String>>,
    strict: Vec<Spanned<String>>,
    bypass: Vec<Spanned<String>>,
}

impl FileHidden {
    pub(super) fn on(&self, platform: &str, mode: ModeSetting) -> impl Iterator<Item = &Spanned<String>> {
        let of_platform = match platform {
            "linux" => self.linux.as_slice(),
            "macos" => &self.macos,
            "windows" => &self.windows,
            _ => &[],
        };
        let of_mode = match mode {
            ModeSetting::Default => &self.default,
            ModeSetting::Strict => &self.strict,
            ModeSetting::Bypass => &self.bypass,
        };
        self.always.iter().chain(of_platform).chain(of_mode)
    }
}

/// The table `[sandbox]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FileSandbox {
    pub(super) mode: Option<Spanned<SandboxMode>>,
    pub(super) writable: Vec<Spanned<PathBuf>>,
    pub(super) readable: Vec<Spanned<PathBuf>>,
    pub(super) unreadable: Vec<Spanned<PathBuf>>,
}
