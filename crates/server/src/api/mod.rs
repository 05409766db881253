//! The requests of the HTTP API, a file for each group.

pub(crate) mod attachments;
pub(crate) mod changes;
pub(crate) mod controls;
pub(crate) mod demo;
pub(crate) mod entry;
pub(crate) mod file_diffs;
pub(crate) mod health;
pub(crate) mod login;
pub(crate) mod me;
pub(crate) mod messages;
pub(crate) mod metrics;
pub(crate) mod record_number;
pub(crate) mod records;
pub(crate) mod rules;
pub(crate) mod sessions;
pub(crate) mod settings;
pub(crate) mod transfer;
pub(crate) mod usage;

use axum::extract::rejection::JsonRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::error::{ApiError, ErrorKind};

/// The body of a request, as JSON. What does not fit is answered as every other error.
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let axum::Json(text) = match axum::Json::<Box<RawValue>>::from_request(request, state).await {
            Ok(body) => body,
            Err(rejected) => return Err(refused(&rejected)),
        };
        let unfit = |message: String| ApiError::bad_request(message).hint("GET /api/openapi.json says what fits");
        // A list would be read as an object's fields in their order.
        if !text.get().starts_with('{') {
            return Err(unfit("the body is no JSON object".to_owned()));
        }
        serde_json::from_str(text.get()).map(Self).map_err(|error| unfit(error.to_string()))
    }
}

fn refused(rejected: &JsonRejection) -> ApiError {
    if rejected.status() == StatusCode::PAYLOAD_TOO_LARGE {
        return ApiError::new(ErrorKind::TooLarge, "the body is too large").hint("attach smaller files");
    }
    ApiError::bad_request(rejected.body_text()).hint("send JSON, with `Content-Type: application/json`")
}

/// What the address names. A name that can't be one is not found.
pub(crate) struct Named<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Named<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match Path::from_request_parts(parts, state).await {
            Ok(Path(named)) => Ok(Self(named)),
            Err(_) => Err(ApiError::new(ErrorKind::NotFound, "there is nothing at this address")),
        }
    }
}

/// What stands behind the `?` of the address.
pub(crate) struct Asked<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Asked<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match Query::from_request_parts(parts, state).await {
            Ok(Query(asked)) => Ok(Self(asked)),
            Err(rejected) => Err(ApiError::bad_request(rejected.body_text())),
        }
    }
}
