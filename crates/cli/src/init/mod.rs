//! Writes the settings file of `windlass init`.
//!
//! The protocol: a [`SettingsDraft`] is filled from the settings and servers found and from the answers of a person
//! ([`ask`]); [`SettingsDraft::render`] turns it into the file, with a comment for each line. A project's file may name
//! a server only once its folder is trusted; without that, server and model are written as comments, so that the file
//! always works. API keys are never written.

mod ask;
#[cfg(test)]
mod tests;

use windlass::door::{NamedModel, NamedServer};
use windlass_machine::PRESETS;
use windlass_setup::settings::SettingsScope;

pub(crate) use self::ask::{InitDialog, ask};

/// The settings to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SettingsDraft {
    pub(crate) scope: SettingsScope,
    /// The server's address; none means OpenAI's.
    pub(crate) server: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) preset: String,
    /// Commands that run unasked, as people type them: `cargo *`.
    pub(crate) commands: Vec<String>,
}

/// Whether the person trusts the folder of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DraftTrust {
    Given,
    NotGiven,
}

impl SettingsDraft {
    /// Whether the file works as drafted only in a trusted folder: a model alone would be looked for on another server.
    pub(crate) fn needs_trust(&self) -> bool {
        let names_server = self.model.as_deref().is_some_and(names_server);
        self.scope == SettingsScope::Project && (self.server.is_some() || names_server)
    }

    /// Renders the file.
    pub(crate) fn render(&self, trust: DraftTrust) -> String {
        let mark = if self.needs_trust() && trust == DraftTrust::NotGiven { "# " } else { "" };
        [self.head(), self.server_lines(mark), self.model_lines(mark), self.rule_lines(), self.permission_lines()]
            .join("\n")
    }

    fn head(&self) -> String {
        let scope = match self.scope {
            SettingsScope::Project => "of this folder",
            SettingsScope::User => "of your own: they hold in every folder",
        };
        format!(
            "# Settings of Windlass, {scope}. Flags and variables win over this file.\n\
             # `windlass doctor` shows which value came from where.\n"
        )
    }

    /// `mark` makes the line a comment where it does not count yet.
    fn server_lines(&self, mark: &str) -> String {
        let line = match &self.server {
            Some(address) => format!("{mark}base_url = {}\n", quoted(address)),
            None => "# base_url = \"http://127.0.0.1:11434/v1\"\n".to_owned(),
        };
        let line = if mark.is_empty() || self.server.is_none() {
            line
        } else {
            format!(
                "# A server may be named here once you trust this folder: take the # away from `base_url` and `model`,\n\
                 # then run `windlass trust`.\n{line}"
            )
        };
        format!(
            "# The server: any that speaks the OpenAI API. Left out, it is that of the provider whose key is set\n\
             # (OPENAI_API_KEY, ANTHROPIC_API_KEY and so on), else Ollama or a llama.cpp server on this machine.\n{line}\n\
             # The key does not belong here. It is read from OPENAI_API_KEY, or from the variable named so:\n\
             # api_key_env = \"MY_KEY\"\n"
        )
    }

    fn model_lines(&self, mark: &str) -> String {
        let line = match &self.model {
            Some(model) if !mark.is_empty() && self.server.is_none() => format!(
                "# It may name its server here once you trust this folder: take the # away, then run `windlass trust`.\n\
                 # model = {}\n",
                quoted(model)
            ),
            Some(model) => format!("{mark}model = {}\n", quoted(model)),
            None => "# model = \"qwen3\"\n".to_owned(),
        };
        format!(
            "# The model, as its server names it; or, without a base_url, with its server: \"ollama:qwen3\".\n{line}"
        )
    }

    fn rule_lines(&self) -> String {
        let trusted = match self.scope {
            SettingsScope::User => "",
            SettingsScope::Project => {
                "# Here others than yours count only where they tighten, until you trust this folder (`windlass trust`).\n"
            }
        };
        format!(
            "# The rules a run starts from: {}.\n{trusted}preset = {}\n\n\
             # Any rule of the preset can be changed, e.g. how many turns a run may take.\n\
             # [policy]\n# turn_cap = 50\n",
            PRESETS.join(", "),
            quoted(&self.preset)
        )
    }

    fn permission_lines(&self) -> String {
        let rules: Vec<String> = self.commands.iter().map(|command| quoted(&rule(command))).collect();
        let allow = match (self.scope, rules.is_empty()) {
            (SettingsScope::User, false) => format!("allow = [{}]\n", rules.join(", ")),
            (SettingsScope::User, true) => "# allow = [\"run_command(cargo *)\"]\n".to_owned(),
            (SettingsScope::Project, _) => {
                "# `allow` counts here only once you trust this folder (`windlass trust`).\n\
                 # allow = [\"run_command(cargo *)\"]\n"
                    .to_owned()
            }
        };
        format!(
            "[permissions]\n\
             # What is asked for: commands and web pages (default), every change (strict), nothing (bypass).\n\
             # mode = \"strict\"\n\
             # Rules: deny wins over ask, ask over allow.\n{allow}# deny = [\"run_command(git push *)\"]\n"
        )
    }
}

/// Whether one of these models, with commas between them, is named together with its server.
pub(crate) fn names_server(names: &str) -> bool {
    names.split(',').any(|name| NamedModel::parse(name.trim()).server != NamedServer::Unnamed)
}

/// Turns `cargo *` into a rule; leaves a whole rule as it is.
pub(crate) fn rule(command: &str) -> String {
    if command.contains('(') { command.to_owned() } else { format!("run_command({command})") }
}

/// Quotes a string for TOML.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}
