//! Starts a turn with a conversation that fits (C3, C5): measures it, leaves older turns out where that is needed, asks a
//! model for the summary that takes their place, and wraps the run up where nothing more can be left out.

use windlass_vocab::{
    AttemptFailed, Compacted, CompactionMethod, ContextBudget, EndReason, Failure, FailureCause, FailureClass,
    HistoryKeeping, ModelName, ModelRole, NextAttempt, NudgeCause, Record, Spending, SummaryTask, ToolSource, TurnMode,
    TurnStarted,
};

use crate::blank::is_blank;
use crate::budget::{evict_below, exceeds_window, is_short, is_spent, wrap_up_below};
use crate::control::Run;
use crate::counting::{ContextMeter, estimate, least};
use crate::draft::Draft;
use crate::evict::{self, Eviction, HistoryLimits, SummaryBy};
use crate::fact::RunSettings;
use crate::notes::cut_text;
use crate::transcript::Transcript;
use crate::{plain_summary, prune, texts};

/// The most bytes of notes and of a summary; for a small window an eighth of it each.
const NOTES: u64 = 6_000;
const SUMMARY: u64 = 8_000;

impl Draft<'_> {
    /// Starts a turn, once the conversation fits, unless its call would exceed a limit (M7). What is left out without a
    /// model is left out first, because it is not paid for.
    pub(crate) fn start_turn(&mut self, mode: TurnMode) {
        let (budget, summary) = loop {
            let Some(budget) = self.budget() else { return };
            match self.next_eviction(&budget) {
                Some(Eviction::Shrink(compacted)) => self.push(compacted),
                Some(Eviction::Drop(cut, method)) => self.leave_out(cut, method),
                Some(Eviction::Summarise(cut)) => break (budget, Some(cut)),
                None => break (budget, None),
            }
        };
        // Every turn begins with the first model of the chain.
        let first = self.run().map(Run::first_model).unwrap_or_default();
        if let Some(window) =
            budget.window.filter(|window| exceeds_window(&budget) && self.never_fits(*window, summary))
        {
            let message = texts::too_long(&first, &budget, window);
            let failure = Failure::new(FailureClass::Overflow, message.clone());
            return self.end(EndReason::Failed, message, Some(failure));
        }
        if let Some(breach) = self.breach(&first, Spending::default()) {
            return self.stop_at_limit(&breach, Some(mode));
        }
        if let Some(cut) = summary {
            return self.start_summary(cut, mode);
        }
        // A request that may be longer than the window is left to the server, which refuses it with its own count.
        if is_spent(&budget) && !exceeds_window(&budget) && mode != TurnMode::WrapUp {
            self.nudge(NudgeCause::ContextFull, texts::window_parts(&budget), texts::CONTEXT_FULL);
            let Some(budget) = self.budget() else { return };
            return self.begin_turn(TurnMode::WrapUp, budget, None);
        }
        self.begin_turn(mode, budget, None);
    }

    fn begin_turn(&mut self, mode: TurnMode, budget: ContextBudget, summary: Option<SummaryTask>) {
        let Some(turn) = self.run().map(|run| run.turn.next()) else { return };
        self.push(TurnStarted { turn, mode, budget: Some(budget), summary });
    }

    /// Starts a turn in which a model writes the summary of the messages before this index.
    fn start_summary(&mut self, cut: usize, then: TurnMode) {
        let Some(budget) = self.budget() else { return };
        let through = self.transcript_now().number_of(cut);
        self.begin_turn(TurnMode::Summary, budget.without_passages(), Some(SummaryTask { through, then }));
    }

    /// Returns what the next turn sends, and what that leaves of the window.
    fn budget(&self) -> Option<ContextBudget> {
        let run = self.run()?;
        Some(run.budget(&self.meter(), &run.first_model()))
    }

    /// Whether the next request is certainly longer than this window, also after a summary of the messages before `cut`.
    fn never_fits(&self, window: u64, cut: Option<usize>) -> bool {
        let tokens = match cut {
            Some(cut) => least(self.transcript_now().history.iter().skip(cut).map(estimate).sum()),
            None => self.meter().least_tokens(&self.run().map(Run::first_model).unwrap_or_default()),
        };
        tokens >= window
    }

    /// Returns the size of the next request after the records of this batch.
    pub(crate) fn meter(&self) -> ContextMeter {
        let shrinks = self.records.iter().any(|record| match record {
            Record::Compacted(_) => true,
            Record::Nudged(nudged) => nudged.rejects_reply(),
            _ => false,
        });
        if shrinks {
            return self.transcript_now().meter;
        }
        let mut meter = self.state.transcript.meter.clone();
        self.records.iter().for_each(|record| meter.apply(record));
        meter
    }

    /// Returns the conversation after the records of this batch. Only used where something is left out, because it
    /// copies the conversation.
    fn transcript_now(&self) -> Transcript {
        let mut transcript = self.state.transcript.clone();
        self.records.iter().for_each(|record| transcript.apply(record));
        transcript
    }

    /// Returns the next step to a conversation that fits, where a turn would send this much.
    fn next_eviction(&self, budget: &ContextBudget) -> Option<Eviction> {
        let run = self.run().filter(|run| run.has_known_models())?;
        let asked = run.started.compact && run.turn.0 == 0 && !run.left_out_since_reply;
        let row = if asked { HistoryKeeping::Summarised } else { run.policy().history };
        let messages = most_messages(row);
        if !asked && !is_short(budget) && messages.is_none_or(|(most, _)| self.meter().messages() <= most) {
            return None;
        }
        let transcript = self.transcript_now();
        let model = run.first_model();
        let limits = match (asked, budget.window) {
            (true, _) => HistoryLimits {
                fits: 0,
                most: u64::MAX,
                keep: asked_keep(&transcript),
                messages: None,
                worth: 1,
                request: u64::MAX,
            },
            (false, Some(window)) => {
                let limits = limits(&transcript.meter, &model, row, budget, window, messages);
                HistoryLimits { request: summary_request(run).unwrap_or(limits.request), ..limits }
            }
            (false, None) => {
                HistoryLimits { fits: u64::MAX, most: u64::MAX, keep: 0, messages, worth: 0, request: u64::MAX }
            }
        };
        evict::next(&transcript, row, &limits, run.summary_by())
    }

    /// Returns what follows an overflow error: the next step to a shorter conversation, of which the window is not known
    /// as well as the server knows it.
    pub(crate) fn eviction_after_overflow(&self) -> Option<Eviction> {
        let run = self.run()?;
        let transcript = &self.state.transcript;
        let total: u64 = transcript.history.iter().map(estimate).sum();
        let limits =
            HistoryLimits { fits: total / 2, most: 0, keep: total / 2, messages: None, worth: 0, request: u64::MAX };
        evict::next(transcript, run.policy().history, &limits, run.summary_by())
    }

    /// Makes the conversation shorter after an overflow error; the turn goes on, or begins again after a summary.
    pub(crate) fn evict_after_overflow(&mut self, step: Eviction, mode: TurnMode) {
        match step {
            Eviction::Shrink(compacted) => self.push(compacted),
            Eviction::Drop(cut, method) => self.leave_out(cut, method),
            Eviction::Summarise(cut) => self.start_summary(cut, mode),
        }
    }

    /// Returns the next step to a history without what the server refused: its length, or its images.
    pub(crate) fn shorter_history(&self, run: &Run, failure: &Failure) -> Option<Eviction> {
        // A limit on the bytes of a request is mostly reached by images.
        let is_too_large = failure.status == Some(413);
        if failure.cause == Some(FailureCause::ImageRefused) || is_too_large {
            let without_images = evict::without_images(&self.state.transcript).map(Eviction::Shrink);
            if without_images.is_some() || !is_too_large {
                return without_images;
            }
        }
        if failure.class != FailureClass::Overflow {
            return None;
        }
        if run.has_known_models() {
            return self.eviction_after_overflow();
        }
        // The behaviour of versions that did not measure.
        prune::shorten(&self.state.transcript).map(Eviction::Shrink)
    }

    /// Leaves out the messages before this index, without a model.
    fn leave_out(&mut self, cut: usize, method: CompactionMethod) {
        let transcript = self.transcript_now();
        let summary = match method {
            CompactionMethod::Plain => Some(plain_summary::of(&transcript, cut, self.room(SUMMARY))),
            // What an earlier summary says of the part before stays true.
            CompactionMethod::Pruned => transcript.summary.clone(),
            CompactionMethod::Shrunk | CompactionMethod::Summarised | CompactionMethod::Restored => None,
        };
        self.push_compacted(&transcript, cut, method, summary);
    }

    fn push_compacted(
        &mut self,
        transcript: &Transcript,
        cut: usize,
        method: CompactionMethod,
        summary: Option<String>,
    ) {
        let mut notes = transcript.notes.text(&transcript.plan, self.room(NOTES));
        let offers = transcript.context.as_ref().is_some_and(|context| !context.offer.is_empty());
        let built_in = self.run().is_some_and(|run| run.policy().tools.contains(&ToolSource::BuiltIn));
        if offers && built_in {
            // The driver offers it from the next turn on.
            notes.push_str(texts::RECALL_NOTICE);
        }
        let new = Compacted::new(transcript.compactions + 1, method, transcript.number_of(cut));
        self.push(Compacted { summary, notes: Some(notes), ..new });
    }

    /// Returns the most bytes for a text that takes the place of messages.
    fn room(&self, most: u64) -> usize {
        let window = self.run().and_then(|run| run.window(&run.first_model()));
        // An eighth of the window, at four bytes a token.
        let room = window.map_or(most, |window| most.min(window / 2));
        usize::try_from(room).unwrap_or(usize::MAX)
    }

    /// Puts a model's summary in the place of what it summarises, and starts the turn that waited for it. An empty reply,
    /// or one that was withheld, is replaced by a plain summary.
    pub(crate) fn take_summary(&mut self, text: &str) {
        let Some(SummaryTask { through, then }) = self.run().and_then(|run| run.summary) else { return };
        let transcript = self.transcript_now();
        let cut = transcript.place_of(through);
        if is_blank(text) {
            self.leave_out(cut, CompactionMethod::Plain);
        } else {
            let summary = cut_text(text.trim(), self.room(SUMMARY));
            self.push_compacted(&transcript, cut, CompactionMethod::Summarised, Some(summary));
        }
        self.start_turn(then);
    }

    /// Sends again what the last compaction left out, from the next run on. Refused where a run with these settings would
    /// leave it out again: that would only replace the summary that is there by another one.
    pub(crate) fn undo_compaction(&mut self, next_run: Option<RunSettings>) {
        let transcript = &self.state.transcript;
        if self.run().is_some() || self.control.undo.is_some() || !transcript.can_restore() {
            return;
        }
        let restored = Compacted::new(transcript.compactions + 1, CompactionMethod::Restored, transcript.dropped);
        if let Some(settings) = next_run {
            let mut trial = Draft::new(self.state, self.at);
            trial.push(restored.clone());
            trial.start_run(RunSettings { compact: false, ..settings }, None);
            if trial.budget().is_some_and(|budget| trial.next_eviction(&budget).is_some()) {
                return;
            }
        }
        self.push(restored);
    }

    /// Records the failure of a call that was to write a summary. When no model writes one, a plain one takes its place:
    /// a summary never ends a run.
    pub(crate) fn summary_failed(&mut self, failed: AttemptFailed) {
        let gives_up = failed.next == NextAttempt::PlainSummary;
        self.push(failed);
        if gives_up {
            self.take_summary("");
        }
    }
}

impl Run {
    /// Whether its models are known well enough for budgets: those of runs from before budgets are not.
    pub(crate) fn has_known_models(&self) -> bool {
        !self.started.models.is_empty()
    }

    /// Returns the model that a turn calls first.
    pub(crate) fn first_model(&self) -> ModelName {
        self.model(0)
    }

    /// One summary is enough between two replies: if the rest is still too long, it is because of what stays.
    fn summary_by(&self) -> SummaryBy {
        if self.left_out_since_reply { SummaryBy::Records } else { SummaryBy::Model }
    }
}

/// Returns how many messages this row sends at most, and how many stay when there are more: half, so that not every
/// message changes the start of the conversation.
fn most_messages(row: HistoryKeeping) -> Option<(usize, usize)> {
    match row {
        HistoryKeeping::Consolidated { messages } => {
            let most = usize::try_from(messages).unwrap_or(usize::MAX);
            Some((most, most / 2))
        }
        HistoryKeeping::AllThatFits | HistoryKeeping::Summarised | HistoryKeeping::Pruned => None,
    }
}

/// Returns how much of the conversation may stay in this window.
fn limits(
    meter: &ContextMeter,
    model: &ModelName,
    row: HistoryKeeping,
    budget: &ContextBudget,
    window: u64,
    messages: Option<(usize, usize)>,
) -> HistoryLimits {
    let estimated = |tokens: u64| meter.estimated(model, tokens);
    let others = budget.prefix + budget.tools + budget.reserve + budget.safety;
    let room = window.saturating_sub(others);
    let fits = room.saturating_sub(evict_below(window));
    let worth = window / 16;
    let keep = match row {
        HistoryKeeping::AllThatFits => fits.saturating_sub(worth),
        HistoryKeeping::Pruned => room / 2,
        HistoryKeeping::Summarised | HistoryKeeping::Consolidated { .. } => room / 4,
    };
    HistoryLimits {
        fits: estimated(fits),
        most: estimated(room.saturating_sub(wrap_up_below(window))),
        keep: estimated(keep.min(fits)),
        messages,
        worth: estimated(worth),
        request: estimated(room),
    }
}

/// Returns what the model of the role that writes summaries can be sent, where that is not the run's own model. Half of its
/// window, because an estimate may be half of the truth; where the window is not known, its server decides.
fn summary_request(run: &Run) -> Option<u64> {
    let model = run.started.role_chains.get(&ModelRole::Summary)?.first()?;
    if run.started.chain.contains(model) {
        return None;
    }
    let window = run.started.model(model).and_then(|known| known.window);
    Some(window.map_or(u64::MAX, |window| window / 2))
}

/// Returns how much stays when a person asks for a summary: a quarter, so that the thread is not lost.
fn asked_keep(transcript: &Transcript) -> u64 {
    transcript.history.iter().map(estimate).sum::<u64>() / 4
}
