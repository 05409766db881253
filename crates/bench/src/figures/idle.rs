//! The memory of a process with one idle session. Measured in a separate program, because this one also contains the
//! floors and the chat.

use std::process::Command;

use anyhow::Result;

use super::setup::Setup;
use crate::child::answer;
use crate::server::{BenchServer, BenchTool, ModelBehaviour};
use crate::table::Measurement;

const LIMIT_MIB: f64 = 15.0;

pub(super) fn measure(setup: &Setup) -> Result<Vec<Measurement>> {
    let server = BenchServer::start(
        &setup.programs,
        ModelBehaviour { turns: 2, text_bytes: 0, latency_ms: 0, tool: BenchTool::Haul },
    )?;
    let dir = tempfile::tempdir_in(&setup.programs.folder)?;
    let kib = answer(Command::new(&setup.programs.idle).arg(server.base_url()).arg(dir.path()))?;
    Ok(vec![Measurement::at_most("memory of a process with one idle session", LIMIT_MIB, kib as f64 / 1024.0, "MiB")])
}
