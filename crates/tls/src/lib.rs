//! The certificates that Windlass trusts on TLS connections. Models, MCP servers and fetched pages share them: a
//! certificate added to the machine applies to all of them.
//!
//! The protocol: [`trusted`] loads the machine's certificates, which takes some milliseconds, so it is called when
//! the first TLS connection is needed and its result kept; [`client`] makes a configuration of it.
//!
//! ```
//! let config = windlass_tls::client(windlass_tls::trusted())?;
//! assert!(config.alpn_protocols.is_empty());
//! # Ok::<(), rustls::Error>(())
//! ```

#![deny(missing_docs)]

use std::sync::Arc;

use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};

/// Returns the certificates of this machine, or the bundled ones if it has none.
#[must_use]
pub fn trusted() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    roots
}

/// Returns the client configuration for servers whose certificates these roots vouch for.
pub fn client(roots: RootCertStore) -> Result<ClientConfig, rustls::Error> {
    // Named here, so that no process-wide provider has to be installed.
    Ok(ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth())
}

#[cfg(test)]
mod tests {
    #[test]
    fn somebody_is_trusted_on_every_machine() {
        assert!(!super::trusted().is_empty());
    }
}
