//! One tiny call to a model, to see whether it answers.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use windlass::door::ResolvedModel;
use windlass_narrate::duration;
use windlass_provider::known_models::list_prices;
use windlass_provider::{Delivery, HttpClient, HttpConfig, HttpModel, Model as _, ModelConfig, ModelRequest, Segments};
use windlass_vocab::{
    Failure, FailureClass, MaxTokens, Message, NanoMoney, OutputSpec, PinnedContext, Reasoning, Reply, StreamIdle,
    TurnMode, Usage,
};

use super::row::dollars;
use crate::output::advice::with_failure;
use crate::output::harmless_line;

/// How long a model may take; a local one may have to be loaded first.
const LIMIT: Duration = Duration::from_secs(120);
/// Enough for a word or a call, and for a model that reasons before it.
const LONGEST_REPLY: u32 = 2_048;

/// What a call to one model led to.
#[derive(Debug)]
pub(crate) struct ModelTrial {
    name: String,
    took: Duration,
    outcome: Result<TrialReply, Failure>,
}

#[derive(Debug)]
struct TrialReply {
    usage: Option<Usage>,
    cost: Option<NanoMoney>,
}

/// Calls each model once, one after the other.
pub(crate) async fn try_models(chain: &[ResolvedModel]) -> Vec<ModelTrial> {
    let mut trials = Vec::with_capacity(chain.len());
    for model in chain {
        let begun = Instant::now();
        let outcome = call(model).await.map(|reply| {
            let prices = model.figures.prices.or_else(|| list_prices(model.server, &model.id));
            let cost = prices.zip(reply.usage).map(|(prices, usage)| prices.cost_of_call(&usage));
            TrialReply { usage: reply.usage, cost }
        });
        trials.push(ModelTrial { name: model.name.0.clone(), took: begun.elapsed(), outcome });
    }
    trials
}

async fn call(model: &ResolvedModel) -> Result<Reply, Failure> {
    let small = SmallCall {
        words: "Answer with the word yes.",
        context: &PinnedContext::default(),
        output: None,
        limit: LIMIT,
    };
    small.make(model, model.config()).await
}

/// One call with a short reply.
#[derive(Clone, Copy, Debug)]
pub(super) struct SmallCall<'a> {
    /// What the person says.
    pub(super) words: &'a str,
    /// The tools that are offered, if any.
    pub(super) context: &'a PinnedContext,
    /// The form of the answer.
    pub(super) output: Option<&'a OutputSpec>,
    /// How long it may take.
    pub(super) limit: Duration,
}

impl SmallCall<'_> {
    /// Makes the call.
    pub(super) async fn make(&self, model: &ResolvedModel, config: ModelConfig) -> Result<Reply, Failure> {
        let wrong = |problem: String| Failure::new(FailureClass::Internal, problem);
        let http = HttpClient::new(HttpConfig::default()).map_err(|error| wrong(error.to_string()))?;
        let called = HttpModel::new(config, &http).map_err(|error| wrong(error.to_string()))?;
        let history = [Message::user(self.words)];
        let limit_ms = u64::try_from(self.limit.as_millis()).unwrap_or(u64::MAX);
        let request = ModelRequest {
            model: &model.name,
            cache_key: "",
            context: self.context,
            history: &history,
            epoch: 1,
            tail: "",
            mode: if self.context.offer.is_empty() { TurnMode::Talk } else { TurnMode::Tools },
            delivery: Delivery::Streamed,
            temperature_milli: None,
            max_tokens: MaxTokens::Fixed(LONGEST_REPLY),
            reasoning: Reasoning::ModelOwn,
            idle: StreamIdle { first_ms: limit_ms, next_ms: limit_ms },
            output: self.output,
            output_form: windlass_vocab::OutputForm::Schema,
            stop: &[],
        };
        let attempt = called.attempt(&request, &mut Segments::default(), Box::new(|_| {}));
        match tokio::time::timeout(self.limit, attempt).await {
            Ok(outcome) => outcome,
            Err(_) => Err(Failure::new(FailureClass::Transient, format!("No answer in {} s.", self.limit.as_secs()))),
        }
    }
}

impl ModelTrial {
    /// Whether the model answered.
    pub(crate) fn is_ok(&self) -> bool {
        self.outcome.is_ok()
    }

    /// The line for people.
    pub(crate) fn as_text(&self) -> String {
        let name = harmless_line(&self.name);
        match &self.outcome {
            Ok(TrialReply { usage, cost }) => {
                let took = duration(self.took_ms());
                let used = usage.map(|usage| format!(", {} tokens in, {} out", usage.input, usage.output));
                let cost = cost.map(|cost| format!(", ${}", dollars(cost)));
                format!("ok    {name}: answered in {took}{}{}\n", used.unwrap_or_default(), cost.unwrap_or_default())
            }
            Err(failure) => format!("fail  {name}: {}\n", harmless_line(&with_failure(failure))),
        }
    }

    /// The trial for programs.
    pub(crate) fn as_json(&self) -> Value {
        match &self.outcome {
            Ok(TrialReply { usage, cost }) => json!({
                "name": self.name, "ok": true, "took_ms": self.took_ms(), "usage": usage, "cost": cost.map(dollars),
            }),
            Err(failure) => json!({
                "name": self.name, "ok": false, "took_ms": self.took_ms(), "failure": failure,
                "problem": with_failure(failure),
            }),
        }
    }

    fn took_ms(&self) -> u64 {
        u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX)
    }
}
