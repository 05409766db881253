//! What an attempt at a turn has streamed: kept whole for whoever joins late, and counted for each follower, so that
//! one who joins again is given what it lacks and nothing twice (E1).

use windlass_vocab::{CallId, Delta, DeltaBody, RunId, TurnId};

/// Which attempt a delta belongs to.
type Attempt = (RunId, TurnId, u32);

/// Which of the streams within an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stream {
    Text,
    Thinking,
    Call(CallId),
}

/// The attempt a delta streams for, and its stream; none where it stands for itself, as the progress of a call does.
fn place(delta: &Delta) -> Option<(Attempt, Stream, &str)> {
    let (stream, text) = match &delta.body {
        DeltaBody::TextDelta { text } => (Stream::Text, text),
        DeltaBody::ThinkingDelta { text } => (Stream::Thinking, text),
        DeltaBody::CallDelta { call, text, .. } => (Stream::Call(*call), text),
        DeltaBody::Cleared {} | DeltaBody::Waiting { .. } => return None,
    };
    (delta.attempt > 0).then_some(((delta.run, delta.turn, delta.attempt), stream, text.as_str()))
}

/// What the attempt under way has streamed so far.
#[derive(Debug, Default)]
pub(crate) struct Streaming {
    /// One delta for each stream, from its offset 0 on, in the order the streams began.
    streams: Vec<Delta>,
}

impl Streaming {
    pub(crate) fn add(&mut self, delta: &Delta) {
        if matches!(delta.body, DeltaBody::Cleared {}) {
            self.streams.clear();
        }
        let Some((attempt, stream, more)) = place(delta) else { return };
        self.streams.retain(|known| place(known).is_some_and(|(of, _, _)| of == attempt));
        let known = self.streams.iter_mut().find(|known| place(known).is_some_and(|(_, of, _)| of == stream));
        match known.map(|known| &mut known.body) {
            Some(
                DeltaBody::TextDelta { text } | DeltaBody::ThinkingDelta { text } | DeltaBody::CallDelta { text, .. },
            ) => text.push_str(more),
            Some(DeltaBody::Cleared {} | DeltaBody::Waiting { .. }) => {}
            None => self.streams.push(delta.clone()),
        }
    }

    /// All of it.
    pub(crate) fn so_far(&self) -> Vec<Delta> {
        self.streams.clone()
    }
}

/// How much of each stream of an attempt a follower was given.
#[derive(Debug, Default)]
pub(crate) struct Given {
    attempt: Option<Attempt>,
    streams: Vec<(Stream, u64)>,
}

/// What of a delta a follower was not given yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unseen {
    All,
    Rest(Delta),
    Nothing,
}

impl Given {
    /// What of this delta is new; it counts as given from now on.
    pub(crate) fn take(&mut self, delta: &Delta) -> Unseen {
        let Some((attempt, stream, text)) = place(delta) else { return Unseen::All };
        if self.attempt != Some(attempt) {
            *self = Self { attempt: Some(attempt), streams: Vec::new() };
        }
        let end = delta.offset + text.len() as u64;
        let Some((_, given)) = self.streams.iter_mut().find(|(of, _)| *of == stream) else {
            self.streams.push((stream, end));
            return Unseen::All;
        };
        let known = std::mem::replace(given, end.max(*given)).saturating_sub(delta.offset);
        if known == 0 {
            return Unseen::All;
        }
        let rest = usize::try_from(known).ok().and_then(|known| text.get(known..)).filter(|rest| !rest.is_empty());
        rest.map_or(Unseen::Nothing, |rest| Unseen::Rest(from(delta, known, rest.to_owned())))
    }
}

/// The delta from `known` bytes on, where `text` begins.
fn from(delta: &Delta, known: u64, text: String) -> Delta {
    let body = match &delta.body {
        DeltaBody::TextDelta { .. } => DeltaBody::TextDelta { text },
        DeltaBody::ThinkingDelta { .. } => DeltaBody::ThinkingDelta { text },
        // The name came with the first fragment.
        DeltaBody::CallDelta { call, .. } => DeltaBody::CallDelta { call: *call, name: None, text },
        other @ (DeltaBody::Cleared {} | DeltaBody::Waiting { .. }) => other.clone(),
    };
    Delta { offset: delta.offset + known, body, ..delta.clone() }
}
