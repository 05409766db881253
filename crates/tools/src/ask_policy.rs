//! When a person is asked about a tool that no rule matches.

/// When a person is asked before a tool runs that no rule matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AskPolicy {
    /// As the tool's effect class says.
    #[default]
    ByEffect,
    /// In every mode that asks at all: the tool's effects go beyond its effect class.
    Always,
    /// Even if a rule or grant allows it: the tool has changed since the person agreed to it.
    Anew,
}
