//! A call of an MCP server's tool over stdio, as a run makes it, compared with a bare client: one line written,
//! one line read and parsed. The server is the same program for both, one process each.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use windlass::{CallContext, Tool};
use windlass_mcp::Servers;
use windlass_testkit::mcp::McpScript;
use windlass_tools::ToolServers as _;
use windlass_vocab::{OutcomeKind, SessionId};

use super::setup::Setup;
use crate::child::alone;
use crate::fake_servers::{configured, options};
use crate::pace::compare;
use crate::table::Measurement;

const LIMIT: f64 = 4.0;
/// Calls in a round, one after another.
const CALLS: usize = 500;
const SERVER: &str = "echo";
const SESSION: &str = "00000000-0000-0000-0000-000000000000";

pub(super) fn measure(setup: &Setup) -> Result<Vec<Measurement>> {
    let script = McpScript::echo();
    let mut bare = BareClient::start(setup, &script)?;
    let compared = alone()?.block_on(async {
        let servers = Servers::new(configured(setup, [(SERVER.to_owned(), script)])?, options(setup));
        servers.connect(&SERVER.parse()?).await?;
        let tool = servers.tools().pop().context("the server has no tool")?;
        let compared = compare(
            setup.rounds(30),
            async |_| (0..CALLS).try_for_each(|number| bare.call(number)),
            async |_| {
                for number in 0..CALLS {
                    call(&tool, number).await?;
                }
                Ok(())
            },
        )
        .await;
        servers.shutdown().await;
        compared
    })?;
    Ok(vec![Measurement::compared("500 MCP calls over stdio, against a bare client of JSON lines", LIMIT, &compared)])
}

fn arguments(number: usize) -> Value {
    json!({"number": number, "text": "Heave away, haul away."})
}

/// Ours: calls a tool as a run does.
async fn call(tool: &Arc<dyn Tool>, number: usize) -> Result<()> {
    let session: SessionId = SESSION.parse()?;
    let outcome = tool.run(CallContext::detached(session), arguments(number)).await;
    ensure!(outcome.kind == OutcomeKind::Ok && outcome.text.contains("haul away"), "a call failed: {outcome:?}");
    Ok(())
}

/// The floor: the least a client can do.
struct BareClient {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: String,
}

impl BareClient {
    fn start(setup: &Setup, script: &McpScript) -> Result<Self> {
        let mut child = Command::new(&setup.programs.mcp_fake)
            .arg(script.to_json())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{} can't be started", setup.programs.mcp_fake.display()))?;
        let input = child.stdin.take().context("the server has no input")?;
        let output = BufReader::new(child.stdout.take().context("the server has no output")?);
        let mut bare = Self { child, input, output, line: String::new() };
        let about = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bare", "version": "1"}
        });
        bare.ask(&json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": about}))?;
        bare.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(bare)
    }

    fn say(&mut self, message: &Value) -> Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        Ok(self.input.write_all(&line)?)
    }

    fn ask(&mut self, message: &Value) -> Result<Value> {
        self.say(message)?;
        self.line.clear();
        self.output.read_line(&mut self.line)?;
        let answer: Value = serde_json::from_str(&self.line)?;
        ensure!(answer["id"] == message["id"], "another answer came than was asked for: {answer}");
        Ok(answer)
    }

    fn call(&mut self, number: usize) -> Result<()> {
        let params = json!({"name": "echo", "arguments": arguments(number)});
        let answer = self.ask(&json!({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}))?;
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
        ensure!(text.contains("haul away"), "a call failed: {answer}");
        Ok(())
    }
}

impl Drop for BareClient {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
