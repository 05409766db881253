//! One model call as an effect: builds the request from the state, publishes the pieces of the reply as deltas, and
//! keeps the streamed text in case the call is aborted.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use tracing::Span;
use windlass_machine::{AttemptKey, Fact, ListedFiles, Phase, Run, SUMMARY_REQUEST, State, legal};
use windlass_provider::{Delivery, ModelRequest, Piece, Segments, Sink};
use windlass_tools::Secrets;
use windlass_tools::dialect::{PromptStyle, ReplyPiece, ReplyReader, TextEnd, prompt_style};
use windlass_vocab::{
    CallId, Delta, DeltaBody, Failure, FailureClass, Grant, Hash, Json, MaxTokens, Message, ModelName, OutputForm,
    OutsideText, Part, Reply, ReplyCall, TurnMode, UnaskedChange, Usage,
};

use crate::attempt_channel::AttemptChannel;
use crate::constrained::{self, UnderstoodReply};
use crate::cut_call::refuse_cut;
use crate::estimated_usage::estimated;
use crate::feed::Feed;
use crate::file_text_call::with_file_texts;
use crate::known_names::KnownNames;
use crate::output::misfit;
use crate::retrieval::turn_passages::TurnPassages;
use crate::role_call;
use crate::script_run;
use crate::scrub::scrub_part;
use crate::services::{AgentSettings, Services};
use crate::spans;
use crate::streamed::{ReplyTally, Streamed};
use crate::tail::TailSources;
use crate::textual::{self, TextualHistories};

/// The parts of a session that were encoded for its models, cached so that nothing is encoded again.
#[derive(Debug, Default)]
pub(crate) struct EncodedHistory {
    segments: SegmentsByModel,
    textual: TextualHistories,
}

/// The segments of each model; a list, because there are few.
#[derive(Debug, Default)]
struct SegmentsByModel(Vec<(ModelName, Segments)>);

impl SegmentsByModel {
    fn of(&mut self, model: &ModelName) -> &mut Segments {
        let place = self.0.iter().position(|(name, _)| name == model).unwrap_or_else(|| {
            self.0.push((model.clone(), Segments::default()));
            self.0.len() - 1
        });
        &mut self.0[place].1
    }
}

impl EncodedHistory {
    /// Returns the images whose contents an attempt with this model needs, because it writes their messages.
    pub(crate) fn wanted_images(&mut self, services: &Services, state: &State, model: &ModelName) -> Vec<Hash> {
        let sees = services.models.model(model).is_some_and(|model| model.sees_images());
        let Some(run) = state.control.run.as_ref().filter(|_| sees) else { return Vec::new() };
        let history = legal(sent_history(run, state));
        self.segments.of(model).unwritten_images(epoch(state, model), &history)
    }

    /// Gives the content of an image to the next attempt with this model.
    pub(crate) fn give_image(&mut self, model: &ModelName, blob: Hash, content: Arc<[u8]>) {
        self.segments.of(model).give_image(blob, content);
    }
}

/// The request of an attempt.
pub(crate) struct AttemptRequest<'a> {
    pub(crate) key: AttemptKey,
    pub(crate) model: &'a ModelName,
    pub(crate) mode: TurnMode,
    pub(crate) delivery: Delivery,
    /// The passages of the turn, as text.
    pub(crate) passages: &'a str,
    pub(crate) known: KnownNames,
    /// The files of the workspace, for a planner.
    pub(crate) files: &'a ListedFiles,
    pub(crate) span: Span,
}

/// Starts the call: encodes the body now; the rest happens when the future is polled.
pub(crate) fn start(
    services: &Services,
    state: &State,
    written: &mut EncodedHistory,
    feed: &Feed,
    asked: &AttemptRequest<'_>,
    streamed: &ReplyTally,
) -> windlass_provider::BoxFuture<'static, Result<Reply, Failure>> {
    if let Some(call) = role_call::start(services, state, feed, asked, streamed) {
        return call;
    }
    let run = state.control.run.as_ref();
    let model = run.and_then(|run| services.model_of(&run.started, asked.model));
    let (Some(model), Some(run), Some(context)) = (model, run, &state.transcript.context) else {
        return Box::pin(std::future::ready(Err(not_configured(asked.model))));
    };
    if let Some(failure) = refusal(services, run) {
        return Box::pin(std::future::ready(Err(failure)));
    }
    let policy = run.policy();
    let history = legal(sent_history(run, state));
    let (tail, session) = (tail(services, state, asked), state.session.to_string());
    let request = ModelRequest {
        model: asked.model,
        context,
        history: &history,
        cache_key: &session,
        epoch: epoch(state, asked.model),
        tail: &tail,
        mode: asked.mode,
        delivery: asked.delivery,
        temperature_milli: run.temperature_milli(asked.mode),
        max_tokens: run.length_limit(),
        reasoning: policy.reasoning,
        idle: policy.stream_idle,
        output: run.started.output.as_deref(),
        output_form: state.control.output_form(asked.model),
        stop: &[],
    };
    let spoken = textual::spoken(policy, context, asked.model);
    let reader = spoken.map(|spoken| textual::reader(spoken, &asked.known));
    let sink = match asked.mode {
        TurnMode::Tools | TurnMode::Talk | TurnMode::WrapUp => {
            sink(services, feed.clone(), asked.key, streamed.clone(), reader)
        }
        // A summary is for the model alone; the others have a request of their own.
        TurnMode::Summary | TurnMode::Title | TurnMode::Plan | TurnMode::Synthesis | TurnMode::Route => {
            Box::new(|_: Piece<'_>| {})
        }
    };
    let form = constrained::form(state, asked.model, asked.mode);
    let constraint = constrained::schema(form, context);
    let sink = if let Some(form) = form { constrained::holding(sink, form, streamed.clone()) } else { sink };
    let sink = spans::noting_first_byte(&asked.span, sink);
    let segments = written.segments.of(asked.model);
    let Some(dialect) = context.dialect_of(asked.model) else { return model.attempt(&request, segments, sink) };
    let textual = written.textual.of(dialect);
    textual.render(dialect, context.prefix_of(asked.model), &history, request.epoch);
    let stop: Vec<&str> = textual::stops(dialect, policy).into_iter().collect();
    let request = textual.request(request, &stop);
    let output = constraint.as_ref().or(request.output);
    model.attempt(&ModelRequest { output, ..request }, segments, sink)
}

/// Returns the failure of a call to a model that there is none of by this name.
pub(crate) fn not_configured(model: &ModelName) -> Failure {
    let message = format!("The model `{model}` of this run is not configured any more.");
    Failure { no_model: true, ..Failure::new(FailureClass::BadRequest, message) }
}

/// Returns the epoch of what is sent to a model: the tool for an output stands at its start, too.
fn epoch(state: &State, model: &ModelName) -> u64 {
    let form = match state.control.output_form(model) {
        OutputForm::Schema => 0,
        OutputForm::Tool => 1,
        OutputForm::Prompt => 2,
    };
    state.transcript.epoch * 3 + form
}

/// Returns why the breaker of the model to be called forbids that; retries of a call that was begun are let through.
pub(crate) fn refusal(services: &Services, run: &Run) -> Option<Failure> {
    let Phase::Modelling(attempt) = &run.phase else { return None };
    let chain = run.started.chain_of(attempt.mode.role());
    let rest = chain.get(attempt.model..).filter(|_| attempt.tries == 1)?;
    services.breakers.refusal(rest, services.clock.now())
}

/// Returns the part of the history that is sent: for a summary, only what it summarises.
fn sent_history<'a>(run: &Run, state: &'a State) -> &'a [Message] {
    let history = state.transcript.history.as_slice();
    let end = run.summary.map_or(history.len(), |task| state.transcript.place_of(task.through));
    history.get(..end).unwrap_or(history)
}

/// Returns the lines for this turn only.
fn tail(services: &Services, state: &State, asked: &AttemptRequest<'_>) -> String {
    match asked.mode {
        TurnMode::Summary => SUMMARY_REQUEST.to_owned(),
        TurnMode::Title | TurnMode::Plan | TurnMode::Synthesis | TurnMode::Route => String::new(),
        TurnMode::Tools | TurnMode::Talk | TurnMode::WrapUp => {
            let context = state.transcript.context.as_deref();
            let offer = context.map_or(&[][..], |context| &context.offer);
            let (now, plan) = (services.clock.now(), state.transcript.plan.as_slice());
            // Also where no tool is offered, so that there is no dialect to be pinned.
            let dialect = state.control.dialect_of(asked.model);
            let style = dialect.map_or(PromptStyle::Full, prompt_style);
            let nudge = state.control.run.as_ref().and_then(|run| run.judge_nudge.as_deref());
            let transcript = &state.transcript;
            let has_results = matches!(transcript.history.last(), Some(Message::Tool { .. }));
            let request = transcript.newest_words().filter(|_| has_results);
            // Only the short style repeats the request and what is done of it.
            let is_repeated = style == PromptStyle::Short && request.is_some();
            let progress = state.control.run.as_ref().filter(|_| is_repeated).map(|run| run.progress());
            let (mode, passages, progress) = (asked.mode, asked.passages, progress.as_ref());
            TailSources { now, mode, style, dialect, request, progress, offer, plan, passages, nudge }.tail()
        }
    }
}

/// Splits the pieces of one attempt into text, thinking and calls.
struct PieceReader {
    /// Extracts calls from the text, where text may contain some.
    reader: Option<ReplyReader<'static>>,
    shown: DeltaPublisher,
}

/// Publishes the pieces as deltas.
struct DeltaPublisher {
    secrets: Arc<Secrets>,
    feed: Feed,
    key: AttemptKey,
    streamed: ReplyTally,
    text: AttemptChannel,
    thinking: AttemptChannel,
    thought: ThinkingState,
    calls: HashMap<u32, AttemptChannel>,
}

/// Whether subscribers know that the model is thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ThinkingState {
    Started,
    Ended,
}

pub(crate) fn sink(
    services: &Services,
    feed: Feed,
    key: AttemptKey,
    streamed: ReplyTally,
    reader: Option<ReplyReader<'static>>,
) -> Sink {
    let secrets = Arc::clone(&services.secrets);
    let (text, thinking) = (AttemptChannel::new(&secrets), AttemptChannel::new(&secrets));
    let (thought, calls) = (ThinkingState::Ended, HashMap::new());
    let shown = DeltaPublisher { secrets, feed, key, streamed, text, thinking, thought, calls };
    let mut pieces = PieceReader { reader, shown };
    Box::new(move |piece| pieces.take(piece))
}

impl PieceReader {
    fn take(&mut self, piece: Piece<'_>) {
        let shown = &mut self.shown;
        match (piece, &mut self.reader) {
            (Piece::Text(fragment), Some(reader)) => reader.push(fragment, &mut |said| shown.publish_said(said)),
            (Piece::Text(fragment), None) => shown.words(fragment),
            (Piece::Thinking(fragment), _) => {
                shown.streamed.add_thinking(fragment.len());
                let clean = shown.thinking.take(fragment);
                shown.publish_thinking(clean);
            }
            (Piece::Call { index, name, arguments }, _) => shown.call(index, name, arguments),
        }
    }
}

impl DeltaPublisher {
    fn publish_said(&mut self, said: ReplyPiece<'_>) {
        match said {
            ReplyPiece::Text(words) => self.words(words),
            ReplyPiece::Call { index, call } => self.call(index, Some(&call.name), &call.arguments),
        }
    }

    fn words(&mut self, words: &str) {
        let clean = self.text.take(words);
        self.publish_text(clean);
    }

    fn call(&mut self, index: u32, name: Option<&str>, arguments: &str) {
        self.streamed.add_arguments(arguments.len());
        let channel = self.calls.entry(index).or_insert_with(|| AttemptChannel::new(&self.secrets));
        let (offset, text) = channel.take(arguments);
        if !text.is_empty() || name.is_some() {
            self.end_thinking();
            let call = CallId { run: self.key.run, turn: self.key.turn, index };
            let (name, text) = (name.map(str::to_owned), text.into_owned());
            self.publish(offset, DeltaBody::CallDelta { call, name, text });
        }
    }

    fn publish_text(&mut self, (offset, text): (u64, Cow<'_, str>)) {
        if !text.is_empty() {
            self.end_thinking();
            self.streamed.add_text(&text);
            self.publish(offset, DeltaBody::TextDelta { text: text.into_owned() });
        }
    }

    fn publish_thinking(&mut self, (offset, text): (u64, Cow<'_, str>)) {
        if !text.is_empty() {
            if self.thought == ThinkingState::Ended {
                self.thought = ThinkingState::Started;
                self.publish(offset, DeltaBody::ThinkingStarted {});
            }
            self.publish(offset, DeltaBody::ThinkingDelta { text: text.into_owned() });
        }
    }

    /// Publishes the end of thinking, if it had started. It can't yet while the last fragment is held back, because a
    /// secret may have begun there that more thinking would complete.
    fn end_thinking(&mut self) {
        if self.thought == ThinkingState::Started && !self.thinking.holds_back() {
            self.thought = ThinkingState::Ended;
            self.publish(self.thinking.offset, DeltaBody::ThinkingEnded {});
        }
    }

    fn publish(&self, offset: u64, body: DeltaBody) {
        self.feed.publish_delta(delta(self.key, offset, body));
    }
}

/// Text that was held back because a secret or a call might have begun there is published when nothing more can come;
/// an incomplete call is not.
impl Drop for PieceReader {
    fn drop(&mut self) {
        let shown = &mut self.shown;
        if let Some(reader) = self.reader.take() {
            reader.finish(TextEnd::Whole, &mut |said| shown.publish_said(said));
        }
        let thinking = shown.thinking.rest();
        shown.publish_thinking(thinking);
        shown.end_thinking();
        let text = shown.text.rest();
        shown.publish_text(text);
    }
}

fn delta(key: AttemptKey, offset: u64, body: DeltaBody) -> Delta {
    Delta { run: key.run, turn: key.turn, attempt: key.attempt, offset, body }
}

/// Tells subscribers to discard what this attempt has displayed.
pub(crate) fn publish_cleared(feed: &Feed, key: AttemptKey) {
    feed.publish_delta(delta(key, 0, DeltaBody::Cleared {}));
}

/// What is needed to interpret the end of a model call.
pub(crate) struct ReplyReading<'a> {
    pub(crate) state: &'a State,
    pub(crate) known: &'a KnownNames,
    pub(crate) agent: &'a AgentSettings,
    pub(crate) services: &'a Services,
    pub(crate) passages: &'a TurnPassages,
}

/// Returns a reply as if all of it had been streamed.
fn as_streamed(reply: &Reply) -> Streamed {
    let arguments = reply.calls.iter().map(|call| call.arguments.len()).sum();
    Streamed { text: reply.text(), thinking: reply.thinking().len(), arguments }
}

impl ReplyReading<'_> {
    /// Returns the fact for the call's end: a reply with its calls prepared, or a failure with estimated usage.
    pub(crate) fn fact(&self, key: AttemptKey, result: Result<Reply, Failure>, streamed: &Streamed) -> Fact {
        match result {
            Ok(reply) => self.replied(key, scrubbed(&self.services.secrets, reply)),
            Err(failure) => {
                let usage = failure.first_byte.then(|| self.estimated(streamed));
                Fact::Failed { attempt: key, failure, usage }
            }
        }
    }

    fn replied(&self, key: AttemptKey, reply: Reply) -> Fact {
        let limit = self.state.control.run.as_ref().map_or(MaxTokens::ModelOwn, |run| run.length_limit());
        // Only a native call can be cut; a call in the text is parsed completely or not at all.
        let native = !reply.calls.is_empty();
        let (reply, malformed) = self.understood(reply, limit);
        let (permissions, grants): (_, &[Grant]) = (&self.agent.permissions, &self.state.transcript.grants);
        let reply = with_file_texts(reply, self.state, self.services, permissions);
        let mut calls: Vec<_> =
            reply.calls.iter().map(|call| self.known.offer.prepare(call, permissions, grants)).collect();
        if self.state.control.run.as_ref().is_some_and(|run| run.policy().outside_text == OutsideText::Ask) {
            for call in &mut calls {
                let texts = self.state.transcript.outside_texts().chain(self.passages.outside_texts());
                self.known.offer.ask_about_outside_text(call, permissions, texts);
            }
        }
        if let Some(run) = &self.state.control.run {
            for call in &mut calls {
                let files = call.tool.as_ref().map(|tool| self.known.offer.changed_files(tool, &call.arguments));
                let change = files.and_then(|files| run.unasked_change(&files.changes, &files.loses));
                if let Some(change) = change {
                    self.known.offer.ask_about_unasked_change(call, permissions, change);
                }
            }
        }
        if script_run::writes_scripts(self.state) {
            calls.iter_mut().for_each(|call| self.known.offer.ask_about_unconfined_script(call, permissions));
            if let Some(change @ UnaskedChange::Unclear {}) = script_run::unasked_by_any_script(self.state) {
                let ask = |call| self.known.offer.ask_about_unasked_change(call, permissions, change.clone());
                calls.iter_mut().for_each(ask);
            }
        }
        self.known.offer.refuse_certain_failures(&mut calls, permissions, grants);
        if native {
            refuse_cut(&reply, &mut calls, limit);
        }
        let misfit = self.misfit(&reply);
        let usage = reply.usage.unwrap_or_else(|| self.estimated(&as_streamed(&reply)));
        let usage = Usage { calls: 1, ..usage };
        let parts = with_every_call(reply.parts, calls.len());
        let retrieved = self.passages.tokens;
        Fact::Replied { attempt: key, parts, stop: reply.stop, usage, calls, misfit, malformed, retrieved }
    }

    fn estimated(&self, streamed: &Streamed) -> Usage {
        estimated(self.state, self.passages, streamed)
    }

    /// Returns the reply with the calls parsed from its text, and the error where one could not be parsed.
    fn understood(&self, reply: Reply, limit: MaxTokens) -> (Reply, Option<String>) {
        let (Some(run), Some(context)) = (&self.state.control.run, &self.state.transcript.context) else {
            return (reply, None);
        };
        let mode = match &run.phase {
            Phase::Modelling(attempt) => attempt.mode,
            Phase::Pinning | Phase::Calling(_) | Phase::Stepping(_) | Phase::Between => TurnMode::Tools,
        };
        let model = run.current_model();
        let reply =
            match constrained::form(self.state, &model, mode).and_then(|form| constrained::understood(&reply, form)) {
                Some(UnderstoodReply::Answer(answer)) => return (answer, None),
                Some(UnderstoodReply::Refused(told)) => return (reply, Some(told)),
                None => reply,
            };
        let spoken = textual::spoken(run.policy(), context, &model);
        let dialect = context.dialect_of(&model);
        textual::understood(reply, mode, spoken.map(|spoken| (spoken, dialect)), limit, self.known)
    }

    /// Returns why a reply that would end the run does not fit the requested output.
    fn misfit(&self, reply: &Reply) -> Option<String> {
        let run = self.state.control.run.as_ref()?;
        let Phase::Modelling(attempt) = &run.phase else { return None };
        let answers = match attempt.mode {
            TurnMode::Tools => reply.calls.is_empty(),
            TurnMode::Talk => true,
            TurnMode::WrapUp
            | TurnMode::Summary
            | TurnMode::Title
            | TurnMode::Plan
            | TurnMode::Synthesis
            | TurnMode::Route => false,
        };
        answers.then(|| misfit(run, &reply.text(), self.agent.output.as_ref(), &self.services.secrets))?
    }
}

/// Returns the parts of a reply with `calls` calls, each of them once: the machine counts the calls by their parts.
fn with_every_call(mut parts: Vec<Part>, calls: usize) -> Vec<Part> {
    let mut placed = vec![false; calls];
    parts.retain(|part| match part {
        Part::Call { index } => {
            let place = usize::try_from(*index).ok().and_then(|index| placed.get_mut(index));
            place.is_some_and(|placed| !std::mem::replace(placed, true))
        }
        Part::Text { .. } | Part::Thinking { .. } | Part::Opaque { .. } => true,
    });
    parts.extend((0u32..).zip(placed).filter(|(_, placed)| !placed).map(|(index, _)| Part::Call { index }));
    parts
}

/// Replaces secrets in a reply before it is used further: a preview title or an error may quote part of an argument.
fn scrubbed(secrets: &Secrets, reply: Reply) -> Reply {
    let clean = |text: String| match secrets.scrub(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(clean) => clean,
    };
    let arguments = |text: String| match Json::parse(&text) {
        Ok(json) if secrets.is_in(text.as_bytes()) => secrets.scrub_json(&json).as_str().to_owned(),
        Ok(_) | Err(_) => clean(text),
    };
    let call = |call: ReplyCall| ReplyCall {
        name: clean(call.name),
        arguments: arguments(call.arguments),
        mended: call.mended.map(clean),
        ..call
    };
    let mut parts = reply.parts;
    parts.iter_mut().for_each(|part| scrub_part(secrets, part));
    Reply { parts, calls: reply.calls.into_iter().map(call).collect(), ..reply }
}
