//! How permissions are judged (T8).

use std::fmt;

use serde::Deserialize;

/// How permissions are judged (T8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModeSetting {
    /// Nothing is asked.
    Bypass,
    /// Work in the workspace is allowed, commands are asked for.
    #[default]
    Default,
    /// Every change is asked for.
    Strict,
}

impl ModeSetting {
    /// Every mode.
    pub const ALL: [Self; 3] = [Self::Bypass, Self::Default, Self::Strict];

    /// As it is typed.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bypass => "bypass",
            Self::Default => "default",
            Self::Strict => "strict",
        }
    }

    /// A mode as it is typed.
    pub fn parsed(text: &str) -> Result<Self, String> {
        let mode = Self::ALL.into_iter().find(|mode| mode.as_str() == text);
        mode.ok_or_else(|| format!("{text:?} is not one of {}", Self::ALL.map(Self::as_str).join(", ")))
    }
}

/// As it is typed.
impl fmt::Display for ModeSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
