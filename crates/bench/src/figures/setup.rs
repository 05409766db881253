//! What a figure is measured with.

use crate::programs::Programs;

/// How long to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Long enough for figures to be kept.
    Whole,
    /// Long enough to see that it works.
    Quick,
}

/// What a figure is measured with.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The programs.
    pub programs: Programs,
    /// How long to measure.
    pub effort: Effort,
}

impl Setup {
    /// So many rounds, or few.
    pub(crate) fn rounds(&self, whole: usize) -> usize {
        match self.effort {
            Effort::Whole => whole,
            Effort::Quick => (whole / 5).max(1),
        }
    }
}
