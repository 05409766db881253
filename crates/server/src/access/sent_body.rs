//! Reads the body of a request before its route: up to its limit, for a bounded time, and no more at once for each user
//! than a few of the largest.

use std::time::Duration;

use axum::body::{Body, HttpBody as _, to_bytes};
use axum::extract::Request;
use axum::http::header;
use futures_util::StreamExt as _;

use super::caller::{Caller, CallerRole};
use crate::error::{ApiError, ErrorKind};
use crate::limits::{BODIES_AT_ONCE, BODY_TIME, STRANGER_BODY, STRANGER_BODY_TIME};
use crate::places::{TakenPlaces, UserPlaces};

/// How much of a body that is refused is read, and for how long: a client that is still sending would otherwise lose the
/// connection before it reads why.
const DISCARDED: usize = 64 * 1024 * 1024;
const DISCARD_TIME: Duration = Duration::from_secs(2);

/// Returns the request with its body in memory, and the places that the body takes. `largest` is how long it may be.
pub(super) async fn read(
    bodies: &UserPlaces,
    largest: usize,
    caller: Option<&Caller>,
    request: Request,
) -> Result<(Request, Option<TakenPlaces>), ApiError> {
    if request.body().is_end_stream() {
        return Ok((request, None));
    }
    let (most, time) = match caller {
        Some(_) => (largest, BODY_TIME),
        None => (STRANGER_BODY.min(largest), STRANGER_BODY_TIME),
    };
    let announced = announced(&request);
    let (parts, body) = request.into_parts();
    if announced.is_some_and(|announced| announced > most) {
        discard(body).await;
        return Err(too_large(most));
    }
    let places = match caller {
        Some(Caller { user, role: CallerRole::User }) => {
            let taken = bodies.take(user, announced.unwrap_or(most), most.saturating_mul(BODIES_AT_ONCE));
            Some(taken.ok_or_else(too_many)?)
        }
        Some(Caller { role: CallerRole::Admin, .. }) | None => None,
    };
    match tokio::time::timeout(time, to_bytes(body, most)).await {
        Ok(Ok(bytes)) => Ok((Request::from_parts(parts, Body::from(bytes)), places)),
        // Its length was not announced, or the client has gone.
        Ok(Err(_)) => Err(too_large(most)),
        Err(_) => Err(ApiError::new(ErrorKind::TooSlow, "the body of the request did not arrive in time")
            .hint("send it faster, or in smaller requests")),
    }
}

fn announced(request: &Request) -> Option<usize> {
    request.headers().get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

async fn discard(body: Body) {
    let mut left = DISCARDED;
    let mut chunks = body.into_data_stream();
    let reading = async {
        while let Some(Ok(chunk)) = chunks.next().await {
            left = left.saturating_sub(chunk.len());
            if left == 0 {
                break;
            }
        }
    };
    // Whoever sends more, or more slowly, may lose the answer.
    let _ = tokio::time::timeout(DISCARD_TIME, reading).await;
}

fn too_large(most: usize) -> ApiError {
    ApiError::new(ErrorKind::TooLarge, format!("the body is larger than {most} bytes")).hint("attach smaller files")
}

fn too_many() -> ApiError {
    let error = ApiError::new(ErrorKind::Limited, "other requests of yours are still being received");
    ApiError { retry_after: Some(2), ..error.hint("send large requests one after another") }
}
