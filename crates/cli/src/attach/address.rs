//! The address of a server, as `windlass serve` prints it: with its token, and perhaps with a session.

use std::fmt;

use url::Url;
use windlass::door::is_on_this_machine;

/// Where a server is, and what the address says besides.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct RemoteAddress {
    /// Without token and session, to be shown.
    pub(crate) base: Url,
    /// The token of the address, if it has one.
    pub(crate) token: Option<GivenToken>,
    /// The id of the session that the address leads to, if it leads to one.
    pub(crate) session: Option<String>,
}

/// A token. It is not shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct GivenToken(pub(crate) String);

impl fmt::Debug for GivenToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GivenToken(…)")
    }
}

impl fmt::Debug for RemoteAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RemoteAddress({}, {:?}, {:?})", self.base, self.token, self.session)
    }
}

/// Who can read what goes to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    /// The server alone, or only this machine.
    Private,
    /// Whoever the network lets.
    Open,
}

impl RemoteAddress {
    /// Reads an address; the error says what is wrong with it, without repeating it.
    pub(crate) fn read(text: &str) -> Result<Self, &'static str> {
        let text = text.trim();
        let with_scheme = if is_host_and_port(text) { format!("http://{text}") } else { text.to_owned() };
        let mut base = Url::parse(&with_scheme).map_err(|_| "this is no address: give it as http://HOST:PORT")?;
        if !matches!(base.scheme(), "http" | "https") || base.host().is_none() {
            return Err("a server has an address that begins with http:// or https://");
        }
        if !base.username().is_empty() || base.password().is_some() {
            return Err("an address has no user and password here: give the token with --token-file or WINDLASS_TOKEN");
        }
        let value =
            |name: &str| base.query_pairs().find(|(known, _)| known == name).map(|(_, value)| value.into_owned());
        let token = value("token").filter(|token| !token.is_empty()).map(GivenToken);
        if token.is_none() && value("code").is_some() {
            return Err("the code in this address lets a browser in; a terminal needs the token that \
                        `windlass serve` printed");
        }
        let session = base.fragment().and_then(|route| route.strip_prefix("/s/")).map(str::to_owned);
        base.set_query(None);
        base.set_fragment(None);
        if !base.path().ends_with('/') {
            base.set_path(&format!("{}/", base.path()));
        }
        Ok(Self { base, token, session })
    }

    /// Says who can read what goes there.
    pub(crate) fn transport(&self) -> Transport {
        let is_private = self.base.scheme() == "https" || is_on_this_machine(self.base.as_str());
        if is_private { Transport::Private } else { Transport::Open }
    }
}

/// Whether the text begins with a host, and not with a scheme: `unix:/socket` would read as host `unix` with no port.
fn is_host_and_port(text: &str) -> bool {
    match text.split_once(':') {
        Some((_, after)) => text.starts_with('[') || after.starts_with(|c: char| c.is_ascii_digit()),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::{GivenToken, RemoteAddress, Transport};

    fn read(text: &str) -> (String, Option<String>, Option<String>) {
        let address = RemoteAddress::read(text).expect(text);
        (address.base.to_string(), address.token.map(|GivenToken(token)| token), address.session)
    }

    // proves W3, X1: the printed address is taken apart, and what is shown of it has no token
    #[test]
    fn an_address_is_read_as_it_is_printed_and_shown_without_its_token() {
        let base = || "http://127.0.0.1:7700/".to_owned();
        let (token, session) = (Some("0123456789abcdef".to_owned()), Some("0198-id".to_owned()));
        for (text, expected) in [
            ("http://127.0.0.1:7700/?token=0123456789abcdef", (base(), token.clone(), None)),
            (" http://127.0.0.1:7700/?token=0123456789abcdef#/s/0198-id", (base(), token, session)),
            ("127.0.0.1:7700", (base(), None, None)),
            ("[::1]:7700", ("http://[::1]:7700/".to_owned(), None, None)),
            ("localhost/windlass", ("http://localhost/windlass/".to_owned(), None, None)),
            ("https://h/windlass", ("https://h/windlass/".to_owned(), None, None)),
            ("http://127.0.0.1:7700/?token=", (base(), None, None)),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
        let address = RemoteAddress::read("http://127.0.0.1:7700/?token=0123456789abcdef").expect("an address");
        assert!(!format!("{address:?}").contains("0123456789abcdef"));
    }

    // proves W2
    #[test]
    fn what_is_no_address_is_refused_without_being_repeated() {
        for text in ["", "ftp://h/", "http://", "http://user:secret@h/", "http://h/?code=1", "unix:/socket"] {
            let refused = RemoteAddress::read(text).expect_err(text);
            assert!(!refused.contains("secret"), "{refused}");
        }
    }

    // proves X1: a token in the open is noticed
    #[test]
    fn only_https_and_this_machine_are_private() {
        for (text, transport) in [
            ("https://agents.example.org", Transport::Private),
            ("http://localhost:7700", Transport::Private),
            ("http://[::1]:7700", Transport::Private),
            ("http://127.3.0.1", Transport::Private),
            ("http://192.0.2.7:7700", Transport::Open),
            ("http://localhost.example.org", Transport::Open),
        ] {
            assert_eq!(RemoteAddress::read(text).expect(text).transport(), transport, "{text}");
        }
    }
}
