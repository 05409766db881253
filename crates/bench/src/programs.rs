//! The programs that are measured, built beside this one.

use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};

/// Where the programs are.
#[derive(Clone, Debug)]
pub struct Programs {
    /// This one.
    pub own: PathBuf,
    /// The folder they are in; data of measurements goes here too, because it is on a real disk.
    pub folder: PathBuf,
    /// The command line of Windlass.
    pub windlass: PathBuf,
    /// The scripted model server.
    pub model_server: PathBuf,
    /// Fake MCP servers.
    pub mcp_fake: PathBuf,
    /// The floor of a cold start.
    pub first_request: PathBuf,
    /// A program with one idle session.
    pub idle: PathBuf,
    /// The floor of every start.
    pub nothing: PathBuf,
}

impl Programs {
    /// Finds them next to this program.
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
            own,
            folder,
        })
    }
}
