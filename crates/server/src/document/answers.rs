//! The errors of the document: one response for each status, which names the kinds that come with it.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use utoipa::IntoResponses;
use utoipa::openapi::path::Operation;
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{Components, ContentBuilder, Ref, RefOr, Response, ResponseBuilder, Schema};

use crate::error::ErrorKind;

/// Names the answers that routes state themselves in `responses(...)`, each with a kind that stands for its status.
macro_rules! stated_answers {
    ($($(#[$doc:meta])* $name:ident = $kind:expr;)*) => {$(
        $(#[$doc])*
        pub(crate) struct $name;

        impl IntoResponses for $name {
            fn responses() -> BTreeMap<String, RefOr<Response>> {
                let status = $kind.status();
                BTreeMap::from([(status.as_str().to_owned(), RefOr::Ref(reference(status)))])
            }
        }
    )*};
}

stated_answers! {
    /// The request does not fit the session as it is now.
    Conflict = ErrorKind::Busy;
    /// The server takes no work, said by a route that needs no token.
    Unavailable = ErrorKind::Store;
    /// The token is wrong, said by a route that needs none otherwise.
    WrongToken = ErrorKind::Unauthorized;
}

/// The errors of a request that makes a run on the OpenAI wire.
pub(crate) struct RunErrors;

impl IntoResponses for RunErrors {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let kinds = [ErrorKind::NotFound, ErrorKind::Busy, ErrorKind::NoModel].map(ErrorKind::status);
        let statuses = kinds.into_iter().chain([StatusCode::BAD_GATEWAY]);
        statuses.map(|status| (status.as_str().to_owned(), RefOr::Ref(openai_reference()))).collect()
    }
}

/// The shape of an operation's errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ErrorShape {
    Own,
    OpenAi,
}

/// Adds the status of this kind to the answers of an operation, if it does not describe that status itself.
pub(super) fn add(operation: &mut Operation, kind: ErrorKind, shape: ErrorShape) {
    let status = kind.status();
    let answers = &mut operation.responses.responses;
    let answer = || match shape {
        ErrorShape::Own => reference(status),
        ErrorShape::OpenAi => openai_reference(),
    };
    answers.entry(status.as_str().to_owned()).or_insert_with(|| RefOr::Ref(answer()));
}

/// The name of the one error of the OpenAI wire.
const OPENAI_ERROR: &str = "OpenAiError";

fn openai_reference() -> Ref {
    Ref::from_response_name(OPENAI_ERROR)
}

fn openai_schema() -> Schema {
    let text = |description: &str| ObjectBuilder::new().schema_type(Type::String).description(Some(description));
    let error = ObjectBuilder::new()
        .property("message", text("What is wrong, and what to do."))
        .required("message")
        .property("type", text("What kind of error it is."))
        .required("type")
        .property("param", ObjectBuilder::new().schema_type(SchemaType::AnyValue))
        .property("code", ObjectBuilder::new().schema_type(SchemaType::AnyValue));
    ObjectBuilder::new().property("error", error).required("error").into()
}

fn name(status: StatusCode) -> String {
    format!("Error{}", status.as_u16())
}

fn reference(status: StatusCode) -> Ref {
    Ref::from_response_name(name(status))
}

/// Adds the response of each status of an error.
pub(super) fn add_components(components: &mut Components) {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(OPENAI_ERROR))).build();
    let response_of_openai = ResponseBuilder::new().description("An error in OpenAI's shape.");
    let response_of_openai = response_of_openai.content("application/json", content).build();
    components.schemas.insert(OPENAI_ERROR.to_owned(), RefOr::T(openai_schema()));
    components.responses.insert(OPENAI_ERROR.to_owned(), RefOr::T(response_of_openai));
    let mut statuses: BTreeMap<u16, Vec<ErrorKind>> = BTreeMap::new();
    for kind in ErrorKind::ALL {
        statuses.entry(kind.status().as_u16()).or_default().push(*kind);
    }
    for (status, kinds) in statuses {
        let Ok(status) = StatusCode::from_u16(status) else { continue };
        components.schemas.insert(name(status), RefOr::T(schema(&kinds)));
        components.responses.insert(name(status), RefOr::T(response(status, &kinds)));
    }
}

fn response(status: StatusCode, kinds: &[ErrorKind]) -> Response {
    let meanings: Vec<String> = kinds.iter().map(|kind| format!("`{}`: {}", kind.as_str(), kind.meaning())).collect();
    let content = ContentBuilder::new()
        .schema(Some(Ref::from_schema_name(name(status))))
        .example(kinds.first().map(|kind| example(*kind)))
        .build();
    ResponseBuilder::new().description(meanings.join(" ")).content("application/json", content).build()
}

fn example(kind: ErrorKind) -> serde_json::Value {
    serde_json::json!({ "error": { "kind": kind.as_str(), "message": kind.meaning() } })
}

/// Returns the schema of an error with one of these kinds.
fn schema(kinds: &[ErrorKind]) -> Schema {
    let text = |description: &str| ObjectBuilder::new().schema_type(Type::String).description(Some(description));
    let names: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
    let error = ObjectBuilder::new()
        .property("kind", text("For programs.").enum_values(Some(names)))
        .required("kind")
        .property("message", text("What is wrong, for people."))
        .required("message")
        .property("hint", text("What to do about it."))
        .additional_properties(Some(utoipa::openapi::schema::AdditionalProperties::<Schema>::FreeForm(false)));
    ObjectBuilder::new().property("error", error).required("error").into()
}
