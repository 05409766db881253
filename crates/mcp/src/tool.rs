//! A server's tool as a Windlass tool (T1, P3).

use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use serde_json::Value;
use windlass_tools::{AskPolicy, BoxFuture, CallContext, OutputSchema, Tool};
use windlass_vocab::{Outcome, OutcomeKind, Preview, TextOrigin, ToolName, ToolSpec};

use crate::call::{self, ToolCallRequest};
use crate::config::Trust;
use crate::listing::ListedTool;
use crate::server::Server;

/// How long a person may take to answer a server during a call; then the whole call is given up.
const PERSON: Duration = Duration::from_secs(3600);
/// How long a stopped call has to notify its server.
const GOODBYE: Duration = Duration::from_millis(200);
/// How many characters of the arguments the title of a preview contains.
const TITLE: usize = 160;

/// A tool of a server.
pub(crate) struct McpTool {
    /// Weak, because the server owns its tools.
    server: Weak<Server>,
    listed: Arc<ListedTool>,
    output: Arc<OnceLock<Result<OutputSchema, String>>>,
    spec: ToolSpec,
    trust: Trust,
    /// The accepted version of the tool, if it differs.
    before: Option<ListedTool>,
    timeout: Duration,
}

impl McpTool {
    pub(crate) fn new(server: &Arc<Server>, listed: &ListedTool, before: Option<&ListedTool>) -> Self {
        let name = format!("{}.{}", server.name, listed.name);
        let spec = ToolSpec {
            wire_name: name.clone(),
            name: ToolName(name),
            description: listed.description.as_str().into(),
            schema: listed.input.clone(),
            effect: listed.effect,
            ending: None,
            repeatable: server.config.repeatable.contains(&listed.name),
            reads_files: false,
            tags: server.config.tags.clone(),
        };
        Self {
            server: Arc::downgrade(server),
            listed: Arc::new(listed.clone()),
            output: Arc::default(),
            spec,
            trust: server.config.trust,
            before: before.cloned(),
            timeout: server.config.call_timeout + server.config.startup_timeout,
        }
    }
}

impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// A server's own annotations decide whether to ask only where the user trusts the server, and not while the tool
    /// differs from its accepted version.
    fn ask_policy(&self) -> AskPolicy {
        match (self.trust, &self.before) {
            (_, Some(_)) => AskPolicy::Anew,
            (Trust::Trusted, None) => AskPolicy::ByEffect,
            (Trust::Untrusted, None) => AskPolicy::Always,
        }
    }

    fn origin(&self, _: &Value) -> Option<TextOrigin> {
        Some(TextOrigin::Server { server: self.spec.name.server().to_owned() })
    }

    fn preview(&self, arguments: &Value) -> Result<Preview, String> {
        let line: String = arguments.to_string().chars().take(TITLE).collect();
        let mut body = serde_json::to_string_pretty(arguments).unwrap_or_default();
        if let Some(before) = &self.before {
            body = format!("{}\n\n{body}", changed(before, &self.listed));
        }
        Ok(Preview { title: format!("{}({line})", self.spec.name), body, rule: None })
    }

    fn run(&self, context: CallContext, arguments: Value) -> BoxFuture<'static, Outcome> {
        let Some(server) = self.server.upgrade() else {
            let text = format!("The server `{}` was shut down.", self.spec.name.server());
            return Box::pin(std::future::ready(Outcome::new(OutcomeKind::InfrastructureError, text)));
        };
        let Value::Object(arguments) = arguments else {
            let text = "The arguments must be a JSON object.";
            return Box::pin(std::future::ready(Outcome::new(OutcomeKind::InvalidArguments, text)));
        };
        let ask =
            ToolCallRequest { server, tool: Arc::clone(&self.listed), output: Arc::clone(&self.output), arguments };
        Box::pin(call::run(ask, context))
    }

    /// The call enforces its own limit, because that is suspended while a person is asked; this one adds the person's
    /// time.
    fn timeout(&self) -> Option<Duration> {
        Some(self.timeout + PERSON)
    }

    fn stop_grace(&self) -> Duration {
        GOODBYE
    }
}

/// Describes how a tool has changed, for the person.
fn changed(before: &ListedTool, now: &ListedTool) -> String {
    let mut text = String::from("This tool is not what it was when you first saw it.");
    if before.description != now.description {
        text += &format!("\nIt said: {}\nIt says: {}", before.description, now.description);
    }
    if before.input != now.input {
        text += "\nIts arguments have changed.";
    }
    if before.output != now.output {
        text += "\nIts results have changed.";
    }
    if before.effect != now.effect {
        text += &format!("\nIt was {:?} and is {:?}.", before.effect, now.effect);
    }
    text
}
