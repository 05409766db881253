//! Resolves host names, and connects to exactly the resolved addresses.
//!
//! A name is resolved once per connection, all its addresses are checked, and then one of them is connected to. There
//! is no second lookup that could return another address (DNS rebinding). No proxy is used, because the proxy would
//! resolve the name.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use url::Host;

use super::fetch_failure::FetchFailure;
use super::private_address;
use crate::BoxFuture;
use crate::address::{Address, HostPattern};

/// The connection timeout per address.
const CONNECT: Duration = Duration::from_secs(5);
/// How many addresses of a name are tried.
const TRIED: usize = 4;

/// Name resolution and connections, which tests replace.
pub(super) trait HostConnector: Send + Sync {
    /// Returns all addresses of a name.
    fn resolve(&self, host: String, port: u16) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;

    /// Connects to one address.
    fn connect(&self, to: SocketAddr) -> BoxFuture<'static, io::Result<TcpStream>>;
}

/// The operating system's resolver and network.
pub(super) struct SystemConnector;

impl HostConnector for SystemConnector {
    fn resolve(&self, host: String, port: u16) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, port)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }

    fn connect(&self, to: SocketAddr) -> BoxFuture<'static, io::Result<TcpStream>> {
        Box::pin(TcpStream::connect(to))
    }
}

/// Connects to the host of `address`, which must be in `allowed` or public.
pub(super) async fn connect_host(
    network: &dyn HostConnector,
    address: &Address,
    allowed: &[HostPattern],
) -> Result<TcpStream, FetchFailure> {
    let found = addresses(network, address).await?;
    if !allowed.iter().any(|host| host.means(address))
        && let Some((ip, what)) = found.iter().find_map(|ip| Some((ip, private_address::private(*ip)?)))
    {
        return Err(FetchFailure::private(address, *ip, what));
    }
    let mut last = None;
    for ip in found.iter().take(TRIED) {
        let to = SocketAddr::new(*ip, address.port());
        match tokio::time::timeout(CONNECT, network.connect(to)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => last = Some(error.to_string()),
            Err(_) => last = Some(format!("no answer within {} s", CONNECT.as_secs())),
        }
    }
    let why = last.unwrap_or_else(|| "it has no address".to_owned());
    Err(FetchFailure::Unreachable(format!("{} can't be reached: {why}.", address.origin())))
}

/// Returns why the host of `address` is refused, where no lookup is needed: it is a private IP address, or a name of
/// this machine.
pub(super) fn plainly_private(address: &Address, allowed: &[HostPattern]) -> Option<FetchFailure> {
    let ip = match address.url().host()? {
        Host::Ipv4(ip) => ip.into(),
        Host::Ipv6(ip) => ip.into(),
        // Local whatever a name server returns (RFC 6761).
        Host::Domain(name) if name == "localhost" || name.ends_with(".localhost") => Ipv4Addr::LOCALHOST.into(),
        Host::Domain(_) => return None,
    };
    let what = private_address::private(ip).filter(|_| !allowed.iter().any(|host| host.means(address)))?;
    Some(FetchFailure::private(address, ip, what))
}

async fn addresses(network: &dyn HostConnector, address: &Address) -> Result<Vec<IpAddr>, FetchFailure> {
    let name = match address.url().host() {
        Some(Host::Ipv4(ip)) => return Ok(vec![ip.into()]),
        Some(Host::Ipv6(ip)) => return Ok(vec![ip.into()]),
        Some(Host::Domain(name)) => name.to_owned(),
        None => return Err(FetchFailure::Refused("The address names no host.".to_owned())),
    };
    let unknown = |why: String| FetchFailure::NotFound(format!("There is no host `{}`: {why}.", address.host()));
    let found = network.resolve(name, address.port()).await.map_err(|error| unknown(error.to_string()))?;
    if found.is_empty() { Err(unknown("it has no address".to_owned())) } else { Ok(found) }
}

/// Starts TLS with the host of `address` over `stream`.
pub(super) async fn secured(stream: TcpStream, address: &Address) -> Result<TlsStream<TcpStream>, FetchFailure> {
    let failed = |why: &dyn std::fmt::Display| {
        FetchFailure::Unreachable(format!("{}: the secure connection failed: {why}.", address.origin()))
    };
    let host = address.host().trim_start_matches('[').trim_end_matches(']').to_owned();
    let name = ServerName::try_from(host).map_err(|error| failed(&error))?;
    let config = tls().map_err(|error| failed(&error))?;
    TlsConnector::from(config).connect(name, stream).await.map_err(|error| failed(&error))
}

/// Loads the certificates for the first HTTPS request.
fn tls() -> Result<Arc<ClientConfig>, rustls::Error> {
    static TLS: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    if let Some(config) = TLS.get() {
        return Ok(Arc::clone(config));
    }
    let config = windlass_tls::client(windlass_tls::trusted())?;
    Ok(Arc::clone(TLS.get_or_init(|| Arc::new(config))))
}
