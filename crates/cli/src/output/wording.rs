//! What only a command line can tell: settings that loosen, commands and flags that help.

use std::path::Path;

use windlass_sandbox::SandboxMode;
use windlass_setup::settings::{ModeSetting, PlaceSettings, SettingOrigin, Settings};

/// What is held less than usual, a line each: whoever starts a run knows it before anything happens (X3, T8).
pub(crate) fn loosened(settings: &Settings) -> Vec<&'static str> {
    let sandbox = match settings.sandbox.mode.value {
        SandboxMode::Off => Some("commands run without a sandbox"),
        SandboxMode::Workspace | SandboxMode::ReadOnly => None,
    };
    let mode = match settings.permissions.mode.value {
        ModeSetting::Bypass => Some("calls run without asking (mode bypass)"),
        ModeSetting::Default | ModeSetting::Strict => None,
    };
    sandbox.into_iter().chain(mode).collect()
}

/// How many runs a stop ended, and how many messages it dropped (L8).
pub(crate) fn stopped_runs(runs: u32, dropped: usize) -> String {
    let runs = match runs {
        0 => "there is no run to stop",
        _ => "stopped 1 run",
    };
    let dropped = match dropped {
        0 => String::new(),
        1 => ", dropped 1 message that the model had not read".to_owned(),
        many => format!(", dropped {many} messages that the model had not read"),
    };
    format!("{runs}{dropped}")
}

/// A word as a shell reads it back.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_.:/@+".contains(c);
    if word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// The command that means a session of this place, as a shell reads it. `flags` begin with a space, where there are any.
pub(crate) fn command_for(verb: &str, key: &str, flags: &str, place: &PlaceSettings) -> String {
    let data = match place.data_dir.origin {
        SettingOrigin::Flag(_) => same_folders(Some(&place.data_dir.value), None),
        // Whatever else said so will say so again.
        SettingOrigin::Variable(_)
        | SettingOrigin::Project(_)
        | SettingOrigin::ProjectServers(_)
        | SettingOrigin::User(_)
        | SettingOrigin::Default
        | SettingOrigin::Found
        | SettingOrigin::Session => String::new(),
    };
    let key = quoted(key);
    if key.starts_with('-') {
        return format!("windlass {verb}{flags}{data} -- {key}");
    }
    format!("windlass {verb} {key}{flags}{data}")
}

/// The flags with which another command means the same folders as this one, where they were given.
pub(crate) fn same_folders(data_dir: Option<&Path>, workspace: Option<&Path>) -> String {
    let flag = |name: &str, folder: Option<&Path>| {
        folder.map(|folder| format!(" {name} {}", quoted(&folder.to_string_lossy()))).unwrap_or_default()
    };
    flag("--data-dir", data_dir) + &flag("--workspace", workspace)
}
