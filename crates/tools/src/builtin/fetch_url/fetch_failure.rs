//! Why nothing was fetched, as reported to the model.

use std::net::IpAddr;

use windlass_vocab::{Outcome, OutcomeKind, Remedy};

use crate::CertainFailure;
use crate::address::Address;

/// Why nothing was fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FetchFailure {
    /// A rule denies it.
    Denied(String),
    /// The address is private, and the person has not allowed this host.
    Private { text: String, host: String },
    /// This tool can't fetch it, or the server refused.
    Refused(String),
    /// The page or the host does not exist.
    NotFound(String),
    /// The network or the server failed.
    Unreachable(String),
    /// It took too long.
    Late(String),
}

impl FetchFailure {
    pub(super) fn private(address: &Address, ip: IpAddr, what: &str) -> Self {
        let host = address.host();
        let named = match address.url().port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        let is = if host.trim_matches(['[', ']']) == ip.to_string() { String::new() } else { format!(" ({ip})") };
        let text = format!(
            "`{host}`{is} is {what}, which is not fetched from unless a person has allowed it. Do without it, or tell them \
             what it is for. A server that you start yourself is asked by the same run_command."
        );
        Self::Private { text, host: named }
    }
}

impl From<FetchFailure> for CertainFailure {
    fn from(fetch_failure: FetchFailure) -> Self {
        match fetch_failure {
            FetchFailure::Private { text, host } => Self::private_host(text, host),
            FetchFailure::Denied(text)
            | FetchFailure::Refused(text)
            | FetchFailure::NotFound(text)
            | FetchFailure::Unreachable(text)
            | FetchFailure::Late(text) => Self::by_arguments(text),
        }
    }
}

impl From<FetchFailure> for Outcome {
    fn from(fetch_failure: FetchFailure) -> Self {
        let (kind, text) = match fetch_failure {
            FetchFailure::Private { text, host } => {
                let remedy = Some(Remedy::FetchPrivate { host });
                return Self { remedy, ..Self::new(OutcomeKind::Denied, text) };
            }
            FetchFailure::Denied(text) => (OutcomeKind::Denied, text),
            FetchFailure::Refused(text) => (OutcomeKind::ToolError, text),
            FetchFailure::NotFound(text) => (OutcomeKind::NotFound, text),
            FetchFailure::Unreachable(text) => (OutcomeKind::InfrastructureError, text),
            FetchFailure::Late(text) => (OutcomeKind::TimedOut, text),
        };
        Self::new(kind, text)
    }
}
