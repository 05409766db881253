//! A chat in a session of a server, for `windlass attach`.
//!
//! The protocol: [`address`] reads where the server is and which token lets us in. A [`RemoteSession`] is the session as the
//! chat sees it ([`crate::chat::chat_session::ChatSession`]): it sends requests and follows the session's events
//! ([`feed`]), which come again from the last record after a connection was lost. What a run does now is folded from its
//! records ([`activity`]). Without a terminal [`one_message`] sends one message and prints the answer.
//!
//! The server decides everything: rules, tools, models and folders are those of the server's machine.

mod activity;
mod address;
mod event_lines;
mod feed;
mod listing;
mod one_message;
mod remote_commands;
mod remote_session;
mod replies;
mod requests;

pub(crate) use self::address::{GivenToken, RemoteAddress, Transport};
pub(crate) use self::listing::{ListFormat, list};
pub(crate) use self::one_message::send_one;
pub(crate) use self::remote_session::{LocalPlace, RemoteSession};
pub(crate) use self::requests::session as find_session;
