//! The judge (S1): reads a reply without calls that would end a run, and says whether what was asked for is done. It
//! decides by what the records show, and by words only where they leave it open. It is active only where the policy
//! ends runs by `judged_text`.
//!
//! `evidence` is what the records of a run show; `request` and `reply` read the words, by the lists in `language`;
//! `file_lists` finds files named side by side, `general_question` questions about no file, `vague_order` orders that do
//! not say exactly what to change, `replaced_text` files with a text that is to be replaced, `unasked` changes that nobody
//! asked for, `misnamed` names that nobody means; `topic` compares words with the files' texts; `nudge_text` words what the model is told.
//! Nothing here knows the disk: which files exist comes from the record that began the run and from results.

mod evidence;
mod file_lists;
mod general_question;
mod language;
mod misnamed;
mod named_files;
mod nudge_text;
mod orders;
mod replaced_text;
mod reply;
mod request;
#[cfg(test)]
mod request_tests;
#[cfg(test)]
mod tests;
mod topic;
mod unasked;
mod vague_order;

use std::collections::BTreeSet;

use windlass_vocab::{Message, MissingChange, PlanStatus, ReplyFault, RunChanges, RunId, ToolSpec, WorkspaceOverview};

pub use self::evidence::is_by_product;
pub(crate) use self::evidence::{EffectsShownBy, RequestWords, RunEvidence};
use self::file_lists::file_lists;
pub use self::misnamed::NameFault;
pub(crate) use self::nudge_text::{ANSWERS, CALLS, SCRIPTS, nudge_text};
pub(crate) use self::reply::is_mere_call;
use self::reply::{ReplyWords, answer_claims_change, read_reply};
pub(crate) use self::request::{RequestKind, RequestReading, read_request};

use crate::control::Run;
use crate::file_names::{base_name, may_mean, names_file};

/// How often the judge sends a reply back in a run, for any reason.
pub(crate) const JUDGE_NUDGES: u32 = 3;

/// The most files and steps that a fault names.
const NAMED: usize = 5;

/// What the judge says of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// It is an answer.
    Complete,
    /// Something that was asked for is not done.
    Incomplete(Vec<ReplyFault>),
    /// It hands the work back. The other faults, if any, follow the first.
    Deflecting(Vec<ReplyFault>),
}

impl Judgement {
    fn of(mut faults: Vec<ReplyFault>) -> Self {
        let hands_back = |fault: &ReplyFault| matches!(fault, ReplyFault::HandedBack {});
        match faults.iter().position(hands_back) {
            Some(place) => {
                faults.swap(0, place);
                Self::Deflecting(faults)
            }
            None if faults.is_empty() => Self::Complete,
            None => Self::Incomplete(faults),
        }
    }
}

/// What a reply is judged by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JudgedReply<'a> {
    pub(crate) text: &'a str,
    pub(crate) evidence: &'a RunEvidence,
    /// The tools offered.
    pub(crate) offer: &'a [ToolSpec],
    /// Whether the model's calls are scripts, which can compute.
    pub(crate) writes_scripts: bool,
    /// Whether the request does not say exactly what to change, so that a person is asked before it is done.
    pub(crate) is_unclear_order: bool,
    /// The history, in which earlier runs may have read a file.
    pub(crate) history: &'a [Message],
}

/// Judges a reply.
pub(crate) fn judge(judged: &JudgedReply<'_>) -> Judgement {
    let evidence = judged.evidence;
    let request = read_request(&evidence.request.text, &evidence.files);
    let reply = read_reply(judged.text, judged.offer);
    let mut faults = Vec::new();
    if reply.hands_back && evidence.succeeded == 0 && request.is_about_files && !request.is_advice {
        faults.push(ReplyFault::HandedBack {});
    }
    faults.extend(work_fault(judged, &request, &reply));
    faults.extend(not_computed(judged, &request, &reply));
    faults.extend(unwritten(evidence, &request, &reply));
    faults.extend(unchanged(evidence, &request, &reply).or_else(|| untouched(judged, &request, &reply)));
    faults.extend(open_steps(evidence, &reply));
    if reply.shows_call {
        faults.push(ReplyFault::CallAsText {});
    }
    let may_announce = reply.may_announce && (!evidence.has_calls() || judged.text.trim_end().ends_with([':', '…']));
    if reply.announces || (may_announce && request.is_about_files && !request.is_advice) {
        faults.push(ReplyFault::StepAnnounced {});
    }
    Judgement::of(faults)
}

/// Returns the fault of a reply to a request whose work was not begun, failed, or changed nothing.
fn work_fault(judged: &JudgedReply<'_>, request: &RequestReading, reply: &ReplyWords) -> Option<ReplyFault> {
    let evidence = judged.evidence;
    // Where it is not clear what to change, words are all that can be expected.
    if judged.is_unclear_order && !evidence.has_effects() && !answer_claims_change(judged.text) {
        return None;
    }
    let wants_change = evidence.asks_for_change(request);
    let excused = reply.refuses || (reply.asks_back && request.existing.is_empty());
    if !evidence.has_calls() {
        let unread: Vec<String> = request
            .existing
            .iter()
            .filter(|path| wants_change || !is_known(judged, path))
            .take(NAMED)
            .cloned()
            .collect();
        let asks = wants_change || !unread.is_empty();
        let settled = excused || (request.is_advice && !wants_change);
        return (asks && !settled).then_some(ReplyFault::NoCall { files: unread });
    }
    let settled = reply.gives_reason || reply.refuses || reply.asks_back;
    if evidence.succeeded == 0 {
        // A person's no is final; only what is not true is sent back.
        let is_meant = request.is_about_files && !evidence.was_only_refused() || answer_claims_change(judged.text);
        return (is_meant && !settled).then_some(ReplyFault::CallsFailed {});
    }
    (wants_change && has_changed_nothing(evidence, request) && !settled).then_some(ReplyFault::NothingChanged {})
}

/// Whether nothing was changed. New folders are nothing where files are to be moved.
fn has_changed_nothing(evidence: &RunEvidence, request: &RequestReading) -> bool {
    let is_about_files = request.may_replace_files && !request.existing.is_empty();
    !evidence.has_effects() || is_about_files && evidence.only_made_folders()
}

/// Whether the model has been given this file's text: with the message, or by a call of an earlier run.
fn is_known(judged: &JudgedReply<'_>, path: &str) -> bool {
    let by_call = |message: &Message| match message {
        Message::Assistant { calls, .. } => calls.iter().any(|call| names_file(call.arguments.as_str(), path)),
        Message::User { .. } | Message::Tool { .. } => false,
    };
    // A file that the person attached may lie elsewhere.
    let shown = |name: &String| name == path || may_mean(base_name(name), path);
    judged.evidence.request.shown_files.iter().any(shown) || judged.history.iter().any(by_call)
}

/// Returns the fault of a reply that gives a figure by guess: small models count and add wrongly, and their scripts do not.
fn not_computed(judged: &JudgedReply<'_>, request: &RequestReading, reply: &ReplyWords) -> Option<ReplyFault> {
    let can_compute = judged.writes_scripts && !judged.offer.is_empty() && !judged.evidence.files.is_empty();
    let asks = request.kind == RequestKind::Question && request.is_about_figures && !request.is_advice;
    let excused = reply.refuses || reply.asks_back || reply.gives_reason;
    (can_compute && asks && !judged.evidence.has_calls() && !excused).then_some(ReplyFault::NotComputed {})
}

/// Returns the fault of a reply to a request for files that no call wrote.
fn unwritten(evidence: &RunEvidence, request: &RequestReading, reply: &ReplyWords) -> Option<ReplyFault> {
    let excused = reply.refuses || reply.asks_back || (evidence.has_calls() && reply.gives_reason) || request.is_advice;
    let excused = excused || evidence.was_only_refused();
    let files: Vec<String> =
        request.to_write.iter().filter(|name| !evidence.has_written(name)).take(NAMED).cloned().collect();
    (!files.is_empty() && !excused).then_some(ReplyFault::NotWritten { files })
}

/// Returns the fault of a reply to a request about several files of which only some were used.
fn untouched(judged: &JudgedReply<'_>, request: &RequestReading, reply: &ReplyWords) -> Option<ReplyFault> {
    let evidence = judged.evidence;
    let excused = reply.refuses || reply.asks_back || request.is_about_listing || request.is_advice;
    if evidence.succeeded == 0 || request.existing.len() < 2 || excused {
        return None;
    }
    let is_open =
        |path: &&String| !evidence.used.contains(*path) && !evidence.has_written(path) && !is_known(judged, path);
    let files: Vec<String> = request.existing.iter().filter(is_open).take(NAMED).cloned().collect();
    let some_used = files.len() < request.existing.len();
    (!files.is_empty() && some_used).then_some(ReplyFault::Untouched { files })
}

/// Returns the fault of a reply to a request that lists files of which only some were changed.
fn unchanged(evidence: &RunEvidence, request: &RequestReading, reply: &ReplyWords) -> Option<ReplyFault> {
    let excused = reply.gives_reason || reply.refuses || reply.asks_back || !evidence.asks_for_change(request);
    let changes = evidence.changes();
    let left = left_in_lists(evidence, &changes, request).into_iter().chain(surely_left(evidence, &changes, request));
    let left: BTreeSet<String> = left.chain(missed(evidence, &changes, request)).collect();
    let files: Vec<String> = left.into_iter().take(NAMED).collect();
    (!files.is_empty() && !excused).then_some(ReplyFault::NotChanged { files })
}

/// Returns the files that are as they were once something was changed, though the request asks for them to be moved, or for
/// a text that they have to be replaced.
fn surely_left(evidence: &RunEvidence, changes: &RunChanges, request: &RequestReading) -> Vec<String> {
    if !changes.has_changes() {
        return Vec::new();
    }
    let is_changed = |path: &String| changes.paths().any(|changed| changed == path);
    let to_remove = request.to_remove.iter().filter(|path| !is_gone(changes, path));
    to_remove.chain(evidence.request.to_replace_in.iter().filter(|path| !is_changed(path))).cloned().collect()
}

/// Returns the files that the request asks to be changed, where others were made or changed in their place.
fn missed(evidence: &RunEvidence, changes: &RunChanges, request: &RequestReading) -> Vec<String> {
    let shows_all = changes.has_changes() && !changes.may_have_changed_more() && !evidence.has_unseen_changes;
    let is_untouched = |path: &String| !changes.paths().any(|changed| changed == path);
    let made_only = changes.changed.is_empty() && changes.deleted.is_empty() && changes.moved.is_empty();
    let is_meant = made_only && request.to_write.is_empty() && !request.is_about_all || request.says_where();
    let is_missed = shows_all && is_meant && request.to_change.iter().all(is_untouched);
    if is_missed { request.to_change.clone() } else { Vec::new() }
}

/// Returns the files that the request lists beside one that was changed, and that were not changed. Where it says which are to be
/// changed, others are only read.
fn left_in_lists(evidence: &RunEvidence, changes: &RunChanges, request: &RequestReading) -> Vec<String> {
    let is_done = |path: &String| changes.paths().any(|changed| changed == path);
    let is_meant = |path: &String| match request.to_change.as_slice() {
        [] => !request.may_copy,
        to_change => to_change.contains(path),
    };
    let lists = file_lists(&evidence.request.text, &evidence.files).into_iter();
    let listed = lists.filter(|list| list.iter().any(is_done)).flatten();
    listed.filter(|path| !is_done(path) && is_meant(path)).collect()
}

/// Returns the fault of a reply while steps of the run's own plan are open.
fn open_steps(evidence: &RunEvidence, reply: &ReplyWords) -> Option<ReplyFault> {
    let open = evidence.plan.iter().filter(|item| item.status != PlanStatus::Done);
    let steps: Vec<String> = open.take(NAMED).map(|item| item.step.clone()).collect();
    let excused = reply.gives_reason || reply.asks_back || reply.refuses;
    (!steps.is_empty() && !excused).then_some(ReplyFault::StepsOpen { steps })
}

/// Returns what a run did, by its records, and where its answer says otherwise; `None` where there is nothing to say.
pub(crate) fn run_changes(evidence: &RunEvidence, answer: &str) -> Option<RunChanges> {
    let mut changes = evidence.changes();
    let request = read_request(&evidence.request.text, &evidence.files);
    let wants_change = evidence.asks_for_change(&request);
    if wants_change && !evidence.has_unseen_changes {
        let is_open = |path: &&String| !evidence.has_written(path) && !is_gone(&changes, path);
        let named = request.meant().iter().chain(&request.to_write);
        let others = evidence.request.to_replace_in.iter().filter(|path| !request.meant().contains(path));
        changes.not_changed = named.chain(others).filter(is_open).cloned().collect();
    }
    let shows_none = !changes.has_changes() && !changes.may_have_changed_more() && !evidence.has_unseen_changes;
    // A call that failed was to change something, whatever the request says, if the answer says that it did.
    if shows_none && (wants_change || evidence.failed > 0) {
        let claims = answer_claims_change(answer);
        let missing = if claims { MissingChange::Claimed } else { MissingChange::NotClaimed };
        changes.missing = (wants_change || claims).then_some(missing);
    }
    (!changes.is_empty()).then_some(changes)
}

/// Whether a file was deleted or moved away.
fn is_gone(changes: &RunChanges, path: &str) -> bool {
    changes.deleted.iter().any(|gone| gone == path) || changes.moved.iter().any(|moved| moved.from == path)
}

/// How far a run has come with the files of its request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestProgress {
    /// What it did to files.
    pub done: RunChanges,
    /// What that is of the change that was asked for.
    pub stage: ChangeStage,
    /// Whether it is a question, and a call has succeeded.
    pub may_be_answered: bool,
}

/// How much of the change that a request asks for is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeStage {
    /// It asks for none.
    NotAsked,
    /// Nothing is changed.
    Nothing {
        /// The files whose text it asks to be changed.
        to_rewrite: Vec<String>,
    },
    /// A file that it names is changed, or one that it asks to be moved is left after another change.
    Begun {
        /// Others that it asks to be changed, and that are not.
        left: Vec<String>,
    },
    /// Something is changed, and the records do not show whether it is what was asked for.
    Unclear,
}

/// A way to change files without writing text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileChangeKind {
    /// A file is moved or renamed.
    Move,
    /// A file is deleted.
    Delete,
}

/// What a request needs of the tools that work with files, by its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileNeed {
    /// Nothing: it is talk, or a question that the files have nothing to do with.
    None,
    /// An answer, for which files may have to be read.
    Look,
    /// A change, or work whose kind the words do not show.
    Change,
}

impl Run {
    /// Returns what the request needs of the tools that work with files, given the files of the workspace (T2).
    #[must_use]
    pub fn file_need_by_words(&self, files: &BTreeSet<String>) -> FileNeed {
        let request = read_request(&self.evidence.request.text, files);
        match request.kind {
            RequestKind::Change => FileNeed::Change,
            RequestKind::Question => FileNeed::Look,
            RequestKind::Other if request.is_talk => FileNeed::None,
            RequestKind::Other => FileNeed::Change,
        }
    }

    /// Returns the files that exist and that the request asks to be changed; those that it names, where it asks for a change
    /// and names no other file to write.
    #[must_use]
    pub fn files_to_change(&self) -> Vec<String> {
        let request = read_request(&self.evidence.request.text, &self.evidence.files);
        request.meant().to_vec()
    }

    /// Whether the run began with the first message of the conversation. Later ones may go on with what was said: "Yes, do
    /// it."
    #[must_use]
    pub fn is_first_request(&self) -> bool {
        self.id == RunId(1) && self.started.retry_of.is_none()
    }

    /// Whether the request is a question about none of the files, given the text of all of them.
    #[must_use]
    pub fn is_general_question(&self, overview: &WorkspaceOverview) -> bool {
        general_question::is_general_question(&self.evidence.request.text, overview)
    }

    /// Returns how far the run has come with the files of its request, by its records.
    #[must_use]
    pub fn progress(&self) -> RequestProgress {
        let evidence = &self.evidence;
        let done = evidence.changes();
        let request = read_request(&evidence.request.text, &evidence.files);
        let may_be_answered = request.kind == RequestKind::Question && evidence.succeeded > 0;
        let stage = if !evidence.asks_for_change(&request) {
            ChangeStage::NotAsked
        } else if has_changed_nothing(evidence, &request) {
            let to_rewrite = if request.only_moves_or_deletes { Vec::new() } else { request.to_change };
            ChangeStage::Nothing { to_rewrite }
        } else {
            let unwritten = request.to_write.iter().filter(|name| !evidence.has_written(name)).cloned();
            let surely_left = surely_left(evidence, &done, &request);
            let is_named = |path: &str| names_file(&evidence.request.text, path);
            let is_begun = !surely_left.is_empty() || done.paths().any(is_named);
            let left: BTreeSet<String> =
                unwritten.chain(left_in_lists(evidence, &done, &request)).chain(surely_left).collect();
            let left: Vec<String> = left.into_iter().collect();
            // Of files to be changed that are not listed side by side, some may be left.
            let is_done = |path: &String| done.paths().any(|changed| changed == path);
            let may_be_left = request.is_about_all || !request.to_change.iter().all(is_done);
            match left.is_empty() {
                _ if !is_begun => ChangeStage::Unclear,
                true if may_be_left => ChangeStage::Unclear,
                true | false => ChangeStage::Begun { left },
            }
        };
        RequestProgress { done, stage, may_be_answered }
    }

    /// Returns which changes of files the request does not speak of, though it orders others.
    #[must_use]
    pub fn unmentioned_changes(&self, files: &BTreeSet<String>) -> Vec<FileChangeKind> {
        let request = read_request(&self.evidence.request.text, files);
        let kinds = [(FileChangeKind::Move, request.may_move), (FileChangeKind::Delete, request.may_delete)];
        let orders = self.evidence.asks_for_change(&request);
        kinds.into_iter().filter(|(_, may_be)| orders && !may_be).map(|(kind, _)| kind).collect()
    }
}
