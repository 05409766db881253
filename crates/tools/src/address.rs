//! Web addresses, in the one form that rules are matched against and connections are made to, and
//! patterns of addresses.
//!
//! A pattern is parsed like an address, and each part is compared with the same part of the address, so that a
//! star never extends from the host into the path or back: `https://docs.rs/*` matches only pages of that host,
//! whatever precedes an `@` or follows another dot. Scheme, port and path may be left out. Without a port, an
//! allow rule means the default port; a rule that forbids means any port.

use url::{Host, Url};

use crate::shorten::shorten;
use crate::text_pattern::Pattern;

/// Whether a pattern belongs to a rule that allows, or to one that forbids or asks: in doubt the first does
/// not match and the second does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RuleSide {
    Allow,
    Forbid,
}

/// A normalized web address: lower case, without the default port, without meaningless dots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address(Url);

impl Address {
    /// Parses an address; the error says what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let shown = shorten(text, 200);
        let url = Url::parse(text.trim()).map_err(|error| {
            format!("`{shown}` is no web address ({error}): write it whole, with https:// before the host")
        })?;
        Self::of(url)
    }

    /// Resolves `location`, absolute or relative to this address.
    pub(crate) fn join(&self, location: &str) -> Result<Self, String> {
        let shown = shorten(location, 200);
        Self::of(self.0.join(location).map_err(|error| format!("`{shown}` is no web address ({error})"))?)
    }

    fn of(mut url: Url) -> Result<Self, String> {
        let shown = shorten(url.as_str(), 200);
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("`{shown}`: only http and https addresses can be fetched."));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("An address with a user name or password in it is not fetched: leave out what stands before \
                        the @."
                .into());
        }
        if let Some(Host::Domain(name)) = url.host() {
            let plain = name.trim_end_matches('.').to_owned();
            let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
            if plain.is_empty() || !plain.chars().all(fits) {
                return Err(format!("`{shown}` names no host."));
            }
            if plain.len() != name.len() {
                url.set_host(Some(&plain)).map_err(|error| format!("`{shown}` names no host ({error})."))?;
            }
        }
        url.set_fragment(None);
        Ok(Self(url))
    }

    pub(crate) fn as_str(&self) -> &str {
        self.0.as_str()
    }

    pub(crate) fn url(&self) -> &Url {
        &self.0
    }

    pub(crate) fn is_secure(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// Returns the host as written in the address: a name, `192.0.2.1` or `[2001:db8::1]`.
    pub(crate) fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    pub(crate) fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or_default()
    }

    /// Returns scheme and host, with the port unless it is the default one: `https://docs.rs`.
    pub(crate) fn origin(&self) -> String {
        self.0.origin().ascii_serialization()
    }

    /// Returns the path and the query.
    pub(crate) fn path(&self) -> &str {
        &self.0[url::Position::BeforePath..]
    }
}

/// A pattern of addresses, parsed once because every call is matched against it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressPattern {
    scheme: Option<Pattern>,
    /// The host as an allow rule means it.
    allowed: HostPattern,
    /// The host as a rule that forbids or asks means it.
    forbidden: HostPattern,
    /// `None` matches any path.
    path: Option<Pattern>,
}

impl From<&str> for AddressPattern {
    fn from(text: &str) -> Self {
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) => (Some(scheme), rest),
            None => (None, text),
        };
        let (authority, path) = match rest.find(['/', '?']) {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        Self {
            scheme: scheme.map(|scheme| Pattern::new(&scheme.to_ascii_lowercase())),
            allowed: HostPattern::new(authority, RuleSide::Allow),
            forbidden: HostPattern::new(authority, RuleSide::Forbid),
            path: (!matches!(path, "" | "/*")).then(|| Pattern::new(path)),
        }
    }
}

impl AddressPattern {
    /// Whether the pattern matches this address.
    pub(crate) fn matches(&self, address: &Address, side: RuleSide) -> bool {
        let host = match side {
            RuleSide::Allow => &self.allowed,
            RuleSide::Forbid => &self.forbidden,
        };
        self.scheme.as_ref().is_none_or(|scheme| scheme.matches(address.url().scheme()))
            && host.matches(address, side)
            && self.path.as_ref().is_none_or(|path| path_fits(path, address.path(), side))
    }
}

fn path_fits(pattern: &Pattern, path: &str, side: RuleSide) -> bool {
    match side {
        // Some servers decode an encoded slash or dot before routing, which leads to another path.
        RuleSide::Allow => !has_encoded_separator(path) && pattern.matches(path),
        RuleSide::Forbid => pattern.matches(path) || pattern.matches(&decoded(path)),
    }
}

fn has_encoded_separator(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    ["%2e", "%2f", "%5c"].iter().any(|code| path.contains(code))
}

/// Returns `path` with its percent-encoding decoded.
fn decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let code = (byte == b'%').then(|| after.get(..2)).flatten();
        let read = code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        bytes.push(read.unwrap_or(byte));
        rest = if read.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A pattern of hosts: `docs.rs`, `*.example.org`, `localhost:8080`, `[::1]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPattern {
    host: Pattern,
    port: Port,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Port {
    Unsaid,
    Any,
    Only(u16),
    /// The text after the colon is not a port; matches nothing.
    None,
}

/// The text names no host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` names no host: write `localhost`, `localhost:8080`, `192.168.1.10` or `*.example.org`")]
pub struct ParseHostError(String);

impl std::str::FromStr for HostPattern {
    type Err = ParseHostError;

    fn from_str(text: &str) -> Result<Self, ParseHostError> {
        let wrong = || ParseHostError(text.to_owned());
        let pattern = Self::new(text, RuleSide::Forbid);
        let odd = |c: char| c.is_whitespace() || matches!(c, '/' | '@' | '?' | '#' | '\\');
        if text.is_empty() || text.contains(odd) || pattern.port == Port::None {
            return Err(wrong());
        }
        Ok(pattern)
    }
}

impl HostPattern {
    fn new(authority: &str, side: RuleSide) -> Self {
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, Some(port)),
            Some(_) | None => (authority, None),
        };
        let host = match (side, port) {
            // `docs.rs*` allows pages of docs.rs, not of docs.rs.evil.example.
            (RuleSide::Allow, None) if host.len() > 1 => host.trim_end_matches('*'),
            (RuleSide::Allow | RuleSide::Forbid, _) => host,
        };
        let port = match port {
            None => Port::Unsaid,
            Some("*") => Port::Any,
            Some(port) => port.parse().map_or(Port::None, Port::Only),
        };
        Self { host: Pattern::new(&plain_host(host)), port }
    }

    fn matches(&self, address: &Address, side: RuleSide) -> bool {
        let port = match (&self.port, side) {
            (Port::Any, _) | (Port::Unsaid, RuleSide::Forbid) => true,
            (Port::Unsaid, RuleSide::Allow) => address.url().port().is_none(),
            (Port::Only(port), _) => *port == address.port(),
            (Port::None, _) => false,
        };
        port && self.host.matches(address.host())
    }

    /// Whether the pattern matches the host of this address; on any port unless the pattern names one.
    pub(crate) fn means(&self, address: &Address) -> bool {
        self.matches(address, RuleSide::Forbid)
    }
}

/// Returns a host as addresses write it: lower case, ASCII, without a final dot.
fn plain_host(host: &str) -> String {
    let plain = |label: &str| match Host::parse(label) {
        Ok(Host::Domain(ascii)) if !label.contains('*') => ascii,
        Ok(_) | Err(_) => label.to_ascii_lowercase(),
    };
    let host = host.trim_end_matches('.');
    host.split('.').map(plain).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Address {
        Address::parse(text).unwrap()
    }

    fn matches(pattern: &str, address: &Address, side: RuleSide) -> bool {
        AddressPattern::from(pattern).matches(address, side)
    }

    // proves T10: every spelling of an address has one form
    #[test]
    fn an_address_is_made_normal() {
        for (text, want) in [
            ("HTTPS://Docs.RS/Serde", "https://docs.rs/Serde"),
            ("https://docs.rs:443/a/../b", "https://docs.rs/b"),
            ("https://docs.rs./x#part", "https://docs.rs/x"),
            ("http://0x7f.1/", "http://127.0.0.1/"),
            ("http://2130706433/", "http://127.0.0.1/"),
            ("https://münchen.de", "https://xn--mnchen-3ya.de/"),
            ("https:\\\\docs.rs\\x", "https://docs.rs/x"),
            ("https://docs.rs/a/%2e%2e/b", "https://docs.rs/b"),
        ] {
            assert_eq!(address(text).as_str(), want, "{text}");
        }
        for text in [
            "docs.rs",
            "file:///etc/passwd",
            "ftp://docs.rs/",
            "javascript:x",
            "data:text/html,x",
            "https://",
            "https://docs.rs@evil.com/",
            "https://a:b@evil.com/",
            "https://*.com/",
            "https://./",
            "",
        ] {
            assert!(Address::parse(text).is_err(), "{text}");
        }
    }

    // proves T8: allowing one host allows no other
    #[test]
    fn a_pattern_of_a_host_allows_that_host_alone() {
        for (pattern, text, allowed) in [
            ("https://docs.rs/*", "https://docs.rs/serde?x=1", true),
            ("https://docs.rs/*", "https://DOCS.RS./serde", true),
            ("https://docs.rs/*", "https://docs.rs:443/", true),
            ("https://Docs.RS./*", "https://docs.rs/", true),
            ("https://docs.rs", "https://docs.rs/any/page", true),
            ("docs.rs", "http://docs.rs/any/page", true),
            ("https://docs.rs*", "https://docs.rs/x", true),
            ("https://docs.rs/*", "https://docs.rs.evil.com/", false),
            ("https://docs.rs*", "https://docs.rs.evil.com/", false),
            ("https://docs.rs/*", "https://evil.com/https://docs.rs/", false),
            ("https://docs.rs/*", "http://docs.rs/", false),
            ("https://docs.rs/*", "https://docs.rs:8443/", false),
            ("https://docs.rs:8443/*", "https://docs.rs:8443/", true),
            ("https://docs.rs:*/*", "https://docs.rs:8443/", true),
            ("https://*.example.org/*", "https://a.example.org/x", true),
            ("https://*.example.org/*", "https://example.org/x", false),
            ("https://*.example.org/*", "https://evil.com/a.example.org/x", false),
            ("https://*.example.org/*", "https://evil.com/?.example.org/x", false),
            ("https://münchen.de/*", "https://xn--mnchen-3ya.de/x", true),
            ("https://docs.rs/serde/*", "https://docs.rs/serde/x", true),
            ("https://docs.rs/serde/*", "https://docs.rs/serde/../tokio", false),
            ("https://docs.rs/serde/*", "https://docs.rs/serde/..%2ftokio", false),
            ("https://docs.rs@evil.com/*", "https://evil.com/", false),
            ("http://[::1]:8080/*", "http://[::1]:8080/x", true),
            ("*", "https://any.where/", true),
            ("https://*", "https://any.where/x", true),
            ("https://*", "http://any.where/x", false),
        ] {
            assert_eq!(matches(pattern, &address(text), RuleSide::Allow), allowed, "{pattern} on {text}");
        }
    }

    // proves T8: a forbidden address is forbidden in every spelling
    #[test]
    fn a_pattern_that_forbids_is_read_widely() {
        for (pattern, text) in [
            ("evil.com", "https://evil.com:8443/x"),
            ("https://evil.com", "https://EVIL.com./x"),
            ("*.evil.com", "http://a.b.evil.com/"),
            ("https://ok.com/secret/*", "https://ok.com/%73ecret/x"),
            ("https://ok.com/secret/*", "https://ok.com/a/../secret/x"),
            ("127.0.0.1", "http://0x7f000001:80/"),
        ] {
            assert!(matches(pattern, &address(text), RuleSide::Forbid), "{pattern} on {text}");
        }
        assert!(!matches("evil.com", &address("https://notevil.com/"), RuleSide::Forbid));
    }

    #[test]
    fn hosts_are_named_with_and_without_a_port() {
        for (pattern, text, meant) in [
            ("localhost", "http://localhost:3000/", true),
            ("localhost:3000", "http://localhost:3000/", true),
            ("localhost:3000", "http://localhost:3001/", false),
            ("*.corp.example", "https://wiki.corp.example/", true),
            ("[::1]", "http://[::1]:3000/", true),
            ("*", "http://10.0.0.1/", true),
        ] {
            let pattern: HostPattern = pattern.parse().unwrap();
            assert_eq!(pattern.means(&address(text)), meant, "{text}");
        }
        for text in ["", "http://localhost", "a b", "localhost:port", "u@h"] {
            assert!(text.parse::<HostPattern>().is_err(), "{text}");
        }
    }
}
