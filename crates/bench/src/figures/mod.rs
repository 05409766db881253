//! The figures, one file each.

mod chat;
mod cold;
pub(crate) mod crowd;
mod dialect;
mod full;
mod growth;
mod idle;
mod instructions;
mod judge;
mod mcp;
mod open;
mod peers;
mod render;
mod sandbox;
mod servers;
mod start;
mod turn;

use anyhow::Result;

use crate::programs::Programs;
use crate::table::Line;

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

/// A figure: its name, and how it is measured.
pub type Figure = (&'static str, fn(&Setup) -> Result<Vec<Line>>);

/// Every figure, in the order of the table.
pub const FIGURES: &[Figure] = &[
    ("turn", turn::measure),
    ("growth", growth::measure),
    ("full", full::measure),
    ("crowd", crowd::measure),
    ("cold", cold::measure),
    ("idle", idle::measure),
    ("start", start::measure),
    ("render", render::measure),
    ("chat", chat::measure),
    ("dialect", dialect::measure),
    ("judge", judge::measure),
    ("open", open::measure),
    ("mcp", mcp::measure),
    ("sandbox", sandbox::measure),
    ("servers", servers::measure),
    ("peers", peers::measure),
    ("instructions", instructions::measure),
];
