//! Support for rmcp's authorization: an HTTP client, and a manager for each server.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use rmcp::transport::auth::{AuthError, AuthorizationManager, ClientCredentialsConfig, OAuthClientConfig};
use rmcp::transport::{
    OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRedirectPolicy, OAuthHttpRequest,
};

use super::HttpClients;
use super::tokens::ServerTokens;
use crate::config::OAuth;

/// Limits on the time of one request and the size of its response.
const TIME: Duration = Duration::from_secs(30);
const BODY: usize = 1 << 20;

/// A placeholder where a redirect URL is required and no redirect takes place.
const NOWHERE: &str = "http://127.0.0.1/callback";

/// Sends the requests of the authorization.
#[derive(Clone, Debug)]
pub(crate) struct OAuthClient {
    pub(super) following: reqwest::Client,
    pub(super) stopping: reqwest::Client,
}

impl OAuthHttpClient for OAuthClient {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        let client = match request.redirect_policy {
            OAuthHttpRedirectPolicy::Follow => self.following.clone(),
            _ => self.stopping.clone(),
        };
        let time = request.timeout.unwrap_or(TIME).min(TIME);
        Box::pin(async move {
            let answer = tokio::time::timeout(time, send(client, request.request)).await;
            answer.map_err(|_| OAuthHttpClientError::from("the authorization server did not answer in time"))?
        })
    }
}

type OAuthBody = http::Response<Vec<u8>>;

async fn send(client: reqwest::Client, request: http::Request<Vec<u8>>) -> Result<OAuthBody, OAuthHttpClientError> {
    let response = client.execute(reqwest::Request::try_from(request)?).await?;
    let mut answer = http::Response::builder().status(response.status()).version(response.version());
    for (name, value) in response.headers() {
        answer = answer.header(name, value);
    }
    let (mut body, mut chunks) = (Vec::new(), response.bytes_stream());
    while let Some(chunk) = chunks.next().await {
        body.extend_from_slice(&chunk?);
        if body.len() > BODY {
            return Err("the authorization server's answer is too long".into());
        }
    }
    Ok(answer.body(body)?)
}

/// Returns a manager for the server at `url`, with what is stored about its authorization.
pub(crate) async fn manager(
    clients: &HttpClients,
    url: &str,
    tokens: &ServerTokens,
) -> Result<AuthorizationManager, AuthError> {
    let client = clients.oauth().map_err(AuthError::InternalError)?;
    let mut manager = AuthorizationManager::new_with_oauth_http_client(url, Arc::new(client)).await?;
    manager.set_credential_store(tokens.clone());
    Ok(manager)
}

/// Returns a manager that can supply the stored tokens, if there are any.
pub(crate) async fn ready(
    clients: &HttpClients,
    url: &str,
    oauth: &OAuth,
    tokens: &ServerTokens,
) -> Result<AuthorizationManager, AuthError> {
    let mut manager = manager(clients, url, tokens).await?;
    if manager.initialize_from_store().await?
        && let (Some(id), Some(secret)) = (&oauth.client_id, &oauth.client_secret)
    {
        // The stored credentials contain the client's id, but not its secret.
        let config = OAuthClientConfig::new(id, NOWHERE).with_client_secret(secret);
        manager.configure_client(config.with_scopes(oauth.scopes.clone()))?;
    }
    Ok(manager)
}

/// Requests a token for the program itself with its id and secret.
pub(crate) async fn as_program(
    clients: &HttpClients,
    url: &str,
    oauth: &OAuth,
    tokens: &ServerTokens,
    challenge: Option<&str>,
) -> Result<(), AuthError> {
    let (Some(client_id), Some(client_secret)) = (oauth.client_id.clone(), oauth.client_secret.clone()) else {
        return Err(AuthError::ClientCredentialsError(
            "`oauth.clientId` and `oauth.clientSecret` are needed for the grant client_credentials".into(),
        ));
    };
    let mut manager = manager(clients, url, tokens).await?;
    let metadata = manager.resolve_metadata_from_challenge(challenge).await?.metadata;
    manager.set_metadata(metadata);
    let scopes = match oauth.scopes.is_empty() {
        true => manager.select_initial_scopes(&[]).await,
        false => oauth.scopes.clone(),
    };
    let config =
        ClientCredentialsConfig::ClientSecret { client_id, client_secret, scopes, resource: Some(url.to_owned()) };
    manager.validate_client_credentials_metadata(&config)?;
    manager.configure_client_credentials(&config)?;
    manager.exchange_client_credentials(&config).await?;
    Ok(())
}
