//! Tools of an offer that was pinned before and is taken up again, where what they stood for is gone
//! or has changed in between.

use std::sync::Arc;

use serde_json::Value;
use windlass_vocab::{Outcome, OutcomeKind, ToolSpec};

use crate::{BoxFuture, CallContext, Tool, ToolServers};

/// A tool that is not there now. Its server may be on its way.
pub(crate) struct Gone {
    pub(crate) spec: ToolSpec,
    pub(crate) servers: Option<Arc<dyn ToolServers>>,
}

impl Tool for Gone {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run(&self, context: CallContext, arguments: Value) -> BoxFuture<'static, Outcome> {
        let (spec, servers) = (self.spec.clone(), self.servers.clone());
        Box::pin(async move {
            let server = spec.name.server().to_owned();
            if let Some(servers) = servers {
                servers.settled(vec![server.clone()]).await;
                let found = servers.tools().into_iter().find(|tool| tool.spec().name == spec.name);
                match found {
                    Some(tool) if tool.spec().schema == spec.schema => return tool.run(context, arguments).await,
                    Some(_) => return changed(&spec),
                    None => {}
                }
            }
            let text = format!("`{}` is not there any more: its server `{server}` does not offer it now.", spec.name);
            Outcome::new(OutcomeKind::InfrastructureError, text)
        })
    }
}

/// A tool that is no longer what the model was told when it was offered.
pub(crate) struct Changed(pub(crate) ToolSpec);

impl Tool for Changed {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn run(&self, _: CallContext, _: Value) -> BoxFuture<'static, Outcome> {
        Box::pin(std::future::ready(changed(&self.0)))
    }
}

fn changed(spec: &ToolSpec) -> Outcome {
    Outcome::error(format!(
        "`{}` was not run: its server has changed what it says it does since it was offered. It is offered anew in the \
         next run.",
        spec.name
    ))
}
