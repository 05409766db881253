//! Connects to a server: starts or calls it, does the handshake and lists its tools, all within its time limit (P2).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitationCapability, ErrorCode, FormElicitationCapability, Implementation,
    RootsCapabilities, UrlElicitationCapability,
};
use rmcp::transport::{AuthClient, DynamicTransportError, Transport};
use rmcp::{RoleClient, service::ServiceError};
use tokio::time::{Instant, timeout_at};
use windlass_tools::Secrets;

use crate::config::{OAuth, ServerConfig, ServerConfinement, ServerTransport, TokenSubject};
use crate::connection::ServerConnection;
use crate::handshake::{Approach, Era, Introduction, NoHandshake, shake};
use crate::http::tokens::ServerTokens;
use crate::http::{self, HttpClients, oauth};
use crate::listing::{self, ToolListing};
use crate::name::ServerName;
use crate::notice::printable;
use crate::options::McpOptions;
use crate::stdio::{self, LineTransport, NoticeSink, ProcessEnd, ServerProgram, StartedProcess, StderrLog};

/// Why a connection failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ConnectError {
    /// The server requires a login; holds its challenge.
    NeedsAuth { challenge: Option<String> },
    /// Any other reason, as the rest of a sentence that begins with the server.
    Failed(String),
}

/// One attempt to connect to a server.
pub(crate) struct ConnectAttempt<'a> {
    pub(crate) server: &'a ServerName,
    pub(crate) config: &'a ServerConfig,
    pub(crate) options: &'a McpOptions,
    pub(crate) clients: &'a HttpClients,
    pub(crate) tokens: Option<&'a ServerTokens>,
    pub(crate) log: &'a StderrLog,
    /// The kind of handshake the server used last time.
    pub(crate) era: Option<Era>,
    pub(crate) publish: NoticeSink,
}

/// Checks the working folder: the error of a failed start would not say which path is missing.
async fn runs_in(directory: &Path) -> Result<(), ConnectError> {
    let problem = match tokio::fs::metadata(directory).await {
        Ok(metadata) if metadata.is_dir() => return Ok(()),
        Ok(_) => "it is no folder".to_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => "it is not there".to_owned(),
        Err(error) => error.to_string(),
    };
    let folder = directory.display();
    Err(ConnectError::Failed(format!("could not be started in the folder {folder}: {problem}; see its `cwd`")))
}

/// Fractions of the startup limit. Silence for a fifth of it sends the old handshake as well; after three fifths the
/// probe is given up, which leaves enough time for a server that fails on the probe and starts slowly.
const SILENCE: f64 = 0.2;
const GIVEN_UP: f64 = 0.6;

impl ConnectAttempt<'_> {
    /// Connects to the server and lists its tools.
    pub(crate) async fn reach(&self) -> Result<(ServerConnection, ToolListing), ConnectError> {
        let deadline = Instant::now() + self.config.startup_timeout;
        let reach = self
            .config
            .expanded(self.server, &*self.options.variables)
            .map_err(|error| ConnectError::Failed(format!("is not configured rightly: {}", error.problem())))?;
        let connection = match reach {
            ServerTransport::Stdio { command, args, env, cwd } => {
                let scrubbed = self.options.secrets.scrubbed_names(std::env::vars_os());
                let directory = match (cwd, &self.options.root) {
                    (Some(cwd), Some(root)) => root.join(cwd),
                    (Some(directory), None) => directory,
                    (None, Some(root)) => root.clone(),
                    (None, None) => PathBuf::from("."),
                };
                runs_in(&directory).await?;
                let environment = env.into_iter().collect();
                let sandbox = match (self.config.sandbox, &self.options.sandbox) {
                    (ServerConfinement::Not, _) => None,
                    (ServerConfinement::InWorkspace, Some(sandbox)) => Some(sandbox.clone()),
                    (ServerConfinement::InWorkspace, None) => {
                        return Err(ConnectError::Failed("is to run in a sandbox, and there is none".to_owned()));
                    }
                };
                let secrets = self.options.secrets.clone();
                let program = ServerProgram { command, args, environment, scrubbed, directory, secrets, sandbox };
                self.over_pipes(&program, deadline).await?
            }
            ServerTransport::Http { url, headers, oauth } => {
                let headers = http::headers(&headers).map_err(ConnectError::Failed)?;
                self.over_http(&url, headers, &oauth, deadline).await?
            }
        };
        match timeout_at(deadline, listing::list(&connection.peer)).await {
            Ok(Ok(listing)) => Ok((connection, listing)),
            // A server without tools need not support the request.
            Ok(Err(ServiceError::McpError(error))) if error.code == ErrorCode::METHOD_NOT_FOUND => {
                Ok((connection, ToolListing::default()))
            }
            Ok(Err(error)) => Err(self.not_listed(&connection, error).await),
            Err(_) => Err(ConnectError::Failed(self.too_slow("did not say what tools it has"))),
        }
    }

    /// Returns a server's text without secrets, safe to display and truncated.
    fn quoted(&self, said: &str, chars: usize) -> String {
        printable(&self.options.secrets.scrub(said), chars)
    }

    async fn not_listed(&self, connection: &ServerConnection, error: ServiceError) -> ConnectError {
        match error {
            ServiceError::TransportSend(error) => not_sent(&error, &self.options.secrets),
            ServiceError::McpError(error) => {
                ConnectError::Failed(format!("would not say what tools it has: {}", self.quoted(&error.message, 300)))
            }
            ServiceError::TransportClosed => {
                let _ = tokio::time::timeout(Duration::from_secs(1), connection.gone.cancelled()).await;
                ConnectError::Failed(connection.why_gone())
            }
            error => ConnectError::Failed(format!("gave no listing of its tools that can be read ({error})")),
        }
    }

    fn too_slow(&self, what: &str) -> String {
        format!("{what} within {} s", self.config.startup_timeout.as_secs_f32())
    }

    fn introduction(&self) -> Introduction {
        let elicitation = ElicitationCapability::new()
            .with_form(FormElicitationCapability::default())
            .with_url(UrlElicitationCapability::default());
        let root = self.options.root.as_ref().and_then(|root| url::Url::from_directory_path(root).ok());
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(elicitation);
        capabilities.roots = root.is_some().then(RootsCapabilities::default);
        let mut us = Implementation::new("windlass", env!("CARGO_PKG_VERSION"));
        us.title = Some("Windlass".into());
        Introduction { about: ClientConfig::new(capabilities, us), root: root.map(String::from) }
    }

    /// Returns the first approach, and the one to use if the server fails on it.
    fn approaches(&self, deadline: Instant) -> (Approach, Option<Approach>) {
        let time = self.config.startup_timeout;
        let now = Instant::now();
        let probe =
            Approach::Probe { silence: time.mul_f64(SILENCE), until: (now + time.mul_f64(GIVEN_UP)).min(deadline) };
        match self.era {
            None => (probe, Some(Approach::As(Era::Legacy))),
            Some(Era::Legacy) => (Approach::As(Era::Legacy), Some(Approach::As(Era::Modern))),
            Some(Era::Modern) => (Approach::As(Era::Modern), Some(Approach::As(Era::Legacy))),
        }
    }

    async fn over_pipes(&self, program: &ServerProgram, deadline: Instant) -> Result<ServerConnection, ConnectError> {
        let (mut approach, mut again) = self.approaches(deadline);
        loop {
            let (mut transport, last) = timeout_at(deadline, self.start(program.clone()))
                .await
                .map_err(|_| ConnectError::Failed(self.too_slow("could not be started")))??;
            let introduction = self.introduction();
            let shaken = match timeout_at(deadline, shake(&mut transport, &introduction, approach)).await {
                // The pipe is broken: the server is gone, and its exit status is known once its output ends.
                Ok(Err(NoHandshake::NotSent(_))) => {
                    let gone = async { while transport.receive().await.is_some() {} };
                    let _ = tokio::time::timeout(Duration::from_secs(1), gone).await;
                    Ok(Err(NoHandshake::Closed))
                }
                shaken => shaken,
            };
            match shaken {
                Ok(Ok(known)) => {
                    let secrets = &self.options.secrets;
                    return Ok(ServerConnection::open(
                        transport,
                        self.server,
                        &introduction,
                        known,
                        Some(last),
                        secrets,
                    ));
                }
                Ok(Err(NoHandshake::LateModern)) => approach = Approach::As(Era::Modern),
                Ok(Err(failure)) => match again.take().filter(|_| may_try_again(&failure) && !last.is_no_program()) {
                    Some(other) => approach = other,
                    None => return Err(self.handshake_failure(failure, Some(&last))),
                },
                Err(_) => return Err(self.handshake_failure(NoHandshake::Silent, Some(&last))),
            }
            // End the process before starting the next: both may need the same port or file.
            let _ = timeout_at(deadline, transport.close()).await;
        }
    }

    async fn start(
        &self,
        program: ServerProgram,
    ) -> Result<
        (LineTransport<tokio::net::unix::pipe::Receiver, tokio::net::unix::pipe::Sender>, ProcessEnd),
        ConnectError,
    > {
        let Some(guard) = &self.options.guard else {
            return Err(ConnectError::Failed(
                "can't be started: no guard program is configured. Whoever embeds Windlass must set `Options::guard` \
                 to a program that calls `guard::run`"
                    .into(),
            ));
        };
        self.check_start().await?;
        let StartedProcess { process, input, output, last } = stdio::start(guard, program)
            .await
            .map_err(|error| ConnectError::Failed(format!("could not be started: {error}")))?;
        self.log.begin(&last.words);
        let transport = LineTransport::new(output, input, self.options.message_limit, self.publish.clone());
        Ok((transport.of(process), last))
    }

    /// Checks whether the program may be started: its files may have been replaced since it was configured.
    async fn check_start(&self) -> Result<(), ConnectError> {
        let (check, server) = (Arc::clone(&self.options.check_start), self.server.clone());
        let checked = tokio::task::spawn_blocking(move || check(&server)).await;
        let checked = checked.unwrap_or_else(|error| Err(error.to_string()));
        checked.map_err(|reason| ConnectError::Failed(format!("was not started: {reason}")))
    }

    async fn over_http(
        &self,
        url: &str,
        headers: std::collections::HashMap<::http::HeaderName, ::http::HeaderValue>,
        oauth: &OAuth,
        deadline: Instant,
    ) -> Result<ServerConnection, ConnectError> {
        let client =
            self.clients.servers().map_err(|error| ConnectError::Failed(format!("can't be reached: {error}")))?;
        let limit = self.options.message_limit;
        let Some(tokens) = self.tokens.filter(|_| !headers.contains_key(&::http::header::AUTHORIZATION)) else {
            let make = || http::transport(client.clone(), url, headers.clone(), limit);
            return self.shake_http(make, deadline).await;
        };
        let mut asked = false;
        loop {
            let manager = timeout_at(deadline, oauth::ready(self.clients, url, oauth, tokens))
                .await
                .map_err(|_| ConnectError::Failed(self.too_slow("'s authorization server did not answer")))?
                .map_err(|error| ConnectError::Failed(format!("could not be authorized: {error}")))?;
            let authorized = AuthClient::new(client.clone(), manager);
            let make = || http::transport(authorized.clone(), url, headers.clone(), limit);
            match self.shake_http(make, deadline).await {
                Err(ConnectError::NeedsAuth { challenge }) if oauth.bearer == TokenSubject::Program && !asked => {
                    asked = true;
                    oauth::as_program(self.clients, url, oauth, tokens, challenge.as_deref())
                        .await
                        .map_err(|error| ConnectError::Failed(format!("could not be authorized: {error}")))?;
                }
                reached => return reached,
            }
        }
    }

    async fn shake_http<T: Transport<RoleClient> + 'static>(
        &self,
        make: impl Fn() -> T,
        deadline: Instant,
    ) -> Result<ServerConnection, ConnectError> {
        let (mut approach, mut again) = self.approaches(deadline);
        // Over HTTP every request has its own response, so wait for the probe alone; after silence, start again with
        // the old handshake.
        if let Approach::Probe { until, .. } = approach {
            approach = Approach::Probe { silence: self.config.startup_timeout, until };
        }
        loop {
            let (mut transport, introduction) = (make(), self.introduction());
            match timeout_at(deadline, shake(&mut transport, &introduction, approach)).await {
                Ok(Ok(known)) => {
                    let secrets = &self.options.secrets;
                    return Ok(ServerConnection::open(transport, self.server, &introduction, known, None, secrets));
                }
                Ok(Err(failure)) => match again.take().filter(|_| may_try_again(&failure)) {
                    Some(other) => approach = other,
                    None => return Err(self.handshake_failure(failure, None)),
                },
                Err(_) => return Err(self.handshake_failure(NoHandshake::Silent, None)),
            }
        }
    }

    /// Why the handshake failed, as the rest of a sentence that begins with the server.
    fn handshake_failure(&self, failure: NoHandshake, last: Option<&ProcessEnd>) -> ConnectError {
        let words = last.map(|last| last.words.last_words()).filter(|words| !words.is_empty());
        let words = words.map(|words| format!("; its last words: {words}")).unwrap_or_default();
        ConnectError::Failed(match failure {
            NoHandshake::Closed => match last {
                Some(last) => last.describe_end(" before it had said who it is"),
                None => "closed the connection before it had said who it is".into(),
            },
            NoHandshake::Silent | NoHandshake::LateModern => {
                format!("{}{words}", self.too_slow("did not say who it is"))
            }
            NoHandshake::Refused(error) => {
                format!("refused the handshake: {}{words}", self.quoted(&error.message, 300))
            }
            NoHandshake::Revision(versions) => format!(
                "speaks no revision of MCP that Windlass knows (it offers {}; known are 2024-11-05 to 2026-07-28)",
                self.quoted(&versions, 100)
            ),
            NoHandshake::Nonsense(answer) => {
                format!("answered the handshake with something else: {}", self.quoted(&answer, 200))
            }
            NoHandshake::NotSent(error) => return not_sent(&error, &self.options.secrets),
        })
    }
}

/// Whether the server may have failed because of the kind of handshake.
fn may_try_again(failure: &NoHandshake) -> bool {
    match failure {
        NoHandshake::Closed | NoHandshake::Silent | NoHandshake::Refused(_) | NoHandshake::Nonsense(_) => true,
        NoHandshake::NotSent(error) => challenge(error).is_none() && !is_unreachable(error),
        NoHandshake::LateModern | NoHandshake::Revision(_) => false,
    }
}

/// Whether no connection could be opened at all.
fn is_unreachable(error: &DynamicTransportError) -> bool {
    causes(error).any(|cause| cause.downcast_ref::<reqwest::Error>().is_some_and(reqwest::Error::is_connect))
}

fn causes(error: &DynamicTransportError) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    let first: &(dyn std::error::Error + 'static) = error.error.as_ref();
    std::iter::successors(Some(first), |error| error.source())
}

/// Returns the challenge of a server that requires authorization; the inner text is its header.
pub(crate) fn challenge(error: &DynamicTransportError) -> Option<Option<String>> {
    use rmcp::transport::auth::AuthError;
    use rmcp::transport::streamable_http_client::{AuthRequiredError, InsufficientScopeError};
    causes(error).find_map(|cause| {
        if let Some(required) = cause.downcast_ref::<AuthRequiredError>() {
            return Some(Some(required.www_authenticate_header.clone()));
        }
        if let Some(scope) = cause.downcast_ref::<InsufficientScopeError>() {
            return Some(Some(scope.www_authenticate_header.clone()));
        }
        matches!(cause.downcast_ref::<AuthError>(), Some(AuthError::AuthorizationRequired | AuthError::TokenExpired))
            .then_some(None)
    })
}

fn not_sent(error: &DynamicTransportError, secrets: &Secrets) -> ConnectError {
    if let Some(challenge) = challenge(error) {
        return ConnectError::NeedsAuth { challenge };
    }
    // The outer errors name types; the innermost says what happened.
    let mut words: Vec<String> = causes(error).map(ToString::to_string).collect();
    words.dedup();
    let said = words.last().cloned().unwrap_or_default();
    ConnectError::Failed(format!("can't be reached: {}", printable(&secrets.scrub(&without_queries(&said)), 300)))
}

/// Cuts the queries off the addresses in a text: keys often stand there.
fn without_queries(text: &str) -> String {
    let (mut kept, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find("://") {
        let ends = |c: char| c.is_whitespace() || matches!(c, ')' | '"' | '\'' | '>');
        let end = rest[at..].find(ends).map_or(rest.len(), |length| at + length);
        let (address, after) = rest.split_at(end);
        kept.push_str(address.split('?').next().unwrap_or(address));
        rest = after;
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::without_queries;

    // proves X1: a key in the address of a server is not told
    #[test]
    fn addresses_lose_their_queries() {
        for (said, told) in [
            ("refused for url (http://h:9/mcp?api_key=secret)", "refused for url (http://h:9/mcp)"),
            ("https://a/?x=1 and https://b/c?y=2, no", "https://a/ and https://b/c no"),
            ("what? no address", "what? no address"),
            ("://", "://"),
        ] {
            assert_eq!(without_queries(said), told);
        }
    }
}
