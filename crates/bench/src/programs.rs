//! The measured programs, built beside this one.

use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};

/// The paths of the programs.
#[derive(Clone, Debug)]
pub struct Programs {
    /// This program.
    pub own: PathBuf,
    /// The folder they are in; measurement data goes here too, because it is on a real disk.
    pub folder: PathBuf,
    /// The `windlass` binary.
    pub windlass: PathBuf,
    /// The scripted model server.
    pub model_server: PathBuf,
    /// The fake MCP server.
    pub mcp_fake: PathBuf,
    /// The floor of a cold start.
    pub first_request: PathBuf,
    /// A program with one idle session.
    pub idle: PathBuf,
    /// The floor of every start.
    pub nothing: PathBuf,
    /// The floor of followers.
    pub fanout: PathBuf,
}

impl Programs {
    /// Finds the programs next to this one.
    pub fn find() -> Result<Self> {
        let own = std::env::current_exe()?;
        let folder = own.parent().context("this program is in no folder")?.to_owned();
        let beside = |name: &str| {
            let path = folder.join(name);
            ensure!(path.exists(), "{} is missing; run `cargo xtask bench`, which builds it", path.display());
            Ok(path)
        };
        Ok(Self {
            windlass: beside("windlass")?,
            model_server: beside("windlass-model-server")?,
            mcp_fake: beside("windlass-mcp-fake")?,
            first_request: beside("windlass-first-request")?,
            idle: beside("windlass-idle")?,
            nothing: beside("windlass-nothing")?,
            fanout: beside("windlass-fanout")?,
            own,
            folder,
        })
    }
}
