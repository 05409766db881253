//! What a process holds that has one idle session.

use anyhow::Result;

use super::Setup;
use crate::child::Child;
use crate::server::{Behaviour, Server};
use crate::table::Line;

const LIMIT_MIB: f64 = 15.0;

pub(super) fn measure(setup: &Setup) -> Result<Vec<Line>> {
    let server = Server::start(&setup.programs, Behaviour { turns: 2, text_bytes: 0, latency_ms: 0 })?;
    let dir = tempfile::tempdir_in(&setup.programs.folder)?;
    let kib = Child::Idle.ask(&setup.programs.own, server.base_url(), dir.path())?;
    Ok(vec![Line::at_most("memory of a process with one idle session", LIMIT_MIB, kib as f64 / 1024.0, "MiB")])
}
