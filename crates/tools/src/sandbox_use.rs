//! How far a command reaches out of the sandbox.

/// How far a command reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SandboxUse {
    /// It is held by the sandbox.
    #[default]
    Confined,
    /// It is held by the sandbox, but may talk to other machines.
    WithNetwork,
    /// It is to run outside the sandbox.
    Outside,
    /// There is no sandbox to hold it.
    NoSandbox,
}
