//! Who may make a request (W3, X): every request names a host of this server, comes from its own page or from no page, and
//! brings a token.
//!
//! The protocol: [`check`] runs before every route. It refuses a foreign `Host` (a page of another site can point its name at
//! this machine) and a foreign `Origin`, finds whose token came with the request, in `Authorization: Bearer` or in the
//! page's cookie, and leaves the [`Caller`] for the route. A route that takes [`SignedIn`] refuses those without a token.

mod caller;
mod entry;
mod hosts;
mod token;

use std::sync::Arc;

use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

pub use self::caller::{Caller, CallerRole};
pub use self::entry::{BrowserEntry, EntryPurpose};
pub use self::hosts::ServedHosts;
pub use self::token::{AccessToken, TokenError, TokenHolder};
use crate::error::{ApiError, ErrorKind};
use crate::state::HttpServer;

/// The name of the page's cookie.
pub(crate) const COOKIE: &str = "windlass_session";

/// The tokens and hosts of a server.
#[derive(Debug)]
pub struct Access {
    holders: Vec<TokenHolder>,
    hosts: ServedHosts,
    entry: Option<BrowserEntry>,
}

impl Access {
    /// Returns the access rules of a server at these hosts, for the holders of these tokens.
    #[must_use]
    pub fn new(holders: Vec<TokenHolder>, hosts: ServedHosts) -> Self {
        Self { holders, hosts, entry: None }
    }

    /// Also lets in browsers with entry codes.
    #[must_use]
    pub fn with_entry(self, entry: BrowserEntry) -> Self {
        Self { entry: Some(entry), ..self }
    }

    /// Returns the entry codes, if browsers come in by them.
    pub(crate) fn entry(&self) -> Option<&BrowserEntry> {
        self.entry.as_ref()
    }

    /// Returns whose token this is. Every token is compared, each in constant time.
    pub(crate) fn holder_of(&self, token: &str) -> Option<Caller> {
        let sent = token::TokenHash::of(token);
        let mut found = self.entry.as_ref().and_then(|entry| entry.holder_of(&sent));
        for holder in &self.holders {
            if holder.has(&sent) {
                found = Some(holder.caller.clone());
            }
        }
        found
    }

    /// Returns the users whose sessions are here.
    #[must_use]
    pub fn users(&self) -> Vec<String> {
        let mut users: Vec<String> = self.holders.iter().map(|holder| holder.caller.user.clone()).collect();
        users.sort();
        users.dedup();
        users
    }

    fn caller(&self, headers: &HeaderMap) -> Option<Caller> {
        bearer(headers).or_else(|| cookie(headers)).and_then(|token| self.holder_of(token))
    }
}

/// Refuses requests from elsewhere, finds the caller, and adds the headers that keep a browser from mischief.
pub(crate) async fn check(State(state): State<Arc<HttpServer>>, mut request: Request, next: Next) -> Response {
    let headers = request.headers();
    if let Err(refused) = state.access.hosts.check(headers) {
        return refused.into_response();
    }
    if let Some(caller) = state.access.caller(headers) {
        request.extensions_mut().insert(caller);
    }
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::CONTENT_SECURITY_POLICY, CONTENT_POLICY),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    response
}

/// No script, style or connection but the server's own; no page may frame it.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
     connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// The caller of a route that needs a token.
pub(crate) struct SignedIn(pub(crate) Caller);

impl<S: Sync> FromRequestParts<S> for SignedIn {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, ApiError> {
        parts.extensions.get::<Caller>().cloned().map(Self).ok_or_else(|| {
            ApiError::new(ErrorKind::Unauthorized, "this request has no valid token")
                .hint("send `Authorization: Bearer TOKEN`, or open the address that `windlass serve` printed")
        })
    }
}

/// Returns the value of the cookie that lets the page in.
pub(crate) fn cookie_of(token: &str) -> Option<HeaderValue> {
    HeaderValue::from_str(&format!("{COOKIE}={token}; Path=/; HttpOnly; SameSite=Strict")).ok()
}

/// Returns the token of the `Authorization` header.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    let all = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|value| value.split(';')).find_map(|pair| {
        let (name, value) = pair.trim().split_once('=')?;
        (name == COOKIE).then_some(value)
    })
}
