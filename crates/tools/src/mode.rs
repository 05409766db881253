//! The mode of permissions: what happens where no rule speaks.

/// What happens where no rule speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Reading and writing in the workspace is allowed; everything else asks.
    #[default]
    Default,
    /// Everything but reading asks.
    Strict,
    /// Everything is allowed that no rule denies, but for leaving the sandbox.
    Bypass,
}

impl Mode {
    /// As people type it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Strict => "strict",
            Self::Bypass => "bypass",
        }
    }
}
