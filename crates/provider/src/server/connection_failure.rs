//! Failures of connections: what happened, and the cause as far as it is known. What to do is the door's to say.

use std::error::Error;
use std::io;

use windlass_vocab::{Failure, FailureCause, FailureClass};

use super::endpoint::Endpoint;
use crate::http::ConnectionError;

/// Converts an error of the HTTP client into a failure.
pub(crate) fn connection_failure(endpoint: &Endpoint, lost: &ConnectionError) -> Failure {
    let url = &endpoint.base_url;
    let cause = match lost {
        ConnectionError::Connecting(error) | ConnectionError::Connected(error) => LossCause::of(error.as_ref()),
    };
    let transient = |message: String| Failure::new(FailureClass::Transient, message);
    let unreachable = |message: String| Failure { cause: Some(FailureCause::Unreachable), ..transient(message) };
    if let Some(tls) = cause.tls {
        return tls_failure(endpoint, &tls);
    }
    match cause.io {
        Some(io::ErrorKind::ConnectionRefused) if endpoint.is_on_this_machine() => {
            let message = format!("Nothing listens at {url}.");
            return Failure { not_running: true, ..transient(message) };
        }
        Some(io::ErrorKind::ConnectionRefused) => {
            return unreachable(format!("Nothing answers at {url}."));
        }
        Some(io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe | io::ErrorKind::UnexpectedEof) => {
            return transient(format!("The server at {url} broke the connection."));
        }
        _ => {}
    }
    let why = endpoint.quote(&cause.root);
    if cause.name_lookup {
        return unreachable(format!("The host of {url} is not known ({why})."));
    }
    if why.contains("invalid HTTP") {
        return endpoint.wrong_address(FailureClass::Protocol, "does not speak HTTP there.");
    }
    match (lost, cause.io) {
        (ConnectionError::Connecting(_), Some(io::ErrorKind::TimedOut)) => {
            unreachable(format!("{url} took too long to accept a connection."))
        }
        (ConnectionError::Connecting(_), _) => unreachable(format!("{url} can't be reached: {why}.")),
        (ConnectionError::Connected(_), _) => transient(format!("The connection to {url} was lost: {why}.")),
    }
}

struct LossCause {
    io: Option<io::ErrorKind>,
    tls: Option<rustls::Error>,
    name_lookup: bool,
    root: String,
}

impl LossCause {
    fn of(error: &(dyn Error + 'static)) -> Self {
        let mut cause = Self { io: None, tls: None, name_lookup: false, root: String::new() };
        let mut next = Some(error);
        while let Some(error) = next {
            cause.root = error.to_string();
            cause.name_lookup |= cause.root.starts_with("dns error");
            if let Some(tls) = error.downcast_ref::<rustls::Error>() {
                cause.tls = Some(tls.clone());
            }
            next = error.source();
            if let Some(error) = error.downcast_ref::<io::Error>() {
                cause.io = Some(error.kind());
                // The error wrapped in an I/O error is not among its sources.
                next = error.get_ref().map(|wrapped| -> &(dyn Error + 'static) { wrapped });
            }
        }
        cause
    }
}

fn tls_failure(endpoint: &Endpoint, error: &rustls::Error) -> Failure {
    let why = endpoint.quote(&error.to_string());
    match error {
        rustls::Error::InvalidMessage(_) => endpoint.wrong_address(FailureClass::Protocol, "does not speak TLS there."),
        rustls::Error::InvalidCertificate(_) => {
            let said = format!("showed a certificate that is not trusted ({why}).");
            let cause = Some(FailureCause::UntrustedCertificate);
            Failure { cause, ..endpoint.failure(FailureClass::Protocol, &said) }
        }
        _ => endpoint.failure(FailureClass::Protocol, &format!("and we found no common TLS ({why}).")),
    }
}
