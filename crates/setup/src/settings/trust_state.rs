//! Whether a trusted project still says what was trusted.

/// Whether a project whose folder the person trusts says what they trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrustState {
    /// It does.
    AsTrusted,
    /// It is used for the first time: the person has just listed it.
    New,
    /// It says something else.
    Changed,
}
