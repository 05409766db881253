//! What is counted of requests as they are answered.

use std::borrow::Cow;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;
use prometheus_client::metrics::gauge::Gauge;

use super::Metrics;

/// Counts a request under the pattern of its route, and times it up to the head of its answer.
pub(crate) async fn watch_requests(State(metrics): State<Metrics>, request: Request, next: Next) -> Response {
    let (method, begun) = (method(request.method()), Instant::now());
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let route = ("route", route.map_or(Cow::Borrowed("none"), Cow::Owned));
    let response = next.run(request).await;
    let status = ("status", Cow::Owned(response.status().as_u16().to_string()));
    let counts = &metrics.0;
    counts.requests.get_or_create(&[("method", Cow::Borrowed(method)), route.clone(), status]).inc();
    counts.request_seconds.get_or_create(&[route]).observe(begun.elapsed().as_secs_f64());
    response
}

/// Returns the method's name, if it is one that a route takes: a client can make up others.
fn method(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        _ => "other",
    }
}

/// An open event stream; it counts until it is dropped.
#[derive(Debug)]
pub(crate) struct OpenStream(Gauge);

impl Metrics {
    /// Counts an event stream for as long as what is returned lives.
    pub(crate) fn stream_opened(&self) -> OpenStream {
        let followers = self.0.followers.clone();
        followers.inc();
        OpenStream(followers)
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.dec();
    }
}
