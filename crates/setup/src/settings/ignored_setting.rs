//! A setting that is not taken.

use super::origin::SettingOrigin;

/// A setting of a project's file that is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredSetting {
    /// Where the setting is.
    pub(super) origin: SettingOrigin,
    /// A description of the setting.
    pub(super) what: String,
    /// The value in the file, where `what` does not include it.
    pub(super) value: Option<String>,
}

impl IgnoredSetting {
    /// The setting with its value: a person who is to agree to it must see it.
    pub fn with_value(&self) -> String {
        self.value.as_ref().map_or_else(|| self.to_string(), |value| format!("{self}: {value}"))
    }
}

impl std::fmt::Display for IgnoredSetting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.origin, self.what)
    }
}
