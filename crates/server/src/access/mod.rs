//! Who may make a request (W3, X): every request names a host of this server, comes from its own page or from no page, and
//! brings a token.
//!
//! The protocol: [`check`] runs before every route. It refuses a foreign `Host` (a page of another site can point its name at
//! this machine) and a foreign `Origin`, finds whose token came with the request, in `Authorization: Bearer` or in the
//! page's cookie, counts the request ([`request_limits`]), reads its body, and leaves the [`Caller`] for the route. A route
//! that takes [`SignedIn`] refuses those without a token.
//!
//! The operator's token is made for each start; users have theirs in a file ([`users_file`], [`user_list`]).

mod caller;
mod cookie;
mod entry;
mod hosts;
mod request_limits;
mod sent_body;
mod token;
mod user_list;
mod users_file;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;

pub use self::caller::{Caller, CallerRole};
pub use self::entry::{BrowserEntry, EntryPurpose};
pub use self::hosts::ServedHosts;
pub use self::token::{AccessToken, TokenError, TokenHolder};
pub use self::user_list::UserList;
pub use self::users_file::{User, UsersError, add_user, read_users, remove_user, users_file};

use self::cookie::PageCookie;
use self::request_limits::RequestLimits;
use self::token::TokenHash;
use crate::error::{ApiError, ErrorKind};
use crate::limits::ServiceLimits;
use crate::state::HttpServer;

/// The machine that sent a request, as far as the network says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// The tokens and hosts of a server.
#[derive(Debug)]
pub struct Access {
    operator: TokenHolder,
    users: UserList,
    hosts: ServedHosts,
    cookie: PageCookie,
    requests: RequestLimits,
    entry: Option<BrowserEntry>,
}

impl Access {
    /// Returns the access rules of a server that listens at `address`: for the holder of the operator's token, and for the
    /// users. `named` are further names of the server.
    #[must_use]
    pub fn new(
        operator: TokenHolder,
        users: UserList,
        address: SocketAddr,
        named: &[String],
        limits: &ServiceLimits,
    ) -> Self {
        let requests = RequestLimits::new(limits);
        let (hosts, cookie) = (ServedHosts::new(address, named), PageCookie::new(address));
        Self { operator, users, hosts, cookie, requests, entry: None }
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

    /// Returns whose token this is; `None` for nobody's. A wrong token counts against its address; the entry key is none.
    pub(crate) fn sign_in(&self, address: IpAddr, token: &str) -> Result<Option<Caller>, ApiError> {
        let sent = TokenHash::of(token);
        if self.entry.as_ref().is_some_and(|entry| entry.has_key(token)) {
            return Ok(None);
        }
        self.requests.may_try(address, &sent)?;
        // All are asked, whatever the first says, so that the time tells nothing.
        let of_page = self.entry.as_ref().and_then(|entry| entry.holder_of(&sent));
        let of_user = self.users.holder_of(&sent).or(of_page);
        let caller = if self.operator.has(&sent) { Some(self.operator.caller.clone()) } else { of_user };
        match &caller {
            Some(_) => self.requests.was_right(address, sent),
            None => self.requests.was_wrong(address)?,
        }
        Ok(caller)
    }

    /// Returns the cookie that lets the page in, for a browser that sent these headers.
    pub(crate) fn cookie_of(&self, token: &str, headers: &HeaderMap) -> Option<HeaderValue> {
        self.cookie.holding(token, headers)
    }

    /// Returns the users whose sessions are here.
    #[must_use]
    pub fn users(&self) -> Vec<String> {
        let mut users = self.users.names();
        users.push(self.operator.caller.user.clone());
        users.sort();
        users.dedup();
        users
    }

    /// Waits until a token lets nobody in any more. The operator's always does.
    fn withdrawn(&self, token: TokenHash) -> BoxFuture<'static, ()> {
        let of_page = self.entry.as_ref().filter(|entry| entry.holder_of(&token).is_some());
        match of_page {
            _ if self.operator.has(&token) => Box::pin(std::future::pending()),
            Some(entry) => Box::pin(entry.withdrawn(token)),
            None => Box::pin(self.users.withdrawn(token)),
        }
    }

    /// Notices removed users while no request comes.
    pub(crate) async fn watch_users(&self) {
        self.users.watch().await;
    }

    /// Finds who makes a request, and counts it.
    fn admit(&self, request: &Request) -> Result<Admitted, ApiError> {
        let headers = request.headers();
        self.hosts.check(headers)?;
        let address = peer(request.extensions().get());
        let (token, from_cookie) = match bearer(headers) {
            Some(token) => (Some(token), FromCookie::No),
            None => (self.cookie.in_headers(headers), FromCookie::Yes),
        };
        let caller = token.map(|token| self.sign_in(address, token)).transpose()?.flatten();
        let shown = token.map(TokenHash::of);
        match &caller {
            Some(Caller { user, role: CallerRole::User }) => self.requests.count_user(user)?,
            Some(Caller { role: CallerRole::Admin, .. }) => {}
            None if request.uri().path() == HEALTH => {}
            None => self.requests.count_stranger(address)?,
        }
        let is_stale = token.is_some() && from_cookie == FromCookie::Yes && caller.is_none();
        let caller = caller.zip(shown);
        Ok(Admitted { caller, cookie: if is_stale { SentCookie::Stale } else { SentCookie::Fine } })
    }
}

/// The one address that is answered however many requests come: it does nothing, and supervisors depend on it.
const HEALTH: &str = "/api/health";

/// Whether a token was found in the page's cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FromCookie {
    Yes,
    No,
}

/// What is to be done about the cookie that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SentCookie {
    Fine,
    /// It is of an earlier start, or of a removed user. The browser is told to forget it: each request with it would count
    /// as a guess.
    Stale,
}

/// A request that may go on to its route.
struct Admitted {
    caller: Option<(Caller, TokenHash)>,
    cookie: SentCookie,
}

/// Refuses requests from elsewhere, finds the caller, and adds the headers that keep a browser from mischief.
pub(crate) async fn check(State(state): State<Arc<HttpServer>>, request: Request, next: Next) -> Response {
    let is_of_api = request.uri().path().starts_with("/api/");
    let mut response = match state.access.admit(&request) {
        Ok(admitted) => answered(&state, request, next, admitted).await,
        Err(refused) => refused.into_response(),
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::CONTENT_SECURITY_POLICY, CONTENT_POLICY),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    if is_of_api {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    response
}

async fn answered(state: &HttpServer, request: Request, next: Next, admitted: Admitted) -> Response {
    let Admitted { caller, cookie } = admitted;
    let sender = caller.as_ref().map(|(caller, _)| caller);
    let (mut request, body) = match sent_body::read(&state.bodies, state.limits.body, sender, request).await {
        Ok(read) => read,
        Err(refused) => return refused.into_response(),
    };
    let token = caller.map(|(caller, token)| {
        request.extensions_mut().insert(caller);
        token
    });
    let mut response = next.run(request).await;
    drop(body);
    if let Some(token) = token.filter(|_| is_event_stream(&response)) {
        let withdrawn = state.access.withdrawn(token);
        response = response.map(|body| Body::from_stream(body.into_data_stream().take_until(withdrawn)));
    }
    if cookie == SentCookie::Stale {
        // A sign-in has set another one.
        response.headers_mut().entry(header::SET_COOKIE).or_insert(state.access.cookie.gone());
    }
    response
}

/// Whether the response lasts: whoever's token is withdrawn gets no more of it.
fn is_event_stream(response: &Response) -> bool {
    let media_type = response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    media_type.is_some_and(|value| value.starts_with("text/event-stream"))
}

/// No script, style or connection but the server's own; no page may frame it.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
     connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// The caller of a route that needs a token.
pub(crate) struct SignedIn(pub(crate) Caller);

impl<S: Sync> FromRequestParts<S> for SignedIn {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, ApiError> {
        parts.extensions.get::<Caller>().cloned().map(Self).ok_or_else(no_token)
    }
}

fn no_token() -> ApiError {
    ApiError::new(ErrorKind::Unauthorized, "this request has no valid token")
        .hint("send `Authorization: Bearer TOKEN`, or open the address that `windlass serve` printed")
}

/// The address that a request comes from.
pub(crate) struct SentFrom(pub(crate) IpAddr);

impl<S: Sync> FromRequestParts<S> for SentFrom {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, ApiError> {
        Ok(Self(peer(parts.extensions.get())))
    }
}

/// Requests that came over no connection, as in a test, count as from this machine.
fn peer(peer: Option<&Peer>) -> IpAddr {
    peer.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |Peer(address)| address.ip())
}

/// Returns the token of the `Authorization` header.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}
