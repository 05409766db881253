//! Starts the model calls that a session owes: reads the images that they send, waits where the call is to wait, and checks
//! the limits that other runs share.

use windlass_machine::Effect;
use windlass_provider::Delivery;
use windlass_store::StoreError;

use crate::attempt::{self, AttemptRequest};
use crate::driver::Driver;
use crate::running_effects::{EffectOutcome, RunningEffects, StartedEffect};
use crate::shared_limits::SharedLimits;
use crate::spans;
use crate::streamed::ReplyTally;

impl Driver {
    /// Reads the images that a model call about to start sends for the first time.
    pub(crate) async fn load_images(&mut self) -> Result<(), StoreError> {
        for effect in &self.owed {
            let Effect::CallModel { model, .. } = effect else { continue };
            if self.running_effects.is_running(effect) {
                continue;
            }
            for blob in self.running_effects.written.wanted_images(&self.services, &self.state, model) {
                let content = match self.services.store.blob(blob).await {
                    // The model is told that the image is gone; the session goes on without it.
                    Err(StoreError::Damaged { .. }) => None,
                    read => read?,
                };
                if let Some(content) = content {
                    self.running_effects.written.give_image(model, blob, content);
                }
            }
        }
        Ok(())
    }

    /// Starts a model call, or what comes before it: the search for the passages of its turn, the listing of files for a
    /// planner. When that ends, the same effect is owed again.
    /// `None` where the effect is another.
    pub(crate) fn started_call(&mut self, effect: &Effect) -> Option<StartedEffect> {
        let Effect::CallModel { key, model, mode, whole, not_before, role: _ } = effect else { return None };
        let (key, mode) = (*key, *mode);
        if let Some(retrieval) = self.retrieval(key, mode) {
            let future = async move { EffectOutcome::Retrieved(key, retrieval.await) };
            return Some(StartedEffect::plain(effect, Box::pin(future)));
        }
        if let Some(listing) = self.listing_for_plan(key, mode) {
            let future = async move { EffectOutcome::Listed(key, listing.await) };
            return Some(StartedEffect::plain(effect, Box::pin(future)));
        }
        let delivery = if *whole { Delivery::Whole } else { Delivery::Streamed };
        let (span, known) = (self.spans.attempt(key, model.as_str()), self.known_names());
        let RunningEffects { written, passages, planner_files, .. } = &mut self.running_effects;
        let (passages, files) = (&passages.section, &planner_files.files);
        let asked = AttemptRequest { key, model, mode, delivery, passages, known, files, span };
        let (services, state, streamed) = (&self.services, &self.state, ReplyTally::default());
        let call = attempt::start(services, state, written, &self.feed, &asked, &streamed);
        let wait = not_before.map(|at| services.clock.until(at));
        let AttemptRequest { known, span, .. } = asked;
        let servers = self.named_servers(known.clone());
        let sent = streamed.clone();
        let limits = SharedLimits::of(&self.services, &self.state).map(|limits| Box::pin(limits.check()));
        let future = async move {
            if let Some(wait) = wait {
                wait.await;
            }
            let within = match limits {
                Some(limits) => limits.await,
                None => Ok(()),
            };
            let result = match within {
                Ok(()) => {
                    sent.begin();
                    spans::watched(span, call).await
                }
                Err(failure) => Err(failure),
            };
            servers.wait(&result).await;
            EffectOutcome::Model(key, known, result)
        };
        Some(StartedEffect::model(effect, streamed, Box::pin(future)))
    }
}
