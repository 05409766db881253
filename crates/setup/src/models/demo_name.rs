//! The name of the demo model, which settings, models and agents compare with.

/// The name of the demo model; no server is ever asked for a model of this name.
pub const DEMO: &str = "demo";
