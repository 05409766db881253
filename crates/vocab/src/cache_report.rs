//! Whether a request was read from the provider's prompt cache, and if not, why, and what that cost (M6).

use serde::{Deserialize, Serialize};

use crate::{NanoMoney, Timestamp};

/// What is known of the prompt cache of a model's provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptCache {
    /// How long what was sent is kept without being used again, in milliseconds; absent where nobody says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keeps_ms: Option<u64>,
    /// Requests with fewer tokens than this are not kept.
    #[serde(default)]
    pub least_tokens: u64,
    /// Set when the provider counts what it writes to its cache: then nothing else can be read from it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counts_writes: bool,
}

/// How a request stands to the prompt cache of its provider. It is a part of the reply's record, and decided from
/// earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheReport {
    /// When the reply came: the pause before the next request is counted from here.
    pub at: Timestamp,
    /// Whether it was read from the cache.
    pub result: CacheResult,
    /// How many tokens an earlier request had sent in the same words, and could have been read from the cache.
    #[serde(default)]
    pub expected: u64,
    /// Of those, how many were not.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub missed: u64,
    /// Why they were not, where some were missed or nothing was expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<CacheMissCause>,
    /// What the missed tokens cost above the price of tokens that are read from the cache, where prices are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<NanoMoney>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Whether a request was read from the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheResult {
    /// All that could be.
    Hit,
    /// A part of it.
    Partial,
    /// Nothing.
    Missed,
    /// The provider gave no counts.
    NotReported,
}

/// Why a request, or a part of it, was not read from the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheMissCause {
    /// It was the session's first.
    FirstRequest,
    /// The session's earlier requests went to another model.
    ModelSwitched,
    /// Older turns were left out, shortened or summarised since.
    Compaction,
    /// Other tools were offered.
    OfferChanged,
    /// The text before the conversation changed.
    PrefixChanged,
    /// The model was no longer allowed to call tools, or allowed again: some providers keep these apart.
    ToolChoiceChanged,
    /// The pause since the last request was longer than the provider keeps what it has read.
    Expired,
    /// The earlier request was too short to be kept.
    TooShort,
    /// Nothing that is known.
    Unknown,
}

impl CacheMissCause {
    /// Returns the cause in a few words, for people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::FirstRequest => "first request",
            Self::ModelSwitched => "another model",
            Self::Compaction => "history shortened",
            Self::OfferChanged => "other tools offered",
            Self::PrefixChanged => "instructions changed",
            Self::ToolChoiceChanged => "tools forbidden or allowed again",
            Self::Expired => "pause too long",
            Self::TooShort => "too short to be kept",
            Self::Unknown => "cause unknown",
        }
    }
}
