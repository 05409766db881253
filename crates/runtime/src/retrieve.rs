//! The passages of a turn (C10): the driver looks for them before it calls the model.

use std::collections::BTreeSet;

use windlass_machine::{AttemptKey, passage_tokens};
use windlass_provider::BoxFuture;
use windlass_vocab::{Delta, DeltaBody, TurnMode};

use crate::driver::Driver;
use crate::retrieval::gather::{Gathered, gather};
use crate::tail::passages::section;

impl Driver {
    /// Returns the search for the passages of a turn that is about to begin; `None` where none are wanted, or they are
    /// there.
    pub(crate) fn retrieval(&mut self, key: AttemptKey, mode: TurnMode) -> Option<BoxFuture<'static, Gathered>> {
        let known = &mut self.running_effects.passages;
        if known.turn == Some((key.run, key.turn)) {
            return None;
        }
        known.turn = None;
        (known.section, known.tokens) = (String::new(), 0);
        let wanted = match mode {
            TurnMode::Tools | TurnMode::Talk | TurnMode::WrapUp => self.state.passage_room() > 0,
            TurnMode::Summary | TurnMode::Title | TurnMode::Plan | TurnMode::Synthesis | TurnMode::Route => false,
        };
        let sources = &self.services.context_sources;
        if !wanted || sources.is_empty() {
            return None;
        }
        let message = self.state.transcript.newest_words()?.to_owned();
        Some(Box::pin(gather(sources.clone(), message)))
    }

    /// Keeps what was found for the turn, with secrets replaced, as much as the budget has room for.
    pub(crate) fn keep_passages(&mut self, key: AttemptKey, gathered: Gathered) {
        let Gathered { mut passages, left_out } = gathered;
        for passage in &mut passages {
            // Before anything is cut.
            passage.source = self.services.secrets.scrub(&passage.source).into_owned();
            passage.text = self.services.secrets.scrub(&passage.text).into_owned();
        }
        let (section, sent) = section(&passages, self.state.passage_room());
        let kept = &mut self.running_effects.passages;
        (kept.turn, kept.tokens) = (Some((key.run, key.turn)), passage_tokens(&section));
        kept.section = section;
        for passage in passages.into_iter().take(sent) {
            if let Some(origin) = passage.origin {
                kept.remember(origin, passage.text);
            }
        }
        if kept.reported.0 != key.run {
            kept.reported = (key.run, BTreeSet::new());
        }
        for (source, why) in left_out {
            if kept.reported.1.insert(source.clone()) {
                let why = self.services.secrets.scrub(&why).into_owned();
                let body = DeltaBody::SourceLeftOut { source, why };
                self.feed.publish_delta(Delta { run: key.run, turn: key.turn, attempt: 0, offset: 0, body });
            }
        }
    }
}
