//! What a stored record outlives.

use serde::Deserialize;

/// What a stored record outlives.
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
    /// Every one of them.
    pub const ALL: [Self; 2] = [Self::Full, Self::Normal];

    /// As it is typed.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Normal => "normal",
        }
    }

    /// One of them as it is typed.
    pub fn parsed(text: &str) -> Result<Self, String> {
        let durability = Self::ALL.into_iter().find(|durability| durability.as_str() == text);
        durability.ok_or_else(|| format!("{text:?} is not one of {}", Self::ALL.map(Self::as_str).join(", ")))
    }
}

/// The one that outlives more is the greater.
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
