//! Stand-ins for tools of a pinned offer that a run resumes with, if a tool is missing or has changed
//! since.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use windlass_vocab::{EffectClass, Json, Outcome, OutcomeKind, ToolName, ToolSpec};

use crate::servers::{wait_for, with_wait_notice};
use crate::{AskPolicy, BoxFuture, CallContext, Tool, ToolServers};

/// A tool that is not available now. Its server may still be connecting.
pub(crate) struct MissingTool {
    pub(crate) spec: ToolSpec,
    pub(crate) servers: Option<Arc<dyn ToolServers>>,
}

impl Tool for MissingTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Whether the server is trusted is unknown until it is connected.
    fn ask_policy(&self) -> AskPolicy {
        AskPolicy::Always
    }

    fn run(&self, context: CallContext, arguments: Value) -> BoxFuture<'static, Outcome> {
        let (spec, servers) = (self.spec.clone(), self.servers.clone());
        Box::pin(async move {
            let Some(servers) = servers else { return missing_outcome(&spec.name) };
            match wait_for_tool(&spec.name, servers.as_ref(), &context).await {
                Some(tool) if tool.spec().schema == spec.schema => tool.run(context, arguments).await,
                Some(_) => changed_outcome(&spec),
                None => missing_outcome(&spec.name),
            }
        })
    }
}

/// A tool the model called by its full name without having been told of it, and whose server is connecting
/// again.
pub(crate) struct LateTool {
    spec: ToolSpec,
    servers: Arc<dyn ToolServers>,
}

impl LateTool {
    pub(crate) fn new(name: ToolName, servers: Arc<dyn ToolServers>) -> Self {
        let spec = ToolSpec {
            wire_name: name.as_str().to_owned(),
            name,
            description: "".into(),
            // Accept any object; the server validates the arguments.
            schema: Json::from(&json!({"type": "object"})),
            effect: EffectClass::Once,
            ending: None,
            repeatable: false,
            reads_files: false,
            tags: BTreeSet::new(),
        };
        Self { spec, servers }
    }
}

impl Tool for LateTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Whether the server is trusted is unknown until it is connected.
    fn ask_policy(&self) -> AskPolicy {
        AskPolicy::Always
    }

    fn run(&self, context: CallContext, arguments: Value) -> BoxFuture<'static, Outcome> {
        let (name, servers) = (self.spec.name.clone(), Arc::clone(&self.servers));
        Box::pin(async move {
            match wait_for_tool(&name, servers.as_ref(), &context).await {
                Some(tool) => tool.run(context, arguments).await,
                None => missing_outcome(&name),
            }
        })
    }
}

/// Waits until the server is connected or given up, and returns its tool of this name.
async fn wait_for_tool(name: &ToolName, servers: &dyn ToolServers, context: &CallContext) -> Option<Arc<dyn Tool>> {
    let server = vec![name.server().to_owned()];
    let wait = wait_for(server.clone(), &servers.stages());
    with_wait_notice(servers.settled(server), || (context.waits)(wait)).await;
    servers.tools().into_iter().find(|tool| tool.spec().name == *name)
}

fn missing_outcome(name: &ToolName) -> Outcome {
    let text = format!("`{name}` is not there any more: its server `{}` does not offer it now.", name.server());
    Outcome::new(OutcomeKind::InfrastructureError, text)
}

/// A tool whose spec has changed since it was offered to the model.
pub(crate) struct StaleTool(pub(crate) ToolSpec);

impl Tool for StaleTool {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn run(&self, _: CallContext, _: Value) -> BoxFuture<'static, Outcome> {
        Box::pin(std::future::ready(changed_outcome(&self.0)))
    }
}

fn changed_outcome(spec: &ToolSpec) -> Outcome {
    Outcome::error(format!(
        "`{}` was not run: its server has changed what it says it does since it was offered. It is offered anew in the \
         next run.",
        spec.name
    ))
}
