//! Texts that only the command line can provide: loosened settings, and commands and flags that help.

use std::path::Path;

use windlass_sandbox::SandboxMode;
use windlass_setup::settings::{ModeSetting, PlaceSettings, RepeatedFlags, Settings};

use crate::args::dialect_name;

use super::setting_words::flag_of;

/// Returns the protections that are switched off, one per line, so that a person knows before a run starts (X3, T8).
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

/// Returns how many runs a stop ended, and how many messages it dropped (L8).
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

/// Quotes a word for a shell.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_.:/@+".contains(c);
    if word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// Returns the shell command for a session of this place. `flags` begin with a space, if there are any.
pub(crate) fn command_for(verb: &str, key: &str, flags: &str, place: &PlaceSettings) -> String {
    // Settings from other origins apply again without a flag.
    let data = match flag_of(&place.data_dir.origin) {
        Some(_) => same_folders(Some(&place.data_dir.value), None),
        None => String::new(),
    };
    let key = quoted(key);
    if key.starts_with('-') {
        return format!("windlass {verb}{flags}{data} -- {key}");
    }
    format!("windlass {verb} {key}{flags}{data}")
}

/// The same, for a command that calls a model: with the flags that it needs again.
pub(crate) fn model_command_for(verb: &str, key: &str, flags: &str, place: &PlaceSettings) -> String {
    let RepeatedFlags { model, base_url, preset, mode, sandbox, dialects, allow, deny } = &place.again;
    let dialects = dialects.iter().map(|dialect| dialect_name(*dialect)).collect::<Vec<_>>().join(",");
    // A run that goes on writes its calls as it began.
    let dialects = Some(dialects.as_str()).filter(|names| !names.is_empty() && verb != "resume");
    // A run that goes on or is tried again keeps its rules; a chat begins new ones.
    let preset = preset.as_deref().filter(|_| verb == "--resume");
    let one = |name: &'static str, value: Option<&str>| value.map(|value| format!(" {name} {}", quoted(value)));
    let single = [
        one("--model", model.as_deref()),
        one("--base-url", base_url.as_deref()),
        one("--preset", preset),
        one("--dialect", dialects),
        one("--mode", mode.map(ModeSetting::as_str)),
        one("--sandbox", sandbox.map(SandboxMode::as_str)),
    ];
    let allowed = allow.iter().filter_map(|rule| one("--allow", Some(rule)));
    let denied = deny.iter().filter_map(|rule| one("--deny", Some(rule)));
    let again: String = single.into_iter().flatten().chain(allowed).chain(denied).collect();
    command_for(verb, key, &format!("{flags}{again}"), place)
}

/// Returns the flags that make another command use the same folders, if they were given.
pub(crate) fn same_folders(data_dir: Option<&Path>, workspace: Option<&Path>) -> String {
    let flag = |name: &str, folder: Option<&Path>| {
        folder.map(|folder| format!(" {name} {}", quoted(&folder.to_string_lossy()))).unwrap_or_default()
    };
    flag("--data-dir", data_dir) + &flag("--workspace", workspace)
}
