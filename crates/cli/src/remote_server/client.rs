//! Requests to a server.

use std::time::Duration;

use reqwest::{Method, RequestBuilder, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use url::Url;
use windlass::door::is_on_this_machine;

use super::error::RemoteError;

/// How long a connection may take to open, and an answer to come. Events have no such limit.
const CONNECT: Duration = Duration::from_secs(10);
const ANSWER: Duration = Duration::from_secs(90);
/// The most bytes of an answer.
const LONGEST: usize = 64 * 1024 * 1024;

/// A server and the token that lets us in.
#[derive(Clone)]
pub(crate) struct RemoteClient {
    http: reqwest::Client,
    base: Url,
    token: String,
}

impl RemoteClient {
    /// Returns the client of a server. A server of this machine is asked without a proxy.
    pub(crate) fn new(base: Url, token: String) -> Result<Self, RemoteError> {
        let failed = |error: &dyn std::fmt::Display| RemoteError::Client { reason: error.to_string() };
        let tls = windlass_tls::client(windlass_tls::trusted()).map_err(|error| failed(&error))?;
        let mut builder = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            // A redirect could lead the token elsewhere.
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT)
            .user_agent(concat!("windlass/", env!("CARGO_PKG_VERSION")));
        if is_on_this_machine(base.as_str()) {
            builder = builder.no_proxy();
        }
        Ok(Self { http: builder.build().map_err(|error| failed(&error))?, base, token })
    }

    /// Asks for something.
    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str, query: &[(&str, &str)]) -> Result<T, RemoteError> {
        self.answer(self.request_with(Method::GET, path, query)?, None::<&()>).await
    }

    /// Sends a body under a key, by which the server does the same thing once only (J6).
    pub(crate) async fn post_once<T: DeserializeOwned>(
        &self,
        path: &str,
        key: &str,
        body: &impl Serialize,
    ) -> Result<T, RemoteError> {
        self.answer(self.request(Method::POST, path)?.header("idempotency-key", key), Some(body)).await
    }

    /// Asks for a session's events after this record. They end with the connection.
    pub(crate) async fn events(&self, path: &str, after: u64) -> Result<Response, RemoteError> {
        let request = self.request(Method::GET, path)?.header("last-event-id", after);
        let response = tokio::time::timeout(ANSWER, request.send()).await;
        let response = response.map_err(|_| RemoteError::silent(&self.base))?;
        checked(&self.base, response.map_err(|error| RemoteError::unreachable(&self.base, &error))?).await
    }

    /// Where the server is.
    pub(crate) fn base(&self) -> &Url {
        &self.base
    }

    /// Returns the error for an answer that can't be read.
    pub(crate) fn not_windlass(&self) -> RemoteError {
        RemoteError::NotWindlass { at: self.base.clone() }
    }

    /// Sends a body, and reads what comes back.
    pub(crate) async fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T, RemoteError> {
        self.answer(self.request(Method::POST, path)?, Some(body)).await
    }

    fn request(&self, method: Method, path: &str) -> Result<RequestBuilder, RemoteError> {
        self.request_with(method, path, &[])
    }

    fn request_with(&self, method: Method, path: &str, query: &[(&str, &str)]) -> Result<RequestBuilder, RemoteError> {
        let failed = |error: url::ParseError| RemoteError::Client { reason: format!("{path}: {error}") };
        let mut address = self.base.join(path).map_err(failed)?;
        if !query.is_empty() {
            address.query_pairs_mut().extend_pairs(query);
        }
        Ok(self.http.request(method, address).bearer_auth(&self.token))
    }

    async fn answer<T: DeserializeOwned>(
        &self,
        request: RequestBuilder,
        body: Option<&impl Serialize>,
    ) -> Result<T, RemoteError> {
        let mut request = request.timeout(ANSWER);
        if let Some(body) = body {
            let json = serde_json::to_vec(body).map_err(|error| RemoteError::Client { reason: error.to_string() })?;
            request = request.header("content-type", "application/json").body(json);
        }
        let response = request.send().await.map_err(|error| RemoteError::unreachable(&self.base, &error))?;
        let response = checked(&self.base, response).await?;
        let whole = whole_body(response).await.map_err(|error| RemoteError::unreachable(&self.base, &error))?;
        // An answer without a body reads as `null`.
        let whole: &[u8] = if whole.is_empty() { b"null" } else { &whole };
        serde_json::from_slice(whole).map_err(|_| RemoteError::NotWindlass { at: self.base.clone() })
    }
}

/// Returns the answer if it is a success, else what it says.
async fn checked(base: &Url, response: Response) -> Result<Response, RemoteError> {
    if response.status().is_success() {
        return Ok(response);
    }
    let status = response.status().as_u16();
    let retry_after = response.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
    let body = whole_body(response).await.unwrap_or_default();
    Err(RemoteError::refused(base, status, retry_after, &body))
}

async fn whole_body(mut response: Response) -> reqwest::Result<Vec<u8>> {
    let mut whole = Vec::new();
    while let Some(part) = response.chunk().await? {
        whole.extend_from_slice(&part);
        if whole.len() > LONGEST {
            break;
        }
    }
    Ok(whole)
}
