//! Chooses what is no longer sent when the conversation gets too long (C5, C6). Cuts lie between turns, never between a
//! call and its result; the newest messages stay as they are, and so does the message that started the run.

use windlass_vocab::{Compacted, CompactionMethod, HistoryKeeping, Message};

use crate::counting::{estimate, image_tokens};
use crate::transcript::Transcript;

/// Characters kept of each older result.
const OLD_RESULT: u32 = 800;
/// Characters kept of each result once nothing else can be left out, in the order tried.
const SHRINK_TO: [u32; 3] = [2_000, 500, 100];
/// A result that was cut before exceeds its limit by the note about the cut.
const NOTE: usize = 100;

/// How much of the conversation may stay. All amounts are estimates in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HistoryLimits {
    /// More than this, and older turns are left out.
    pub(crate) fits: u64,
    /// More than this, and even the newest results are shortened.
    pub(crate) most: u64,
    /// What the newest messages may take when older ones are left out.
    pub(crate) keep: u64,
    /// How many messages may stay at most, and how many stay when there are more.
    pub(crate) messages: Option<(usize, usize)>,
    /// What a model can be sent at most to summarise it.
    pub(crate) request: u64,
    /// What an eviction must free at least to be worth a changed start of the conversation.
    pub(crate) worth: u64,
}

/// Who writes the summary of what is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SummaryBy {
    /// A model.
    Model,
    /// Nobody: a plain one is made from the messages.
    Records,
}

impl SummaryBy {
    /// A model can only summarise what fits into its window.
    fn for_request(self, request: u64, most: u64) -> Self {
        if request <= most { self } else { Self::Records }
    }
}

/// The next step to a shorter conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Eviction {
    /// Results are shortened.
    Shrink(Compacted),
    /// The messages before this index are left out.
    Drop(usize, CompactionMethod),
    /// A model writes a summary of the messages before this index, which are then left out.
    Summarise(usize),
}

/// Returns the next step; `None` where nothing has to be left out, or nothing more can be.
pub(crate) fn next(
    transcript: &Transcript,
    row: HistoryKeeping,
    limits: &HistoryLimits,
    by: SummaryBy,
) -> Option<Eviction> {
    let total: u64 = transcript.history.iter().map(estimate).sum();
    let too_many = limits.messages.filter(|(most, _)| transcript.history.len() > *most).map(|(_, keep)| keep);
    if total <= limits.fits && too_many.is_none() {
        return None;
    }
    let cut = cut_for(transcript, limits.keep, too_many);
    let worth = |cut: &usize| too_many.is_some() || freed_before(transcript, *cut) >= limits.worth;
    let step = match row {
        HistoryKeeping::AllThatFits | HistoryKeeping::Pruned => {
            cut.filter(worth).map(|cut| Eviction::Drop(cut, CompactionMethod::Pruned))
        }
        HistoryKeeping::Summarised | HistoryKeeping::Consolidated { .. } => {
            let shrunk = cut.filter(|_| too_many.is_none()).and_then(|cut| {
                // Where shorter results are not enough, the summary had better read them whole.
                let freed = freed_by_shrinking(transcript, cut);
                (freed >= limits.worth && total.saturating_sub(freed) + limits.worth <= limits.fits).then_some(cut)
            });
            match (shrunk, cut.filter(worth)) {
                (Some(whole_from), _) => Some(Eviction::Shrink(shrink_old(transcript, whole_from))),
                (None, Some(cut)) => Some(match by.for_request(freed_before(transcript, cut), limits.request) {
                    SummaryBy::Model => Eviction::Summarise(cut),
                    SummaryBy::Records => Eviction::Drop(cut, CompactionMethod::Plain),
                }),
                (None, None) => None,
            }
        }
    };
    step.or_else(|| (total > limits.most).then(|| shrink_all(transcript)).flatten().map(Eviction::Shrink))
}

/// Returns the first cut behind which no more than `keep` tokens, or this many messages, are left; the last possible cut
/// where none leaves so little.
pub(crate) fn cut_for(transcript: &Transcript, keep: u64, messages: Option<usize>) -> Option<usize> {
    let history = &transcript.history;
    // The goal stays in any case.
    let first = transcript.replacements() + usize::from(transcript.goal() == Some(transcript.replacements()));
    let mut behind: u64 = history.iter().map(estimate).sum();
    let mut last = None;
    for (place, message) in history.iter().enumerate() {
        let is_boundary = match message {
            Message::User { .. } | Message::Assistant { .. } => true,
            Message::Tool { .. } => false,
        };
        if is_boundary && place > first {
            last = Some(place);
            let fits = messages.is_none_or(|most| history.len() - place <= most);
            if fits && (behind <= keep || messages.is_some()) {
                break;
            }
        }
        behind = behind.saturating_sub(estimate(message));
    }
    last
}

/// Returns the tokens of the messages before a cut, without the replacements of earlier ones.
fn freed_before(transcript: &Transcript, cut: usize) -> u64 {
    let messages = transcript.history.iter().enumerate().take(cut).skip(transcript.replacements());
    messages.filter(|(place, _)| transcript.goal() != Some(*place)).map(|(_, message)| estimate(message)).sum()
}

fn freed_by_shrinking(transcript: &Transcript, whole_from: usize) -> u64 {
    let old = || transcript.history.iter().take(whole_from);
    let limit = usize::try_from(OLD_RESULT).unwrap_or(usize::MAX) + NOTE;
    let long = old().map(result_chars).filter(|chars| *chars > limit);
    let texts: u64 = long.map(|chars| u64::try_from((chars - limit) / 3).unwrap_or(0)).sum();
    texts + old().map(|message| image_tokens(message.images())).sum::<u64>()
}

fn shrink_old(transcript: &Transcript, whole_from: usize) -> Compacted {
    let whole_from = Some(transcript.number_of(whole_from));
    Compacted { result_chars: Some(OLD_RESULT), whole_from, ..compacted(transcript, CompactionMethod::Shrunk) }
}

/// Returns a compaction that shortens all results; `None` where none is long.
pub(crate) fn shrink_all(transcript: &Transcript) -> Option<Compacted> {
    let longest = transcript.history.iter().map(result_chars).max().unwrap_or(0);
    let has_images = transcript.history.iter().any(|message| !message.images().is_empty());
    let is_shorter = |limit: &u32| has_images || usize::try_from(*limit).is_ok_and(|limit| longest > limit + NOTE);
    let limit = SHRINK_TO.into_iter().find(is_shorter)?;
    Some(Compacted { result_chars: Some(limit), ..compacted(transcript, CompactionMethod::Shrunk) })
}

/// Returns a compaction that leaves out the images alone; `None` where there is none.
pub(crate) fn without_images(transcript: &Transcript) -> Option<Compacted> {
    let has_images = transcript.history.iter().any(|message| !message.images().is_empty());
    has_images.then(|| compacted(transcript, CompactionMethod::Shrunk))
}

/// Returns a compaction that leaves nothing out.
fn compacted(transcript: &Transcript, method: CompactionMethod) -> Compacted {
    Compacted::new(transcript.compactions + 1, method, transcript.dropped)
}

fn result_chars(message: &Message) -> usize {
    match message {
        Message::Tool { text, .. } => text.chars().count(),
        Message::User { .. } | Message::Assistant { .. } => 0,
    }
}
