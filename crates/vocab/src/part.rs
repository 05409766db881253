//! The parts of a model's reply.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::Json;

/// A part of a model's reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// Text for the person.
    Text {
        /// The text.
        text: String,
    },
    /// Reasoning; displayed as thinking, never as the answer.
    Thinking {
        /// The reasoning text, empty where the provider hides it.
        text: String,
        /// The provider's signature, returned unchanged to the same model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    /// A call the model asked for; its details are in the `CallRequested` of the same batch.
    Call {
        /// The call's place among the calls of the reply, from 0.
        index: u32,
    },
    /// An item that only the model that made it understands, such as encrypted reasoning. It is returned unchanged to
    /// that model, and is never shown.
    Opaque {
        /// The item as the wire has it.
        item: Json,
    },
}

impl Part {
    /// Returns the text, if this part is text for the person.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(text),
            Self::Thinking { .. } | Self::Call { .. } | Self::Opaque { .. } => None,
        }
    }

    /// Returns the text, if this part is reasoning.
    #[must_use]
    pub fn as_thinking(&self) -> Option<&str> {
        match self {
            Self::Thinking { text, .. } => Some(text),
            Self::Text { .. } | Self::Call { .. } | Self::Opaque { .. } => None,
        }
    }

    /// Returns the text for the person in these parts, joined.
    #[must_use]
    pub fn joined_text(parts: &[Self]) -> String {
        parts.iter().filter_map(Self::as_text).collect()
    }

    /// Returns the reasoning in these parts, joined.
    #[must_use]
    pub fn joined_thinking(parts: &[Self]) -> String {
        parts.iter().filter_map(Self::as_thinking).collect()
    }
}

/// The fields of every kind of part. An enum tagged inside would buffer its fields, and JSON text that must be kept as
/// it was written can't be read from a buffer.
#[derive(Deserialize)]
struct PartFields {
    r#type: PartKind,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    signature: Option<String>,
    #[serde(default)]
    index: Option<u32>,
    #[serde(default)]
    item: Option<Json>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum PartKind {
    Text,
    Thinking,
    Call,
    Opaque,
}

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let PartFields { r#type, text, signature, index, item } = PartFields::deserialize(deserializer)?;
        let missing = D::Error::missing_field;
        Ok(match r#type {
            PartKind::Text => Self::Text { text: text.ok_or_else(|| missing("text"))? },
            PartKind::Thinking => Self::Thinking { text: text.ok_or_else(|| missing("text"))?, signature },
            PartKind::Call => Self::Call { index: index.ok_or_else(|| missing("index"))? },
            PartKind::Opaque => Self::Opaque { item: item.ok_or_else(|| missing("item"))? },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Part;
    use crate::{Json, ModelReplied, StopReason};

    // proves J7, M5
    #[test]
    fn a_part_reads_back_as_it_was_written() {
        let item = Json::parse(r#"{"type":"redacted_thinking","n": 1.50,"data":"a\nb"}"#).expect("JSON");
        for (part, stored) in [
            (Part::Text { text: "hi".into() }, r#"{"type":"text","text":"hi"}"#),
            (Part::Thinking { text: "hm".into(), signature: None }, r#"{"type":"thinking","text":"hm"}"#),
            (
                Part::Thinking { text: String::new(), signature: Some("c2ln".into()) },
                r#"{"type":"thinking","text":"","signature":"c2ln"}"#,
            ),
            (Part::Call { index: 3 }, r#"{"type":"call","index":3}"#),
            (Part::Opaque { item }, r#"{"type":"opaque","item":{"type":"redacted_thinking","n": 1.50,"data":"a\nb"}}"#),
        ] {
            assert_eq!(serde_json::to_string(&part).expect("JSON"), stored);
            assert_eq!(serde_json::from_str::<Part>(stored).expect("a part"), part);
        }
    }

    #[test]
    fn a_part_without_its_content_is_refused() {
        for (stored, missing) in [
            (r#"{"type":"text"}"#, "text"),
            (r#"{"type":"thinking","signature":"x"}"#, "text"),
            (r#"{"type":"call"}"#, "index"),
            (r#"{"type":"opaque"}"#, "item"),
        ] {
            let error = serde_json::from_str::<Part>(stored).expect_err(stored);
            assert!(error.to_string().contains(&format!("missing field `{missing}`")), "{error}");
        }
        assert!(serde_json::from_str::<Part>(r#"{"type":"poem","text":"x"}"#).is_err());
    }

    // proves J7
    #[test]
    fn a_reply_stored_before_opaque_parts_and_pauses_still_reads() {
        let old = r#"{"attempt":1,"model":"m","parts":[{"type":"thinking","text":"hm"},{"type":"text","text":"hi"}]}"#;
        let replied: ModelReplied = serde_json::from_str(old).expect("a record");
        assert_eq!(replied.stop, StopReason::Stop);
        assert_eq!(
            (Part::joined_text(&replied.parts), Part::joined_thinking(&replied.parts)),
            ("hi".into(), "hm".into())
        );
        assert_eq!(serde_json::to_string(&StopReason::Paused).expect("JSON"), r#""paused""#);
    }
}
