//! The base URL of a server, and the paths below it.

use std::net::IpAddr;

use http::Uri;
use http::uri::Scheme;

/// A server's address up to its version, e.g. `http://127.0.0.1:11434/v1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BaseUrl {
    uri: Uri,
}

impl BaseUrl {
    /// Parses an address with `http` or `https` and a host. Credentials in it are dropped.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let given: Uri = text.trim().parse().ok()?;
        let scheme = given.scheme().filter(|scheme| [Scheme::HTTP, Scheme::HTTPS].contains(scheme))?;
        let host = given.host().filter(|host| !host.is_empty())?.to_ascii_lowercase();
        let usual = if *scheme == Scheme::HTTP { 80 } else { 443 };
        let port = given.port_u16().filter(|port| *port != usual).map(|port| format!(":{port}")).unwrap_or_default();
        let path = given.path_and_query().map_or("/", |path| path.as_str());
        let uri = format!("{}://{host}{port}{path}", scheme.as_str().to_ascii_lowercase()).parse().ok()?;
        Some(Self { uri })
    }

    /// The whole address.
    pub(crate) fn uri(&self) -> &Uri {
        &self.uri
    }

    /// The host, with the port if it is not the default.
    pub(crate) fn host(&self) -> &str {
        self.uri.authority().map_or("", |authority| authority.as_str())
    }

    /// Whether the server is on this machine.
    pub(crate) fn is_on_this_machine(&self) -> bool {
        let host = self.uri.host().unwrap_or_default();
        let address: Result<IpAddr, _> = host.trim_start_matches('[').trim_end_matches(']').parse();
        address.map_or(host == "localhost", |address| address.is_loopback())
    }

    /// Returns path and query of `end` below this address; `end` may already be part of it.
    pub(crate) fn path_to(&self, end: &str) -> Option<Uri> {
        let path = self.uri.path();
        let path = path.strip_suffix('/').unwrap_or(path);
        let end = if path.ends_with(&format!("/{end}")) { String::new() } else { format!("/{end}") };
        let joint = if end.contains('?') { '&' } else { '?' };
        let query = self.uri.query().map(|query| format!("{joint}{query}")).unwrap_or_default();
        format!("{path}{end}{query}").parse().ok()
    }

    /// Returns path and query of `end` beside the versioned API: `/api/show` for `http://h:11434/v1`.
    pub(crate) fn root_path_to(&self, end: &str) -> Option<Uri> {
        let path = self.uri.path();
        let path = path.strip_suffix('/').unwrap_or(path);
        let root = path.strip_suffix("/v1").unwrap_or(path);
        let query = self.uri.query().map(|query| format!("?{query}")).unwrap_or_default();
        format!("{root}/{end}{query}").parse().ok()
    }

    /// The address for display: without credentials, query or fragment.
    pub(crate) fn display_text(&self) -> String {
        let scheme = self.uri.scheme_str().unwrap_or_default();
        format!("{scheme}://{}{}", self.host(), self.uri.path().trim_end_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::BaseUrl;

    // proves M1
    #[test]
    fn an_address_is_taken_apart_however_it_is_written() {
        for (text, shown, chat) in [
            ("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1", "/v1/chat/completions"),
            (" http://127.0.0.1:11434/v1/ ", "http://127.0.0.1:11434/v1", "/v1/chat/completions"),
            ("HTTPS://API.Example.com:443", "https://api.example.com", "/chat/completions"),
            ("http://[::1]:8080", "http://[::1]:8080", "/chat/completions"),
            ("http://h/v1/chat/completions", "http://h/v1/chat/completions", "/v1/chat/completions"),
            ("https://me:secret@h/v1?version=2#x", "https://h/v1", "/v1/chat/completions?version=2"),
        ] {
            let base = BaseUrl::parse(text).unwrap();
            let path = base.path_to("chat/completions").unwrap().to_string();
            assert_eq!((base.display_text().as_str(), path.as_str()), (shown, chat), "{text}");
            assert!(!base.uri().to_string().contains("secret"));
        }
        for text in ["", "localhost", "localhost:8080", "/v1", "ftp://h/v1", "http://", "http:///v1", "http://a b/"] {
            assert_eq!(BaseUrl::parse(text), None, "{text}");
        }
    }

    // proves M8
    #[test]
    fn softwares_own_interfaces_stand_beside_the_version() {
        for (text, path) in [
            ("http://127.0.0.1:11434/v1", "/api/show"),
            ("http://127.0.0.1:11434/v1/", "/api/show"),
            ("http://h/ollama/v1?key=1", "/ollama/api/show?key=1"),
            ("http://h", "/api/show"),
        ] {
            assert_eq!(BaseUrl::parse(text).unwrap().root_path_to("api/show").unwrap().to_string(), path, "{text}");
        }
    }

    #[test]
    fn this_machine_is_known_by_name_and_number() {
        let is_here = |text: &str| BaseUrl::parse(text).unwrap().is_on_this_machine();
        for text in ["http://localhost:1/v1", "http://127.0.0.1/v1", "http://127.9.9.9/v1", "http://[::1]/v1"] {
            assert!(is_here(text), "{text}");
        }
        for text in ["http://localhost.example/v1", "http://10.0.0.1/v1", "http://[::2]/v1"] {
            assert!(!is_here(text), "{text}");
        }
    }
}
