//! Whether a request was read from the provider's prompt cache, and if not, why (M6). What a request to a model sends
//! begins with what the last one sent, unless a record in between says otherwise, so a fold of the records tells how
//! much could have been read, and the usage in the reply how much was.

use std::collections::BTreeMap;

use windlass_vocab::{
    CacheMissCause, CacheReport, CacheResult, ModelName, ModelReplied, PinnedContext, PromptCache, Record, RunModel,
    Timestamp, TurnMode, Usage,
};

/// The end of a request that is sent anew in each turn, in tokens: reminders and the plan. Providers read in blocks,
/// too. A request of which no more than this was missed was read from the cache.
const ANEW: u64 = 512;

/// What the providers' caches may hold of the conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CacheWatch {
    /// The last request to each model.
    sent: BTreeMap<ModelName, SentRequest>,
    /// The model of the last one.
    last: Option<ModelName>,
    /// The purpose of the turn under way.
    mode: Option<TurnMode>,
}

/// A request that a model has answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SentRequest {
    usage: Usage,
    at: Timestamp,
    mode: Option<TurnMode>,
    /// The first change since to what is sent in the same words.
    changed: Option<CacheMissCause>,
}

impl SentRequest {
    /// Returns how many of its tokens can be read from the cache when they are sent again.
    fn kept(&self, cache: PromptCache) -> u64 {
        let counted = self.usage.cached.saturating_add(self.usage.cache_written);
        let kept = if cache.counts_writes || self.usage.cache_written > 0 { counted } else { self.usage.input };
        if kept < cache.least_tokens { 0 } else { kept }
    }
}

/// A request that was just answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnsweredRequest<'a> {
    pub(crate) model: &'a ModelName,
    pub(crate) mode: TurnMode,
    pub(crate) usage: &'a Usage,
    pub(crate) at: Timestamp,
    /// What is known of the model.
    pub(crate) known: Option<&'a RunModel>,
}

impl CacheWatch {
    /// Returns how a request stands to the cache; `None` where nothing is known of one.
    pub(crate) fn report(&self, request: &AnsweredRequest<'_>) -> Option<CacheReport> {
        let cache = request.known.and_then(|model| model.cache);
        let own = self.sent.get(request.model);
        let usage = request.usage;
        if cache.is_none() && own.is_none() && usage.cached == 0 && usage.cache_written == 0 {
            return None;
        }
        let mut report = CacheReport {
            at: request.at,
            result: CacheResult::NotReported,
            expected: 0,
            missed: 0,
            why: None,
            cost: None,
        };
        if usage.estimated {
            return Some(report);
        }
        let cache = cache.unwrap_or_default();
        report.expected = match (own, self.last()) {
            (Some(own), _) => own.kept(cache),
            // The other model's cache holds it.
            (None, Some(other)) => other.usage.input,
            (None, None) => 0,
        };
        // What is no longer sent is not missed.
        report.expected = report.expected.min(usage.input);
        let missed = report.expected.saturating_sub(usage.cached);
        report.result = match (usage.cached, missed) {
            (0, _) => CacheResult::Missed,
            (_, missed) if missed <= ANEW => CacheResult::Hit,
            (_, _) => CacheResult::Partial,
        };
        if report.result != CacheResult::Hit {
            report.missed = missed;
            report.why = Some(self.cause(request, cache, report.expected));
            let prices = request.known.and_then(|model| model.prices).filter(|_| missed > 0);
            report.cost = prices.map(|prices| prices.cost_of_miss(usage, missed));
        }
        Some(report)
    }

    fn cause(&self, request: &AnsweredRequest<'_>, cache: PromptCache, expected: u64) -> CacheMissCause {
        let Some(own) = self.sent.get(request.model) else {
            return if self.last.is_some() { CacheMissCause::ModelSwitched } else { CacheMissCause::FirstRequest };
        };
        let may_call = |mode: TurnMode| mode == TurnMode::Tools;
        let pause = request.at.ms_since(own.at);
        if let Some(changed) = own.changed {
            changed
        } else if expected == 0 {
            CacheMissCause::TooShort
        } else if own.mode.is_some_and(|mode| may_call(mode) != may_call(request.mode)) {
            CacheMissCause::ToolChoiceChanged
        } else if cache.keeps_ms.is_some_and(|keeps| pause > keeps) {
            CacheMissCause::Expired
        } else {
            CacheMissCause::Unknown
        }
    }

    fn last(&self) -> Option<&SentRequest> {
        self.last.as_ref().and_then(|model| self.sent.get(model))
    }

    /// Applies a record. A new context is applied by [`Self::context_changed`].
    pub(crate) fn apply(&mut self, record: &Record) {
        match record {
            Record::TurnStarted(started) => self.mode = Some(started.mode),
            Record::ModelReplied(replied) => self.replied(replied),
            Record::Compacted(_) => self.changed(CacheMissCause::Compaction),
            Record::SessionChanged(changed) if changed.imported.is_some() => *self = Self::default(),
            _ => {}
        }
    }

    /// Notes that another context was pinned.
    pub(crate) fn context_changed(&mut self, before: Option<&PinnedContext>, after: &PinnedContext) {
        let same_tools = before.is_some_and(|before| before.offer == after.offer && before.dialect == after.dialect);
        self.changed(if same_tools { CacheMissCause::PrefixChanged } else { CacheMissCause::OfferChanged });
    }

    fn changed(&mut self, cause: CacheMissCause) {
        for sent in self.sent.values_mut() {
            sent.changed.get_or_insert(cause);
        }
    }

    fn replied(&mut self, replied: &ModelReplied) {
        let Some(report) = replied.cache.as_ref().filter(|report| report.result != CacheResult::NotReported) else {
            return;
        };
        // Passages are chosen anew for each turn.
        let input = replied.usage.input.saturating_sub(replied.retrieved);
        let usage = Usage { input, ..replied.usage };
        let sent = SentRequest { usage, at: report.at, mode: self.mode, changed: None };
        self.sent.insert(replied.model.clone(), sent);
        self.last = Some(replied.model.clone());
    }
}
