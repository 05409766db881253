//! Requests without a server: what a model is sent of a simulated run, encoded for each wire.

use anyhow::{Result, anyhow};
use windlass_provider::{Delivery, ModelConfig, ModelRequest, RequestBody, Segments, chat, messages, responses};
use windlass_vocab::{
    Failure, MaxTokens, Message, ModelName, OutputForm, PinnedContext, Reasoning, StreamIdle, TurnMode,
};

use crate::conversation::context;

type Encode = fn(&ModelConfig, &ModelRequest<'_>, &mut Segments) -> Result<RequestBody, Failure>;

/// A wire: its name, its encoder, and a model that speaks it.
#[derive(Debug)]
pub struct BenchWire {
    /// The name for the table.
    pub name: &'static str,
    encode: Encode,
    config: ModelConfig,
}

/// Every wire.
#[must_use]
pub fn wires() -> [BenchWire; 3] {
    let url = "http://localhost:8080/v1";
    [
        BenchWire { name: "Chat Completions", encode: chat::encode, config: ModelConfig::chat(url, "scripted") },
        BenchWire { name: "Messages", encode: messages::encode, config: ModelConfig::messages(url, "scripted") },
        BenchWire { name: "Responses", encode: responses::encode, config: ModelConfig::responses(url, "scripted") },
    ]
}

/// One model's encoded history.
#[derive(Debug)]
pub struct Sending {
    wire: BenchWire,
    context: PinnedContext,
    segments: Segments,
}

impl Sending {
    /// Nothing has been sent yet.
    #[must_use]
    pub fn over(wire: BenchWire) -> Self {
        Self { wire, context: context(), segments: Segments::default() }
    }

    /// Encodes the next request. Messages that were sent before are not written again, unless the epoch is another.
    pub fn encode(&mut self, history: &[Message], epoch: u64) -> Result<RequestBody> {
        let name = ModelName::default();
        let request = ModelRequest {
            model: &name,
            context: &self.context,
            history,
            cache_key: "",
            epoch,
            tail: "",
            mode: TurnMode::Tools,
            delivery: Delivery::Streamed,
            temperature_milli: None,
            max_tokens: MaxTokens::ModelOwn,
            reasoning: Reasoning::ModelOwn,
            idle: StreamIdle { first_ms: 1_000, next_ms: 1_000 },
            output: None,
            output_form: OutputForm::Schema,
            stop: &[],
        };
        let body = (self.wire.encode)(&self.wire.config, &request, &mut self.segments);
        body.map_err(|failure| anyhow!("a request can't be written: {}", failure.message))
    }
}
