//! The error if the machine's sandbox support is unknown.

/// The machine's sandbox support could not be probed, so nothing is run in the sandbox.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("what the sandbox can do on this machine could not be tried ({failure})")]
pub struct SandboxUntried {
    /// Why probing failed.
    pub failure: String,
}
