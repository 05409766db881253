//! What of an output item only the model that made it can use, as the history keeps it in [`Part::Opaque`].
//!
//! There are two kinds. A reasoning item has the model's reasoning, encrypted or in the open, and is sent back in its
//! place. The phase of a message says whether the model meant it as its answer or as a remark on the way; it is sent
//! back with the text that follows it.
//!
//! [`Part::Opaque`]: windlass_vocab::Part::Opaque

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use windlass_vocab::Json;

use super::event::OutputItem;

/// A kept item, read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum KeptItem<'a> {
    /// A reasoning item, as it is sent.
    Reasoning(&'a str),
    /// The phase of the text that follows.
    Phase(String),
}

#[derive(Deserialize)]
struct KeptFields {
    r#type: String,
    #[serde(default)]
    phase: Option<String>,
}

impl<'a> KeptItem<'a> {
    /// Reads an item back; `None` if it is of another protocol.
    pub(super) fn read(item: &'a Json) -> Option<Self> {
        let fields: KeptFields = serde_json::from_str(item.as_str()).ok()?;
        match (fields.r#type.as_str(), fields.phase) {
            ("reasoning", _) => Some(Self::Reasoning(item.as_str())),
            ("message", Some(phase)) => Some(Self::Phase(phase)),
            _ => None,
        }
    }
}

/// A reasoning item in a request. Fields that only an answer has, such as the status, are left out.
#[derive(Serialize)]
struct KeptReasoning<'a> {
    r#type: &'static str,
    id: &'a str,
    summary: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    encrypted_content: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct KeptPhase<'a> {
    r#type: &'static str,
    phase: &'a str,
}

/// Returns what is kept of a reasoning item. One with neither encrypted nor open reasoning is only a reference to
/// what the server stored, and it was asked to store nothing.
pub(super) fn kept_reasoning(item: &OutputItem<'_>) -> Option<Json> {
    let no_summary: &RawValue = serde_json::from_str("[]").ok()?;
    let encrypted_content = item.encrypted_content.filter(|raw| raw.get().len() > 2);
    let content = item.content.filter(|raw| is_filled_list(raw));
    if encrypted_content.is_none() && content.is_none() {
        return None;
    }
    let summary = item.summary.filter(|raw| is_filled_list(raw)).unwrap_or(no_summary);
    kept(&KeptReasoning { r#type: "reasoning", id: item.id(), summary, content, encrypted_content })
}

/// Returns what is kept of a message's phase.
pub(super) fn kept_phase(phase: &str) -> Option<Json> {
    kept(&KeptPhase { r#type: "message", phase })
}

fn kept(item: &impl Serialize) -> Option<Json> {
    Json::parse(&serde_json::to_string(item).ok()?).ok()
}

fn is_filled_list(raw: &RawValue) -> bool {
    let inside = raw.get().strip_prefix('[').and_then(|list| list.strip_suffix(']'));
    inside.is_some_and(|list| !list.trim().is_empty())
}
