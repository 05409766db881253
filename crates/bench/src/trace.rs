//! The external actions of a run in order, its requests and its commits: recorded from a run of
//! Windlass, for the floors to repeat.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use windlass_provider::WireKind;
use windlass_store::Durability;
use windlass_testkit::{ModelServer, RecordedRequest, Script, ScriptedCall, ServerOptions};

use crate::{ours, server};

/// One external action.
#[derive(Clone, Debug)]
pub enum TraceStep {
    /// A batch of this content was committed.
    Commit(Bytes),
    /// A request with this body was made.
    Request(Bytes),
}

/// The external actions of a run, in order.
#[derive(Clone, Debug)]
pub struct Trace(pub Vec<TraceStep>);

/// Runs `turns` turns of Chat Completions with `text_bytes` of text in each, and records the requests and commits.
pub async fn record(turns: usize, text_bytes: usize, folder: &Path) -> Result<Trace> {
    record_over(WireKind::Chat, turns, text_bytes, folder).await
}

/// The same over any wire.
pub async fn record_over(wire: WireKind, turns: usize, text_bytes: usize, folder: &Path) -> Result<Trace> {
    let call = ScriptedCall { name: ours::TOOL.to_owned(), arguments: server::arguments(), id: None };
    let script = Script::turns(turns, text_bytes, &call);
    let server = ModelServer::with(script, &ServerOptions::default())?;
    let dir = tempfile::tempdir_in(folder)?;
    let agent = ours::agent_over(wire, &server.base_url(), dir.path(), Durability::Normal)?;
    ours::run(&agent, "trace").await?;
    let store = agent.hub().store();
    let session = store.find("local", "trace").await?.context("the session that was just run is gone")?;
    let batches = store.batches(session).await?;
    let requests = server.requests();
    ensure!(requests.len() == turns, "{turns} turns made {} requests", requests.len());
    let mut bodies = requests.iter().map(body);
    let mut steps = Vec::with_capacity(batches.len() + turns);
    for batch in batches {
        let asks = memchr::memmem::find(&batch.bytes, br#""kind":"TurnStarted""#).is_some();
        steps.push(TraceStep::Commit(batch.bytes.into()));
        if asks {
            steps.push(TraceStep::Request(bodies.next().context("more turns than requests")??));
        }
    }
    ensure!(bodies.next().is_none(), "more requests than turns");
    Ok(Trace(steps))
}

/// A request's body, of the same length as on the wire. The order of its fields may differ.
fn body(request: &RecordedRequest) -> Result<Bytes> {
    let body = serde_json::to_vec(&request.body)?;
    let length = request.headers.iter().find(|(name, _)| name == "content-length").map(|(_, value)| value.as_str());
    ensure!(length == Some(&body.len().to_string()), "a request of {length:?} bytes was recorded as {}", body.len());
    Ok(body.into())
}
