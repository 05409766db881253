//! A model's server, of whatever wire: its address, its rejections, its list of models.

mod base_url;
pub(crate) mod classify;
pub(crate) mod client;
pub(crate) mod connection_failure;
pub(crate) mod declared;
pub(crate) mod endpoint;
pub(crate) mod listing;
pub(crate) mod pull;
pub(crate) mod questions;
pub(crate) mod report;
pub(crate) mod retry_after;
mod wording;
