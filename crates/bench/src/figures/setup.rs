//! The setup of a measurement.

use crate::programs::Programs;

/// How long to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Long enough for figures that are published.
    Whole,
    /// Long enough to see that the measurement works.
    Quick,
}

/// The setup of a measurement.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The programs to measure.
    pub programs: Programs,
    /// How long to measure.
    pub effort: Effort,
}

impl Setup {
    /// This many rounds, or few with [`Effort::Quick`].
    pub(crate) fn rounds(&self, whole: usize) -> usize {
        match self.effort {
            Effort::Whole => whole,
            Effort::Quick => (whole / 5).max(1),
        }
    }
}
