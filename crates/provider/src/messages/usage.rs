//! Token counts. A stream reports them twice: what was sent at its start, what was received at its end, where the
//! first are repeated and may have grown.

use serde::Deserialize;
use windlass_vocab::Usage;

use crate::json_text::RawJson;

/// The counts reported so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ReportedCounts {
    input: Option<u64>,
    cache_read: Option<u64>,
    cache_written: Option<u64>,
    output: Option<u64>,
    thinking: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ReportedTokens {
    input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    output_tokens_details: Option<ReportedOutput>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ReportedOutput {
    thinking_tokens: Option<u64>,
}

impl ReportedCounts {
    /// Adds a report; its counts replace earlier ones.
    pub(super) fn add(&mut self, raw: Option<RawJson<'_>>) {
        let Some(RawJson(raw)) = raw else { return };
        let Ok(Some(wire)) = serde_json::from_str::<Option<ReportedTokens>>(raw) else { return };
        let thinking = wire.output_tokens_details.and_then(|details| details.thinking_tokens);
        *self = Self {
            input: wire.input_tokens.or(self.input),
            cache_read: wire.cache_read_input_tokens.or(self.cache_read),
            cache_written: wire.cache_creation_input_tokens.or(self.cache_written),
            output: wire.output_tokens.or(self.output),
            thinking: thinking.or(self.thinking),
        };
    }

    /// Returns the usage of the call, if any was reported. This API counts what it read from its cache, and what it
    /// wrote there, beside the rest of the input.
    pub(super) fn usage(self) -> Option<Usage> {
        let (cached, cache_written) = (self.cache_read.unwrap_or(0), self.cache_written.unwrap_or(0));
        let input = self.input.unwrap_or(0).saturating_add(cached).saturating_add(cache_written);
        let output = self.output.unwrap_or(0);
        (input > 0 || output > 0).then(|| Usage {
            input,
            output,
            cached,
            cache_written,
            reasoning: self.thinking.unwrap_or(0),
            calls: 1,
            estimated: false,
        })
    }
}
