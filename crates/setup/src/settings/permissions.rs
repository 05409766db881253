//! Resolves the permission rules from all sources (T8, X2).
//!
//! Rules are combined; the mode comes from the strongest source.

use toml::Spanned;
use windlass_tools::{PathFault, Protected, Rule};

use super::error::SettingsError;
use super::file::SettingsFile;
use super::mode::ModeSetting;
use super::origin::{SettingOrigin, Sourced};
use super::sources::Sources;

/// The permission rules. Deny wins over ask, ask over allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionSettings {
    /// How calls that no rule matches are checked.
    pub mode: Sourced<ModeSetting>,
    /// Rules that allow.
    pub allow: Vec<Sourced<Rule>>,
    /// Rules that require approval.
    pub ask: Vec<Sourced<Rule>>,
    /// Rules that forbid.
    pub deny: Vec<Sourced<Rule>>,
    /// Paths whose change needs approval, whatever rule allows it.
    pub protected: Protected,
}

pub(super) fn permissions(sources: &Sources) -> Result<PermissionSettings, SettingsError> {
    let Sources { flags: given, project, user, .. } = sources;
    let mode = mode(sources)?;
    let flags = |name: &'static str, rules: &[String]| {
        rules
            .iter()
            .map(|rule| parsed(Sourced::new(rule.clone(), SettingOrigin::Flag(name))))
            .collect::<Result<Vec<_>, _>>()
    };
    let mut permissions = PermissionSettings {
        mode,
        allow: flags("allow", &given.allow)?,
        ask: Vec::new(),
        deny: flags("deny", &given.deny)?,
        protected: Protected::default(),
    };
    for file in [project, user].into_iter().flatten() {
        let rules = &file.settings.permissions;
        let placed = |rules: &[Spanned<String>]| {
            let placed = |rule: &Spanned<String>| parsed(Sourced::new(rule.get_ref().clone(), file.origin(rule)));
            rules.iter().map(placed).collect::<Result<Vec<_>, _>>()
        };
        permissions.allow.extend(placed(&rules.allow)?);
        permissions.ask.extend(placed(&rules.ask)?);
        permissions.deny.extend(placed(&rules.deny)?);
        let wrong = |pattern| move |fault: PathFault| SettingsError::wrong(file.origin(pattern), fault.to_string());
        for pattern in &rules.protected {
            permissions.protected.add(pattern.get_ref()).map_err(wrong(pattern))?;
        }
        for pattern in &rules.unprotected {
            permissions.protected.except(pattern.get_ref()).map_err(wrong(pattern))?;
        }
    }
    Ok(permissions)
}

fn parsed(rule: Sourced<String>) -> Result<Sourced<Rule>, SettingsError> {
    rule.try_map(|text| text.parse::<Rule>())
}

fn mode(sources: &Sources) -> Result<Sourced<ModeSetting>, SettingsError> {
    let Sources { flags, env, project, user, .. } = sources;
    if let Some(mode) = Sourced::flag("mode", flags.mode) {
        return Ok(mode);
    }
    if let Some(mode) = env.parsed("WINDLASS_MODE", ModeSetting::parsed)? {
        return Ok(mode);
    }
    let in_file =
        |file: &Option<SettingsFile>| file.as_ref().and_then(|file| file.sourced(&file.settings.permissions.mode));
    let named = in_file(project).or_else(|| in_file(user));
    Ok(named.unwrap_or(Sourced::new(ModeSetting::default(), SettingOrigin::Default)))
}
