//! Turns what a variable such as `OLLAMA_HOST` holds into a base URL.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::model_providers::AddressForm;

/// The text is not a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not a host; one is written like 127.0.0.1:11434")]
pub struct NotAHost;

impl AddressForm {
    /// Returns the base URL that a text of this form means.
    pub fn base_url(self, text: &str) -> Result<String, NotAHost> {
        match self {
            Self::BaseUrl => Ok(text.trim().to_owned()),
            Self::Unversioned => Ok(versioned(text.trim())),
            Self::Host { port } => url_of_host(text.trim(), port).ok_or(NotAHost),
        }
    }
}

/// Returns an address with the version at its end.
fn versioned(address: &str) -> String {
    let address = address.trim_end_matches('/');
    if address.ends_with("/v1") { address.to_owned() } else { format!("{address}/v1") }
}

/// Returns the address for `host`, `host:port`, `:port` or a URL. A listening address (0.0.0.0) becomes the local one.
fn url_of_host(text: &str, usual_port: u16) -> Option<String> {
    let (scheme, rest) = match text.split_once("://") {
        Some((scheme @ ("http" | "https"), rest)) => (Some(scheme), rest),
        Some(_) => return None,
        None => (None, text),
    };
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (host, port) = host_and_port(authority)?;
    let host = match host {
        "" if scheme.is_some() || port.is_none() => return None,
        "" | "0.0.0.0" => Ipv4Addr::LOCALHOST.to_string(),
        "::" => format!("[{}]", Ipv6Addr::LOCALHOST),
        host if host.contains(':') => format!("[{host}]"),
        host => host.to_owned(),
    };
    let port = match (port, scheme) {
        (Some(port), _) => format!(":{port}"),
        (None, None) => format!(":{usual_port}"),
        (None, Some(_)) => String::new(),
    };
    let path = path.trim_end_matches('/');
    let path = if path.is_empty() { String::new() } else { format!("/{path}") };
    Some(format!("{}://{host}{port}{path}/v1", scheme.unwrap_or("http")))
}

fn host_and_port(authority: &str) -> Option<(&str, Option<u16>)> {
    if authority.parse::<Ipv6Addr>().is_ok() {
        return Some((authority, None));
    }
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']')?;
            host.parse::<Ipv6Addr>().ok()?;
            (host, if port.is_empty() { None } else { Some(port.strip_prefix(':')?) })
        }
        None => authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port))),
    };
    let fits = host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':'));
    let port = port.map(str::parse::<u16>).transpose().ok()?;
    fits.then_some((host, port))
}

#[cfg(test)]
mod tests {
    use super::AddressForm;

    #[test]
    fn an_address_gets_the_version_that_it_lacks() {
        for (text, address) in [
            ("https://proxy.example", "https://proxy.example/v1"),
            (" https://proxy.example/ ", "https://proxy.example/v1"),
            ("https://proxy.example/anthropic/v1/", "https://proxy.example/anthropic/v1"),
        ] {
            assert_eq!(AddressForm::Unversioned.base_url(text).as_deref(), Ok(address));
        }
    }

    #[test]
    fn every_way_to_write_a_host_is_understood() {
        for (text, address) in [
            ("127.0.0.1", Some("http://127.0.0.1:11434/v1")),
            (" gpu ", Some("http://gpu:11434/v1")),
            ("box:80", Some("http://box:80/v1")),
            (":1234", Some("http://127.0.0.1:1234/v1")),
            ("0.0.0.0:9", Some("http://127.0.0.1:9/v1")),
            ("::1", Some("http://[::1]:11434/v1")),
            ("[::]:99", Some("http://[::1]:99/v1")),
            ("http://0.0.0.0:11434/", Some("http://127.0.0.1:11434/v1")),
            ("https://box/ollama", Some("https://box/ollama/v1")),
            ("a b", None),
            ("", None),
            ("http://", None),
            ("http://:x", None),
            ("ftp://box", None),
            ("box:port", None),
            ("box:99999", None),
            ("http://user@box", None),
        ] {
            assert_eq!(AddressForm::Host { port: 11434 }.base_url(text).ok().as_deref(), address, "{text}");
        }
    }
}
