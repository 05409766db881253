//! The prepared parts of every request to a server.

use http::Uri;
use http::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, USER_AGENT};

use super::base_url::BaseUrl;
use super::endpoint::Endpoint;
use crate::config::ModelConfig;
use crate::http::{HttpClient, HttpError, RequestSender};
use crate::secret::Secret;

/// Why a model can't be called as configured.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ModelConfigError {
    /// The base URL is not valid.
    #[error("`{0}` is not a base URL; one is written like http://localhost:11434/v1")]
    BaseUrl(String),
    /// The key has characters that no header can contain.
    #[error("the API key has characters that can't be sent (a line break or a letter outside ASCII?)")]
    Key,
    /// The HTTP client could not be set up.
    #[error(transparent)]
    Http(#[from] HttpError),
}

/// The headers by which a wire's servers let a client in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AccessHeaders {
    /// The name of the header with the key, in lower case.
    pub(crate) key_header: &'static str,
    /// What stands before the key in that header.
    pub(crate) before_key: &'static str,
    /// Further headers of every request, their names in lower case.
    pub(crate) others: &'static [(&'static str, &'static str)],
}

impl AccessHeaders {
    fn insert(&self, key: Option<&Secret>, headers: &mut HeaderMap) -> Result<(), ModelConfigError> {
        if let Some(key) = key {
            let value = HeaderValue::try_from(format!("{}{}", self.before_key, key.expose()));
            let mut value = value.map_err(|_| ModelConfigError::Key)?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(self.key_header), value);
        }
        for (name, value) in self.others {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        Ok(())
    }
}

/// What every request to a server shares.
pub(crate) struct ServerClient {
    pub(crate) sender: RequestSender,
    base: BaseUrl,
    pub(crate) headers: HeaderMap,
    pub(crate) endpoint: Endpoint,
}

impl ServerClient {
    /// Prepares requests to the server in `config`, whose wire wants the headers `access`.
    pub(crate) fn open(
        config: &ModelConfig,
        access: AccessHeaders,
        http: &HttpClient,
    ) -> Result<Self, ModelConfigError> {
        let wrong = || ModelConfigError::BaseUrl(config.base_url.clone());
        let base = BaseUrl::parse(&config.base_url).ok_or_else(wrong)?;
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::try_from(base.host()).map_err(|_| wrong())?);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
        headers.insert(USER_AGENT, HeaderValue::from_static(concat!("windlass/", env!("CARGO_PKG_VERSION"))));
        access.insert(config.api_key.as_ref(), &mut headers)?;
        let endpoint =
            Endpoint { base_url: base.display_text(), model: config.model.clone(), key: config.api_key.clone() };
        Ok(Self { sender: http.to(base.uri().clone(), base.host())?, base, headers, endpoint })
    }

    /// Returns path and query of `end` below the base URL.
    pub(crate) fn path_to(&self, end: &str) -> Result<Uri, ModelConfigError> {
        self.base.path_to(end).ok_or_else(|| ModelConfigError::BaseUrl(self.endpoint.base_url.clone()))
    }

    /// Returns path and query of `end` beside the versioned API, where software has interfaces of its own.
    pub(crate) fn root_path_to(&self, end: &str) -> Option<Uri> {
        self.base.root_path_to(end)
    }
}
