//! The narrator's memory of earlier records.

use std::collections::BTreeMap;

use windlass_vocab::{CallFinished, CallId, CallRequested, CallStarted, Record};

use crate::attempt::LastRetry;
use crate::call::CallInProgress;
use crate::call_end::call_end;
use crate::line::{LineSpeaker, NarratedLine, Tone};
use crate::reply;
use crate::run::numbered;

/// Facts of earlier records that later lines refer to.
#[derive(Debug, Default)]
pub(crate) struct NarratorMemory {
    /// Calls without a result yet.
    calls: BTreeMap<CallId, CallInProgress>,
    pub(crate) last_retry: LastRetry,
    /// The text of the last reply.
    pub(crate) last_reply: String,
}

impl NarratorMemory {
    /// Remembers the facts of a record after its lines were made.
    pub(crate) fn take_in(&mut self, record: &Record) {
        if let Record::CallRequested(call) = record {
            self.requested(call);
        }
        if let Record::CallFinished(finished) = record {
            self.calls.remove(&finished.call);
        }
        if let Record::ModelReplied(reply) = record {
            self.last_reply = reply::words(&reply.parts);
        }
        if !matches!(record, Record::AttemptFailed(_)) {
            self.last_retry.forget();
        }
    }

    pub(crate) fn requested(&mut self, call: &CallRequested) {
        self.calls.insert(call.call, CallInProgress::of(call));
    }

    /// Applies the arguments of a started call, which a person may have edited.
    pub(crate) fn started(&mut self, started: &CallStarted) {
        if let (Some(open), Some(arguments)) = (self.calls.get_mut(&started.call), &started.arguments) {
            open.edit(arguments);
        }
    }

    pub(crate) fn forget_calls(&mut self) {
        self.calls.clear();
    }

    pub(crate) fn knows(&self, call: CallId) -> bool {
        self.calls.contains_key(&call)
    }

    pub(crate) fn name(&self, call: CallId) -> String {
        self.calls.get(&call).map_or_else(|| numbered(call), |open| open.line().to_owned())
    }

    /// Returns the line of a finished call, and the lines below it.
    pub(crate) fn finished(&mut self, finished: &CallFinished) -> Vec<NarratedLine> {
        let (text, end) = (self.name(finished.call), call_end(finished));
        let tone = if end.problem.is_some() { Tone::Failure } else { Tone::Plain };
        let remedy = finished.remedy.clone();
        let line = NarratedLine {
            end: Some(end),
            remedy,
            ..NarratedLine::new(tone, text).by(LineSpeaker::Tool).about(finished.call)
        };
        let below = self.calls.remove(&finished.call).map(|open| open.below(finished)).unwrap_or_default();
        std::iter::once(line).chain(below).collect()
    }
}
