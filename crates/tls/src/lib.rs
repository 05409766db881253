//! Whom Windlass trusts on a secure connection. One answer for models, servers of tools and fetched pages:
//! whoever adds a certificate to the machine adds it for all of them.
//!
//! The protocol: [`trusted`] reads the machine's certificates, which takes some milliseconds, so it is
//! called when the first secure connection is wanted and its outcome kept; [`client`] makes a
//! configuration of it.
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

/// The certificates of this machine; where it has none, those that come with Windlass.
#[must_use]
pub fn trusted() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    roots
}

/// The client's side of connections to whoever these vouch for.
pub fn client(roots: RootCertStore) -> Result<ClientConfig, rustls::Error> {
    // Named here: nobody need install a provider for the process.
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
