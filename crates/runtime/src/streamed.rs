//! What a model call has streamed so far: its text is handed back if the call is aborted, and all of it is charged by
//! estimate where the provider reports no usage (M4).

use std::sync::{Arc, Mutex, PoisonError};

/// A part of a reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Streamed {
    pub(crate) text: String,
    /// Bytes of thinking.
    pub(crate) thinking: usize,
    /// Bytes of the arguments of calls.
    pub(crate) arguments: usize,
}

/// What a call under way has streamed; nothing before its request is sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReplyTally(Arc<Mutex<Option<Streamed>>>);

impl ReplyTally {
    /// Notes that the request is sent now: from here on the attempt is charged.
    pub(crate) fn begin(&self) {
        self.with(|_| {});
    }

    pub(crate) fn add_text(&self, text: &str) {
        self.with(|streamed| streamed.text.push_str(text));
    }

    pub(crate) fn add_thinking(&self, bytes: usize) {
        self.with(|streamed| streamed.thinking += bytes);
    }

    pub(crate) fn add_arguments(&self, bytes: usize) {
        self.with(|streamed| streamed.arguments += bytes);
    }

    pub(crate) fn so_far(&self) -> Option<Streamed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn with(&self, change: impl FnOnce(&mut Streamed)) {
        change(self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default());
    }
}
