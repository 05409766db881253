//! An untrusted project may only tighten settings (X2). This module drops from its file whatever would loosen the
//! person's own settings, before anything is resolved, and reports all of it in one notice. `policy` drops rows of
//! `[policy]`, because each row defines which direction is tighter; servers wait for consent (`servers`).
//!
//! The destination of messages and keys (`base_url`, `api_key_env`) is not handled here: sending them elsewhere than
//! the project says would not be safe either, so that is an error (`endpoint`).

use std::borrow::Cow;

use toml::Spanned;

use super::endpoint;
use super::error::SettingsError;
use super::file::SettingsFile;
use super::file_settings::FileSettings;
use super::flags::Flags;
use super::ignored_setting::IgnoredSetting;
use super::model_tables;
use super::notice::SettingsNotice;
use super::policy;
use super::roles;
use super::server_address::SERVER_IN_NAME;
use super::sources::Sources;

impl Sources {
    /// Returns these sources without the project's loosening settings, and the settings that were dropped.
    pub(super) fn tightened(&self) -> (Cow<'_, Self>, Vec<IgnoredSetting>) {
        let Some(file) = self.project.as_ref().filter(|_| !self.trusts_project()) else {
            return (Cow::Borrowed(self), Vec::new());
        };
        let mut leaving = LooseningFilter { file, kept: file.settings.clone(), left_out: Vec::new() };
        leaving.calls(self);
        leaving.places(self);
        leaving.limits(self);
        leaving.instructions(self);
        let LooseningFilter { kept, left_out, .. } = leaving;
        let project = Some(SettingsFile { settings: kept, ..file.clone() });
        (Cow::Owned(Self { project, ..self.clone() }), left_out)
    }

    /// Returns every setting of the project's file that would loosen the person's settings if it were trusted. Flags
    /// and variables are ignored: they apply to one command, trust to all later ones.
    pub fn needing_trust(&self) -> Result<Vec<IgnoredSetting>, SettingsError> {
        let files = Self { flags: Flags::default(), env: self.env.places_only(), ..self.clone() };
        let (sources, mut left_out) = files.tightened();
        if let Some(file) = self.project.as_ref().filter(|_| !self.trusts_project()) {
            let FileSettings { base_url, api_key_env, model, models, .. } = &file.settings;
            let model = model.as_ref().filter(|_| endpoint::names_server(file));
            left_out.extend(model.map(|model| file.left_out(model, SERVER_IN_NAME)));
            left_out.extend(models.values().map(|table| match &table.get_ref().model {
                Some(model) => file.left_out(model, model_tables::OWN_MODEL),
                None => file.left_out(table, model_tables::OWN_MODEL),
            }));
            let roles = file.settings.roles.values().filter(|chain| roles::names_server(chain.get_ref()));
            left_out.extend(roles.map(|chain| file.left_out(chain, SERVER_IN_NAME)));
            left_out.extend(base_url.as_ref().map(|url| file.left_out(url, "a base_url")));
            left_out.extend(api_key_env.as_ref().map(|name| file.left_out(name, "the choice of a key (api_key_env)")));
        }
        left_out.extend(policy::policy(&sources)?.1);
        Ok(left_out)
    }

    /// Returns the notice about the dropped settings.
    pub(super) fn notice_of(&self, left_out: Vec<IgnoredSetting>) -> Option<SettingsNotice> {
        let file = self.project.as_ref().filter(|_| !left_out.is_empty())?;
        if self.is_declined() {
            // The person has seen all of it and refused. A refused change of a listed folder is reported by `trusting`.
            return (!self.lists(file.folder())).then_some(SettingsNotice::Declined { settings: left_out.len() });
        }
        Some(SettingsNotice::LeftOut { settings: left_out, folder: self.untrusted_folder(file.folder()) })
    }
}

impl SettingsFile {
    /// Returns a value of this file as an ignored setting.
    fn left_out<T>(&self, value: &Spanned<T>, what: &str) -> IgnoredSetting {
        let text = self.text().get(value.span()).map(str::to_owned);
        IgnoredSetting { origin: self.origin(value), what: what.to_owned(), value: text }
    }
}

/// A settings file from which loosening values are removed.
struct LooseningFilter<'a> {
    file: &'a SettingsFile,
    kept: FileSettings,
    left_out: Vec<IgnoredSetting>,
}

impl LooseningFilter<'_> {
    /// Drops permissions, and access to files and hosts.
    fn calls(&mut self, sources: &Sources) {
        let own = sources.user.as_ref().map(|file| &file.settings);
        let mode = own.and_then(|own| Some(*own.permissions.mode.as_ref()?.get_ref())).unwrap_or_default();
        if sources.flags.mode.is_none() && sources.env.raw("WINDLASS_MODE").is_none() {
            self.leave_out(
                |file| &mut file.permissions.mode,
                |theirs| *theirs < mode,
                "a mode that asks less than yours",
            );
        }
        let mode = own.and_then(|own| Some(*own.sandbox.mode.as_ref()?.get_ref())).unwrap_or_default();
        if sources.flags.sandbox.is_none() && sources.env.raw("WINDLASS_SANDBOX").is_none() {
            self.leave_out(
                |file| &mut file.sandbox.mode,
                |theirs| *theirs < mode,
                "a sandbox that holds less than yours",
            );
        }
        self.leave_out_list(|file| &mut file.permissions.allow, "a rule that allows calls");
        self.leave_out_list(|file| &mut file.permissions.unprotected, "an exception to the protected paths");
        self.leave_out_list(|file| &mut file.sandbox.writable, "a way out of the sandbox");
        self.leave_out_list(|file| &mut file.sandbox.readable, "a way out of the sandbox");
        self.leave_out_list(|file| &mut file.tools.fetch_private, "a host of a private network");
        self.leave_out_list(|file| &mut file.tools.keep_env, "a secret for commands (keep_env)");
    }

    /// Drops the data folder, and weaker durability.
    fn places(&mut self, sources: &Sources) {
        if sources.flags.data_dir.is_none() && sources.env.raw("WINDLASS_DATA_DIR").is_none() {
            self.leave_out(|file| &mut file.data_dir, |_| true, "the place of the journals (data_dir)");
        }
        let own = sources.user.as_ref().and_then(|file| file.settings.durability.as_ref());
        let own = own.map(|own| *own.get_ref()).unwrap_or_default();
        if sources.flags.durability.is_none() && sources.env.raw("WINDLASS_DURABILITY").is_none() {
            self.leave_out(|file| &mut file.durability, |theirs| *theirs < own, "a durability below yours");
        }
    }

    /// Drops the system prompt and agents, and instructions that the person has turned off.
    fn instructions(&mut self, sources: &Sources) {
        if sources.flags.system.is_none() {
            self.leave_out(|file| &mut file.system, |_| true, "a system prompt");
        }
        let agents = std::mem::take(&mut self.kept.agents);
        self.left_out.extend(agents.values().map(|agent| self.file.left_out(agent, "an agent")));
        let own = sources.user.as_ref().and_then(|file| file.settings.project_instructions.as_ref());
        let are_off = own.is_some_and(|own| !own.get_ref());
        self.leave_out(
            |file| &mut file.project_instructions,
            |theirs| *theirs && are_off,
            "the project's instructions, which you have turned off",
        );
    }

    /// Drops longer time limits of tool servers.
    fn limits(&mut self, sources: &Sources) {
        let usual = windlass_mcp::ServerLimits::default();
        let own = sources.user.as_ref().map(|file| &file.settings.mcp);
        let own = |look: fn(&super::file_settings::FileMcp) -> &Option<Spanned<f64>>, usual: std::time::Duration| {
            own.and_then(|own| look(own).as_ref()).map_or(usual.as_secs_f64(), |own| *own.get_ref())
        };
        let start = own(|mcp| &mcp.startup_timeout, usual.startup_timeout);
        let call = own(|mcp| &mcp.call_timeout, usual.call_timeout);
        self.leave_out(
            |file| &mut file.mcp.startup_timeout,
            |theirs| *theirs > start,
            "a longer `startup_timeout` than yours",
        );
        self.leave_out(
            |file| &mut file.mcp.call_timeout,
            |theirs| *theirs > call,
            "a longer `call_timeout` than yours",
        );
    }

    /// Drops a value that loosens.
    fn leave_out<T>(
        &mut self,
        look: impl Fn(&mut FileSettings) -> &mut Option<Spanned<T>>,
        loosens: impl Fn(&T) -> bool,
        what: &str,
    ) {
        let taken = look(&mut self.kept).take_if(|theirs| loosens(theirs.get_ref()));
        self.left_out.extend(taken.map(|value| self.file.left_out(&value, what)));
    }

    /// Drops a list in which every entry loosens.
    fn leave_out_list<T>(&mut self, look: impl Fn(&mut FileSettings) -> &mut Vec<Spanned<T>>, what: &str) {
        let taken = std::mem::take(look(&mut self.kept));
        self.left_out.extend(taken.iter().map(|value| self.file.left_out(value, what)));
    }
}
