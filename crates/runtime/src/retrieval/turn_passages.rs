//! What is kept of the passages that were sent.

use std::collections::{BTreeSet, VecDeque};

use windlass_vocab::{RunId, TextOrigin, TurnId};

/// How many passages from outside are remembered: those of the last turns.
const REMEMBERED: usize = 64;

/// The passages of the current turn.
#[derive(Debug, Default)]
pub(crate) struct TurnPassages {
    pub(crate) turn: Option<(RunId, TurnId)>,
    /// The text as it is sent; empty where nothing was found.
    pub(crate) section: String,
    /// The tokens of that text, as they are estimated.
    pub(crate) tokens: u64,
    /// What was sent of texts that nobody has checked, in this turn and earlier (X4).
    outside: VecDeque<(TextOrigin, String)>,
    /// The run, and its sources of which subscribers know that they were left out.
    pub(crate) reported: (RunId, BTreeSet<String>),
}

impl TurnPassages {
    /// Returns the texts from outside that were sent, with their origins, newest first.
    pub(crate) fn outside_texts(&self) -> impl Iterator<Item = (&TextOrigin, &str)> {
        self.outside.iter().rev().map(|(origin, text)| (origin, text.as_str()))
    }

    /// Remembers a text from outside that was sent.
    pub(crate) fn remember(&mut self, origin: TextOrigin, text: String) {
        if self.outside.iter().any(|(_, known)| *known == text) {
            return;
        }
        if self.outside.len() >= REMEMBERED {
            self.outside.pop_front();
        }
        self.outside.push_back((origin, text));
    }
}
