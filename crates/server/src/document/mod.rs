//! The OpenAPI document (W3): what the server takes and answers, made from the routes themselves.
//!
//! The protocol: a handler carries `#[utoipa::path]` with its method, its address, its parameters and its *own* answers, and
//! `serving::routes` takes it with `routes!`, which makes the route and its entry in the document at once: there is no other
//! way to add a route. What every request of a kind may be answered with follows from the entry and is added here
//! ([`answers`]): a request with a token can lack it, an address with an id can name nothing, a body can be too large. A
//! handler that answers something else says so: `responses(..., Conflict)`.

pub(crate) mod answers;
pub(crate) mod openai_shapes;
mod served;
pub(crate) mod shapes;

use utoipa::openapi::path::{Operation, ParameterIn};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    Components, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, PathItem, SecurityRequirement,
};

use self::answers::ErrorShape;
pub(crate) use self::served::{__path_docs, __path_openapi, ServedDocument, docs, openapi};
use crate::error::ErrorKind;

/// The names of the two ways to bring a token.
const BEARER: &str = "bearer";
const PAGE_COOKIE: &str = "cookie";

/// The group of requests whose errors have OpenAI's shape.
pub(crate) const OPENAI_TAG: &str = "openai";

/// The groups of requests, with what they are for.
const TAGS: &[(&str, &str)] = &[
    ("sessions", "Conversations: made, listed, changed, deleted, exported and imported."),
    ("conversation", "Messages and what follows from them: events, questions, stopping, retrying, forking, undoing."),
    ("server", "Who the caller is, what the server works with, and what it used."),
    ("operation", "For supervisors and clients: whether the server lives, and this document."),
    ("page", "The page and its files."),
    (OPENAI_TAG, "Agents for OpenAI's clients, as OpenAI describes these requests: docs/openai.md."),
];

/// Returns the document without any route.
pub(crate) fn frame() -> OpenApi {
    let info = InfoBuilder::new()
        .title("Windlass")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(
            "Sessions with an agent over HTTP. A message is answered with 202 once it is stored; everything after that is read \
             from the session's events. Requests need the token that `windlass serve` printed, in `Authorization: Bearer` or in \
             the page's cookie.",
        ))
        .license(Some(LicenseBuilder::new().name("MIT OR Apache-2.0").identifier(Some("MIT OR Apache-2.0")).build()))
        .build();
    let mut components = Components::new();
    components.add_security_scheme(
        BEARER,
        SecurityScheme::Http(
            HttpBuilder::new()
                .scheme(HttpAuthScheme::Bearer)
                .description(Some(
                    "The token in the address that `windlass serve` prints, or one that the operator chose.",
                ))
                .build(),
        ),
    );
    components.add_security_scheme(
        PAGE_COOKIE,
        SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::with_description(
            "windlass_session_PORT",
            "The same token, as the page keeps it after `POST /api/login`; PORT is that of the server.",
        ))),
    );
    let tags = TAGS.iter().map(|(name, what)| TagBuilder::new().name(*name).description(Some(*what)).build());
    let either = [BEARER, PAGE_COOKIE].map(|scheme| SecurityRequirement::new(scheme, Vec::<String>::new()));
    OpenApiBuilder::new()
        .info(info)
        .components(Some(components))
        .tags(Some(tags.collect::<Vec<_>>()))
        .security(Some(either))
        .build()
}

/// Completes the document of all routes: adds the answers that follow from what a request is.
pub(crate) fn complete(mut document: OpenApi) -> OpenApi {
    answers::add_components(document.components.get_or_insert_default());
    let paths = std::mem::take(&mut document.paths.paths);
    // A name that may hold several parts of the address is marked in the router only.
    document.paths.paths = paths.into_iter().map(|(path, item)| (path.replace("{*", "{"), item)).collect();
    for item in document.paths.paths.values_mut() {
        for operation in operations(item) {
            let is_openai = operation.tags.iter().flatten().any(|tag| tag == OPENAI_TAG);
            let shape = if is_openai { ErrorShape::OpenAi } else { ErrorShape::Own };
            for kinds in common_answers(operation) {
                answers::add(operation, kinds, shape);
            }
        }
    }
    document
}

/// Returns the kinds of errors that follow from what the request is; of each, one that stands for its status.
fn common_answers(operation: &Operation) -> Vec<ErrorKind> {
    // A foreign `Host` or `Origin`, too many requests or wrong tokens, and a fault.
    let mut kinds = vec![ErrorKind::Forbidden, ErrorKind::Limited, ErrorKind::Internal];
    // Routes without a token say so with an empty requirement.
    if operation.security.is_none() {
        kinds.extend([ErrorKind::Unauthorized, ErrorKind::Store]);
    }
    let takes = |place: ParameterIn| {
        operation.parameters.iter().flatten().any(|parameter| match parameter {
            utoipa::openapi::RefOr::T(parameter) => parameter.parameter_in == place,
            utoipa::openapi::RefOr::Ref(_) => false,
        })
    };
    if operation.request_body.is_some() {
        kinds.extend([ErrorKind::BadRequest, ErrorKind::TooLarge, ErrorKind::TooSlow]);
    }
    if takes(ParameterIn::Query) || takes(ParameterIn::Header) {
        kinds.push(ErrorKind::BadRequest);
    }
    if takes(ParameterIn::Path) {
        kinds.push(ErrorKind::NotFound);
    }
    kinds
}

/// Returns the operations of an address.
fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    let PathItem { get, put, post, delete, patch, .. } = item;
    [get, put, post, delete, patch].into_iter().filter_map(Option::as_mut)
}
