//! Servers over streamable HTTP, with rmcp's client (P1).
//!
//! TLS uses ring with the system's or the bundled roots, as for model calls: no process-wide provider is needed, so a
//! missing one can't cause a panic. Redirects are followed only within the server's own origin, so configured headers
//! are sent nowhere else.

pub(crate) mod login;
pub(crate) mod oauth;
pub(crate) mod tokens;

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

/// Time limit for opening a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// How long an idle connection is kept. Many servers close one after five seconds, and a request sent at that moment
/// would be lost. Logins are so rare that their connections are not kept.
const IDLE: Duration = Duration::from_secs(4);
/// The maximum number of redirects.
const REDIRECTS: usize = 5;
const AGENT: &str = concat!("windlass/", env!("CARGO_PKG_VERSION"));

/// The HTTP clients of a process; created when the first server over HTTP is connected.
#[derive(Debug, Default)]
pub(crate) struct HttpClients {
    proxy: Option<String>,
    made: OnceLock<Result<BuiltClients, String>>,
}

#[derive(Clone, Debug)]
struct BuiltClients {
    /// Follows redirects within an origin.
    servers: reqwest::Client,
    /// Follows redirects to any origin.
    following: reqwest::Client,
    /// Follows no redirects.
    stopping: reqwest::Client,
}

impl HttpClients {
    /// Returns clients that use `proxy`, if one is given.
    pub(crate) fn through(proxy: Option<String>) -> Self {
        Self { proxy, made: OnceLock::new() }
    }

    fn built(&self) -> Result<&BuiltClients, String> {
        self.made.get_or_init(|| make(self.proxy.as_deref())).as_ref().map_err(Clone::clone)
    }

    /// The client for MCP servers.
    pub(crate) fn servers(&self) -> Result<reqwest::Client, String> {
        Ok(self.built()?.servers.clone())
    }

    /// The client for authorization servers.
    pub(crate) fn oauth(&self) -> Result<oauth::OAuthClient, String> {
        let made = self.built()?;
        Ok(oauth::OAuthClient { following: made.following.clone(), stopping: made.stopping.clone() })
    }
}

fn make(proxy: Option<&str>) -> Result<BuiltClients, String> {
    let tls =
        windlass_tls::client(windlass_tls::trusted()).map_err(|error| format!("TLS could not be set up: {error}"))?;
    let client = |redirects| {
        let mut builder = reqwest::Client::builder()
            .tls_backend_preconfigured(tls.clone())
            .redirect(redirects)
            .connect_timeout(CONNECT)
            .user_agent(AGENT)
            .no_proxy();
        if let Some(proxy) = proxy {
            let local = reqwest::NoProxy::from_string("localhost,127.0.0.0/8,::1");
            builder = builder.proxy(reqwest::Proxy::all(proxy)?.no_proxy(local));
        }
        Ok(builder)
    };
    let all = || -> Result<BuiltClients, reqwest::Error> {
        Ok(BuiltClients {
            servers: client(within_origin())?.pool_idle_timeout(IDLE).build()?,
            following: client(reqwest::redirect::Policy::limited(REDIRECTS))?.pool_max_idle_per_host(0).build()?,
            stopping: client(reqwest::redirect::Policy::none())?.pool_max_idle_per_host(0).build()?,
        })
    };
    all().map_err(|error| format!("the HTTP client could not be set up: {error}"))
}

fn within_origin() -> reqwest::redirect::Policy {
    reqwest::redirect::Policy::custom(|attempt| {
        let first = attempt.previous().first().map(url::Url::origin);
        if attempt.previous().len() > REDIRECTS || first.is_none_or(|origin| origin != attempt.url().origin()) {
            attempt.stop()
        } else {
            attempt.follow()
        }
    })
}

/// Parses the headers for every request to a server.
pub(crate) fn headers(of: &BTreeMap<String, String>) -> Result<HashMap<HeaderName, HeaderValue>, String> {
    of.iter()
        .map(|(name, value)| {
            let parsed = name.parse::<HeaderName>().map_err(|_| format!("`{name}` is no name for a header"))?;
            let value = value.trim().parse::<HeaderValue>();
            Ok((
                parsed,
                value.map_err(|_| format!("the value of the header `{name}` has characters in it no header can"))?,
            ))
        })
        .collect()
}

/// Returns a transport to the server at `url`.
pub(crate) fn transport<C>(
    client: C,
    url: &str,
    headers: HashMap<HeaderName, HeaderValue>,
    message_limit: usize,
) -> StreamableHttpClientTransport<C>
where
    C: rmcp::transport::streamable_http_client::StreamableHttpClient + Sync,
{
    let config = StreamableHttpClientTransportConfig::with_uri(url)
        .custom_headers(headers)
        .max_sse_event_size(message_limit)
        .reinit_on_expired_session(true);
    StreamableHttpClientTransport::with_client(client, config)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_that_can_not_be_sent_is_named() {
        let one = |name: &str, value: &str| headers(&BTreeMap::from([(name.into(), value.into())]));
        assert_eq!(one("X-Key", " abc ").unwrap().len(), 1);
        assert!(one("X Key", "a").unwrap_err().contains("`X Key`"));
        let said = one("X-Key", "secret\nvalue").unwrap_err();
        assert!(said.contains("X-Key") && !said.contains("secret"), "{said}");
    }

    #[test]
    fn clients_are_made_without_a_provider_of_the_process() {
        assert!(HttpClients::default().servers().is_ok());
        assert!(HttpClients::through(Some("http://proxy:3128".into())).oauth().is_ok());
    }
}
