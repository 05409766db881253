//! A server of Windlass as its client sees it: requests and their errors.
//!
//! The protocol: a [`RemoteClient`] has an address and a token, and sends requests; what goes wrong is a [`RemoteError`],
//! which becomes the error of a command. Nothing here keeps anything: what a session is, its events say.

mod client;
mod error;

pub(crate) use self::client::RemoteClient;
pub(crate) use self::error::{RefusalKind, RemoteError};
