//! The permission mode (T8).

use std::fmt;

use serde::Deserialize;

/// How calls that no rule matches are checked (T8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModeSetting {
    /// Everything is allowed without asking.
    Bypass,
    /// Work in the workspace is allowed; commands need approval.
    #[default]
    Default,
    /// Every change needs approval.
    Strict,
}

impl ModeSetting {
    /// Every mode.
    pub const ALL: [Self; 3] = [Self::Bypass, Self::Default, Self::Strict];

    /// The mode as text in settings and flags.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bypass => "bypass",
            Self::Default => "default",
            Self::Strict => "strict",
        }
    }

    /// Parses a mode from that text.
    pub fn parsed(text: &str) -> Result<Self, String> {
        let mode = Self::ALL.into_iter().find(|mode| mode.as_str() == text);
        mode.ok_or_else(|| format!("{text:?} is not one of {}", Self::ALL.map(Self::as_str).join(", ")))
    }
}

/// The mode as text in settings and flags.
impl fmt::Display for ModeSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
