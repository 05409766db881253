//! A project that nobody has trusted may only tighten (X2): what in its file would loosen the person's own settings is left
//! out here, before anything is decided. The person is told of all of it at once. Rows of `[policy]` are left out by
//! `policy`, where it stands beside each row which way it is tightened; servers wait for consent (`servers`).
//!
//! Where words and keys go (`base_url`, `api_key_env`) is not among these: to send them elsewhere than the project says is
//! no safe answer either, so that is refused (`endpoint`).

use std::borrow::Cow;

use toml::Spanned;

use super::error::SettingsError;
use super::file::SettingsFile;
use super::file_settings::FileSettings;
use super::flags::Flags;
use super::origin::SettingOrigin;
use super::policy;
use super::sources::Sources;

/// How a person who said no learns what they said no to, and takes it back.
pub const MORE: &str = "`windlass doctor` tells more, `windlass trust` asks again";

/// A setting of a project's file that is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredSetting {
    /// Where it stands.
    pub(super) origin: SettingOrigin,
    /// What it is, for people.
    pub(super) what: String,
    /// What the file says there, where `what` does not tell.
    pub(super) value: Option<String>,
}

impl IgnoredSetting {
    /// The setting with its value: whoever is to agree to it must see it.
    pub fn with_value(&self) -> String {
        self.value.as_ref().map_or_else(|| self.to_string(), |value| format!("{self}: {value}"))
    }
}

impl std::fmt::Display for IgnoredSetting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.origin, self.what)
    }
}

impl Sources {
    /// These sources with nothing in the project's file that loosens, and what was left out of it.
    pub(super) fn tightened(&self) -> (Cow<'_, Self>, Vec<IgnoredSetting>) {
        let Some(file) = self.project.as_ref().filter(|_| !self.trusts_project()) else {
            return (Cow::Borrowed(self), Vec::new());
        };
        let mut leaving = LooseningFilter { file, kept: file.settings.clone(), left_out: Vec::new() };
        leaving.calls(self);
        leaving.places(self);
        leaving.limits(self);
        let LooseningFilter { kept, left_out, .. } = leaving;
        let project = Some(SettingsFile { settings: kept, ..file.clone() });
        (Cow::Owned(Self { project, ..self.clone() }), left_out)
    }

    /// Everything of the project's file that would loosen the person's settings if it were trusted. Flags and variables
    /// don't count: they hold for one command, and trust for all that follow.
    pub fn needing_trust(&self) -> Result<Vec<IgnoredSetting>, SettingsError> {
        let files = Self { flags: Flags::default(), env: self.env.places_only(), ..self.clone() };
        let (sources, mut left_out) = files.tightened();
        if let Some(file) = self.project.as_ref().filter(|_| !self.trusts_project()) {
            let FileSettings { base_url, api_key_env, .. } = &file.settings;
            left_out.extend(base_url.as_ref().map(|url| file.left_out(url, "a base_url")));
            left_out.extend(api_key_env.as_ref().map(|name| file.left_out(name, "the choice of a key (api_key_env)")));
        }
        left_out.extend(policy::policy(&sources)?.1);
        Ok(left_out)
    }

    /// What a person is told of what was left out.
    pub(super) fn notice_of(&self, left_out: &[IgnoredSetting]) -> Option<String> {
        let file = self.project.as_ref().filter(|_| !left_out.is_empty())?;
        if self.is_declined() {
            // They have seen all of it, and said no; of a change they are told where that is found.
            let what =
                if left_out.len() == 1 { "1 setting".to_owned() } else { format!("{} settings", left_out.len()) };
            let told = format!("{what} of this project's windlass.toml not taken, as you said no; {MORE}");
            return (!self.lists(file.folder())).then_some(told);
        }
        let all: Vec<String> = left_out.iter().map(ToString::to_string).collect();
        Some(format!(
            "{}: not taken from a project you have not trusted. Read the file; to take what it says, {}",
            all.join("; "),
            self.trusting(file.folder())
        ))
    }
}

impl SettingsFile {
    /// A value of this file that is not taken.
    fn left_out<T>(&self, value: &Spanned<T>, what: &str) -> IgnoredSetting {
        let text = self.text().get(value.span()).map(str::to_owned);
        IgnoredSetting { origin: self.origin(value), what: what.to_owned(), value: text }
    }
}

/// What is left of a file.
struct LooseningFilter<'a> {
    file: &'a SettingsFile,
    kept: FileSettings,
    left_out: Vec<IgnoredSetting>,
}

impl LooseningFilter<'_> {
    /// What calls are allowed, and what they may reach.
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

    /// Where sessions are kept, and how safely.
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

    /// How long tool servers may take.
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

    /// Leaves out a value that loosens.
    fn leave_out<T>(
        &mut self,
        look: impl Fn(&mut FileSettings) -> &mut Option<Spanned<T>>,
        loosens: impl Fn(&T) -> bool,
        what: &str,
    ) {
        let taken = look(&mut self.kept).take_if(|theirs| loosens(theirs.get_ref()));
        self.left_out.extend(taken.map(|value| self.file.left_out(&value, what)));
    }

    /// Leaves out a list of which every entry loosens.
    fn leave_out_list<T>(&mut self, look: impl Fn(&mut FileSettings) -> &mut Vec<Spanned<T>>, what: &str) {
        let taken = std::mem::take(look(&mut self.kept));
        self.left_out.extend(taken.iter().map(|value| self.file.left_out(value, what)));
    }
}
