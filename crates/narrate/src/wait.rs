//! Texts for waiting on a tool server, and for a source of passages that was not waited for.

use windlass_vocab::{Wait, WaitFor};

use crate::duration::duration;
use crate::harmless::short_line;

/// Most characters of the servers' names.
const NAMES: usize = 100;
/// Most characters of the reason why a source was left out.
const REASON: usize = 200;

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

/// `no passages from the workspace: it took longer than 200 ms`.
#[must_use]
pub fn source_left_out(source: &str, why: &str) -> String {
    format!("no passages from {}: {}", short_line(source, NAMES), short_line(why, REASON))
}
