//! Obtains authorization for a server from a person when the server requires it (P1).

use std::sync::Arc;

use super::{ConnectionPhase, Server};
use crate::config::ServerTransport;
use crate::connect::{ConnectAttempt, ConnectError};
use crate::connection::ServerConnection;
use crate::handshake::Era;
use crate::http::login::{LoginError, login};
use crate::http::tokens::{Logout, ServerTokens};
use crate::listing::ToolListing;
use crate::notice::{NoticeKind, WANTS_LOGIN};
use crate::options::ShowUrl;

/// How often a person is sent to log in before the server is given up: the required scopes or the authorization
/// server may change between two requests.
const LOGINS: usize = 2;

impl Server {
    /// Connects to the server, with a login if it is required and a person is present.
    pub(super) async fn reach_logging_in(self: &Arc<Self>) -> Result<(ServerConnection, ToolListing), ConnectError> {
        let era = self.lock().memory.handshake.map(Era::from);
        let mut reached = self.reach_once(era).await;
        for _ in 0..LOGINS {
            let (Err(ConnectError::NeedsAuth { challenge }), Some(show), Some(tokens)) =
                (&reached, &self.options.log_in, &self.tokens)
            else {
                break;
            };
            self.authorize(tokens, challenge.as_deref(), show)
                .await
                .map_err(|error| ConnectError::Failed(format!("could not be logged in to: {error}")))?;
            reached = self.reach_once(era).await;
        }
        reached
    }

    async fn reach_once(self: &Arc<Self>, era: Option<Era>) -> Result<(ServerConnection, ToolListing), ConnectError> {
        self.attempt(era).reach().await
    }

    /// Logs in, and connects with the new tokens.
    pub(crate) async fn login(self: &Arc<Self>, show: &ShowUrl) -> Result<(), LoginError> {
        let Some(tokens) = &self.tokens else {
            return Err(LoginError::NotHttp);
        };
        let told = if let ConnectionPhase::NeedsAuth { challenge } = self.phase() { challenge } else { None };
        let challenge = match told {
            Some(challenge) => Some(challenge),
            None => match self.attempt(None).reach().await {
                Err(ConnectError::NeedsAuth { challenge }) => challenge,
                Err(ConnectError::Failed(_)) | Ok(_) => None,
            },
        };
        self.authorize(tokens, challenge.as_deref(), show).await
    }

    async fn authorize(
        &self,
        tokens: &ServerTokens,
        challenge: Option<&str>,
        show: &ShowUrl,
    ) -> Result<(), LoginError> {
        match self.config.expanded(&self.name, &*self.options.variables)? {
            ServerTransport::Stdio { .. } => Err(LoginError::NotHttp),
            ServerTransport::Http { url, oauth, .. } => {
                let shown = |address: &str| show(&self.name, address);
                login(&self.clients, &url, &oauth, tokens, challenge, &shown).await
            }
        }
    }

    /// Obtains further authorization for a call, if a person is present, and reconnects.
    pub(crate) async fn step_up(self: &Arc<Self>, challenge: Option<&str>) -> Result<(), String> {
        let (Some(show), Some(tokens)) = (&self.options.log_in, &self.tokens) else {
            // The model can't log in; notify the person.
            self.publish(NoticeKind::NeedsAuth);
            return Err(WANTS_LOGIN.into());
        };
        self.authorize(tokens, challenge, show).await.map_err(|error| error.to_string())?;
        if let ConnectionPhase::Connected(connection) = self.phase() {
            self.set(ConnectionPhase::Connecting);
            let (fresh, listing) = match self.reach_once(None).await {
                Ok(reached) => reached,
                Err(unreached) => {
                    self.set(ConnectionPhase::Connected(connection));
                    return Err(self.sentence(&unreached));
                }
            };
            self.take_in(&fresh, listing);
            self.set(ConnectionPhase::Connected(Arc::new(fresh)));
            connection.close().await;
        }
        Ok(())
    }

    /// Deletes the tokens.
    pub(crate) fn logout(&self) -> Result<Logout, LoginError> {
        self.tokens.as_ref().ok_or(LoginError::NotHttp)?.forget().map_err(LoginError::Kept)
    }

    fn attempt(self: &Arc<Self>, era: Option<Era>) -> ConnectAttempt<'_> {
        let server = Arc::downgrade(self);
        ConnectAttempt {
            server: &self.name,
            config: &self.config,
            options: &self.options,
            clients: &self.clients,
            tokens: self.tokens.as_ref(),
            log: &self.log,
            era,
            publish: Arc::new(move |what| {
                if let Some(server) = server.upgrade() {
                    server.publish_scrubbed(what);
                }
            }),
        }
    }
}
