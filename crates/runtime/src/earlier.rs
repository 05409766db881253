//! Searches the records of a session for the tool `recall` (C5). What is still sent to the model is left out, and so are
//! earlier results of the tool itself. The permission of each call whose result is found is checked again, because the
//! rules may forbid by now what it read (X5).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_store::{ReverseRecords, Store, StoreError};
use windlass_tools::{BoxFuture, EarlierConversation, FoundText, Offer, Permissions, RECALL, Secrets};
use windlass_vocab::{
    CallFinished, CallId, CallRequested, Json, Message, Part, Record, SessionId, TextOrigin, ToolName,
};

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
    pub(crate) sent: SentTexts,
}

/// The texts that are still sent to the model, whole; those of results with their calls.
#[derive(Debug, Default)]
pub(crate) struct SentTexts(BTreeSet<(Option<CallId>, String)>);

impl SentTexts {
    /// Returns what a call of this tool needs: nothing, unless it searches.
    pub(crate) fn for_tool(tool: Option<&ToolName>, history: &[Message]) -> Self {
        if tool.is_none_or(|tool| tool.as_str() != RECALL) {
            return Self::default();
        }
        let sent = history.iter().map(|message| match message {
            Message::User { text, .. } => (None, text.clone()),
            Message::Assistant { parts, .. } => (None, Part::joined_text(parts)),
            Message::Tool { call, text, .. } => (Some(*call), text.clone()),
        });
        Self(sent.collect())
    }

    fn contains(&self, call: Option<CallId>, text: &str) -> bool {
        self.0.contains(&(call, text.to_owned()))
    }
}

impl EarlierConversation for SessionRecords {
    fn search(&self, words: String) -> BoxFuture<'_, Result<FoundText, String>> {
        Box::pin(async move {
            let wanted: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
            match self.find(&wanted).await {
                Ok(passages) => Ok(rendered(passages)),
                Err(error) => Err(format!("The records can't be read: {error}")),
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
        // What was said in the turn that searches is no earlier part.
        while let Some(envelope) = records.next().await? {
            if matches!(envelope.record, Record::TurnStarted(_)) {
                break;
            }
        }
        while let Some(envelope) = records.next().await? {
            age += 1;
            let (title, text, origin) = match envelope.record {
                Record::MessageAccepted(accepted) => ("The person".to_owned(), accepted.sent_text().into_owned(), None),
                Record::ModelReplied(replied) if replied.role.is_of_conversation() => {
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
            if words > 0 && !self.sent.contains(None, &text) {
                let text = format!("{title}: {}", excerpt(&self.secrets.scrub(&text), wanted));
                found.push(EarlierPassage { words, age, text, origin });
                found.sort_by_key(|passage| (std::cmp::Reverse(passage.words), passage.age));
                found.truncate(PASSAGES);
            }
        }
        Ok(found)
    }

    /// Returns the title, text and origin of a call's result; `None` where the model has it, or the rules forbid the call
    /// now.
    fn result(
        &self,
        request: &CallRequested,
        edited: Option<&Json>,
        result: CallFinished,
    ) -> Option<(String, String, Option<TextOrigin>)> {
        let tool = request.tool.as_ref()?;
        let arguments = edited.unwrap_or(&request.arguments);
        let is_known = tool.as_str() == RECALL || self.sent.contains(Some(request.call), &result.text);
        if is_known || self.offer.forbidden(tool, arguments, &self.permissions).is_some() {
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
            text: "Nothing that is no longer sent contains any of these words.".to_owned(),
            origin: None,
        };
    }
    let origin = passages.iter().find_map(|passage| passage.origin.clone());
    let text = passages.into_iter().map(|passage| passage.text).collect::<Vec<_>>().join("\n\n");
    FoundText { text, origin }
}
