//! The last check before a history is sent (J10): every call is followed by its result, no result lacks its call, and
//! the first message is a person's. `Transcript` guarantees this; an imported history may violate it, and is repaired
//! on a copy.

use std::borrow::Cow;

use windlass_vocab::{CallInHistory, Message, OutcomeKind};

use crate::texts;

/// Returns the history, or a repaired copy of it.
#[must_use]
pub fn legal(history: &[Message]) -> Cow<'_, [Message]> {
    if is_legal(history) { Cow::Borrowed(history) } else { Cow::Owned(repaired(history)) }
}

fn is_legal(history: &[Message]) -> bool {
    if history.first().is_some_and(|first| !matches!(first, Message::User { .. })) {
        return false;
    }
    let mut owed: &[CallInHistory] = &[];
    for message in history {
        match (message, owed) {
            (Message::Tool { call, .. }, [next, rest @ ..]) if next.call == *call => owed = rest,
            (Message::Tool { .. }, _) | (_, [_, ..]) => return false,
            (Message::Assistant { calls, .. }, []) => owed = calls,
            (Message::User { .. }, []) => {}
        }
    }
    owed.is_empty()
}

fn repaired(history: &[Message]) -> Vec<Message> {
    let start = history.iter().position(|message| matches!(message, Message::User { .. })).unwrap_or(history.len());
    let mut whole = Vec::with_capacity(history.len());
    let mut rest = &history[start..];
    while let Some((message, after)) = rest.split_first() {
        rest = after;
        match message {
            Message::User { .. } => whole.push(message.clone()),
            Message::Tool { .. } => {}
            Message::Assistant { calls, .. } => {
                whole.push(message.clone());
                let results = after.iter().take_while(|next| matches!(next, Message::Tool { .. })).count();
                whole.extend(calls.iter().map(|call| result_for(call, &after[..results])));
                rest = &after[results..];
            }
        }
    }
    whole
}

fn result_for(wanted: &CallInHistory, results: &[Message]) -> Message {
    let found = results.iter().find(|result| matches!(result, Message::Tool { call, .. } if *call == wanted.call));
    found.cloned().unwrap_or_else(|| Message::Tool {
        call: wanted.call,
        provider_id: wanted.provider_id.clone(),
        name: wanted.name.clone(),
        outcome: OutcomeKind::Interrupted,
        text: texts::INTERRUPTED.to_owned(),
        images: Vec::new(),
    })
}
