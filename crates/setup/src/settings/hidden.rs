//! The hidden map (T2): which tools are hidden where, by platform and by mode.
//!
//! ```toml
//! [hidden]
//! windows = ["run_command"]
//! strict = ["fetch_url", "git.*"]
//! ```

use std::collections::BTreeSet;

use windlass_tools::Rule;

use super::error::SettingsError;
use super::mode::ModeSetting;
use super::sources::Sources;

/// Returns the tools that the files hide on this platform in this mode. Hiding only restricts, so any project may do
/// it.
pub(super) fn hidden(sources: &Sources, platform: &str, mode: ModeSetting) -> Result<BTreeSet<String>, SettingsError> {
    let mut hidden = BTreeSet::new();
    for file in [&sources.project, &sources.user].into_iter().flatten() {
        for pattern in file.settings.hidden.on(platform, mode) {
            let rule = pattern.get_ref().parse::<Rule>();
            rule.map_err(|error| SettingsError::wrong(file.origin(pattern), error.to_string()))?;
            hidden.insert(pattern.get_ref().clone());
        }
    }
    Ok(hidden)
}

#[cfg(test)]
mod tests {
    use super::super::tests::SettingsFixture;
    use super::ModeSetting;

    // proves T2
    #[test]
    fn what_is_hidden_depends_on_platform_and_mode() {
        let text =
            "[policy]\nhidden = ['a']\n[hidden]\nalways = ['b']\nstrict = ['c.*']\nwindows = ['d']\nlinux = ['e']";
        let hidden = |mode: ModeSetting| {
            let given = SettingsFixture::usable().user(text).flags(|flags| flags.mode = Some(mode));
            given.settings().policy.hidden.into_iter().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(hidden(ModeSetting::Default), "a b e");
        assert_eq!(hidden(ModeSetting::Strict), "a b c.* e");
        let wrong = SettingsFixture::usable().user("[hidden]\nalways = ['a b']").error();
        assert!(wrong.contains("windlass.toml:2:11") && wrong.contains("is no rule"), "{wrong}");
    }
}
