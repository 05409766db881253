//! The durability setting.

use serde::Deserialize;

/// Which failures a stored record survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DurabilitySetting {
    /// A power cut.
    #[default]
    Full,
    /// A crash of the process, not of the machine.
    Normal,
}

impl DurabilitySetting {
    /// All values.
    pub const ALL: [Self; 2] = [Self::Full, Self::Normal];

    /// The value as text in settings and flags.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Normal => "normal",
        }
    }

    /// Parses the value from that text.
    pub fn parsed(text: &str) -> Result<Self, String> {
        let durability = Self::ALL.into_iter().find(|durability| durability.as_str() == text);
        durability.ok_or_else(|| format!("{text:?} is not one of {}", Self::ALL.map(Self::as_str).join(", ")))
    }
}

/// The value that survives more failures is the greater.
impl Ord for DurabilitySetting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let outlives = |durability: &Self| match durability {
            Self::Normal => 0,
            Self::Full => 1,
        };
        outlives(self).cmp(&outlives(other))
    }
}

impl PartialOrd for DurabilitySetting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
