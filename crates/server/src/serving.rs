//! The routes.

use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::{Extension, Router, middleware};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::check;
use crate::api::{
    changes, controls, demo, entry, file_diffs, health, login, me, messages, metrics, records, rules, sessions,
    settings, transfer, usage,
};
use crate::document::ServedDocument;
use crate::error::{ApiError, ErrorKind};
use crate::metrics::watch_requests;
use crate::state::HttpServer;
use crate::{document, events, openai, page};

/// Returns every route with its entry in the OpenAPI document: a route is added here, and in no other way.
fn routes() -> OpenApiRouter<Arc<HttpServer>> {
    OpenApiRouter::with_openapi(document::frame())
        .routes(routes!(page::index))
        .routes(routes!(page::asset))
        .routes(routes!(document::openapi))
        .routes(routes!(document::docs))
        .routes(routes!(health::health))
        .routes(routes!(health::ready))
        .routes(routes!(metrics::metrics))
        .routes(routes!(login::login))
        .routes(routes!(entry::issue))
        .routes(routes!(entry::issue_token))
        .routes(routes!(me::me))
        .routes(routes!(usage::usage))
        .routes(routes!(settings::models))
        .routes(routes!(settings::servers))
        .routes(routes!(settings::retry_server))
        .routes(routes!(settings::settings))
        .routes(routes!(rules::list))
        .routes(routes!(rules::forget))
        .routes(routes!(sessions::list, sessions::create))
        .routes(routes!(demo::play))
        .routes(routes!(transfer::import))
        .routes(routes!(sessions::get, sessions::change, sessions::remove))
        .routes(routes!(records::records))
        .routes(routes!(file_diffs::diffs))
        .routes(routes!(events::events))
        .routes(routes!(messages::send))
        .routes(routes!(controls::stop))
        .routes(routes!(controls::answer))
        .routes(routes!(changes::retry))
        .routes(routes!(changes::fork))
        .routes(routes!(changes::undo))
        .routes(routes!(changes::compact))
        .routes(routes!(transfer::export))
        .merge(openai::routes())
}

/// Returns the whole service.
pub fn app(state: Arc<HttpServer>) -> Router {
    let (router, entries) = routes().split_for_parts();
    router
        .layer(Extension(ServedDocument::of(entries)))
        .fallback(async || {
            ApiError::new(ErrorKind::NotFound, "there is nothing at this address")
                .hint("GET /api/openapi.json lists what is")
        })
        .method_not_allowed_fallback(async || {
            ApiError::new(ErrorKind::MethodNotAllowed, "this address does not take that method")
                .hint("GET /api/openapi.json lists the methods")
        })
        // `check` has read the body, up to its limit.
        .layer(DefaultBodyLimit::disable())
        .layer(middleware::from_fn_with_state(Arc::clone(&state), check))
        .layer(middleware::from_fn_with_state(state.metrics.clone(), watch_requests))
        // Outside of all that refuses requests.
        .layer(middleware::from_fn(openai::reshape))
        .with_state(state)
}
#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use serde_json::Value;

    use super::routes;
    use crate::document::complete;

    fn document() -> Value {
        serde_json::to_value(complete(routes().into_openapi())).unwrap()
    }

    fn operations(document: &Value) -> Vec<(String, &Value)> {
        let paths = document["paths"].as_object().unwrap();
        let of_path = |(path, item): (&String, &Value)| {
            let methods: Vec<String> =
                item.as_object().unwrap().keys().map(|method| format!("{method} {path}")).collect();
            methods
        };
        let names = paths.iter().flat_map(of_path);
        names
            .map(|name| {
                let (method, path) = name.split_once(' ').unwrap();
                let operation = &paths[path][method];
                (name, operation)
            })
            .collect()
    }

    // proves W3: a program that reads only the document knows every request
    #[test]
    fn every_request_says_what_it_takes_and_what_it_is_answered_with() {
        let document = document();
        assert_eq!(document["openapi"], "3.1.0");
        let mut ids = BTreeSet::new();
        for (name, operation) in operations(&document) {
            assert!(operation["summary"].as_str().is_some_and(|text| !text.is_empty()), "{name}");
            assert!(ids.insert(operation["operationId"].as_str().unwrap()), "{name}: two requests have its id");
            let tag = operation["tags"][0].as_str().unwrap();
            assert!(document["tags"].as_array().unwrap().iter().any(|known| known["name"] == tag), "{name}: {tag}");
            let answers = operation["responses"].as_object().unwrap();
            assert!(answers.keys().any(|status| status.starts_with('2')), "{name}");
            assert!(answers.contains_key("403") && answers.contains_key("500"), "{name}");
            let needs_token = operation["security"].is_null();
            assert!(!needs_token || answers.contains_key("401"), "{name}");
            let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
            let named = |name: &str| parameters.iter().any(|known| known["in"] == "path" && known["name"] == name);
            for part in name.split('/').filter_map(|part| part.strip_prefix('{')) {
                assert!(named(part.trim_end_matches('}')), "{name}: {part}");
            }
        }
    }

    // proves W3: nothing in the document leads nowhere
    #[test]
    fn every_reference_in_the_document_is_there() {
        let document = document();
        let text = document.to_string();
        for reference in text.split("\"$ref\":\"").skip(1) {
            let reference = reference.split('"').next().unwrap();
            assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
        }
    }

    // proves W3: a route can't be added without its entry
    #[test]
    fn routes_are_made_by_the_one_macro_that_documents_them() {
        let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let text = fs::read_to_string(&path).unwrap();
                for bare in
                    ["route", "route_service", "nest_service", "fallback_service"].map(|name| format!(".{name}("))
                {
                    assert!(!text.contains(&bare), "{}: {bare} adds what the document lacks", path.display());
                }
            }
        }
    }
}
