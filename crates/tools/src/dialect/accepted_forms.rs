//! The forms of a call that a run reads.

use windlass_vocab::{Dialect, Parallel};

/// The forms a call may have in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CallForms {
    /// `<tool>` blocks.
    pub(super) block: bool,
    /// `<tool name="…">`, and the tool's name as a tag.
    pub(super) tag: bool,
    /// `[server.tool(k="v")]`.
    pub(super) bracket: bool,
    /// `Tool:` and `Arguments:`.
    pub(super) lines: bool,
    /// JSON, bare or in the tags that small models put around it.
    pub(super) json: bool,
    /// A fenced block of a script.
    pub(super) script: bool,
}

impl CallForms {
    /// All forms that name a tool. A script names none, and every text about programs has blocks that look like one.
    const ALL: Self = Self { block: true, tag: true, bracket: true, lines: true, json: true, script: false };
    const SCRIPT: Self = Self { block: false, tag: false, bracket: false, lines: false, json: false, script: true };

    pub(super) fn is_empty(self) -> bool {
        self == Self::default()
    }
}

/// How many calls of a reply are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallLimit {
    /// The first; the model invented everything after it, and it is dropped.
    One,
    /// All of them.
    Several,
}

/// What becomes of text after a call, where several calls are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterCall {
    /// It is text, in which further calls may stand.
    Kept,
    /// The model invented it, and it is dropped; only calls that follow at once are read.
    Dropped,
}

/// Calls that run one after the other are requested one by one.
impl From<Parallel> for CallLimit {
    fn from(parallel: Parallel) -> Self {
        match parallel {
            Parallel::Off => Self::One,
            Parallel::On | Parallel::Safe => Self::Several,
        }
    }
}

/// The forms that a run reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcceptedForms {
    /// Read wherever the call stands by itself.
    pub(super) anywhere: CallForms,
    /// Read only if the call is the whole reply.
    pub(super) alone: CallForms,
    /// How many calls are read.
    pub(super) calls: CallLimit,
    /// What becomes of text after a call.
    pub(super) after: AfterCall,
}

impl AcceptedForms {
    /// Returns the forms that a run with these `dialects` reads; `pinned` is the dialect that its prefix explains.
    /// Returns `None` if the run uses only the native calls of the wire.
    #[must_use]
    pub fn of(dialects: &[Dialect], pinned: Option<Dialect>, parallel: Parallel) -> Option<Self> {
        if pinned == Some(Dialect::Script) {
            // Scripts are read only where the prefix explains them, and then nothing else is a call.
            let (calls, alone) = (CallLimit::One, CallForms::default());
            return Some(Self { anywhere: CallForms::SCRIPT, alone, calls, after: AfterCall::Dropped });
        }
        let mut anywhere = CallForms::default();
        let mut probes = false;
        for dialect in dialects.iter().chain(&pinned) {
            match dialect {
                Dialect::Native | Dialect::Script => {}
                Dialect::ToolTag => anywhere.tag = true,
                Dialect::ToolBlock => anywhere.block = true,
                Dialect::Bracket => anywhere.bracket = true,
                Dialect::Lines => anywhere.lines = true,
                Dialect::BareJson => anywhere.json = true,
                Dialect::Probe => probes = true,
            }
        }
        if anywhere.is_empty() && !probes {
            return None;
        }
        let (calls, alone) = (parallel.into(), CallForms::ALL);
        if pinned == Some(Dialect::ToolTag) {
            // The models that this dialect is for write calls in whatever form they know.
            return Some(Self { anywhere: CallForms::ALL, alone, calls, after: AfterCall::Dropped });
        }
        Some(Self { anywhere, alone, calls, after: AfterCall::Kept })
    }
}
