//! The conversation: the history as it is sent, messages that wait until the open turn is complete, and the plan,
//! grants and cost.
//!
//! The history is valid at every moment: a reply with calls enters it together with all its results, in call order
//! (J10, L9), and messages that arrive during a turn wait until after it. It only grows, except at a `Compacted`, which
//! starts a new epoch, when a run starts over after a repeated script, and when the judge sends back a reply, which then was
//! never sent.

mod compaction;

use std::collections::HashMap;
use std::sync::Arc;

use windlass_vocab::{
    Attachment, CallFinished, CallId, CallInHistory, CallRequested, Grant, ImageRef, Message, MessageId, ModelName,
    ModelReplied, OverviewFile, Part, PinnedContext, PlanItem, Record, RunId, RunStarted, TextOrigin,
    WorkspaceOverview,
};

use self::compaction::LeftOut;
use crate::cache_watch::CacheWatch;
use crate::counting::{ContextMeter, enters_history};
use crate::notes::WorkNotes;
use crate::overview::before_request;

/// The conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcript {
    /// The history that is sent to the model.
    pub history: Vec<Message>,
    /// Messages of the session that are no longer sent, except the goal where it is one of them.
    pub dropped: u64,
    /// A number that changes with every compaction and every new context.
    pub epoch: u64,
    /// The pinned prefix and offer.
    pub context: Option<Arc<PinnedContext>>,
    /// The plan.
    pub plan: Vec<PlanItem>,
    /// Rules that a person allowed for this session.
    pub grants: Vec<Grant>,
    /// The run each message belongs to: the one that accepted it, or the newest retry of that.
    pub seen: HashMap<MessageId, RunId>,
    /// The calls whose results came from outside, with their origins (X4).
    pub origins: HashMap<CallId, TextOrigin>,
    /// The size of the next request.
    pub meter: ContextMeter,
    /// What the providers' caches may hold of it.
    pub cache: CacheWatch,
    /// How often the history was shortened.
    pub compactions: u32,
    /// What is kept of the older part of the conversation.
    pub notes: WorkNotes,
    /// The summary of the part that is no longer sent.
    pub(crate) summary: Option<String>,
    /// How many messages at the start of `history` take the place of those that are no longer sent: the notes, and the
    /// goal.
    replacements: usize,
    left_out: Option<LeftOut>,
    /// Index in `history` of the message that started the open run.
    goal: Option<usize>,
    turn: OpenTurn,
    held: Vec<UserWords>,
    /// Index in `history` of the person's newest message.
    last_words: Option<usize>,
    /// The person's messages in `history` that were not sent to a model yet, in order.
    unsent: Vec<UnsentWords>,
    runs: u32,
    open: bool,
    /// Whether the open run goes on with the replies of one before it.
    is_retry: bool,
    /// The person's newest message, where an overview of the workspace was put in front of it.
    own_words: Option<String>,
    /// Texts that are no results and that nobody has checked, and where they came from (X4): of overviews, attached to a
    /// step's message, and reported by steps.
    unchecked_texts: Vec<(TextOrigin, String)>,
}

/// A message of the user role, and who really wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct UserWords {
    text: String,
    images: Vec<ImageRef>,
    by: WordsFrom,
}

impl UserWords {
    fn of_machine(text: &str) -> Self {
        Self { text: text.to_owned(), images: Vec::new(), by: WordsFrom::Machine }
    }

    fn message(&self) -> Message {
        Message::User { text: self.text.clone(), images: self.images.clone() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum WordsFrom {
    Person(MessageId),
    Machine,
}

/// A person's message that was not sent to a model yet.
#[derive(Clone, Debug, PartialEq, Eq)]
struct UnsentWords {
    message_id: MessageId,
    /// Its index in `history`.
    place: usize,
    /// The value of `last_words` before it.
    before: Option<usize>,
}

/// The state of the current turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum OpenTurn {
    #[default]
    None,
    /// The model was called and has not answered.
    Asked,
    /// The model asked for calls; some have no result yet.
    Calls { parts: Vec<Part>, calls: Vec<CallInHistory>, results: Vec<Option<Message>>, model: ModelName },
}

impl Transcript {
    /// Returns the text of an earlier result, if it is still sent.
    #[must_use]
    pub fn result(&self, wanted: CallId) -> Option<&str> {
        self.history.iter().rev().find_map(|message| match message {
            Message::Tool { call, text, .. } if *call == wanted => Some(text.as_str()),
            Message::Tool { .. } | Message::User { .. } | Message::Assistant { .. } => None,
        })
    }

    /// Returns the images of an earlier result, if they are still sent.
    pub(crate) fn result_images(&self, wanted: CallId) -> &[ImageRef] {
        let images = self.history.iter().rev().find_map(|message| match message {
            Message::Tool { call, images, .. } if *call == wanted => Some(images.as_slice()),
            Message::Tool { .. } | Message::User { .. } | Message::Assistant { .. } => None,
        });
        images.unwrap_or_default()
    }

    /// Returns the results from outside that are still sent, with their origins, newest first.
    pub fn outside_texts(&self) -> impl Iterator<Item = (&TextOrigin, &str)> {
        let results = self.history.iter().rev().filter_map(|message| match message {
            Message::Tool { call, text, .. } => Some((self.origins.get(call)?, text.as_str())),
            Message::User { .. } | Message::Assistant { .. } => None,
        });
        results.chain(self.unchecked_texts.iter().rev().map(|(origin, text)| (origin, text.as_str())))
    }

    /// Returns the person's newest message, if it is still sent.
    #[must_use]
    pub fn newest_words(&self) -> Option<&str> {
        match self.history.get(self.last_words?)? {
            Message::User { text, .. } => Some(self.own_words.as_ref().unwrap_or(text)),
            Message::Assistant { .. } | Message::Tool { .. } => None,
        }
    }

    /// Returns the message that started the open run, if it is still sent.
    #[must_use]
    pub fn goal_words(&self) -> Option<&str> {
        if self.goal == self.last_words {
            return self.newest_words();
        }
        match self.history.get(self.goal?)? {
            Message::User { text, .. } => Some(text),
            Message::Assistant { .. } | Message::Tool { .. } => None,
        }
    }

    /// Returns the index of the message that started the open run.
    #[must_use]
    pub fn goal(&self) -> Option<usize> {
        self.goal
    }

    /// Returns how many messages at the start of the history take the place of those that are no longer sent.
    pub(crate) fn replacements(&self) -> usize {
        self.replacements
    }

    pub(crate) fn apply(&mut self, record: &Record) {
        self.meter.apply(record);
        self.notes.apply(record);
        self.cache.apply(record);
        match record {
            Record::MessageAccepted(accepted) => {
                self.seen.insert(accepted.message_id.clone(), RunId(self.runs + u32::from(!self.open)));
                self.unchecked_texts.extend(accepted.attachments.iter().filter_map(unchecked_attachment));
                self.add_or_hold(UserWords {
                    text: accepted.sent_text().into_owned(),
                    images: accepted.images().cloned().collect(),
                    by: WordsFrom::Person(accepted.message_id.clone()),
                });
            }
            Record::RunStarted(started) => self.begin_run(started),
            Record::ContextPinned(pinned) => {
                if let Some(context) = &pinned.context {
                    self.cache.context_changed(self.context.as_deref(), context);
                    self.context = Some(Arc::new(context.clone()));
                    self.epoch += 1;
                }
                if let Some(overview) = pinned.overview.as_ref().filter(|overview| !overview.is_for_judge) {
                    self.show_overview(overview);
                }
            }
            Record::TurnStarted(started) => {
                if self.turn == OpenTurn::Asked {
                    // The turn before got no reply: a shorter history had to be made first.
                    self.close_turn();
                }
                self.turn = OpenTurn::Asked;
                if started.mode.reads_request() {
                    self.unsent.clear();
                }
            }
            Record::ModelReplied(replied) => self.reply(replied),
            Record::CallRequested(requested) => self.request(requested),
            Record::CallFinished(finished) => {
                self.origins.extend(finished.origin.clone().map(|origin| (finished.call, origin)));
                self.finish(finished);
            }
            Record::QuestionAnswered(answered) => self.grants.extend(answered.grant.clone()),
            Record::Nudged(nudged) if nudged.starts_over() => self.start_over(),
            Record::Nudged(nudged) if nudged.rejects_reply() => self.reject_reply(),
            Record::Nudged(nudged) => self.add_or_hold(UserWords::of_machine(&nudged.text)),
            Record::Undone(undone) => self.add_or_hold(UserWords::of_machine(&undone.told)),
            Record::PlanChanged(changed) => self.plan.clone_from(&changed.items),
            Record::ChildReported(reported) => {
                let texts = reported.origins.iter().map(|origin| (origin.clone(), reported.answer.clone()));
                self.unchecked_texts.extend(texts);
            }
            Record::Compacted(compacted) => self.compact(compacted),
            Record::RunEnded(ended) => {
                self.drop_words(&ended.dropped);
                self.close_turn();
                self.unsent.clear();
                self.goal = None;
                self.open = false;
            }
            Record::SessionChanged(changed) if changed.imported.is_some() => {
                self.grants.clear();
                self.context = None;
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
            | Record::ToolWithheld(_)
            | Record::ChildSpawned(_)
            | Record::CancelAsked(_)
            | Record::Unknown(_) => {}
        }
    }

    fn begin_run(&mut self, started: &RunStarted) {
        self.runs += 1;
        self.open = true;
        self.is_retry = started.retry_of.is_some();
        // A caller that asks for the end of a message's run means that of its newest retry.
        for run in self.seen.values_mut().filter(|run| Some(**run) == started.retry_of) {
            *run = started.run;
        }
        // The run's goal is the person's newest message; for a retry that is an earlier one.
        self.goal = self.last_words;
    }

    /// Puts the overview of the workspace in front of the message that started the run. A message that was sent before
    /// stays as it was.
    fn show_overview(&mut self, overview: &WorkspaceOverview) {
        let Some(place) = self.goal.filter(|goal| self.unsent.iter().any(|unsent| unsent.place == *goal)) else {
            return;
        };
        let Some(Message::User { text, .. }) = self.history.get_mut(place) else { return };
        let shown = before_request(overview, text);
        let own = std::mem::replace(text, shown);
        self.own_words = Some(own).filter(|_| self.last_words == Some(place));
        let unchecked = |file: &OverviewFile| Some((file.origin.clone()?, file.text.clone()?));
        self.unchecked_texts.extend(overview.files.iter().filter_map(unchecked));
        self.measure_again();
    }

    /// Adds a message of the user role, or keeps it back until the open turn is complete.
    fn add_or_hold(&mut self, words: UserWords) {
        match self.turn {
            OpenTurn::None => self.add(words),
            OpenTurn::Asked | OpenTurn::Calls { .. } => self.held.push(words),
        }
    }

    fn add(&mut self, words: UserWords) {
        if let WordsFrom::Person(message_id) = words.by {
            self.own_words = None;
            let place = self.history.len();
            self.unsent.push(UnsentWords { message_id, place, before: self.last_words.replace(place) });
        }
        self.history.push(Message::User { text: words.text, images: words.images });
    }

    /// Removes messages that no model has been sent, so that none will be. The part that was sent stays byte for byte.
    fn drop_words(&mut self, dropped: &[MessageId]) {
        if dropped.is_empty() {
            return;
        }
        self.held.retain(|words| !matches!(&words.by, WordsFrom::Person(message_id) if dropped.contains(message_id)));
        for unsent in std::mem::take(&mut self.unsent).into_iter().rev() {
            if dropped.contains(&unsent.message_id) && unsent.place < self.history.len() {
                self.history.remove(unsent.place);
                self.last_words = unsent.before;
            }
        }
        self.measure_again();
    }

    fn reply(&mut self, replied: &ModelReplied) {
        let enters = enters_history(replied);
        if let Some(left_out) = self.left_out.as_mut().filter(|_| replied.role.is_turn()) {
            left_out.answered = true;
        }
        let calls = replied.parts.iter().filter(|part| matches!(part, Part::Call { .. })).count();
        let (parts, model) = (replied.parts.clone(), replied.model.clone());
        if calls > 0 && enters {
            let results = vec![None; calls];
            self.turn = OpenTurn::Calls { parts, calls: Vec::with_capacity(calls), results, model };
            return;
        }
        if enters {
            self.history.push(Message::Assistant { parts, calls: Vec::new(), model });
        }
        self.close_turn();
    }

    /// Removes the reply that the judge sent back. No request had contained it, so what was sent stays byte for byte.
    fn reject_reply(&mut self) {
        let is_reply = |message: &Message| matches!(message, Message::Assistant { .. });
        let Some(place) = self.history.iter().rposition(is_reply) else { return };
        if !matches!(self.history.get(place), Some(Message::Assistant { calls, .. }) if calls.is_empty()) {
            return;
        }
        self.history.remove(place);
        let moved = |at: usize| if at > place { at - 1 } else { at };
        (self.goal, self.last_words) = (self.goal.map(moved), self.last_words.map(moved));
        for unsent in &mut self.unsent {
            (unsent.place, unsent.before) = (moved(unsent.place), unsent.before.map(moved));
        }
        self.measure_again();
    }

    /// Removes what the run did so far, which brought nothing. All stays where a person spoke meanwhile, and in a retry,
    /// which goes on with what the run before it did.
    fn start_over(&mut self) {
        let is_only_words = |goal: &usize| self.last_words == Some(*goal) && !self.is_retry;
        let Some(end) = self.goal.filter(is_only_words).map(|goal| goal + 1) else { return };
        self.history.truncate(end);
        // A compaction of what is gone can't be undone.
        self.left_out = self.left_out.take().filter(|left_out| left_out.ends_by(end));
        self.epoch += 1;
        self.measure_again();
    }

    fn request(&mut self, requested: &CallRequested) {
        if let OpenTurn::Calls { calls, .. } = &mut self.turn {
            calls.push(CallInHistory {
                call: requested.call,
                provider_id: requested.provider_id.clone(),
                name: requested.name.clone(),
                arguments: requested.arguments.clone(),
            });
        }
    }

    fn finish(&mut self, finished: &CallFinished) {
        let OpenTurn::Calls { calls, results, .. } = &mut self.turn else { return };
        let place = calls.iter().position(|call| call.call == finished.call);
        let Some((call, slot)) = place.and_then(|at| Some((calls.get(at)?, results.get_mut(at)?))) else { return };
        *slot = Some(Message::Tool {
            call: call.call,
            provider_id: call.provider_id.clone(),
            name: call.name.clone(),
            outcome: finished.outcome,
            text: finished.text.clone(),
            images: finished.images.clone(),
        });
        if results.iter().all(Option::is_some) {
            self.close_turn();
        }
    }

    /// Moves the complete turn into the history, then the messages kept back behind it.
    fn close_turn(&mut self) {
        if let OpenTurn::Calls { parts, calls, results, model } = std::mem::take(&mut self.turn) {
            self.history.push(Message::Assistant { parts, calls, model });
            self.history.extend(results.into_iter().flatten());
        }
        for words in std::mem::take(&mut self.held) {
            self.add(words);
        }
    }

    /// Measures what is left after messages were removed or changed, with what waits for the end of the open turn.
    fn measure_again(&mut self) {
        let mut waiting: Vec<Message> = Vec::new();
        if let OpenTurn::Calls { parts, calls, results, model } = &self.turn {
            waiting.push(Message::Assistant { parts: parts.clone(), calls: calls.clone(), model: model.clone() });
            waiting.extend(results.iter().flatten().cloned());
        }
        waiting.extend(self.held.iter().map(UserWords::message));
        self.meter.measure_again(self.history.iter().chain(&waiting));
    }
}

/// Returns an attached text that nobody has checked, with its origin.
fn unchecked_attachment(attachment: &Attachment) -> Option<(TextOrigin, String)> {
    match attachment {
        Attachment::Text(text) => Some((text.origin.clone()?, text.text.clone())),
        Attachment::Image(_) => None,
    }
}
