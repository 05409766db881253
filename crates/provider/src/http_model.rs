//! A model behind an HTTP server, of any wire.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use windlass_vocab::{Failure, Reply};

use crate::answer_timeouts::AnswerTimeouts;
use crate::config::ModelConfig;
use crate::future::BoxFuture;
use crate::http::HttpClient;
use crate::model::{Delivery, Model, ModelRequest};
use crate::output_tool::{self, AskedOutput};
use crate::piece::Sink;
use crate::prefill::PrefillSpeed;
use crate::route::Route;
use crate::segments::Segments;
use crate::server::client::{ModelConfigError, ServerClient};
use crate::wires::wire;

/// A model behind an HTTP server.
#[derive(Debug)]
pub struct HttpModel {
    config: ModelConfig,
    route: Arc<Route>,
}

impl HttpModel {
    /// Returns a model configured by `config` that uses `http`.
    pub fn new(config: ModelConfig, http: &HttpClient) -> Result<Self, ModelConfigError> {
        let wire = wire(config.wire);
        let client = ServerClient::open(&config, wire.access, http)?;
        let path = client.path_to(wire.path)?;
        let ServerClient { sender, headers, endpoint, .. } = client;
        let prefill = endpoint.is_on_this_machine().then(PrefillSpeed::default);
        let (endpoint, limits) = (Arc::new(endpoint), config.limits);
        let summary_refused = AtomicBool::new(false);
        let route = Route { sender, path, headers, endpoint, limits, summary_refused, prefill };
        Ok(Self { config, route: Arc::new(route) })
    }
}

impl Model for HttpModel {
    fn attempt(
        &self,
        request: &ModelRequest<'_>,
        segments: &mut Segments,
        sink: Sink,
    ) -> BoxFuture<'static, Result<Reply, Failure>> {
        let wire = wire(self.config.wire);
        let body = (wire.encode)(&self.config, request, segments);
        let (first_ms, next_ms) = match request.delivery {
            Delivery::Streamed => (request.idle.first_ms, request.idle.next_ms),
            Delivery::Whole => (self.config.whole_wait_ms, self.config.whole_wait_ms),
        };
        let patience = AnswerTimeouts::of(&self.config, first_ms, next_ms);
        let asked = AskedOutput::of(&self.config, request, wire.writes_schema);
        let Some(tool) = asked.tool().map(|tool| tool.name.to_string()) else {
            return (wire.attempt)(Arc::clone(&self.route), body, patience, sink);
        };
        let sink = output_tool::as_text(tool.clone(), sink);
        let reply = (wire.attempt)(Arc::clone(&self.route), body, patience, sink);
        Box::pin(async move { Ok(output_tool::reply_as_text(reply.await?, &tool)) })
    }

    fn sees_images(&self) -> bool {
        self.config.sees_images()
    }
}
