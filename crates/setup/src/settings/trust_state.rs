//! Whether a trusted project is unchanged.

/// Whether a project whose folder the person trusts still has the contents they trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrustState {
    /// Its contents are unchanged.
    AsTrusted,
    /// It is used for the first time: the person has just listed its folder.
    New,
    /// Its contents have changed.
    Changed,
}
