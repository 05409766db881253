//! The text that an attempt has streamed: kept whole for followers that join late, and counted for each follower, so
//! that one that joins again gets what it lacks and nothing twice (E1).

use windlass_vocab::{CallId, Delta, DeltaBody, RunId, TurnId};

/// The attempt a delta belongs to.
type AttemptPlace = (RunId, TurnId, u32);

/// One of the streams within an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DeltaStream {
    Text,
    Thinking,
    Call(CallId),
}

/// Returns the attempt a delta belongs to; `None` where it belongs to none, like the progress of a call.
fn attempt_of(delta: &Delta) -> Option<AttemptPlace> {
    (delta.attempt > 0).then_some((delta.run, delta.turn, delta.attempt))
}

/// Returns a delta's attempt, stream and text; `None` where it adds no text.
fn place(delta: &Delta) -> Option<(AttemptPlace, DeltaStream, &str)> {
    let (stream, text) = match &delta.body {
        DeltaBody::TextDelta { text } => (DeltaStream::Text, text),
        DeltaBody::ThinkingDelta { text } => (DeltaStream::Thinking, text),
        DeltaBody::CallDelta { call, text, .. } => (DeltaStream::Call(*call), text),
        DeltaBody::ThinkingStarted {}
        | DeltaBody::ThinkingEnded {}
        | DeltaBody::Cleared {}
        | DeltaBody::Waiting { .. }
        | DeltaBody::SourceLeftOut { .. } => return None,
    };
    Some((attempt_of(delta)?, stream, text.as_str()))
}

/// Returns a delta's attempt and the position of a start or end of thinking, as an increasing number: a start comes
/// after the end of the thinking before it, which has the same offset.
fn mark(delta: &Delta) -> Option<(AttemptPlace, u64)> {
    let number = match &delta.body {
        DeltaBody::ThinkingStarted {} => delta.offset * 2 + 1,
        DeltaBody::ThinkingEnded {} => delta.offset * 2,
        DeltaBody::TextDelta { .. }
        | DeltaBody::ThinkingDelta { .. }
        | DeltaBody::CallDelta { .. }
        | DeltaBody::Cleared {}
        | DeltaBody::Waiting { .. }
        | DeltaBody::SourceLeftOut { .. } => return None,
    };
    Some((attempt_of(delta)?, number))
}

/// What the current attempt has streamed so far.
#[derive(Debug, Default)]
pub(crate) struct StreamedSoFar {
    /// One delta for each stream, from offset 0, in the order in which the streams began; for thinking, one between
    /// each start and its end.
    streams: Vec<Delta>,
}

impl StreamedSoFar {
    pub(crate) fn add(&mut self, delta: &Delta) {
        if matches!(delta.body, DeltaBody::Cleared {}) {
            self.streams.clear();
        }
        if let Some((attempt, _)) = mark(delta) {
            self.keep_only(attempt);
            self.streams.push(delta.clone());
        }
        let Some((attempt, stream, more)) = place(delta) else { return };
        self.keep_only(attempt);
        let known = match stream {
            DeltaStream::Text | DeltaStream::Call(_) => self.streams.iter_mut().find(|known| is_of(known, stream)),
            DeltaStream::Thinking => {
                let last = self.streams.iter_mut().rfind(|known| mark(known).is_some() || is_of(known, stream));
                last.filter(|known| mark(known).is_none())
            }
        };
        match known.map(|known| &mut known.body) {
            Some(
                DeltaBody::TextDelta { text } | DeltaBody::ThinkingDelta { text } | DeltaBody::CallDelta { text, .. },
            ) => text.push_str(more),
            Some(
                DeltaBody::ThinkingStarted {}
                | DeltaBody::ThinkingEnded {}
                | DeltaBody::Cleared {}
                | DeltaBody::Waiting { .. }
                | DeltaBody::SourceLeftOut { .. },
            ) => {}
            None => self.streams.push(delta.clone()),
        }
    }

    /// Drops what other attempts streamed.
    fn keep_only(&mut self, attempt: AttemptPlace) {
        self.streams.retain(|known| attempt_of(known) == Some(attempt));
    }

    /// Returns all of it.
    pub(crate) fn so_far(&self) -> Vec<Delta> {
        self.streams.clone()
    }
}

fn is_of(delta: &Delta, stream: DeltaStream) -> bool {
    place(delta).is_some_and(|(_, of, _)| of == stream)
}

/// How much of each stream of an attempt a follower has received.
#[derive(Debug, Default)]
pub(crate) struct GivenSoFar {
    attempt: Option<AttemptPlace>,
    streams: Vec<(DeltaStream, u64)>,
    /// The last start or end of thinking.
    mark: Option<u64>,
}

/// The part of a delta that a follower has not received yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UnseenPart {
    All,
    Rest(Delta),
    Nothing,
}

impl GivenSoFar {
    /// Returns the part of this delta that is new; it counts as received from now on.
    pub(crate) fn take(&mut self, delta: &Delta) -> UnseenPart {
        if let Some((attempt, number)) = mark(delta) {
            self.begin(attempt);
            let is_new = self.mark.is_none_or(|given| given < number);
            self.mark = self.mark.max(Some(number));
            return if is_new { UnseenPart::All } else { UnseenPart::Nothing };
        }
        let Some((attempt, stream, text)) = place(delta) else { return UnseenPart::All };
        self.begin(attempt);
        let end = delta.offset + text.len() as u64;
        let Some((_, given)) = self.streams.iter_mut().find(|(of, _)| *of == stream) else {
            self.streams.push((stream, end));
            return UnseenPart::All;
        };
        let known = std::mem::replace(given, end.max(*given)).saturating_sub(delta.offset);
        if known == 0 {
            return UnseenPart::All;
        }
        let rest = usize::try_from(known).ok().and_then(|known| text.get(known..)).filter(|rest| !rest.is_empty());
        rest.map_or(UnseenPart::Nothing, |rest| UnseenPart::Rest(from(delta, known, rest.to_owned())))
    }
}

impl GivenSoFar {
    /// Resets the counts where another attempt begins.
    fn begin(&mut self, attempt: AttemptPlace) {
        if self.attempt != Some(attempt) {
            *self = Self { attempt: Some(attempt), ..Self::default() };
        }
    }
}

/// Returns the delta from byte `known` on; `text` is the text from there.
fn from(delta: &Delta, known: u64, text: String) -> Delta {
    let body = match &delta.body {
        DeltaBody::TextDelta { .. } => DeltaBody::TextDelta { text },
        DeltaBody::ThinkingDelta { .. } => DeltaBody::ThinkingDelta { text },
        // The name was sent with the first fragment.
        DeltaBody::CallDelta { call, .. } => DeltaBody::CallDelta { call: *call, name: None, text },
        other @ (DeltaBody::ThinkingStarted {}
        | DeltaBody::ThinkingEnded {}
        | DeltaBody::Cleared {}
        | DeltaBody::Waiting { .. }
        | DeltaBody::SourceLeftOut { .. }) => other.clone(),
    };
    Delta { offset: delta.offset + known, body, ..delta.clone() }
}
