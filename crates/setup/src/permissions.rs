//! Converts the permission settings into the rules that tool calls are checked against.

use windlass_tools::{Mode, Permissions, Rule};

use crate::settings::{self, Sourced};

/// Converts the permission settings into the tools' rules.
#[must_use]
pub fn permissions(given: &settings::PermissionSettings) -> Permissions {
    let rules = |rules: &[Sourced<Rule>]| rules.iter().map(|rule| rule.value.clone()).collect();
    let mode = match given.mode.value {
        settings::ModeSetting::Default => Mode::Default,
        settings::ModeSetting::Strict => Mode::Strict,
        settings::ModeSetting::Bypass => Mode::Bypass,
    };
    let protected = given.protected.clone();
    Permissions { mode, allow: rules(&given.allow), ask: rules(&given.ask), deny: rules(&given.deny), protected }
}
