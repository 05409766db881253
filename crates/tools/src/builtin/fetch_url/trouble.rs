//! Why nothing was fetched, told to the model.

use std::net::IpAddr;

use windlass_vocab::{Outcome, OutcomeKind};

use crate::address::Address;

/// Why nothing was fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// It is not allowed.
    Denied(String),
    /// It can't be fetched by this tool, or the server said no.
    Refused(String),
    /// There is no such page, or no such host.
    NotFound(String),
    /// The network or the server failed.
    Unreachable(String),
    /// It took too long.
    Late(String),
}

impl Trouble {
    pub(super) fn private(address: &Address, ip: IpAddr, what: &str) -> Self {
        let host = address.host();
        let named = match address.url().port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        let is = if host.trim_matches(['[', ']']) == ip.to_string() { String::new() } else { format!(" ({ip})") };
        Self::Denied(format!(
            "`{host}`{is} is {what}, which is not fetched from. Only a person can allow it: --fetch-private {named}, \
             or fetch_private = [\"{named}\"] under [tools] in their windlass.toml. Do without it, or tell them what it is \
             for. A server that you start yourself is asked by the same run_command."
        ))
    }

    /// What the model is told.
    pub(super) fn into_text(self) -> String {
        let (Self::Denied(text)
        | Self::Refused(text)
        | Self::NotFound(text)
        | Self::Unreachable(text)
        | Self::Late(text)) = self;
        text
    }
}

impl From<Trouble> for Outcome {
    fn from(trouble: Trouble) -> Self {
        let (kind, text) = match trouble {
            Trouble::Denied(text) => (OutcomeKind::Denied, text),
            Trouble::Refused(text) => (OutcomeKind::ToolError, text),
            Trouble::NotFound(text) => (OutcomeKind::NotFound, text),
            Trouble::Unreachable(text) => (OutcomeKind::InfrastructureError, text),
            Trouble::Late(text) => (OutcomeKind::TimedOut, text),
        };
        Self::new(kind, text)
    }
}
