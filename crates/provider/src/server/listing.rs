//! Lists a server's models, with the one request that every server answers without charging for
//! it. Some also report a model's context window, each under another name.

use std::time::Duration;

use http::{Method, Uri};
use serde_json::Value;
use tokio::time::timeout;
use windlass_vocab::{Failure, FailureClass};

use super::classify::{Rejection, WEB_PAGE, classify, looks_like_a_web_page};
use super::client::{ModelConfigError, ServerClient};
use super::connection_failure::connection_failure;
use super::retry_after::RetryHeaders;
use crate::config::ModelConfig;
use crate::connection::PendingResponse;
use crate::http::{HttpClient, PartedBody, RepeatableRequest};
use crate::wires::wire;

/// No server's list is this long; something else may send without end.
const LONGEST: usize = 4 << 20;

/// Where servers report the context window; the effective one before the one from training.
const WINDOWS: &[&str] = &[
    "/meta/n_ctx",
    "/max_model_len",
    "/loaded_context_length",
    "/context_length",
    "/context_window",
    "/max_context_length",
    "/max_input_tokens",
    "/meta/n_ctx_train",
];

/// A model in a server's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedModel {
    /// Its id on the wire.
    pub id: String,
    /// The context window in tokens, if the server reports it.
    pub window: Option<u64>,
}

/// Lists the models of the server in `config`, in its order. `limit` applies to the whole answer.
pub async fn list_models(
    config: &ModelConfig,
    http: &HttpClient,
    limit: Duration,
) -> Result<Vec<ListedModel>, ListingError> {
    let wire = wire(config.wire);
    let client = ServerClient::open(config, wire.access, http)?;
    let path = client.path_to(wire.models_path)?;
    match timeout(limit, ask(&client, path)).await {
        Ok(answer) => Ok(answer?),
        Err(_) => {
            let said = format!("did not say within {} s which models it has.", limit.as_secs_f64());
            Err(client.endpoint.failure(FailureClass::Transient, &said).into())
        }
    }
}

/// Why a server's models are not known.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ListingError {
    /// The configuration can't be used.
    #[error(transparent)]
    Config(#[from] ModelConfigError),
    /// The request failed.
    #[error(transparent)]
    Failed(#[from] Failure),
}

async fn ask(client: &ServerClient, path: Uri) -> Result<Vec<ListedModel>, Failure> {
    let body = PartedBody::default();
    let asked = RepeatableRequest { method: &Method::GET, path: &path, headers: &client.headers, body: &body };
    let mut response =
        client.sender.send(&asked).await.map_err(|error| connection_failure(&client.endpoint, &error))?;
    let body = read_answer(client, &mut response).await?;
    if response.status().as_u16() == 404 {
        return Err(Failure { status: Some(404), ..client.endpoint.wrong_address(FailureClass::BadRequest, NO_LIST) });
    }
    if !response.status().is_success() {
        let (status, retry, location) =
            (response.status().as_u16(), RetryHeaders::default(), response.header("location"));
        return Err(classify(&client.endpoint, &Rejection { status, retry, location, body: &body }));
    }
    decode_models(&body).ok_or_else(|| {
        let said = if looks_like_a_web_page(&body) { format!("{WEB_PAGE}.") } else { NOT_A_LIST.to_owned() };
        client.endpoint.wrong_address(FailureClass::Protocol, &said)
    })
}

const NO_LIST: &str = "has no list of models there (404).";
const NOT_A_LIST: &str = "answered with something that is no list of models.";

/// Reads an answer that is no model's, up to a limit.
pub(super) async fn read_answer(client: &ServerClient, response: &mut PendingResponse) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    while let Some(bytes) = response.chunk().await.map_err(|error| connection_failure(&client.endpoint, &error))? {
        body.extend_from_slice(&bytes);
        if body.len() > LONGEST {
            let said = "sent an answer that does not end.";
            return Err(client.endpoint.wrong_address(FailureClass::Protocol, said));
        }
    }
    Ok(body)
}

/// Parses the models in an answer's body; `None` if it is not a list. Ollama without a model returns `null`.
#[must_use]
pub fn decode_models(body: &[u8]) -> Option<Vec<ListedModel>> {
    let list: Value = serde_json::from_slice(body).ok()?;
    match &list["data"] {
        Value::Array(models) => Some(models.iter().filter_map(listed).collect()),
        Value::Null if list["object"] == "list" => Some(Vec::new()),
        _ => None,
    }
}

fn listed(entry: &Value) -> Option<ListedModel> {
    let id = entry.get("id")?.as_str().filter(|id| !id.trim().is_empty() && !id.chars().any(char::is_control))?;
    let window = WINDOWS.iter().find_map(|place| entry.pointer(place)?.as_u64()).filter(|tokens| *tokens > 0);
    Some(ListedModel { id: id.to_owned(), window })
}

#[cfg(test)]
mod tests {
    use super::{ListedModel, decode_models};

    fn decoded(body: &str) -> Option<Vec<(String, Option<u64>)>> {
        let pair = |model: ListedModel| (model.id, model.window);
        Some(decode_models(body.as_bytes())?.into_iter().map(pair).collect())
    }

    // proves M1: every server's list is understood, with the context window where it is reported
    #[test]
    fn the_lists_of_the_usual_servers_are_understood() {
        for (body, id, window) in [
            (r#"{"object":"list","data":[{"id":"gpt-x","object":"model"}]}"#, "gpt-x", None),
            (r#"{"object":"list","data":[{"id":"qwen3:8b","owned_by":"library"}]}"#, "qwen3:8b", None),
            (r#"{"models":[],"data":[{"id":"m.gguf","meta":{"n_ctx_train":4096}}]}"#, "m.gguf", Some(4096)),
            (r#"{"data":[{"id":"m","meta":{"n_ctx_train":9,"n_ctx":8}}]}"#, "m", Some(8)),
            (r#"{"data":[{"id":"vllm","max_model_len":32768}]}"#, "vllm", Some(32768)),
            (r#"{"data":[{"id":"router","context_length":200000}]}"#, "router", Some(200_000)),
        ] {
            assert_eq!(decoded(body), Some(vec![(id.to_owned(), window)]), "{body}");
        }
    }

    #[test]
    fn a_server_without_models_has_an_empty_list() {
        for body in [r#"{"object":"list","data":null}"#, r#"{"object":"list","data":[]}"#] {
            assert_eq!(decoded(body), Some(vec![]), "{body}");
        }
    }

    #[test]
    fn what_is_no_list_is_not_taken_for_one() {
        for body in ["", "<html></html>", "[]", "{}", r#"{"data":"x"}"#, r#"{"message":"hello"}"#] {
            assert_eq!(decoded(body), None, "{body}");
        }
        assert_eq!(decoded("{\"data\":[{\"id\":\"\"},{\"id\":3},{\"x\":1},{\"id\":\"a\\u001b\"}]}"), Some(vec![]));
    }
}
