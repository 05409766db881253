//! Applies compactions to the history. What the last one left out is kept until the next, so that it can be undone.

use windlass_vocab::{Compacted, CompactionMethod, ImageRef, Message};

use super::Transcript;
use crate::texts;

/// What the last compaction replaced at the start of the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LeftOut {
    /// The messages as they were.
    before: Vec<Message>,
    /// How many messages stand in their place.
    after: usize,
    /// The values of the transcript's fields of the same name before.
    replacements: usize,
    dropped: u64,
    summary: Option<String>,
    goal: Option<usize>,
    last_words: Option<usize>,
    /// Set when a model has answered since: the next compaction then replaces this one.
    pub(super) answered: bool,
}

impl LeftOut {
    /// Whether what it was replaced by is among the first `end` messages.
    pub(super) fn ends_by(&self, end: usize) -> bool {
        self.after <= end
    }
}

impl Transcript {
    /// Whether the last compaction can be undone.
    #[must_use]
    pub fn can_restore(&self) -> bool {
        self.left_out.is_some()
    }

    /// Returns the index in the history of a message counted from the session's first.
    #[must_use]
    pub fn place_of(&self, message: u64) -> usize {
        let behind = usize::try_from(message.saturating_sub(self.dropped)).unwrap_or(usize::MAX);
        behind.saturating_add(self.replacements).min(self.history.len())
    }

    /// Returns the number of a message in the session, given its index in the history.
    pub(crate) fn number_of(&self, place: usize) -> u64 {
        self.dropped + u64::try_from(place.saturating_sub(self.replacements)).unwrap_or(0)
    }

    pub(super) fn compact(&mut self, compacted: &Compacted) {
        self.epoch += 1;
        self.compactions += 1;
        match compacted.method {
            CompactionMethod::Restored => self.restore(),
            CompactionMethod::Pruned | CompactionMethod::Summarised | CompactionMethod::Plain => {
                self.leave_out(compacted);
            }
            CompactionMethod::Shrunk => {
                self.leave_out(compacted);
                self.shrink_results(compacted);
            }
        }
        self.measure_again();
    }

    fn leave_out(&mut self, compacted: &Compacted) {
        let end = self.place_of(compacted.through);
        let notes = texts::replacement(compacted.notes.as_deref(), compacted.summary.as_deref());
        if end == self.replacements && notes.is_none() {
            return;
        }
        // The message that started the open run stays, whatever its age: the rest makes no sense without it.
        let kept_goal = self.goal.filter(|goal| *goal < end).and_then(|goal| self.history.get(goal).cloned());
        let mut replacements: Vec<Message> = notes.map(Message::user).into_iter().collect();
        let goal_at = kept_goal.is_some().then_some(replacements.len());
        replacements.extend(kept_goal);
        let after = replacements.len();
        let left_out = self.left_out(end, after);
        self.history.splice(..end, replacements);
        let moved = |place: usize| place.checked_sub(end).map(|behind| behind + after);
        self.goal = goal_at.or(self.goal.and_then(moved));
        self.last_words = self.last_words.and_then(moved).or(goal_at);
        self.unsent.retain_mut(|unsent| {
            unsent.before = unsent.before.and_then(moved);
            moved(unsent.place).map(|place| unsent.place = place).is_some()
        });
        self.dropped = self.dropped.max(compacted.through);
        self.replacements = after;
        self.summary.clone_from(&compacted.summary);
        self.left_out = Some(left_out);
    }

    /// Returns what is needed to undo the replacement of the first `end` messages by `after` others. What an earlier
    /// compaction of the same turn replaced is undone with it.
    fn left_out(&mut self, end: usize, after: usize) -> LeftOut {
        let (replacements, dropped, summary) = (self.replacements, self.dropped, self.summary.clone());
        let (goal, last_words) = (self.goal, self.last_words);
        match self.left_out.take().filter(|earlier| !earlier.answered) {
            None => {
                let before = self.history.get(..end).unwrap_or_default().to_vec();
                LeftOut { before, after, replacements, dropped, summary, goal, last_words, answered: false }
            }
            Some(mut earlier) => {
                let more = self.history.get(earlier.after..end).unwrap_or_default();
                earlier.before.extend(more.iter().cloned());
                earlier.after = after + earlier.after.saturating_sub(end);
                earlier
            }
        }
    }

    fn restore(&mut self) {
        let Some(left_out) = self.left_out.take() else { return };
        let LeftOut { before, after, replacements, dropped, summary, goal, last_words, answered: _ } = left_out;
        let (end, count) = (after.min(self.history.len()), before.len());
        self.history.splice(..end, before);
        let moved = |place: usize| place.checked_sub(end).map(|behind| behind + count);
        let back = |now: Option<usize>, then: Option<usize>| now.and_then(|place| moved(place).or(then));
        (self.goal, self.last_words) = (back(self.goal, goal), back(self.last_words, last_words));
        (self.replacements, self.dropped, self.summary) = (replacements, dropped, summary);
    }

    fn shrink_results(&mut self, compacted: &Compacted) {
        let whole_from = compacted.whole_from.map_or(self.history.len(), |whole| self.place_of(whole));
        let limit = compacted.result_chars.and_then(|chars| usize::try_from(chars).ok()).unwrap_or(usize::MAX);
        let line: ImageLine =
            if compacted.result_chars.is_some() { texts::image_left_out } else { texts::image_refused };
        let is_long = |message: &Message| match message {
            Message::Tool { text, images, .. } => !images.is_empty() || text.char_indices().nth(limit).is_some(),
            Message::User { images, .. } => !images.is_empty(),
            Message::Assistant { .. } => false,
        };
        let Some(last) = self.history.iter().take(whole_from).rposition(is_long) else { return };
        let left_out = self.left_out(last + 1, last + 1);
        self.left_out = Some(left_out);
        for message in self.history.iter_mut().take(last + 1) {
            if let Message::Tool { text, .. } = message
                && let Some((cut, _)) = text.char_indices().nth(limit)
            {
                text.truncate(cut);
                text.push_str(texts::SHRUNK);
            }
            leave_out_images(message, line);
        }
    }
}

/// Writes the line in the place of an image.
type ImageLine = fn(&ImageRef) -> String;

/// Puts a line in the place of each image of a message.
fn leave_out_images(message: &mut Message, line: ImageLine) {
    match message {
        Message::User { text, images } | Message::Tool { text, images, .. } => {
            for image in std::mem::take(images) {
                text.push_str(&line(&image));
            }
        }
        Message::Assistant { .. } => {}
    }
}
