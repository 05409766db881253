//! How a text ended.

/// How a text ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextEnd {
    /// The model finished, or stopped at a stop sequence.
    Whole,
    /// It was cut off.
    Cut,
}
