//! Calls with a short request of their own, without tools and without the conversation: for a session's title (M9), for a
//! plan, and for the answer from its results (S3).

use windlass_machine::{Run, State, plan_request, synthesis_request, title_request};
use windlass_provider::{BoxFuture, ModelRequest, Segments, Sink};
use windlass_tools::FileRules;
use windlass_vocab::{Failure, MaxTokens, Message, PinnedContext, Reply, TurnMode};

use crate::attempt::{AttemptRequest, not_configured, refusal, sink};
use crate::feed::Feed;
use crate::services::Services;
use crate::streamed::ReplyTally;

/// The most files of the workspace that a planner is shown.
const SHOWN_FILES: usize = 100;

/// What a model is told it is, and what it is asked.
struct OwnRequest {
    prefix: &'static str,
    request: String,
    /// The most tokens of the reply; a model that thinks first needs some for that.
    tokens: u32,
    /// Follows the session's id in the key of the provider's cache.
    cache: &'static str,
}

impl OwnRequest {
    fn of(mode: TurnMode, services: &Services, state: &State, rules: &FileRules) -> Option<Self> {
        match mode {
            TurnMode::Title => Some(Self {
                prefix: "You write titles for conversations.",
                request: title_request(state),
                tokens: 2_048,
                cache: "title",
            }),
            TurnMode::Plan => Some(Self {
                prefix: "You plan jobs for an assistant that works with files. You write plans and do no work yourself.",
                request: plan_request(state, &listing(services, rules)),
                tokens: 2_048,
                cache: "plan",
            }),
            TurnMode::Synthesis => Some(Self {
                prefix: "You tell a person what was done for them, truly and briefly.",
                request: synthesis_request(state),
                tokens: 4_096,
                cache: "answer",
            }),
            TurnMode::Tools | TurnMode::Talk | TurnMode::WrapUp | TurnMode::Summary => None,
        }
    }
}

/// Returns the files of the workspace as a planner is shown them.
fn listing(services: &Services, rules: &FileRules) -> String {
    let Some(workspace) = &services.workspace else { return String::new() };
    let mut files = workspace.list_files(rules, SHOWN_FILES + 1);
    let more = files.len() > SHOWN_FILES;
    files.truncate(SHOWN_FILES);
    if more {
        files.push("(more files are not shown)".to_owned());
    }
    files.join("\n")
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
    let own = OwnRequest::of(asked.mode, services, state, &asked.rules)?;
    let run = run_of(asked.mode, state);
    let model = run.and_then(|run| services.model_of(&run.started, asked.model));
    let (Some(run), Some(model)) = (run, model) else {
        return Some(Box::pin(std::future::ready(Err(not_configured(asked.model)))));
    };
    if let Some(failure) = refusal(services, run) {
        return Some(Box::pin(std::future::ready(Err(failure))));
    }
    let policy = run.policy();
    let context = PinnedContext { prefix: own.prefix.to_owned(), ..PinnedContext::default() };
    let history = [Message::user(services.secrets.scrub(&own.request).into_owned())];
    let request = ModelRequest {
        model: asked.model,
        context: &context,
        history: &history,
        cache_key: &format!("{}-{}", state.session, own.cache),
        epoch: 0,
        tail: "",
        mode: asked.mode,
        delivery: asked.delivery,
        temperature_milli: policy.sampling.talk_temperature_milli,
        max_tokens: MaxTokens::Fixed(own.tokens),
        reasoning: policy.reasoning,
        idle: policy.stream_idle,
        output: None,
        output_form: windlass_vocab::OutputForm::Schema,
        stop: &[],
    };
    // Nobody watches a title or a plan being written.
    let shown: Sink = match asked.mode {
        TurnMode::Synthesis => sink(services, feed.clone(), asked.key, streamed.clone(), None),
        TurnMode::Tools | TurnMode::Talk | TurnMode::WrapUp | TurnMode::Summary | TurnMode::Title | TurnMode::Plan => {
            Box::new(|_| {})
        }
    };
    // The conversation's own segments stay as they are.
    Some(model.attempt(&request, &mut Segments::default(), shown))
}
