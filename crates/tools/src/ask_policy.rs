//! When a person is asked about a tool that no rule speaks of.

/// When a person is asked before a tool runs and no rule speaks of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AskPolicy {
    /// As its effect class says.
    #[default]
    ByEffect,
    /// In every mode that asks at all: what it does reaches further than its class tells.
    Always,
    /// Whatever was allowed before: it is no longer what the person agreed to.
    Anew,
}
