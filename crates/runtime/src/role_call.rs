//! Calls with a short request of their own, without tools and without the conversation: for a session's title (M9), for the
//! verdict of a router (T2), for a plan, and for the answer from its results (S3).

use windlass_machine::{ListedFiles, Run, State, intent_request, plan_request, synthesis_request, title_request};
use windlass_provider::{BoxFuture, ModelRequest, Segments, Sink};
use windlass_vocab::{Failure, MaxTokens, Message, PinnedContext, Policy, Reasoning, Reply, TurnMode};

use crate::attempt::{AttemptRequest, not_configured, refusal, sink};
use crate::feed::Feed;
use crate::services::Services;
use crate::streamed::ReplyTally;

/// What a model is told it is, and what it is asked.
struct ShortRequest {
    prefix: &'static str,
    request: String,
    /// The most tokens of the reply; a model that thinks first needs some for that.
    tokens: u32,
    /// Follows the session's id in the key of the provider's cache.
    cache: &'static str,
}

/// Returns the temperature and the effort that a call of this mode asks for. A verdict of one word needs neither chance nor
/// much thought; where the policy names no effort none is sent, since some models refuse any.
fn sampling(mode: TurnMode, policy: &Policy) -> (Option<u32>, Reasoning) {
    match mode {
        TurnMode::Route => {
            let reasoning = match policy.reasoning {
                Reasoning::ModelOwn | Reasoning::Configured => Reasoning::ModelOwn,
                Reasoning::Low | Reasoning::Medium | Reasoning::High => Reasoning::Low,
            };
            (Some(0), reasoning)
        }
        TurnMode::Tools
        | TurnMode::Talk
        | TurnMode::WrapUp
        | TurnMode::Summary
        | TurnMode::Title
        | TurnMode::Plan
        | TurnMode::Synthesis => (policy.sampling.talk_temperature_milli, policy.reasoning),
    }
}

impl ShortRequest {
    fn of(mode: TurnMode, state: &State, files: &ListedFiles) -> Option<Self> {
        match mode {
            TurnMode::Title => Some(Self {
                prefix: "You write titles for conversations.",
                request: title_request(state),
                tokens: 2_048,
                cache: "title",
            }),
            TurnMode::Plan => Some(Self {
                prefix: "You plan jobs for an assistant that works with files. You write plans and do no work yourself.",
                request: plan_request(state, files),
                tokens: 2_048,
                cache: "plan",
            }),
            TurnMode::Synthesis => Some(Self {
                prefix: "You tell a person what was done for them, truly and briefly.",
                request: synthesis_request(state),
                tokens: 4_096,
                cache: "answer",
            }),
            TurnMode::Route => Some(Self {
                prefix: "You decide whether a request needs tools. You do not answer it.",
                request: intent_request(state),
                tokens: 512,
                cache: "router",
            }),
            TurnMode::Tools | TurnMode::Talk | TurnMode::WrapUp | TurnMode::Summary => None,
        }
    }
}

/// Returns the run that a call of this mode belongs to.
fn run_of(mode: TurnMode, state: &State) -> Option<&Run> {
    if mode == TurnMode::Title { state.control.title.as_deref() } else { state.control.run.as_ref() }
}

/// Starts the call; `None` where the mode sends the conversation.
pub(crate) fn start(
    services: &Services,
    state: &State,
    feed: &Feed,
    asked: &AttemptRequest<'_>,
    streamed: &ReplyTally,
) -> Option<BoxFuture<'static, Result<Reply, Failure>>> {
    let short = ShortRequest::of(asked.mode, state, asked.files)?;
    let run = run_of(asked.mode, state);
    let model = run.and_then(|run| services.model_of(&run.started, asked.model));
    let (Some(run), Some(model)) = (run, model) else {
        return Some(Box::pin(std::future::ready(Err(not_configured(asked.model)))));
    };
    if let Some(failure) = refusal(services, run) {
        return Some(Box::pin(std::future::ready(Err(failure))));
    }
    let policy = run.policy();
    let (temperature_milli, reasoning) = sampling(asked.mode, policy);
    let context = PinnedContext { prefix: short.prefix.to_owned(), ..PinnedContext::default() };
    let history = [Message::user(services.secrets.scrub(&short.request).into_owned())];
    let request = ModelRequest {
        model: asked.model,
        context: &context,
        history: &history,
        cache_key: &format!("{}-{}", state.session, short.cache),
        epoch: 0,
        tail: "",
        mode: asked.mode,
        delivery: asked.delivery,
        temperature_milli,
        max_tokens: MaxTokens::Fixed(short.tokens),
        reasoning,
        idle: policy.stream_idle,
        output: None,
        output_form: windlass_vocab::OutputForm::Schema,
        stop: &[],
    };
    // Nobody watches a title, a plan or a verdict being written.
    let shown: Sink = match asked.mode {
        TurnMode::Synthesis => sink(services, feed.clone(), asked.key, streamed.clone(), None),
        TurnMode::Tools
        | TurnMode::Talk
        | TurnMode::WrapUp
        | TurnMode::Summary
        | TurnMode::Title
        | TurnMode::Plan
        | TurnMode::Route => Box::new(|_| {}),
    };
    // The conversation's own segments stay as they are.
    Some(model.attempt(&request, &mut Segments::default(), shown))
}
