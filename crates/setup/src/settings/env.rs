//! The environment as a value, so that tests can supply any environment.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;

use super::error::SettingsError;
use super::origin::{SettingOrigin, Sourced};

/// The variables of a process. A variable with an empty value counts as not set.
#[derive(Clone, Default)]
pub struct Env(BTreeMap<String, OsString>);

impl Env {
    /// Returns the variables of this process.
    #[must_use]
    pub fn of_process() -> Self {
        Self(std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value))).collect())
    }

    /// Returns the variables and this one, in the place of one of the same name: a secret that a door has made up is then
    /// known to be one.
    #[must_use]
    pub fn with(&self, name: &str, value: &str) -> Self {
        let mut variables = self.0.clone();
        variables.insert(name.to_owned(), value.into());
        Self(variables)
    }

    /// Returns the variables but this one.
    pub(crate) fn without(&self, name: &str) -> Self {
        Self(
            self.0
                .iter()
                .filter(|(known, _)| *known != name)
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
        )
    }

    /// Returns the value as the system provides it.
    #[must_use]
    pub fn raw(&self, name: &str) -> Option<&OsStr> {
        self.0.get(name).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// Returns every variable whose value is valid UTF-8.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str()?)))
    }

    /// Returns the value as text.
    pub(super) fn text(&self, name: &str) -> Result<Option<Sourced<String>>, SettingsError> {
        let Some(raw) = self.raw(name) else { return Ok(None) };
        let origin = SettingOrigin::Variable(name.to_owned());
        match raw.to_str() {
            Some(text) => Ok(Some(Sourced::new(text.to_owned(), origin))),
            None => Err(SettingsError::wrong(origin, "the value is not valid UTF-8")),
        }
    }

    /// Parses the value with `parse`, whose error becomes the message.
    pub(super) fn parsed<T>(
        &self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<Sourced<T>>, SettingsError> {
        self.text(name)?.map(|text| text.try_map(|text| parse(&text))).transpose()
    }

    /// The person's home folder.
    pub fn home(&self) -> Option<PathBuf> {
        self.raw("HOME").map(PathBuf::from).filter(|home| home.is_absolute())
    }

    /// Keeps only the variables that locate the person's files, and none that override a settings file.
    pub(super) fn places_only(&self) -> Self {
        let is_place = |name: &str| matches!(name, "HOME" | "XDG_CONFIG_HOME");
        Self(
            self.0
                .iter()
                .filter(|(name, _)| is_place(name))
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
        )
    }

    /// Returns `$variable/windlass`, or `windlass` in the default folder below the home.
    pub(super) fn windlass_folder(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        let base = self.raw(variable).map(PathBuf::from).filter(|base| base.is_absolute());
        Some(base.or_else(|| self.home().map(|home| home.join(below_home)))?.join("windlass"))
    }
}

impl<Name: Into<String>, Value: Into<OsString>> FromIterator<(Name, Value)> for Env {
    fn from_iter<Vars: IntoIterator<Item = (Name, Value)>>(vars: Vars) -> Self {
        Self(vars.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

/// Prints names only: values may be secret (X1).
impl fmt::Debug for Env {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
