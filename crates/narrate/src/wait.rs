//! Texts for waiting on a tool server.

use windlass_vocab::{Wait, WaitFor};

use crate::duration::duration;
use crate::harmless::short_line;

/// Most characters of the servers' names.
const NAMES: usize = 100;

/// `waiting for the server git to start (up to 30 s)`.
#[must_use]
pub fn waiting(wait: &Wait) -> String {
    let what = match &wait.what {
        WaitFor::Servers(servers) => match servers.as_slice() {
            [server] => format!("the server {} to start", short_line(server, NAMES)),
            servers => format!("the servers {} to start", short_line(&servers.join(", "), NAMES)),
        },
        WaitFor::Answer(tool) => short_line(tool.display_name(), NAMES),
    };
    format!("waiting for {what} (up to {})", duration(wait.limit_ms))
}
