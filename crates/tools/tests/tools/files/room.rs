//! A workspace for one test, and the tools that work in it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use windlass_tools::{
    BoxFuture, CallContext, CallPermission, Commands, FileRules, Offer, Permissions, Registry, Secrets, SpilledResult,
    SpilledResults, Verification, Workspace, builtins, ending_tools,
};
use windlass_vocab::{
    CallId, Json, Outcome, OutcomeKind, PreparedCall, ReplyCall, SessionId, TextOrigin, ToolName, ToolSource, Verdict,
};

struct OneSpill;

impl SpilledResults for OneSpill {
    fn read(&self, call: CallId) -> BoxFuture<'_, SpilledResult> {
        let text = || (1..=9).map(|n| format!("line {n}\n")).collect();
        let origin = Some(TextOrigin::Server { server: "hub".into() });
        let lines = || SpilledResult::Whole { text: text(), origin };
        let is_kept = call == CallId::default();
        Box::pin(std::future::ready(if is_kept { lines() } else { SpilledResult::Absent }))
    }
}

pub(crate) struct Room {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) offer: Offer,
}

impl Room {
    /// A workspace with these files in it.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        Self::hiding(&Secrets::default(), files)
    }

    /// The same with secrets that must be hidden.
    pub(crate) fn hiding(secrets: &Secrets, files: &[(&str, &str)]) -> Self {
        Self::built(files, |workspace| workspace.hiding(secrets.clone()))
    }

    /// The same with a workspace that `change` modifies before use.
    pub(crate) fn built(files: &[(&str, &str)], change: impl FnOnce(Workspace) -> Workspace) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("ws");
        std::fs::create_dir(&root).unwrap();
        for (path, content) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let workspace = Arc::new(change(Workspace::open(&root).unwrap()));
        let mut registry = Registry::new();
        let commands = Commands::new(None, folder.path().join("locks"));
        for tool in builtins(workspace, commands).into_iter().chain(ending_tools()) {
            registry.add(tool).unwrap();
        }
        let offer = registry.offer(&[ToolSource::BuiltIn, ToolSource::Ending].into_iter().collect());
        Self { folder, offer }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("ws")
    }

    pub(crate) fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.root().join(path)).unwrap()
    }

    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> Outcome {
        let call = ReplyCall { name: tool.into(), arguments: arguments.to_string(), provider_id: None, mended: None };
        let prepared = self.offer.prepare(&call, &Permissions::default(), &[]);
        assert!(matches!(prepared.verdict, Verdict::Allow | Verdict::Ask), "{:?}", prepared.verdict);
        let run = self.offer.run(&prepared.tool.unwrap(), context(), &prepared.arguments, Duration::from_secs(20));
        block_on(run)
    }

    /// Makes a call as a run does under these permissions; returns the outcome for the model.
    pub(crate) fn checked(&self, permissions: &Permissions, tool: &str, arguments: &Value) -> Outcome {
        let call = ReplyCall { name: tool.into(), arguments: arguments.to_string(), provider_id: None, mended: None };
        let prepared = self.offer.prepare(&call, permissions, &[]);
        match prepared.verdict {
            Verdict::Allow => self.run_cleared(permissions, &prepared, || {}),
            Verdict::Ask => Outcome::new(OutcomeKind::Denied, "asked"),
            Verdict::Deny { reason, .. } => Outcome::new(OutcomeKind::Denied, reason),
            Verdict::Invalid { reason, .. } | Verdict::Unknown { reason, .. } => Outcome::error(reason),
        }
    }

    /// Checks the permission of a prepared call, runs `meanwhile`, and then runs the call.
    pub(crate) fn run_cleared(
        &self,
        permissions: &Permissions,
        prepared: &PreparedCall,
        meanwhile: impl FnOnce(),
    ) -> Outcome {
        let tool = prepared.tool.as_ref().unwrap();
        let cleared = self.offer.check_permission(tool, &prepared.arguments, permissions, &[], []);
        let CallPermission::Run(checked) = cleared else { panic!("{cleared:?}") };
        meanwhile();
        let files = FileRules::of(Arc::new(permissions.clone())).for_call(checked);
        let context = CallContext { files, ..context() };
        block_on(self.offer.run(tool, context, &prepared.arguments, Duration::from_secs(20)))
    }

    pub(crate) fn ok(&self, tool: &str, arguments: &Value) -> String {
        let outcome = self.call(tool, arguments);
        assert_eq!(outcome.kind, OutcomeKind::Ok, "{}", outcome.text);
        outcome.text
    }

    pub(crate) fn refused(&self, tool: &str, arguments: &Value) -> String {
        let outcome = self.call(tool, arguments);
        assert_eq!(outcome.kind, OutcomeKind::ToolError, "{}", outcome.text);
        outcome.text
    }

    /// Asserts that the arguments name something the tool can't accept; returns the message.
    pub(crate) fn wrong(&self, tool: &str, arguments: &Value) -> String {
        let outcome = self.call(tool, arguments);
        assert_eq!(outcome.kind, OutcomeKind::InvalidArguments, "{}", outcome.text);
        outcome.text
    }

    /// Asserts that the arguments name something that does not exist; returns the message.
    pub(crate) fn missing(&self, tool: &str, arguments: &Value) -> String {
        let outcome = self.call(tool, arguments);
        assert_eq!(outcome.kind, OutcomeKind::NotFound, "{}", outcome.text);
        outcome.text
    }

    pub(crate) fn verify(&self, tool: &str, arguments: &Value) -> Verification {
        let name = ToolName(format!("local.{tool}"));
        block_on(self.offer.verify(&name, context(), &Json::from(arguments), Duration::from_secs(20)))
    }
}

pub(crate) fn context() -> CallContext {
    CallContext { spilled: Arc::new(OneSpill), ..CallContext::detached(SessionId(uuid::Uuid::nil())) }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}
