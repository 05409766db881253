//! What is said of a tool besides what it does: its name, its description, what running it twice
//! would mean, how long it may take, whether a person is asked, what it is for.

use std::collections::BTreeSet;
use std::time::Duration;

use windlass_vocab::{EffectClass, Json, ToolName, ToolSpec};

/// The server of tools that name none.
const SERVER: &str = "app";

/// Whether a tool of the program's own may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Approval {
    /// Who added it to the agent has allowed it, unless everything but reading must be asked about.
    Given,
    /// A person is asked each time.
    Asked,
    /// The rules alone say so.
    ByRules,
}

/// What the model is told of a tool, and how the loop is to treat it.
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
    /// A tool of this name (`tool`, or `server.tool`) that does what `description` says. Until said
    /// otherwise a call of it must not be repeated blindly, and it may run without asking.
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

    /// What running it twice would mean; it decides what becomes of a call cut short by a crash.
    #[must_use]
    pub fn effect(mut self, effect: EffectClass) -> Self {
        self.effect = effect;
        self
    }

    /// How long a call may take, in place of the run's own limit.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// It is a poll: calling it again with the same arguments is no sign of running in circles.
    #[must_use]
    pub fn repeatable(mut self) -> Self {
        self.repeatable = true;
        self
    }

    /// A person is asked before each call; where nobody is there it is refused.
    #[must_use]
    pub fn ask_first(mut self) -> Self {
        self.approval = Approval::Asked;
        self
    }

    /// What it is for, besides what was said before: where the policy names tags, a run is offered only the
    /// tools that have one of them. A tool tagged [`CORE`](windlass_tools::CORE) is always offered.
    #[must_use]
    pub fn tags(mut self, tags: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tags.extend(tags.into_iter().map(Into::into));
        self
    }

    pub(crate) fn spec(&self, schema: Json) -> ToolSpec {
        ToolSpec {
            name: self.name.clone(),
            // The registry gives it its name on the wire.
            wire_name: String::new(),
            description: self.description.trim().to_owned(),
            schema,
            effect: self.effect,
            ending: None,
            repeatable: self.repeatable,
            reads_files: false,
            tags: self.tags.clone(),
        }
    }
}
