//! The single abilities of a server or a model, and the values that they may have.

use windlass_vocab::Reasoning;

/// Whether something can be done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ability {
    /// It can.
    Yes,
    /// It can't: it would be refused or ignored.
    No,
    /// Nobody knows yet.
    #[default]
    Unknown,
}

impl Ability {
    /// Whether to do it unless it is known to fail: for what nearly all servers accept.
    #[must_use]
    pub fn is_not_excluded(self) -> bool {
        match self {
            Self::Yes | Self::Unknown => true,
            Self::No => false,
        }
    }

    /// Whether to do it only where it is known to work: for what many servers refuse.
    #[must_use]
    pub fn is_certain(self) -> bool {
        match self {
            Self::Yes => true,
            Self::No | Self::Unknown => false,
        }
    }

    /// Returns the other ability where that one is known, else this one.
    pub(crate) const fn or_if_known(self, other: Self) -> Self {
        match other {
            Self::Yes | Self::No => other,
            Self::Unknown => self,
        }
    }
}

impl From<bool> for Ability {
    fn from(can: bool) -> Self {
        if can { Self::Yes } else { Self::No }
    }
}

/// A protocol for model calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WireKind {
    /// OpenAI Chat Completions, which most servers speak.
    Chat,
    /// Anthropic Messages.
    Messages,
    /// OpenAI Responses, which OpenAI's newer models are made for.
    Responses,
}

/// The wire name of the length limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LengthField {
    /// `max_tokens`, which nearly all servers support.
    MaxTokens,
    /// `max_completion_tokens`, which OpenAI's newer models require.
    MaxCompletionTokens,
}

/// Whether a model's earlier reasoning is sent back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReasoningReturn {
    /// It is not.
    Never,
    /// As the field `reasoning_content` of its messages.
    Field,
}

/// Which ids of calls a server accepts. An id that it does not accept is replaced by one of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallIdForm {
    /// Any text.
    Any,
    /// Any text of at most 40 bytes.
    UpTo40,
    /// At most 64 letters, digits, `_` and `-`.
    Plain,
    /// Nine letters and digits.
    NineCharacters,
}

/// When the schema of an answer is sent to the server as `response_format` (L10). The model is given the schema in
/// any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseFormat {
    /// In every turn.
    Always,
    /// When no tool may be called: many servers apply the schema to the whole reply, and then the model can't call
    /// any.
    WithoutTools,
    /// Never: the server would refuse it.
    Never,
}

/// How much a model reasons, by the names that the wires use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EffortLevel {
    /// Not at all.
    None,
    /// Hardly.
    Minimal,
    /// Little.
    Low,
    /// A moderate amount.
    Medium,
    /// Much.
    High,
    /// More than that.
    XHigh,
    /// As much as it can.
    Max,
}

impl EffortLevel {
    /// The name on the wire.
    #[must_use]
    pub fn wire_name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
            Self::Max => "max",
        }
    }
}

/// How a model's reasoning is controlled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReasoningControl {
    /// Nobody knows yet.
    #[default]
    Unknown,
    /// It does not reason, and refuses to be asked for it.
    NoReasoning,
    /// It always reasons, and nothing controls how much.
    Fixed,
    /// Reasoning can be switched on and off, and no more.
    Switch,
    /// By one of these levels, in ascending order.
    Levels(&'static [EffortLevel]),
    /// By a number of tokens; without one it does as the maker decided.
    Budget {
        /// The fewest tokens it takes.
        least: u32,
        /// The most, where the maker names a limit.
        most: Option<u32>,
    },
}

impl ReasoningControl {
    /// Returns the level to ask for: the accepted one nearest to the wanted, the higher of two equally near. A level
    /// that switches reasoning off is never near enough. Absent means that no level is sent.
    #[must_use]
    pub fn level(self, wanted: Reasoning) -> Option<EffortLevel> {
        let wanted = match wanted {
            Reasoning::ModelOwn | Reasoning::Configured => return None,
            Reasoning::Low => EffortLevel::Low,
            Reasoning::Medium => EffortLevel::Medium,
            Reasoning::High => EffortLevel::High,
        };
        match self {
            Self::Unknown => Some(wanted),
            Self::NoReasoning | Self::Fixed | Self::Switch | Self::Budget { .. } => None,
            Self::Levels(levels) => {
                let distance = |level: EffortLevel| (level as i8 - wanted as i8).abs();
                let on = levels.iter().copied().filter(|level| *level != EffortLevel::None);
                on.rev().min_by_key(|level| distance(*level))
            }
        }
    }
}
