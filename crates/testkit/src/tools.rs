//! Scripted tools that count their executions on disk.
//!
//! Each execution of a [`CountingTool`] appends one line, the call's effect id, to `<tool>.log` in a folder,
//! by a single atomic write. The lines outlive a killed process: [`executions`] and [`counts`] return
//! afterwards what was done, and how often.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde_json::Value;
use windlass_tools::{BoxFuture, CallContext, Tool, Verification};
use windlass_vocab::{EffectClass, EffectId, Json, Outcome, OutcomeKind, ToolName, ToolSpec};

/// The server the scripted tools belong to.
pub const SERVER: &str = "scripted";

/// What a scripted tool does once its execution is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolBehaviour {
    /// It succeeds, with a text that contains its name and arguments.
    Succeeds,
    /// It returns a tool error.
    Fails,
    /// It returns an infrastructure error.
    Breaks,
    /// It runs until it is cancelled.
    UntilCancelled,
    /// It panics.
    Panics,
}

/// A tool that counts its executions on disk. It accepts any arguments.
#[derive(Clone, Debug)]
pub struct CountingTool {
    spec: ToolSpec,
    log: PathBuf,
    behaviour: ToolBehaviour,
}

impl CountingTool {
    /// The tool `scripted.<name>`, which counts in `<dir>/<name>.log`. A `Verifiable` one checks in that file
    /// whether a call took place.
    #[must_use]
    pub fn new(name: &str, effect: EffectClass, dir: &Path) -> Self {
        let spec = ToolSpec {
            name: ToolName(format!("{SERVER}.{name}")),
            wire_name: format!("{SERVER}__{name}"),
            description: format!("The scripted tool {name}.").into(),
            schema: Json::from(&serde_json::json!({"type": "object"})),
            effect,
            ending: None,
            repeatable: false,
            reads_files: false,
            tags: std::collections::BTreeSet::new(),
        };
        Self { spec, log: log_of(dir, name), behaviour: ToolBehaviour::Succeeds }
    }

    /// This tool with another behaviour.
    #[must_use]
    pub fn behaving(mut self, behaviour: ToolBehaviour) -> Self {
        self.behaviour = behaviour;
        self
    }

    /// The name by which a model calls it.
    #[must_use]
    pub fn wire_name(&self) -> &str {
        &self.spec.wire_name
    }

    /// The text of a success: the same for every try of a call.
    fn done(&self, arguments: &Value) -> Outcome {
        Outcome::ok(format!("{} did {arguments}", self.spec.name.bare()))
    }
}

impl Tool for CountingTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run(&self, context: CallContext, arguments: Value) -> BoxFuture<'static, Outcome> {
        let tool = self.clone();
        Box::pin(async move {
            if let Err(error) = count(&tool.log, &context.effect_id) {
                let text = format!("{} can't be written: {error}", tool.log.display());
                return Outcome::new(OutcomeKind::InfrastructureError, text);
            }
            match tool.behaviour {
                ToolBehaviour::Succeeds => tool.done(&arguments),
                ToolBehaviour::Fails => Outcome::error(format!("{} says no", tool.spec.name.bare())),
                ToolBehaviour::Breaks => Outcome::new(OutcomeKind::InfrastructureError, "the scripted tool broke"),
                ToolBehaviour::UntilCancelled => {
                    context.cancel.cancelled().await;
                    Outcome::new(OutcomeKind::Cancelled, "stopped")
                }
                // Unwinds like a panic, but without the panic hook and its output.
                ToolBehaviour::Panics => std::panic::resume_unwind(Box::new("the scripted tool panicked")),
            }
        })
    }

    fn verify(&self, context: CallContext, arguments: Value) -> BoxFuture<'static, Verification> {
        let verification = match lines(&self.log) {
            Ok(done) if done.contains(&context.effect_id) => Verification::Done(self.done(&arguments)),
            Ok(_) => Verification::NotDone,
            Err(_) => Verification::Unknown,
        };
        Box::pin(std::future::ready(verification))
    }
}

/// The effect ids that a tool recorded, in order, one for each execution. Empty if it never ran.
pub fn executions(dir: &Path, name: &str) -> io::Result<Vec<EffectId>> {
    lines(&log_of(dir, name))
}

/// How often each effect was executed, by the bare name of the tool.
pub fn counts(dir: &Path) -> io::Result<BTreeMap<String, BTreeMap<EffectId, usize>>> {
    let mut counts = BTreeMap::<String, BTreeMap<EffectId, usize>>::new();
    for entry in std::fs::read_dir(dir)? {
        let name = entry?.file_name();
        let Some(tool) = name.to_str().and_then(|name| name.strip_suffix(".log")) else { continue };
        for effect in executions(dir, tool)? {
            *counts.entry(tool.to_owned()).or_default().entry(effect).or_default() += 1;
        }
    }
    Ok(counts)
}

fn log_of(dir: &Path, name: &str) -> PathBuf {
    dir.join(format!("{name}.log"))
}

fn count(log: &Path, effect: &EffectId) -> io::Result<()> {
    let mut file = File::options().create(true).append(true).open(log)?;
    file.write_all(format!("{effect}\n").as_bytes())
}

fn lines(log: &Path) -> io::Result<Vec<EffectId>> {
    match std::fs::read_to_string(log) {
        Ok(text) => Ok(text.lines().map(EffectId::from).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}
