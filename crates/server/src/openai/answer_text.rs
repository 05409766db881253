//! Which text of a run is sent as the answer, and when.
//!
//! What was sent can't be taken back, so text is held back until it can hardly be anything but the answer:
//!
//! - The beginning of a reply, up to [`HELD_BACK`] characters. Models often say a sentence before they call a tool; that is
//!   progress, and is dropped here if a call follows. What is longer is sent as it comes. If a call follows then, it stays,
//!   and the answer follows after an empty line.
//! - All text, where a judge or a tool decides what the answer is ([`TextRelease::AtTheEnd`]).
//! - A second attempt, as far as it repeats what was sent of the first. Where it goes on differently the stream fails
//!   ([`ReplyReplaced`]): nothing is sent twice, and nothing wrong is completed.

use windlass_vocab::{Delta, DeltaBody, Part, Record, RunMilestone, TurnId, TurnMode};

/// How many characters of a reply are held back, because a call may follow.
const HELD_BACK: usize = 280;

/// When text may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextRelease {
    /// While it comes.
    Live,
    /// Once the run has ended.
    AtTheEnd,
}

/// A reply took the place of one that was sent in part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReplyReplaced;

/// Folds the events of a run into the text to be sent.
#[derive(Clone, Debug)]
pub(super) struct AnswerText {
    release: TextRelease,
    mode: TurnMode,
    turn: TurnId,
    /// How many turns have begun, and how many had when the text of the current reply was first sent.
    turns: u32,
    sent_in: u32,
    /// What the current attempt has said.
    attempt: String,
    /// What was sent of the current reply.
    sent: String,
    /// Whether another attempt has to repeat what was sent.
    repeats: Repeats,
    /// Whether text of an earlier reply was sent.
    earlier: EarlierText,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repeats {
    Nothing,
    WhatWasSent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EarlierText {
    None,
    Sent,
}

impl AnswerText {
    pub(super) fn new(release: TextRelease) -> Self {
        Self {
            release,
            mode: TurnMode::Tools,
            turn: TurnId::default(),
            turns: 0,
            sent_in: 0,
            attempt: String::new(),
            sent: String::new(),
            repeats: Repeats::Nothing,
            earlier: EarlierText::None,
        }
    }

    /// Returns the text to be sent now.
    pub(super) fn delta(&mut self, delta: &Delta) -> Result<Option<String>, ReplyReplaced> {
        if delta.turn != self.turn {
            self.turn = delta.turn;
            self.attempt.clear();
        }
        match &delta.body {
            DeltaBody::TextDelta { text } if self.mode.role().is_of_conversation() => {
                self.attempt.push_str(text);
                self.released_live()
            }
            DeltaBody::Cleared {} => {
                self.begin_attempt();
                Ok(None)
            }
            DeltaBody::TextDelta { .. }
            | DeltaBody::ThinkingStarted {}
            | DeltaBody::ThinkingEnded {}
            | DeltaBody::ThinkingDelta { .. }
            | DeltaBody::CallDelta { .. }
            | DeltaBody::Waiting { .. }
            | DeltaBody::SourceLeftOut { .. } => Ok(None),
        }
    }

    /// Returns the text to be sent now.
    pub(super) fn record(&mut self, record: &Record) -> Result<Option<String>, ReplyReplaced> {
        if let Record::AttemptFailed(failed) = record {
            if failed.role.is_of_conversation() {
                self.begin_attempt();
            }
            return Ok(None);
        }
        match record.milestone() {
            Some(RunMilestone::Turn(started)) => {
                self.mode = started.mode;
                self.turns += 1;
                self.attempt.clear();
                Ok(None)
            }
            Some(RunMilestone::Replied(replied)) if replied.role.is_of_conversation() => {
                self.attempt.clear();
                let calls = replied.parts.iter().any(|part| matches!(part, Part::Call { .. }));
                if calls { self.beside_calls(&Part::joined_text(&replied.parts)) } else { Ok(None) }
            }
            Some(
                RunMilestone::Accepted(_)
                | RunMilestone::Started(_)
                | RunMilestone::Resumed(_)
                | RunMilestone::Replied(_)
                | RunMilestone::Ended(_),
            )
            | None => Ok(None),
        }
    }

    /// Returns what is left to be sent once the run has ended with this answer.
    pub(super) fn end(&mut self, answer: &str) -> Result<Option<String>, ReplyReplaced> {
        let answer = answer.trim();
        match (answer.strip_prefix(&self.sent), self.repeats) {
            (Some(rest), _) => Ok(self.send(rest)),
            // The reply that was sent is not the last one: a message joined the run meanwhile.
            (None, Repeats::Nothing) if self.turns > self.sent_in => {
                self.begin_reply();
                Ok(self.send(answer))
            }
            (None, Repeats::Nothing | Repeats::WhatWasSent) => Err(ReplyReplaced),
        }
    }

    fn begin_attempt(&mut self) {
        self.attempt.clear();
        if !self.sent.is_empty() {
            self.repeats = Repeats::WhatWasSent;
        }
    }

    fn begin_reply(&mut self) {
        if !self.sent.is_empty() {
            self.earlier = EarlierText::Sent;
        }
        self.sent.clear();
        self.repeats = Repeats::Nothing;
    }

    fn released_live(&mut self) -> Result<Option<String>, ReplyReplaced> {
        let said = self.attempt.trim();
        let is_short = self.sent.is_empty() && said.chars().nth(HELD_BACK).is_none();
        if is_short || self.release == TextRelease::AtTheEnd {
            return Ok(None);
        }
        match said.strip_prefix(&self.sent).map(str::to_owned) {
            Some(rest) => Ok(self.send(&rest)),
            None if self.sent.starts_with(said) => Ok(None),
            None if self.repeats == Repeats::WhatWasSent => Err(ReplyReplaced),
            // A new turn, although the last reply had no calls: the end of the run says what belongs to the answer.
            None => Ok(None),
        }
    }

    /// Handles a reply whose calls are run now.
    fn beside_calls(&mut self, text: &str) -> Result<Option<String>, ReplyReplaced> {
        let text = text.trim();
        let is_long = text.chars().nth(HELD_BACK).is_some() && self.release == TextRelease::Live;
        let rest = match (text.strip_prefix(&self.sent), self.repeats) {
            (Some(rest), _) if is_long || !self.sent.is_empty() => rest,
            (Some(_), _) | (None, Repeats::Nothing) => "",
            (None, Repeats::WhatWasSent) => return Err(ReplyReplaced),
        };
        let sent = self.send(rest);
        self.begin_reply();
        Ok(sent)
    }

    fn send(&mut self, text: &str) -> Option<String> {
        let is_first = self.sent.is_empty();
        if is_first {
            self.sent_in = self.turns;
        }
        self.sent.push_str(text);
        let separator = if is_first && self.earlier == EarlierText::Sent { "\n\n" } else { "" };
        (!text.is_empty()).then(|| format!("{separator}{text}"))
    }
}

/// Returns the text that is sent of a run, all in all. From records alone it is the same as while it came.
pub(super) fn whole_text<'a>(release: TextRelease, records: impl Iterator<Item = &'a Record>, answer: &str) -> String {
    let mut text = AnswerText::new(release);
    let mut whole: String = records.filter_map(|record| text.record(record).ok().flatten()).collect();
    whole.extend(text.end(answer).ok().flatten());
    whole
}

#[cfg(test)]
#[path = "answer_text_tests.rs"]
mod tests;
