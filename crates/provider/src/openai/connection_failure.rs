//! Messages for failed connections that say what to do.

use std::error::Error;
use std::io;

use windlass_vocab::{Failure, FailureClass};

use super::Endpoint;
use crate::http::ConnectionError;

/// Converts an error of the HTTP client into a failure.
pub(super) fn connection_failure(endpoint: &Endpoint, lost: &ConnectionError) -> Failure {
    let url = &endpoint.base_url;
    let cause = match lost {
        ConnectionError::Connecting(error) | ConnectionError::Connected(error) => LossCause::of(error.as_ref()),
    };
    let transient = |message: String| Failure::new(FailureClass::Transient, message);
    if let Some(tls) = cause.tls {
        return tls_failure(endpoint, &tls);
    }
    match cause.io {
        Some(io::ErrorKind::ConnectionRefused) if endpoint.is_on_this_machine() => {
            let message = format!("Nothing listens at {url}. Start the server, or use another address.");
            return Failure { not_running: true, ..transient(message) };
        }
        Some(io::ErrorKind::ConnectionRefused) => {
            return transient(format!("Nothing answers at {url}. Is the server running, and is the address right?"));
        }
        Some(io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe | io::ErrorKind::UnexpectedEof) => {
            return transient(format!("The server at {url} broke the connection."));
        }
        _ => {}
    }
    let why = endpoint.quote(&cause.root);
    if cause.name_lookup {
        return transient(format!("The host of {url} is not known ({why}). Check the base URL and the network."));
    }
    if why.contains("invalid HTTP") {
        let said = "does not speak HTTP there; check the base URL (https, and the port?).";
        return endpoint.failure(FailureClass::Protocol, said);
    }
    match (lost, cause.io) {
        (ConnectionError::Connecting(_), Some(io::ErrorKind::TimedOut)) => {
            transient(format!("{url} took too long to accept a connection. Check the address and the network."))
        }
        (ConnectionError::Connecting(_), _) => {
            transient(format!("{url} can't be reached: {why}. Check the address and the network."))
        }
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
    let said = match error {
        rustls::Error::InvalidMessage(_) => "does not speak TLS there; use http:// or another port.".to_owned(),
        rustls::Error::InvalidCertificate(_) => {
            format!(
                "showed a certificate that is not trusted ({why}). \
                 Add its authority to the system's store, or check the address."
            )
        }
        _ => format!("and we found no common TLS ({why})."),
    };
    endpoint.failure(FailureClass::Protocol, &said)
}
