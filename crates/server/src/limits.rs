//! The limits of a server. Those for users hold for everybody but admins, whom only the limits of the whole server bind.

use std::num::NonZeroU32;
use std::time::Duration;

/// The largest body of a request without a token: a token that is typed in.
pub(crate) const STRANGER_BODY: usize = 16 * 1024;

/// How many messages may wait in a session.
pub(crate) const WAITING_MESSAGES: usize = 50;

/// How many bodies of the largest size a caller may be sending at once.
pub(crate) const BODIES_AT_ONCE: usize = 2;

/// How long the head of a request may take, and a connection may be idle.
pub(crate) const HEAD_TIME: Duration = Duration::from_secs(15);

/// How long a client may take nothing of what is written to it.
pub(crate) const WRITE_TIME: Duration = Duration::from_secs(30);

/// How long a body may take, with a token and without one.
pub(crate) const BODY_TIME: Duration = Duration::from_secs(300);
pub(crate) const STRANGER_BODY_TIME: Duration = Duration::from_secs(10);

/// What a connection may have waiting to be read or written, besides the event that is being sent; so long may the head
/// of a request be, too.
pub(crate) const CONNECTION_BUFFER: usize = 64 * 1024;

/// How many wrong tokens may come from one address in a minute.
pub(crate) const WRONG_TOKENS: NonZeroU32 = NonZeroU32::MIN.saturating_add(29);

/// The limits of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceLimits {
    /// The largest body of a request, in bytes.
    pub body: usize,
    /// How many runs may be open at once.
    pub runs: usize,
    /// How many of a user.
    pub user_runs: usize,
    /// How many sessions a user may have.
    pub user_sessions: u64,
    /// How many streams of events a user may have open.
    pub user_streams: usize,
    /// How many requests a user may make in a minute.
    pub user_requests: NonZeroU32,
    /// How many requests without a token may come from one address in a minute.
    pub stranger_requests: NonZeroU32,
    /// How many connections may be open.
    pub connections: usize,
}

impl Default for ServiceLimits {
    fn default() -> Self {
        let requests = NonZeroU32::MIN.saturating_add(599);
        Self {
            body: 32 * 1024 * 1024,
            runs: 64,
            user_runs: 8,
            user_sessions: 10_000,
            user_streams: 32,
            user_requests: requests,
            stranger_requests: requests,
            connections: 4_096,
        }
    }
}
