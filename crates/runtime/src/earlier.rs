//! Searches the records of a session for the tool `recall` (C5). The permission of each call whose result is found is
//! checked again, because the rules may forbid by now what it read (X5).

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_store::{ReverseRecords, Store, StoreError};
use windlass_tools::{BoxFuture, EarlierConversation, FoundText, Offer, Permissions, Secrets};
use windlass_vocab::{CallFinished, CallId, CallRequested, Json, Part, Record, SessionId, TextOrigin, ToolName};

/// The most passages that a search returns, and the characters of each.
const PASSAGES: usize = 8;
const PASSAGE_CHARS: usize = 600;
/// Characters before the first word that was found.
const BEFORE: usize = 150;

/// The records of one session.
pub(crate) struct SessionRecords {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) session: SessionId,
    pub(crate) offer: Offer,
    pub(crate) permissions: Arc<Permissions>,
    /// Checked again, because secrets may have become known since a text was stored.
    pub(crate) secrets: Arc<Secrets>,
    /// The call that searches: what it and its turn say is no earlier part.
    pub(crate) call: CallId,
}

impl EarlierConversation for SessionRecords {
    fn search(&self, words: String) -> BoxFuture<'_, FoundText> {
        Box::pin(async move {
            let wanted: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
            match self.find(&wanted).await {
                Ok(passages) => rendered(passages),
                Err(error) => FoundText { text: format!("The records can't be read: {error}"), origin: None },
            }
        })
    }
}

/// A passage that contains some of the words.
struct EarlierPassage {
    /// How many of the words it contains.
    words: usize,
    /// How many passages are newer.
    age: usize,
    text: String,
    origin: Option<TextOrigin>,
}

impl SessionRecords {
    /// Returns the passages with the most of the words, the newest first where they have as many.
    async fn find(&self, wanted: &[String]) -> Result<Vec<EarlierPassage>, StoreError> {
        let mut records = ReverseRecords::new(self.store.as_ref(), self.session);
        let mut found: Vec<EarlierPassage> = Vec::new();
        let mut results: BTreeMap<CallId, CallFinished> = BTreeMap::new();
        let mut edited: BTreeMap<CallId, Json> = BTreeMap::new();
        let mut age = 0;
        while let Some(envelope) = records.next().await? {
            age += 1;
            let (title, text, origin) = match envelope.record {
                Record::MessageAccepted(accepted) => ("The person".to_owned(), accepted.sent_text().into_owned(), None),
                Record::ModelReplied(replied) if replied.role.is_turn() => {
                    ("You".to_owned(), Part::joined_text(&replied.parts), None)
                }
                Record::CallFinished(finished) => {
                    results.insert(finished.call, finished);
                    continue;
                }
                Record::CallStarted(started) => {
                    edited.extend(started.arguments.map(|arguments| (started.call, arguments)));
                    continue;
                }
                Record::CallRequested(request) => {
                    let result = results.remove(&request.call);
                    match result.and_then(|result| self.result(&request, edited.get(&request.call), result)) {
                        Some(passage) => passage,
                        None => continue,
                    }
                }
                _ => continue,
            };
            let words = count(&text, wanted);
            if words > 0 {
                let text = format!("{title}: {}", excerpt(&self.secrets.scrub(&text), wanted));
                found.push(EarlierPassage { words, age, text, origin });
                found.sort_by_key(|passage| (std::cmp::Reverse(passage.words), passage.age));
                found.truncate(PASSAGES);
            }
        }
        Ok(found)
    }

    /// Returns the title, text and origin of a call's result; `None` where the rules forbid the call now.
    fn result(
        &self,
        request: &CallRequested,
        edited: Option<&Json>,
        result: CallFinished,
    ) -> Option<(String, String, Option<TextOrigin>)> {
        let tool = request.tool.as_ref()?;
        let now = (request.call.run, request.call.turn) == (self.call.run, self.call.turn);
        let arguments = edited.unwrap_or(&request.arguments);
        if now || self.offer.forbidden(tool, arguments, &self.permissions).is_some() {
            return None;
        }
        let title = format!("Call {} of {}", request.call, ToolName::bare(tool));
        Some((title, format!("{} {}", arguments.as_str(), result.text), result.origin))
    }
}

/// Returns how many of the words a text contains.
fn count(text: &str, wanted: &[String]) -> usize {
    let text = text.to_lowercase();
    wanted.iter().filter(|word| text.contains(word.as_str())).count()
}

/// Returns the part of a text around the first word that is found.
fn excerpt(text: &str, wanted: &[String]) -> String {
    let lower = text.to_lowercase();
    let first = wanted.iter().filter_map(|word| lower.find(word.as_str())).min().unwrap_or(0);
    // Lower case may have another length; the place is then only about right.
    let skipped = lower.get(..first).map_or(0, |before| before.chars().count()).saturating_sub(BEFORE);
    let part: String = text.chars().skip(skipped).take(PASSAGE_CHARS).collect();
    let before = if skipped > 0 { "…" } else { "" };
    let after = if text.chars().count() > skipped + PASSAGE_CHARS { "…" } else { "" };
    format!("{before}{part}{after}")
}

fn rendered(passages: Vec<EarlierPassage>) -> FoundText {
    if passages.is_empty() {
        return FoundText {
            text: "Nothing of this conversation contains any of these words.".to_owned(),
            origin: None,
        };
    }
    let origin = passages.iter().find_map(|passage| passage.origin.clone());
    let text = passages.into_iter().map(|passage| passage.text).collect::<Vec<_>>().join("\n\n");
    FoundText { text, origin }
}
