//! How a text came to its end.

/// How a text came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextEnd {
    /// The model was done, or stopped where it was to stop.
    Whole,
    /// It was cut off.
    Cut,
}
