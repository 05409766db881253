//! Asks a server what it knows of a model, without a model call: nothing is charged for it (M8).
//!
//! A server of which nothing is known is recognized by its list of models first. Only software that people run themselves
//! is asked further; providers are known by the table of models.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, Uri};
use serde_json::{Value, json};
use tokio::time::timeout;
use windlass_vocab::{Failure, FailureClass, ModelSoftware};

use super::client::ServerClient;
use super::connection_failure::connection_failure;
use super::declared::{DeclaredModel, of_llama_cpp, of_lm_studio, of_ollama, software_of_list};
use super::listing::{ListingError, decode_models, read_answer};
use crate::config::ModelConfig;
use crate::http::{HttpClient, PartedBody, RepeatableRequest};
use crate::server_kind::ServerKind;
use crate::wires::wire;

/// An answer in JSON.
struct ServerAnswer {
    server_header: Option<String>,
    value: Value,
}

/// Asks the server in `config`, which is of this kind as far as that is known, about its model. `limit` applies to all
/// questions together.
///
/// A server that has no such interface (404, 405, 501) says nothing of its model.
///
/// # Errors
/// If the server can't be reached in time, or fails: it may say more the next time.
pub async fn ask_about_model(
    config: &ModelConfig,
    kind: ServerKind,
    http: &HttpClient,
    limit: Duration,
) -> Result<DeclaredModel, ListingError> {
    let row = wire(config.wire);
    let client = ServerClient::open(config, row.access, http)?;
    let questions = ServerQuestions { client: &client, list: client.path_to(row.models_path)?, model: &config.model };
    match timeout(limit, questions.ask(kind)).await {
        Ok(Err(failure)) if is_unknown_path(&failure) => Ok(DeclaredModel::nothing(kind.software())),
        Ok(declared) => Ok(declared?),
        Err(_) => {
            let said = format!("did not say within {} s what its model can do.", limit.as_secs_f64());
            Err(client.endpoint.failure(FailureClass::Transient, &said).into())
        }
    }
}

/// Whether the server has nothing at the path it was asked at.
fn is_unknown_path(failure: &Failure) -> bool {
    matches!(failure.status, Some(404 | 405 | 501))
}

/// Whether a server that lists its models will not answer this question a minute later either.
fn is_closed_to_us(failure: &Failure) -> bool {
    let passes = matches!(failure.status, Some(408 | 425 | 429));
    let is_refused = failure.status.is_some_and(|status| (400..500).contains(&status)) && !passes;
    is_refused || is_unknown_path(failure) || failure.class == FailureClass::Protocol
}

struct ServerQuestions<'a> {
    client: &'a ServerClient,
    /// Where the list of models is.
    list: Uri,
    model: &'a str,
}

impl ServerQuestions<'_> {
    async fn ask(&self, kind: ServerKind) -> Result<DeclaredModel, Failure> {
        match kind.software() {
            Some(ModelSoftware::Vllm) => self.listed().await,
            Some(software) => self.software(software).await,
            None if kind.can_be_asked() => self.listed().await,
            None => Ok(DeclaredModel::nothing(None)),
        }
    }

    /// Looks at the list of models: some servers name windows there, and all say who they are.
    async fn listed(&self) -> Result<DeclaredModel, Failure> {
        let answer = self.get(self.list.clone()).await?;
        let software = software_of_list(answer.server_header.as_deref(), &answer.value);
        let body = serde_json::to_vec(&answer.value).unwrap_or_default();
        let listed = decode_models(&body).unwrap_or_default().into_iter().find(|listed| listed.id == self.model);
        let window = listed.and_then(|listed| listed.window);
        let known = match software {
            Some(asked) => match self.software(asked).await {
                Err(failure) if !is_closed_to_us(&failure) => return Err(failure),
                answer => answer.unwrap_or(DeclaredModel::nothing(software)),
            },
            None => DeclaredModel::nothing(None),
        };
        Ok(DeclaredModel { window: known.window.or(window), ..known })
    }

    /// Asks software by its own interface.
    async fn software(&self, software: ModelSoftware) -> Result<DeclaredModel, Failure> {
        match software {
            ModelSoftware::Ollama => self.ollama().await,
            ModelSoftware::LlamaCpp => self.llama_cpp().await,
            ModelSoftware::LmStudio => self.lm_studio().await,
            // Its list has said all.
            ModelSoftware::Vllm => Ok(DeclaredModel::nothing(Some(software))),
        }
    }

    async fn llama_cpp(&self) -> Result<DeclaredModel, Failure> {
        Ok(of_llama_cpp(&self.get(self.root("props")?).await?.value))
    }

    async fn ollama(&self) -> Result<DeclaredModel, Failure> {
        let body = json!({ "model": self.model }).to_string();
        let show = self.send(&Method::POST, self.root("api/show")?, body).await?.value;
        let running = self.get(self.root("api/ps")?).await.ok();
        Ok(of_ollama(self.model, &show, running.as_ref().map(|answer| &answer.value)))
    }

    async fn lm_studio(&self) -> Result<DeclaredModel, Failure> {
        let list = self.get(self.root("api/v0/models")?).await?.value;
        Ok(of_lm_studio(self.model, &list).unwrap_or(DeclaredModel::nothing(Some(ModelSoftware::LmStudio))))
    }

    fn root(&self, end: &str) -> Result<Uri, Failure> {
        let wrong = || self.client.endpoint.failure(FailureClass::BadRequest, "has an address that can't be used.");
        self.client.root_path_to(end).ok_or_else(wrong)
    }

    async fn get(&self, path: Uri) -> Result<ServerAnswer, Failure> {
        self.send(&Method::GET, path, String::new()).await
    }

    async fn send(&self, method: &Method, path: Uri, body: String) -> Result<ServerAnswer, Failure> {
        let endpoint = &self.client.endpoint;
        let body = if body.is_empty() { PartedBody::default() } else { PartedBody::new(vec![Bytes::from(body)]) };
        let asked = RepeatableRequest { method, path: &path, headers: &self.client.headers, body: &body };
        let mut response =
            self.client.sender.send(&asked).await.map_err(|error| connection_failure(endpoint, &error))?;
        let bytes = read_answer(self.client, &mut response).await?;
        let (status, server_header) = (response.status(), response.header("server").map(str::to_owned));
        if !status.is_success() {
            let said = format!("does not say what its model can do ({}).", status.as_u16());
            return Err(Failure { status: Some(status.as_u16()), ..endpoint.failure(FailureClass::BadRequest, &said) });
        }
        let value = serde_json::from_slice(&bytes)
            .map_err(|_| endpoint.failure(FailureClass::Protocol, "answered with something that is no JSON."))?;
        Ok(ServerAnswer { server_header, value })
    }
}
