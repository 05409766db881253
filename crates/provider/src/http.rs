//! The one HTTP client: pooled, keep-alive, shared by all models and sessions of a process.
//!
//! It follows no redirects, so that a key goes only where it was meant to go; it reads no proxy
//! settings from the environment, only its configuration; and it never panics for want of a TLS
//! provider, because it brings its own. Trust in certificates comes from the system's store, or from
//! the bundled list where the system has none, and is loaded only when an `https` address is used.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, NoProxy, Proxy};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};

/// Settings of the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpConfig {
    /// A proxy for everything but this machine, e.g. `http://proxy:3128`.
    pub proxy: Option<String>,
    /// How long a connection may take to open, in milliseconds.
    pub connect_ms: u64,
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self { proxy: None, connect_ms: 10_000 }
    }
}

/// The client could not be made.
#[derive(Clone, Debug, thiserror::Error)]
pub enum HttpError {
    /// The proxy's address makes no sense.
    #[error("`{address}` is no proxy address ({reason}); write it like http://proxy:3128")]
    Proxy {
        /// The address as configured.
        address: String,
        /// What is wrong with it.
        reason: String,
    },
    /// TLS or the client itself could not be set up.
    #[error("the HTTP client could not be set up: {0}")]
    Setup(String),
}

/// The shared client. Cloning shares the pool.
#[derive(Clone, Debug)]
pub struct HttpClient(Arc<Clients>);

#[derive(Debug)]
struct Clients {
    config: HttpConfig,
    plain: Client,
    secure: OnceLock<Client>,
}

impl HttpClient {
    /// A client with its own pool; one is enough for a process.
    pub fn new(config: HttpConfig) -> Result<Self, HttpError> {
        // Plain addresses never look at certificates, so this half starts without any.
        let plain = build(&config, RootCertStore::empty())?;
        Ok(Self(Arc::new(Clients { config, plain, secure: OnceLock::new() })))
    }

    /// The client for addresses of `scheme`.
    pub(crate) fn for_scheme(&self, scheme: &str) -> Result<Client, HttpError> {
        let Clients { config, plain, secure } = &*self.0;
        if scheme != "https" {
            return Ok(plain.clone());
        }
        if let Some(client) = secure.get() {
            return Ok(client.clone());
        }
        let client = build(config, trusted_roots())?;
        Ok(secure.get_or_init(|| client).clone())
    }
}

fn build(config: &HttpConfig, roots: RootCertStore) -> Result<Client, HttpError> {
    let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| HttpError::Setup(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let builder = Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(Policy::none())
        .no_proxy()
        .http1_only()
        .tcp_nodelay(true)
        .connect_timeout(Duration::from_millis(config.connect_ms))
        .user_agent(concat!("windlass/", env!("CARGO_PKG_VERSION")));
    let builder = match &config.proxy {
        Some(address) => builder.proxy(proxy(address)?),
        None => builder,
    };
    builder.build().map_err(|error| HttpError::Setup(error.to_string()))
}

fn proxy(address: &str) -> Result<Proxy, HttpError> {
    let proxy = Proxy::all(address)
        .map_err(|error| HttpError::Proxy { address: address.to_owned(), reason: error.to_string() })?;
    Ok(proxy.no_proxy(NoProxy::from_string("localhost,127.0.0.0/8,::1")))
}

fn trusted_roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    roots
}
