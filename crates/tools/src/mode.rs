//! The permission mode: the verdict on calls that no rule matches.

/// The verdict on calls that no rule matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Reading and writing in the workspace is allowed; everything else asks.
    #[default]
    Default,
    /// Everything but reading asks.
    Strict,
    /// Everything that no rule denies is allowed, except leaving the sandbox.
    Bypass,
}

impl Mode {
    /// Returns the name that people type.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Strict => "strict",
            Self::Bypass => "bypass",
        }
    }
}
