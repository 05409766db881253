//! Shortens the history after an overflow error in runs from before budgets, which are decided as they were (C6): drops
//! the oldest turns first, always whole turns; when no older turn is left, cuts long results. The message that started
//! the run stays.

use windlass_vocab::{Compacted, CompactionMethod, Message, Part};

use crate::evict::shrink_all;
use crate::transcript::Transcript;

/// Returns the next shortening, or `None` when nothing more can be shortened.
pub(crate) fn shorten(transcript: &Transcript) -> Option<Compacted> {
    let Some(cut) = oldest_half(transcript) else { return shrink_all(transcript) };
    let through = transcript.number_of(cut);
    Some(Compacted::new(transcript.compactions + 1, CompactionMethod::Pruned, through))
}

/// Returns where to cut so that at most half remains; `None` when only the goal and the last turn are left.
fn oldest_half(transcript: &Transcript) -> Option<usize> {
    let history = &transcript.history;
    let sizes: Vec<usize> = history.iter().map(size).collect();
    let total: usize = sizes.iter().sum();
    let first_droppable = usize::from(transcript.goal() == Some(0));
    // The rest must begin with a person's message: the goal, which is kept if it is before the cut, or another one.
    let boundaries = (first_droppable + 1..history.len()).filter(|at| match history[*at] {
        Message::User { .. } => true,
        Message::Assistant { .. } => transcript.goal().is_some_and(|goal| goal < *at),
        Message::Tool { .. } => false,
    });
    let mut last = None;
    for cut in boundaries {
        last = Some(cut);
        if sizes[cut..].iter().sum::<usize>() * 2 <= total {
            break;
        }
    }
    last
}

fn size(message: &Message) -> usize {
    match message {
        Message::User { text, .. } | Message::Tool { text, .. } => text.len(),
        Message::Assistant { parts, calls, model: _ } => {
            let said: usize = parts.iter().map(part_size).sum();
            said + calls.iter().map(|call| call.name.len() + call.arguments.as_str().len()).sum::<usize>()
        }
    }
}

fn part_size(part: &Part) -> usize {
    match part {
        Part::Text { text } | Part::Thinking { text, .. } => text.len(),
        Part::Opaque { item } => item.as_str().len(),
        Part::Call { .. } => 0,
    }
}
