//! Why nothing runs where a sandbox is wanted.

/// It is not known what this machine can enforce, so nothing is run in the sandbox.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("what the sandbox can do on this machine could not be tried ({failure})")]
pub struct SandboxUntried {
    /// What came in the way.
    pub failure: String,
}
