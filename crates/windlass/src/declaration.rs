//! The declaration of a tool: its name, its description, the effect of running it twice, its timeout, whether a person
//! is asked, and its tags.

use std::collections::BTreeSet;
use std::time::Duration;

use windlass_vocab::{EffectClass, Json, ToolName, ToolSpec};

/// The server name of tools that give none.
const SERVER: &str = "app";

/// Whether the program's own tool may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Approval {
    /// The program allowed it by adding it, unless everything but reading must be asked about.
    Given,
    /// A person is asked each time.
    Asked,
    /// The permission rules alone decide.
    ByRules,
}

/// What the model is told about a tool, and how the loop treats it.
#[derive(Clone, Debug)]
pub struct Declaration {
    pub(crate) name: ToolName,
    description: String,
    effect: EffectClass,
    pub(crate) timeout: Option<Duration>,
    repeatable: bool,
    pub(crate) approval: Approval,
    tags: BTreeSet<String>,
}

impl Declaration {
    /// Declares a tool with this name (`tool`, or `server.tool`) and description. By default a call must not be
    /// repeated blindly, and runs without asking.
    #[must_use]
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        let name = name.into();
        let name = if name.contains('.') { name } else { format!("{SERVER}.{name}") };
        Self {
            name: ToolName(name),
            description: description.into(),
            effect: EffectClass::Once,
            timeout: None,
            repeatable: false,
            approval: Approval::Given,
            tags: BTreeSet::new(),
        }
    }

    /// Sets the effect of running it twice, which decides how a call interrupted by a crash is handled.
    #[must_use]
    pub fn effect(mut self, effect: EffectClass) -> Self {
        self.effect = effect;
        self
    }

    /// Sets the timeout of a call, in place of the run's own.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Declares a poll: repeating a call with the same arguments does not count as a loop.
    #[must_use]
    pub fn repeatable(mut self) -> Self {
        self.repeatable = true;
        self
    }

    /// Asks a person before each call; if nobody can be asked, the call is refused.
    #[must_use]
    pub fn ask_first(mut self) -> Self {
        self.approval = Approval::Asked;
        self
    }

    /// Adds tags for its purpose: if the policy names tags, a run is offered only the tools with one of them. A tool
    /// tagged [`CORE`](windlass_tools::CORE) is always offered.
    #[must_use]
    pub fn tags(mut self, tags: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tags.extend(tags.into_iter().map(Into::into));
        self
    }

    pub(crate) fn spec(&self, schema: Json) -> ToolSpec {
        ToolSpec {
            name: self.name.clone(),
            // The registry assigns the wire name.
            wire_name: String::new(),
            description: self.description.trim().into(),
            schema,
            effect: self.effect,
            ending: None,
            repeatable: self.repeatable,
            reads_files: false,
            tags: self.tags.clone(),
        }
    }
}
