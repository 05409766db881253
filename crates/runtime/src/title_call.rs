//! The call for a session's title (M9): a short request of its own, without tools and without the conversation.

use windlass_machine::{State, title_request};
use windlass_provider::{BoxFuture, ModelRequest, Segments};
use windlass_vocab::{Failure, MaxTokens, Message, PinnedContext, Reply, TurnMode};

use crate::attempt::{AttemptRequest, not_configured, refusal};
use crate::services::Services;

/// What the model is told it is.
const PREFIX: &str = "You write titles for conversations.";
/// The most tokens of a reply; a model that thinks first needs some for that.
const TOKENS: u32 = 2_048;

/// Starts the call.
pub(crate) fn start(
    services: &Services,
    state: &State,
    asked: &AttemptRequest<'_>,
) -> BoxFuture<'static, Result<Reply, Failure>> {
    let run = state.control.title.as_deref();
    let model = run.and_then(|run| services.model_of(&run.started, asked.model));
    let (Some(run), Some(model)) = (run, model) else {
        return Box::pin(std::future::ready(Err(not_configured(asked.model))));
    };
    if let Some(failure) = refusal(services, run) {
        return Box::pin(std::future::ready(Err(failure)));
    }
    let policy = run.policy();
    let context = PinnedContext { prefix: PREFIX.to_owned(), ..PinnedContext::default() };
    let history = [Message::user(services.secrets.scrub(&title_request(state)).into_owned())];
    let request = ModelRequest {
        model: asked.model,
        context: &context,
        history: &history,
        cache_key: &format!("{}-title", state.session),
        epoch: 0,
        tail: "",
        mode: TurnMode::Title,
        delivery: asked.delivery,
        temperature_milli: policy.sampling.talk_temperature_milli,
        max_tokens: MaxTokens::Fixed(TOKENS),
        reasoning: policy.reasoning,
        idle: policy.stream_idle,
        output: None,
        output_form: windlass_vocab::OutputForm::Schema,
        stop: &[],
    };
    // The conversation's own segments stay as they are. Nobody watches a title being written.
    model.attempt(&request, &mut Segments::default(), Box::new(|_| {}))
}
