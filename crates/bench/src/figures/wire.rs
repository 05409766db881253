//! How long an OpenAI client waits for an answer of the server, compared with asking the model's server itself: each request
//! is a session of its own, with its journal.

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use windlass_provider::Delivery;

use super::setup::Setup;
use crate::floor::plain_client;
use crate::pace::{FloorComparison, compare};
use crate::served::ServedWindlass;
use crate::server::{BenchServer, BenchTool, ModelBehaviour};
use crate::table::Measurement;

/// Requests of a round, one after the other.
const REQUESTS: usize = 20;
const TEXT_BYTES: usize = 2_000;
const LIMIT: f64 = 2.0;

pub(super) fn measure(setup: &Setup) -> Result<Vec<Measurement>> {
    tokio::runtime::Runtime::new()?.block_on(async {
        let whole = compared(setup, Delivery::Whole).await?;
        let streamed = compared(setup, Delivery::Streamed).await?;
        let figure = |how: &str| format!("{REQUESTS} requests to the OpenAI wire, {how}, against the model's server");
        Ok(vec![
            Measurement::compared(&figure("whole answers"), LIMIT, &whole),
            Measurement::compared(&figure("streamed answers"), LIMIT, &streamed),
        ])
    })
}

async fn compared(setup: &Setup, delivery: Delivery) -> Result<FloorComparison> {
    let behaviour = ModelBehaviour { turns: 1, text_bytes: TEXT_BYTES, latency_ms: 0, tool: BenchTool::ReadFile };
    let model = BenchServer::start(&setup.programs, behaviour)?;
    let dir = tempfile::tempdir_in(&setup.programs.folder)?;
    let server = ServedWindlass::start(&setup.programs, model.base_url(), dir.path())?;
    let floor = WireClient::new(model.base_url(), "none", "scripted", delivery)?;
    let ours = WireClient::new(&server.openai_url(), server.token(), "windlass", delivery)?;
    compare(setup.rounds(25), async |_| floor.requests().await, async |_| ours.requests().await).await
}

/// A client that sends the same request again and again.
struct WireClient {
    client: reqwest::Client,
    url: String,
    key: String,
    body: Value,
}

impl WireClient {
    fn new(base_url: &str, key: &str, model: &str, delivery: Delivery) -> Result<Self> {
        let stream = delivery == Delivery::Streamed;
        let messages = json!([{ "role": "user", "content": "Haul." }]);
        Ok(Self {
            client: plain_client()?,
            url: format!("{base_url}/chat/completions"),
            key: key.to_owned(),
            body: json!({ "model": model, "stream": stream, "messages": messages }),
        })
    }

    async fn requests(&self) -> Result<()> {
        for _ in 0..REQUESTS {
            let request = self.client.post(&self.url).bearer_auth(&self.key);
            let answer = request.header("content-type", "application/json").body(self.body.to_string()).send().await?;
            let (status, text) = (answer.status(), answer.text().await?);
            ensure!(status.is_success() && text.len() > TEXT_BYTES, "{}: {status} {text}", self.url);
        }
        Ok(())
    }
}
