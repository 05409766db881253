//! How a command uses the sandbox.

/// How a command uses the sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SandboxUse {
    /// It runs inside the sandbox.
    #[default]
    Confined,
    /// It runs inside the sandbox, with network access.
    WithNetwork,
    /// It runs outside the sandbox.
    Outside,
    /// No sandbox confines it: the sandbox is off, or this machine supports none.
    NoSandbox,
}
