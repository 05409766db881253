//! Which `Host` and `Origin` a request may carry: a page of another site that makes its name lead to this machine sends its
//! own name.

use std::net::SocketAddr;

use axum::http::{HeaderMap, header};

use crate::error::{ApiError, ErrorKind};

/// The names by which this server may be called, each as in a `Host` header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedHosts(Vec<String>);

impl ServedHosts {
    /// Returns the names of a server that listens at this address, with the names the operator adds (a proxy's, say).
    #[must_use]
    pub fn new(address: SocketAddr, named: &[String]) -> Self {
        let port = address.port();
        let mut hosts: Vec<String> = named.iter().map(|name| name.to_ascii_lowercase()).collect();
        hosts.push(address.to_string());
        if address.ip().is_loopback() || address.ip().is_unspecified() {
            hosts.extend(["localhost", "127.0.0.1", "[::1]"].map(|name| format!("{name}:{port}")));
        }
        let with_port: Vec<String> = named
            .iter()
            .filter(|name| !name.contains(':'))
            .map(|name| format!("{}:{port}", name.to_ascii_lowercase()))
            .collect();
        hosts.extend(with_port);
        Self(hosts)
    }

    pub(super) fn check(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        if !self.has(host) {
            return Err(ApiError::new(ErrorKind::Forbidden, "this server is not called by that name")
                .hint("use the address that `windlass serve` printed, or add the name with --host-name"));
        }
        let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
        // A page calls the host that it came from, whatever scheme a proxy in front of it speaks.
        let from = origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, host)| host);
        match from {
            Some(from) if from.eq_ignore_ascii_case(host) => Ok(()),
            Some(_) | None => {
                Err(ApiError::new(ErrorKind::Forbidden, "this request comes from a page of another site")
                    .hint("open the page of this server itself"))
            }
        }
    }

    fn has(&self, host: &str) -> bool {
        self.0.iter().any(|served| served.eq_ignore_ascii_case(host))
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderValue};

    use super::ServedHosts;

    fn is_let_in(served: &ServedHosts, host: &'static str, origin: Option<&'static str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert("host", HeaderValue::from_static(host));
        if let Some(origin) = origin {
            headers.insert("origin", HeaderValue::from_static(origin));
        }
        served.check(&headers).is_ok()
    }

    // proves W3: a page of another site can neither call this server by its own name nor send it requests
    #[test]
    fn only_the_servers_own_names_and_pages_are_let_in() {
        let served = ServedHosts::new("127.0.0.1:7700".parse().unwrap(), &["Agents.example.org".to_owned()]);
        for (host, origin, let_in) in [
            ("127.0.0.1:7700", None, true),
            ("localhost:7700", None, true),
            ("[::1]:7700", Some("http://[::1]:7700"), true),
            ("LOCALHOST:7700", Some("http://localhost:7700"), true),
            ("agents.example.org", Some("https://agents.example.org"), true),
            ("agents.example.org:7700", None, true),
            ("127.0.0.1", None, false),
            ("localhost:7701", None, false),
            ("evil.example.org:7700", None, false),
            ("127.0.0.1:7700.evil.org", None, false),
            ("", None, false),
            ("localhost:7700", Some("http://evil.example.org"), false),
            ("localhost:7700", Some("http://localhost:7701"), false),
            ("localhost:7700", Some("http://127.0.0.1:7700"), false),
            ("localhost:7700", Some("null"), false),
            ("localhost:7700", Some(""), false),
        ] {
            assert_eq!(is_let_in(&served, host, origin), let_in, "{host} {origin:?}");
        }
        let outside = ServedHosts::new("192.0.2.7:80".parse().unwrap(), &[]);
        assert!(is_let_in(&outside, "192.0.2.7:80", None));
        assert!(!is_let_in(&outside, "localhost:80", None), "it does not listen there");
    }
}
