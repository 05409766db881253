//! Finds requests of which the server read only a part without saying so (M8), by comparing our count with the server's.
//!
//! An estimate by bytes is no proof: a table full of blanks has few tokens for its bytes. So a request counts as cut only
//! where the server reports less than the text can have in any tokenizer: every word has at least a token. Or where it
//! reports hardly more than for the request before, although many words were added to that.

use windlass_vocab::{CutInput, Message, ModelName, Part, Usage};

use crate::AttemptKey;
use crate::control::Run;
use crate::counting::estimate;
use crate::draft::Draft;
use crate::transcript::Transcript;

/// No model has a smaller window. A server that reports less counts something else, such as what it had not cached.
const SMALLEST_WINDOW: u64 = 1_000;
/// The lines for one turn only, which are not counted, may be shorter than those of the turn before by this many tokens.
const UNCOUNTED: u64 = 1_000;

/// Returns how many tokens a text has at least: one for each word, less some that a tokenizer may join over a dot or a
/// hyphen.
#[must_use]
pub fn least_tokens(text: &str) -> u64 {
    words(text) / 8 * 7
}

fn words(text: &str) -> u64 {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    u64::try_from(words.count()).unwrap_or(u64::MAX)
}

impl Draft<'_> {
    /// Returns how much of the request of this attempt the server read, where it did not read all of it.
    pub(crate) fn cut_input(&self, key: AttemptKey, usage: &Usage) -> Option<CutInput> {
        let (run, attempt) = self.current(key).filter(|(_, attempt)| attempt.mode.role().is_turn())?;
        let model = run.model_of(attempt);
        let counted = counted(run, &self.state.transcript, &model);
        // Some servers count what they had cached apart from the rest: more than this they have not read.
        let most = usage.input.saturating_add(usage.cached).saturating_add(usage.cache_written);
        let is_near = most.saturating_mul(4) >= counted.saturating_mul(3);
        if usage.estimated || usage.input < SMALLEST_WINDOW || is_near || !run.has_known_models() {
            return None;
        }
        let is_cut = most < least_of(&self.state.transcript) || lacks_added(&self.state.transcript, &model, most);
        let software = run.started.model(&model).and_then(|model| model.software);
        (is_cut && !counts_new_only(&self.state.transcript, &model, most)).then_some(CutInput {
            counted,
            read: usage.input,
            software,
        })
    }
}

/// Returns our count of the request. A turn's budget is for the model that it called first.
fn counted(run: &Run, transcript: &Transcript, model: &ModelName) -> u64 {
    run.budget
        .as_ref()
        .filter(|_| *model == run.first_model())
        .map_or_else(|| transcript.meter.tokens(model).total(), windlass_vocab::ContextBudget::used)
}

/// Returns how many tokens the system text and the conversation have at least. The tools are not counted: a server may
/// leave them out because the model's template has no place for them.
fn least_of(transcript: &Transcript) -> u64 {
    let prefix = transcript.context.as_ref().map_or(0, |context| least_tokens(&context.prefix));
    transcript.history.iter().map(least_in_message).fold(prefix, u64::saturating_add)
}

fn least_in_message(message: &Message) -> u64 {
    match message {
        Message::User { text, .. } | Message::Tool { text, .. } => least_tokens(text),
        Message::Assistant { parts, calls, .. } => {
            let texts: u64 = parts.iter().filter_map(Part::as_text).map(least_tokens).sum();
            calls.iter().map(|call| least_tokens(call.arguments.as_str())).fold(texts, u64::saturating_add)
        }
    }
}

/// Whether the server read much less than for the request before and what was added to that.
fn lacks_added(transcript: &Transcript, model: &ModelName, most: u64) -> bool {
    // Earlier thinking is not always sent again.
    let is_plain = |part: &Part| matches!(part, Part::Text { .. } | Part::Call { .. });
    let is_sent_again = transcript.history.iter().all(|message| match message {
        Message::Assistant { parts, .. } => parts.iter().all(is_plain),
        Message::User { .. } | Message::Tool { .. } => true,
    });
    let Some((before, mut added)) = transcript.meter.since_last_report(model).filter(|_| is_sent_again) else {
        return false;
    };
    let mut least = before;
    for message in transcript.history.iter().rev() {
        match added.checked_sub(estimate(message)) {
            Some(rest) => added = rest,
            None => break,
        }
        least = least.saturating_add(least_in_message(message));
    }
    most.saturating_add(UNCOUNTED.max(least / 4)) < least
}

/// Whether the server reports only the tokens that it had not cached: it has read more before, so that its window is not
/// the reason.
fn counts_new_only(transcript: &Transcript, model: &ModelName, most: u64) -> bool {
    transcript.meter.since_last_report(model).is_some_and(|(before, _)| most.saturating_mul(2) < before)
}
