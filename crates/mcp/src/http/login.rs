//! Logs in to a server: a person agrees in a browser, which is then redirected to a listener on this machine (P1).

use std::time::Duration;

use rmcp::transport::auth::{
    AuthError, AuthorizationRequest, AuthorizationSession, CredentialStore as _, StoredCredentials,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use super::HttpClients;
use super::oauth::manager;
use super::tokens::ServerTokens;
use crate::config::OAuth;

/// How long a person may take to log in.
const PATIENCE: Duration = Duration::from_secs(300);
/// Limits on the time and size of the browser's request.
const REQUEST: Duration = Duration::from_secs(5);
const REQUEST_BYTES: usize = 16 << 10;

/// Why a login failed.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    /// The server does not use HTTP.
    #[error("this server is not reached over HTTP; there is nothing to log in to")]
    NotHttp,
    /// There is no server of that name.
    #[error("there is no MCP server of that name")]
    Unknown,
    /// The server's configuration can't be used.
    #[error(transparent)]
    Config(#[from] crate::config::ConfigError),
    /// The port for the redirect can't be opened.
    #[error("the port for the redirect could not be opened: {0}")]
    Port(std::io::Error),
    /// The person did not finish the login in time.
    #[error("nobody came back from the login page within five minutes; try again")]
    Patience,
    /// The authorization server refused.
    #[error("the login was refused: {0}")]
    Refused(String),
    /// Another error during the login.
    #[error("the login failed: {0}")]
    Failed(String),
    /// The stored tokens could not be deleted.
    #[error("the login could not be forgotten: {0}")]
    Kept(std::io::Error),
}

impl From<AuthError> for LoginError {
    fn from(error: AuthError) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Logs in; calls `show` with the address the person must open.
pub(crate) async fn login(
    clients: &HttpClients,
    url: &str,
    oauth: &OAuth,
    tokens: &ServerTokens,
    challenge: Option<&str>,
    show: &(dyn Fn(&str) + Send + Sync),
) -> Result<(), LoginError> {
    let listener =
        TcpListener::bind(("127.0.0.1", oauth.redirect_port.unwrap_or(0))).await.map_err(LoginError::Port)?;
    let port = listener.local_addr().map_err(LoginError::Port)?.port();
    let mut manager = manager(clients, url, tokens).await?;
    let metadata = manager.resolve_metadata_from_challenge(challenge).await?.metadata;
    let issuer = metadata.issuer.clone();
    manager.set_metadata(metadata);
    let named = manager.select_initial_scopes(&[]).await;
    let scopes = scopes(named, oauth, issuer.as_deref(), tokens.load().await?.as_ref());
    let request = request(oauth, scopes, port, challenge);
    let session = AuthorizationSession::new(manager, request).await.map_err(|(_, error)| LoginError::from(error))?;
    show(session.get_authorization_url());
    let redirect = timeout(PATIENCE, redirected(&listener)).await.map_err(|_| LoginError::Patience)??;
    session.handle_callback_url(&format!("http://127.0.0.1:{port}{redirect}")).await?;
    Ok(())
}

/// The scopes to request: the configured ones, else those the server names; plus those granted before by the same
/// authorization server, so that a login for further scopes does not lose the old ones.
fn scopes(named: Vec<String>, oauth: &OAuth, issuer: Option<&str>, before: Option<&StoredCredentials>) -> Vec<String> {
    let mut scopes = if oauth.scopes.is_empty() { named } else { oauth.scopes.clone() };
    for granted in
        before.filter(|before| before.issuer.as_deref() == issuer).iter().flat_map(|before| &before.granted_scopes)
    {
        if !scopes.contains(granted) {
            scopes.push(granted.clone());
        }
    }
    scopes
}

fn request(oauth: &OAuth, scopes: Vec<String>, port: u16, challenge: Option<&str>) -> AuthorizationRequest {
    let mut request = AuthorizationRequest::new(format!("http://127.0.0.1:{port}/callback"))
        .with_client_name("Windlass")
        .with_initial_scope_selection()
        .with_scopes(scopes);
    if let Some(id) = &oauth.client_id {
        request = request.with_preregistered_client(id);
        if let Some(secret) = &oauth.client_secret {
            request = request.with_client_secret(secret);
        }
    }
    if let Some(metadata) = &oauth.client_metadata_url {
        request = request.with_client_metadata_url(metadata);
    }
    if let Some(challenge) = challenge {
        request = request.with_challenge(challenge);
    }
    request
}

/// Waits for the browser's redirect; other requests are answered with an error.
async fn redirected(listener: &TcpListener) -> Result<String, LoginError> {
    loop {
        let (mut stream, _) = listener.accept().await.map_err(LoginError::Port)?;
        let Ok(Some(target)) = timeout(REQUEST, target(&mut stream)).await else {
            continue;
        };
        match outcome(&target) {
            Some(Ok(())) => {
                answer(&mut stream, "200 OK", "You are logged in. You can close this page and go back.").await;
                return Ok(target);
            }
            Some(Err(reason)) => {
                answer(&mut stream, "200 OK", "The login was refused. You can close this page.").await;
                return Err(LoginError::Refused(reason));
            }
            None => answer(&mut stream, "404 Not Found", "There is nothing here.").await,
        }
    }
}

/// Parses the redirect and its result; `None` for any other request.
fn outcome(target: &str) -> Option<Result<(), String>> {
    let query = target.strip_prefix("/callback?")?;
    let members: Vec<(String, String)> = url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let member = |name: &str| members.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
    match (member("code"), member("error")) {
        (_, Some(error)) => {
            let more = member("error_description").map(|text| format!(": {text}")).unwrap_or_default();
            Some(Err(crate::notice::printable(&format!("{error}{more}"), 300)))
        }
        (Some(_), None) => Some(Ok(())),
        (None, None) => None,
    }
}

/// Reads the path of a browser's request.
async fn target(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.windows(4).any(|window| window == b"\r\n\r\n") && head.len() < REQUEST_BYTES {
        let mut buffer = [0; 2048];
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => break,
            Ok(read) => head.extend_from_slice(&buffer[..read]),
        }
    }
    let head = String::from_utf8(head).ok()?;
    let mut words = head.lines().next()?.split(' ');
    (words.next()? == "GET").then_some(())?;
    words.next().map(str::to_owned)
}

async fn answer(stream: &mut TcpStream, status: &str, text: &str) {
    let page = format!("<!doctype html><meta charset=utf-8><title>Windlass</title><p>{text}");
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{page}",
        page.len()
    );
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn get(port: u16, target: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        stream.write_all(format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    // proves P1
    #[tokio::test]
    async fn only_the_redirect_ends_the_wait() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let waiting = tokio::spawn(async move { redirected(&listener).await });
        assert!(get(port, "/favicon.ico").await.contains("404"));
        assert!(get(port, "/callback?state=1").await.contains("404"));
        assert!(get(port, "/callback?code=a%20b&state=1").await.contains("logged in"));
        assert_eq!(waiting.await.unwrap().unwrap(), "/callback?code=a%20b&state=1");
    }

    // proves P1
    #[test]
    fn a_login_for_more_keeps_what_was_granted_by_the_same_authorization_server() {
        let list = |scopes: &[&str]| scopes.iter().map(ToString::to_string).collect::<Vec<_>>();
        let before =
            StoredCredentials::new("id".into(), None, list(&["read", "write"]), None).with_issuer(Some("a".into()));
        let configured = OAuth { scopes: list(&["admin"]), ..OAuth::default() };
        for (oauth, issuer, want) in [
            (OAuth::default(), "a", list(&["write", "delete", "read"])),
            (OAuth::default(), "b", list(&["write", "delete"])),
            (configured, "a", list(&["admin", "read", "write"])),
        ] {
            assert_eq!(scopes(list(&["write", "delete"]), &oauth, Some(issuer), Some(&before)), want);
        }
        assert_eq!(scopes(Vec::new(), &OAuth::default(), None, None), Vec::<String>::new());
    }

    #[test]
    fn a_refusal_is_told_in_the_servers_words() {
        let refused = outcome("/callback?error=access_denied&error_description=not+you&state=1");
        assert_eq!(refused, Some(Err("access_denied: not you".into())));
    }
}
