//! Lists which file, variable or flag set each value. Of a key only the origin is printed.

use std::collections::BTreeSet;

use windlass_setup::models::display_name;
use windlass_setup::secrets::hidden_variables;
use windlass_setup::settings::{Settings, Sources};

use super::check::Check;
use crate::output::setting_words::{origin_text, settings_notice};

pub(crate) fn check(sources: &Sources, settings: &Settings) -> Check {
    let mut lines = values(settings);
    lines.extend(hidden(&hidden_variables(&sources.env, settings)));
    lines.extend(untrusted(sources));
    Check::ok("settings", files(sources)).with(lines)
}

fn files(sources: &Sources) -> String {
    let project = sources.project.as_ref().map(|file| {
        let trust = if sources.trusts_project() { "trusted" } else { "not trusted: it may only tighten" };
        format!("this project's {} ({trust})", file.path().display())
    });
    let user = sources.user.as_ref().map(|file| format!("your own {}", file.path().display()));
    let files: Vec<String> = project.into_iter().chain(user).collect();
    if files.is_empty() { "no windlass.toml is read".to_owned() } else { format!("read: {}", files.join(", ")) }
}

/// Lists what a project that the person declined to trust may not set, and what changed in one they had trusted.
fn untrusted(sources: &Sources) -> Vec<String> {
    if sources.trusts_project() || !sources.is_declined() {
        // A project nobody was asked about yet is reported in the notices.
        return Vec::new();
    }
    let changed = if sources.trust_state().is_some() { sources.changes() } else { Vec::new() };
    let changed = changed.into_iter().map(|change| format!("changed since you trusted it: {}", change.path.display()));
    let left_out = sources.needing_trust().unwrap_or_default();
    let left_out = left_out.iter().map(|one| format!("not taken: {one}"));
    changed.chain(left_out).collect()
}

/// Names the variables that commands don't get, and the setting that would pass them on.
fn hidden(names: &BTreeSet<String>) -> Option<String> {
    let all = names.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    (!names.is_empty()).then(|| format!("not given to commands: {all} (`keep_env` under [tools] would)"))
}

fn values(settings: &Settings) -> Vec<String> {
    let place = &settings.place;
    let mut lines = Vec::new();
    if let Some(endpoint) = &settings.endpoint {
        lines.push(format!("server {} ({})", endpoint.base_url.value, origin_text(&endpoint.base_url.origin)));
        let key = endpoint.api_key.as_ref();
        lines.push(key.map_or_else(|| "no key".to_owned(), |key| format!("a key ({})", origin_text(&key.origin))));
    }
    lines.extend(
        settings
            .model
            .as_ref()
            .map(|model| format!("model {} ({})", display_name(&model.value), origin_text(&model.origin))),
    );
    lines.push(format!("preset {}, {} turns at most", settings.policy.preset, settings.policy.turn_cap));
    let permissions = &settings.permissions;
    let rules = permissions.allow.len() + permissions.ask.len() + permissions.deny.len();
    let mode = &permissions.mode;
    lines.push(format!("permission mode {} ({}), rules: {rules}", mode.value, origin_text(&mode.origin)));
    lines.push(format!("workspace {}", place.workspace.display()));
    lines.push(format!("data folder {} ({})", place.data_dir.value.display(), origin_text(&place.data_dir.origin)));
    lines.extend(settings.notices.iter().map(settings_notice));
    lines
}
