//! Instructions of the pure parts, counted by callgrind.

use std::process::Command;

use anyhow::Result;

use super::Setup;
use crate::table::Line;

pub(super) fn measure(_: &Setup) -> Result<Vec<Line>> {
    let _ = Command::new("valgrind");
    Ok(vec![Line::told("instructions", "not measured")])
}
