//! The rules of the settings as calls are judged by them.

use windlass_tools::{Mode, Permissions, Rule};

use crate::settings::{self, Sourced};

/// The rules as tools are judged by them.
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
