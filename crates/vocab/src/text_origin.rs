//! Where text came from that nobody here wrote or checked (X4).

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a text came from that nobody here wrote or checked (X4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TextOrigin {
    /// A fetched page.
    Page {
        /// Its address.
        url: String,
    },
    /// A tool server's result.
    Server {
        /// Its name.
        server: String,
    },
    /// A file that is not under version control, or has changed since it was added to it.
    File {
        /// Its path, as the call named it.
        path: String,
    },
    /// Output of a command that could connect to other machines.
    Command {
        /// The beginning of the command line.
        command: String,
    },
}

impl fmt::Display for TextOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Page { url } => write!(f, "the page {url}"),
            Self::Server { server } => write!(f, "the tool server `{server}`"),
            Self::File { path } => write!(f, "the file `{path}`, which is not under version control as it is"),
            Self::Command { command } => write!(f, "the command `{command}`, which had the network"),
        }
    }
}
