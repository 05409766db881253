//! The figures, one file each.

mod browser;
mod catalogue;
mod chat;
mod cold;
mod context;
pub(crate) mod crowd;
mod dialect;
mod fanout;
mod full;
mod growth;
mod idle;
mod instructions;
mod judge;
mod mcp;
mod open;
mod page;
mod peers;
mod render;
mod sandbox;
mod served_memory;
mod servers;
pub(crate) mod setup;
mod start;
mod turn;
mod wire;

use anyhow::Result;

pub use self::setup::{Effort, Setup};
use crate::table::Measurement;

/// A figure: its name, and the function that measures it.
pub type Figure = (&'static str, fn(&Setup) -> Result<Vec<Measurement>>);

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
    ("catalogue", catalogue::measure),
    ("open", open::measure),
    ("page", page::measure),
    ("context", context::measure),
    ("mcp", mcp::measure),
    ("sandbox", sandbox::measure),
    ("servers", servers::measure),
    ("fanout", fanout::measure),
    ("served", served_memory::measure),
    ("wire", wire::measure),
    ("browser", browser::measure),
    ("peers", peers::measure),
    ("instructions", instructions::measure),
];
