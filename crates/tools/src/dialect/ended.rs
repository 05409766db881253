//! How a text came to its end.

/// How a text came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The model was done, or stopped where it was to stop.
    Whole,
    /// It was cut off.
    Cut,
}
