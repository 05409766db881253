//! Resolves the sandbox for commands from all sources (X3).

use std::path::PathBuf;

use toml::Spanned;
use windlass_sandbox::{SandboxMode, Surroundings};

use super::error::SettingsError;
use super::file::SettingsFile;
use super::origin::{SettingOrigin, Sourced};
use super::place::PlaceSettings;
use super::sources;
use super::sources::Sources;

/// The sandbox for commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxSettings {
    /// The configured mode.
    pub mode: Sourced<SandboxMode>,
    /// Folders that are writable besides the workspace.
    pub writable: Vec<PathBuf>,
    /// Paths that may be read although they are on the list of secrets.
    pub readable: Vec<PathBuf>,
    /// Further paths that may not be read.
    pub unreadable: Vec<PathBuf>,
    /// The home folder whose secrets are protected.
    pub home: Option<PathBuf>,
    /// The folders in which programs are searched.
    pub programs: Vec<PathBuf>,
}

impl SandboxSettings {
    /// Returns the default sandbox, for callers without settings.
    #[must_use]
    pub fn usual(home: Option<PathBuf>) -> Self {
        let mode = Sourced::new(SandboxMode::default(), SettingOrigin::Default);
        let (writable, readable, unreadable, programs) = Default::default();
        Self { mode, writable, readable, unreadable, home, programs }
    }

    /// Returns the surroundings of commands at this place. Windlass's own folders are closed to them.
    #[must_use]
    pub fn surroundings(&self, place: &PlaceSettings) -> Surroundings {
        Surroundings {
            mode: self.mode.value,
            workspace: place.workspace.clone(),
            home: self.home.clone(),
            programs: self.programs.clone(),
            writable: self.writable.clone(),
            readable: self.readable.clone(),
            unreadable: self.unreadable.iter().chain([&place.data_dir.value]).cloned().collect(),
        }
    }
}

pub(super) fn sandbox(sources: &Sources) -> Result<SandboxSettings, SettingsError> {
    let Sources { project, user, env, .. } = sources;
    let programs = env.raw("PATH").map(|path| std::env::split_paths(path).collect()).unwrap_or_default();
    let mut sandbox = SandboxSettings { mode: mode(sources)?, programs, ..SandboxSettings::usual(env.home()) };
    for file in [project, user].into_iter().flatten() {
        let table = &file.settings.sandbox;
        let paths = |paths: &[Spanned<PathBuf>]| -> Vec<PathBuf> {
            paths.iter().map(|path| file.folder().join(sources::from_home(path.get_ref(), env))).collect()
        };
        sandbox.writable.extend(paths(&table.writable));
        sandbox.readable.extend(paths(&table.readable));
        sandbox.unreadable.extend(paths(&table.unreadable));
    }
    // The person's settings of Windlass are as secret as its data.
    sandbox.unreadable.extend(sources.user_file().and_then(|file| Some(file.parent()?.to_owned())));
    Ok(sandbox)
}

fn mode(sources: &Sources) -> Result<Sourced<SandboxMode>, SettingsError> {
    let Sources { flags, env, project, user, .. } = sources;
    if let Some(mode) = Sourced::flag("sandbox", flags.sandbox) {
        return Ok(mode);
    }
    if let Some(mode) = env.parsed("WINDLASS_SANDBOX", parsed)? {
        return Ok(mode);
    }
    let in_file =
        |file: &Option<SettingsFile>| file.as_ref().and_then(|file| file.sourced(&file.settings.sandbox.mode));
    let named = in_file(project).or_else(|| in_file(user));
    Ok(named.unwrap_or(Sourced::new(SandboxMode::default(), SettingOrigin::Default)))
}

/// Parses a mode from its text in settings and flags.
pub fn parsed(text: &str) -> Result<SandboxMode, String> {
    let mode = SandboxMode::ALL.into_iter().find(|mode| mode.as_str() == text);
    mode.ok_or_else(|| format!("{text:?} is not one of {}", SandboxMode::ALL.map(SandboxMode::as_str).join(", ")))
}

#[cfg(test)]
mod tests {
    use super::super::tests::SettingsFixture;

    // proves X3, X2
    #[test]
    fn the_mode_comes_from_flag_variable_and_files_and_a_project_only_tightens() {
        use windlass_sandbox::SandboxMode::{Off, ReadOnly, Workspace};
        let mode = |given: SettingsFixture| given.settings().sandbox.mode.value;
        assert_eq!(mode(SettingsFixture::nothing()), Workspace);
        assert_eq!(mode(SettingsFixture::nothing().user("[sandbox]\nmode = 'off'")), Off);
        assert_eq!(mode(SettingsFixture::nothing().env(&[("WINDLASS_SANDBOX", "read-only")])), ReadOnly);
        assert_eq!(mode(SettingsFixture::nothing().project("[sandbox]\nmode = 'read-only'")), ReadOnly);
        for text in ["mode = 'off'", "writable = ['/etc']", "readable = ['~/.ssh']"] {
            let settings = SettingsFixture::nothing().project(&format!("[sandbox]\n{text}")).settings();
            assert_eq!(settings.sandbox, SettingsFixture::nothing().settings().sandbox, "{text}");
            assert!(settings.notices[0].to_string().contains("windlass.toml:2:"), "{:?}", settings.notices);
        }
        let tightened = SettingsFixture::nothing().project("[sandbox]\nunreadable = ['secrets']").settings();
        assert!(tightened.sandbox.unreadable.iter().any(|path| path.ends_with("secrets")));
        assert!(SettingsFixture::nothing().env(&[("WINDLASS_SANDBOX", "on")]).error().contains("workspace"));
    }
}
