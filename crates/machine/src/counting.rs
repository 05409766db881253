//! Counts the tokens of a request (C4): what the provider reported for the last request of the same model, and an
//! estimate by bytes for what was added since, corrected by how far the estimates were off so far.
//!
//! Only sums are kept, and each record is measured once, so counting costs the same however long the history is. A
//! tokenizer would be exact for a few models, and for all others no better than a corrected estimate.

use std::collections::BTreeMap;

use windlass_vocab::{
    CallInHistory, ContextPinned, ImageRef, Message, ModelName, ModelReplied, Part, PinnedContext, PlanItem, Record,
    RunStarted, StopReason, ToolSpec,
};

use crate::blank::is_blank;

/// Bytes of prose in a token: common tokenizers need about one token for four letters of English.
const PROSE: u64 = 4;
/// Bytes of JSON or code in a token: brackets, quotes and indentation make tokens shorter.
const DENSE: u64 = 3;
/// Tokens around each message: its role and its delimiters.
const PER_MESSAGE: u64 = 4;
/// Bytes around the definition of a tool in a request.
const PER_TOOL: u64 = 60;
/// How far the estimates are corrected at most, in hundredths: half and three times. A server that reports less has cut
/// the request short, and one that reports more has counted something else.
const CORRECTION: std::ops::RangeInclusive<u64> = 50..=300;

fn prose(text: &str) -> u64 {
    bytes(text).div_ceil(PROSE)
}

fn dense(text: &str) -> u64 {
    bytes(text).div_ceil(DENSE)
}

fn bytes(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX)
}

/// The most tokens of an image, also of one whose size is unknown.
const LARGEST_IMAGE: u64 = 1_600;
/// Pixels of an image in a token.
const PIXELS: u64 = 750;

/// Estimates the tokens of images. Anthropic counts a token for 750 pixels and makes larger images smaller, to some 1,600
/// tokens; OpenAI counts 85 and 170 for each square of 512 pixels, at most 1,445, or squares of 32 pixels, at most 1,536.
/// So one estimate serves all wires, corrected like any other.
pub(crate) fn image_tokens<'a>(images: impl IntoIterator<Item = &'a ImageRef>) -> u64 {
    let of_image = |image: &ImageRef| match u64::from(image.width) * u64::from(image.height) {
        0 => LARGEST_IMAGE,
        pixels => pixels.div_ceil(PIXELS).clamp(85, LARGEST_IMAGE),
    };
    images.into_iter().map(of_image).sum()
}

/// Returns how many tokens there are at least where this many are estimated: half, as far as any server has counted.
pub(crate) fn least(estimate: u64) -> u64 {
    estimate.saturating_mul(*CORRECTION.start()) / 100
}

/// Estimates the tokens of a prompt, which is mostly prose.
#[must_use]
pub fn prompt_tokens(text: &str) -> u64 {
    prose(text)
}

/// Estimates the tokens of passages, which are mostly code.
#[must_use]
pub fn passage_tokens(text: &str) -> u64 {
    dense(text)
}

/// Returns the most bytes of passages that are estimated at no more than these tokens.
pub(crate) fn passage_bytes(tokens: u64) -> u64 {
    tokens.saturating_mul(DENSE)
}

/// Estimates the tokens of a message.
pub(crate) fn estimate(message: &Message) -> u64 {
    PER_MESSAGE
        + match message {
            Message::User { text, images } => prose(text) + image_tokens(images),
            Message::Tool { text, images, .. } => dense(text) + image_tokens(images),
            Message::Assistant { parts, calls, .. } => reply(parts) + calls.iter().map(call).sum::<u64>(),
        }
}

fn reply(parts: &[Part]) -> u64 {
    parts.iter().map(part).sum()
}

fn part(part: &Part) -> u64 {
    match part {
        Part::Text { text } | Part::Thinking { text, .. } => prose(text),
        Part::Opaque { item } => dense(item.as_str()),
        Part::Call { .. } => 0,
    }
}

fn call(call: &CallInHistory) -> u64 {
    requested(&call.name, call.arguments.as_str())
}

fn requested(name: &str, arguments: &str) -> u64 {
    PER_MESSAGE + dense(name) + dense(arguments)
}

fn tool(spec: &ToolSpec) -> u64 {
    let described = prose(&spec.description);
    described + (bytes(&spec.wire_name) + bytes(spec.schema.as_str()) + PER_TOOL).div_ceil(DENSE)
}

fn tools(context: &PinnedContext) -> u64 {
    // Where calls are text, the prefix describes the tools.
    if context.dialect.is_some() { 0 } else { context.offer.iter().map(tool).sum() }
}

fn plan(items: &[PlanItem]) -> u64 {
    items.iter().map(|item| PER_MESSAGE + prose(&item.step)).sum()
}

/// Whether a reply becomes part of the history.
pub(crate) fn enters_history(replied: &ModelReplied) -> bool {
    let says_something = replied.parts.iter().any(|part| match part {
        Part::Text { text } => !is_blank(text),
        Part::Call { .. } => true,
        Part::Thinking { .. } | Part::Opaque { .. } => false,
    });
    if !replied.role.is_of_conversation() {
        return false;
    }
    match replied.stop {
        StopReason::Filtered | StopReason::Refused | StopReason::Error => false,
        // The provider continues a paused reply by what it finds at the end of the history, whether it shows or not.
        StopReason::Paused => !replied.parts.is_empty(),
        StopReason::Stop | StopReason::Calls | StopReason::Length => says_something,
    }
}

/// What is known of the size of the next request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContextMeter {
    prefix: u64,
    tools: u64,
    /// The models that are sent rules about calls written as text in place of the tool definitions, with the tokens of
    /// the prefix that they are sent.
    text_prefixes: BTreeMap<ModelName, u64>,
    /// All messages: those that are sent, and those that wait until the open turn is complete.
    history: u64,
    /// The part of it that is images.
    images: u64,
    /// Whether the first model of the run's chain is sent images.
    sight: ImageSight,
    /// How many messages that are.
    messages: usize,
    plan: u64,
    /// The estimate for the conversation in the request that is under way.
    asked: Option<u64>,
    reports: BTreeMap<ModelName, TokenReport>,
}

/// Whether a model is sent images, or a sentence for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ImageSight {
    #[default]
    Sentences,
    Images,
}

/// What a provider reported for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TokenReport {
    reported: u64,
    estimated: u64,
    /// Whether later requests contain that one: nothing was left out or replaced since.
    contained: bool,
}

impl TokenReport {
    /// Corrects an estimate by how far this one was off.
    fn corrected(&self, estimate: u64) -> u64 {
        let hundredths = self.reported.saturating_mul(100).checked_div(self.estimated).unwrap_or(100);
        let hundredths = hundredths.clamp(*CORRECTION.start(), *CORRECTION.end());
        estimate.saturating_mul(hundredths).div_ceil(100)
    }
}

/// The parts of the next request, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestTokens {
    pub(crate) prefix: u64,
    pub(crate) tools: u64,
    pub(crate) history: u64,
}

impl RequestTokens {
    pub(crate) fn total(&self) -> u64 {
        self.prefix.saturating_add(self.tools).saturating_add(self.history)
    }
}

impl ContextMeter {
    /// Counts the next request, if this model is called.
    pub(crate) fn tokens(&self, model: &ModelName) -> RequestTokens {
        let (prefix, tools) = self.fixed(model);
        let sent = self.total(model);
        let (prefix, tools) = (self.corrected(model, prefix), self.corrected(model, tools));
        let total = match self.reports.get(model).filter(|report| report.contained) {
            Some(report) => {
                // No server counts less than half of the estimate, unless it has cut the request short.
                let reported = report.reported.max(report.corrected(report.estimated));
                match sent.checked_sub(report.estimated) {
                    Some(added) => reported.saturating_add(report.corrected(added)),
                    None => reported.saturating_sub(report.corrected(report.estimated - sent)),
                }
            }
            None => self.corrected(model, sent),
        };
        RequestTokens { prefix, tools, history: total.saturating_sub(prefix).saturating_sub(tools) }
    }

    /// Returns how many tokens the next request to this model has at least.
    pub(crate) fn least_tokens(&self, model: &ModelName) -> u64 {
        least(self.total(model))
    }

    /// Corrects an estimate by what this model's provider reported so far.
    pub(crate) fn corrected(&self, model: &ModelName, estimate: u64) -> u64 {
        self.reports.get(model).map_or(estimate, |report| report.corrected(estimate))
    }

    /// Returns the estimate that is corrected to this many tokens.
    pub(crate) fn estimated(&self, model: &ModelName, tokens: u64) -> u64 {
        match self.reports.get(model).map(|report| report.corrected(1_000)) {
            Some(corrected) => tokens.saturating_mul(1_000) / corrected.max(1),
            None => tokens,
        }
    }

    /// Returns what the provider reported for this model's last request, and the estimate for what was added to it since
    /// by the request that is under way; `None` if that request does not contain the last one.
    pub(crate) fn since_last_report(&self, model: &ModelName) -> Option<(u64, u64)> {
        let report = self.reports.get(model).filter(|report| report.contained)?;
        let asked = self.asked.map_or_else(|| self.total(model), |asked| self.with_fixed(asked, model));
        Some((report.reported, asked.saturating_sub(report.estimated)))
    }

    /// Returns the estimates for the prefix and the tool definitions that this model is sent.
    fn fixed(&self, model: &ModelName) -> (u64, u64) {
        match self.text_prefixes.get(model) {
            Some(prefix) => (*prefix, 0),
            None => (self.prefix, self.tools),
        }
    }

    fn total(&self, model: &ModelName) -> u64 {
        self.with_fixed(self.conversation(), model)
    }

    fn conversation(&self) -> u64 {
        let unseen = match self.sight {
            ImageSight::Images => 0,
            ImageSight::Sentences => self.images,
        };
        self.history.saturating_sub(unseen).saturating_add(self.plan)
    }

    /// Returns the estimate for a request to this model with a conversation of these tokens.
    fn with_fixed(&self, conversation: u64, model: &ModelName) -> u64 {
        let (prefix, tools) = self.fixed(model);
        prefix.saturating_add(tools).saturating_add(conversation)
    }

    /// Measures a record. A record that removes messages is followed by [`Self::measure_again`].
    pub(crate) fn apply(&mut self, record: &Record) {
        match record {
            Record::MessageAccepted(accepted) => {
                self.add_message(prose(&accepted.sent_text()));
                self.add_images(image_tokens(accepted.images()));
            }
            Record::RunStarted(started) => self.begin_run(started),
            Record::Nudged(nudged) => self.add_message(prose(&nudged.text)),
            Record::Undone(undone) => self.add_message(prose(&undone.told)),
            Record::ContextPinned(pinned) => self.pinned(pinned),
            Record::PlanChanged(changed) => self.plan = plan(&changed.items),
            // A request for a summary sends only a part of the history: its count says nothing about the next turn.
            Record::TurnStarted(started) => self.asked = started.mode.role().is_turn().then(|| self.conversation()),
            Record::ModelReplied(replied) => self.replied(replied),
            Record::CallRequested(call) => self.add(requested(&call.name, call.arguments.as_str())),
            Record::CallFinished(finished) => {
                self.add_message(dense(&finished.text));
                self.add_images(image_tokens(&finished.images));
            }
            Record::SessionChanged(changed) if changed.imported.is_some() => {
                (self.prefix, self.tools) = (0, 0);
                self.text_prefixes.clear();
                self.replaced();
            }
            Record::SessionOpened(_)
            | Record::SessionChanged(_)
            | Record::LeaseTaken(_)
            | Record::RunResumed(_)
            | Record::AttemptFailed(_)
            | Record::CallStarted(_)
            | Record::CallPaused(_)
            | Record::CallSettled(_)
            | Record::SnapshotTaken(_)
            | Record::FilesChanged(_)
            | Record::UndoStarted(_)
            | Record::QuestionAsked(_)
            | Record::QuestionAnswered(_)
            | Record::ToolWithheld(_)
            | Record::ChildSpawned(_)
            | Record::ChildReported(_)
            | Record::Compacted(_)
            | Record::CancelAsked(_)
            | Record::RunEnded(_)
            | Record::Unknown(_) => {}
        }
    }

    /// Measures the messages again, after some were removed or changed.
    pub(crate) fn measure_again<'a>(&mut self, messages: impl Iterator<Item = &'a Message>) {
        let before = self.conversation();
        (self.history, self.images, self.messages) = (0, 0, 0);
        for message in messages {
            self.add(estimate(message));
            self.images = self.images.saturating_add(image_tokens(message.images()));
            self.messages += 1;
        }
        // Messages that wait until the turn is complete are in both, and not in the request that is under way.
        let after = self.conversation();
        self.asked = self.asked.map(|asked| asked.saturating_add(after).saturating_sub(before));
        self.replaced();
    }

    fn begin_run(&mut self, started: &RunStarted) {
        let first = started.chain.first().and_then(|first| started.model(first));
        let sight = if first.is_some_and(|first| first.images) { ImageSight::Images } else { ImageSight::Sentences };
        if std::mem::replace(&mut self.sight, sight) != sight && self.images > 0 {
            self.replaced();
        }
    }

    fn add_images(&mut self, tokens: u64) {
        self.add(tokens);
        self.images = self.images.saturating_add(tokens);
    }

    fn pinned(&mut self, pinned: &ContextPinned) {
        if let Some(context) = &pinned.context {
            (self.prefix, self.tools) = (PER_MESSAGE + prose(&context.prefix), tools(context));
            let named = context.partial_text_calls().flat_map(|text| &text.models);
            let sent = |model: &ModelName| (model.clone(), PER_MESSAGE + prose(&context.prefix_of(model)));
            self.text_prefixes = named.map(sent).collect();
            self.replaced();
        }
    }

    fn replied(&mut self, replied: &ModelReplied) {
        // A server that read only a part of the request says nothing about the rest.
        let is_whole = !replied.usage.estimated && replied.usage.input > 0 && replied.cut.is_none();
        let asked = self.asked.take().filter(|_| is_whole);
        if let Some(asked) = asked {
            // The provider has counted the passages too; the next request does not contain them.
            let estimated = self.with_fixed(asked, &replied.model).saturating_add(replied.retrieved);
            let report = TokenReport { reported: replied.usage.input, estimated, contained: true };
            self.reports.insert(replied.model.clone(), report);
        }
        if enters_history(replied) {
            self.add_message(reply(&replied.parts));
        }
    }

    /// Returns how many messages the next request has.
    pub(crate) fn messages(&self) -> usize {
        self.messages
    }

    fn add_message(&mut self, tokens: u64) {
        self.add(PER_MESSAGE + tokens);
        self.messages += 1;
    }

    fn add(&mut self, tokens: u64) {
        self.history = self.history.saturating_add(tokens);
    }

    fn replaced(&mut self) {
        self.reports.values_mut().for_each(|report| report.contained = false);
    }
}
