//! The judge (S1): reads a reply without calls that would end a run, and says whether what was asked for is done. It
//! decides by what the records show, and by words only where they leave it open. It is active only where the policy
//! ends runs by `judged_text`.
//!
//! `evidence` is what the records of a run show; `request` and `reply` read the words, by the lists in `language`;
//! `nudge_text` words what the model is told. Nothing here knows the disk: which files exist comes from the record that
//! began the run and from results.

mod evidence;
mod language;
mod nudge_text;
mod reply;
mod request;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use windlass_vocab::{
    Message, MissingChange, PlanStatus, ReplyFault, RunChanges, ToolSpec, UnaskedChange, UnaskedChanges,
};

pub(crate) use self::evidence::{RequestWords, RunEvidence};
pub(crate) use self::nudge_text::{CALLS, SCRIPTS, nudge_text};
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
    faults.extend(unwritten(evidence, &request, &reply));
    faults.extend(untouched(judged, &request, &reply));
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
    let wants_change = request.kind == RequestKind::Change;
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
        return (request.is_about_files && !settled).then_some(ReplyFault::CallsFailed {});
    }
    (wants_change && !evidence.has_effects() && !settled).then_some(ReplyFault::NothingChanged {})
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

/// Returns the fault of a reply to a request for files that no call wrote.
fn unwritten(evidence: &RunEvidence, request: &RequestReading, reply: &ReplyWords) -> Option<ReplyFault> {
    let excused = reply.refuses || reply.asks_back || (evidence.has_calls() && reply.gives_reason) || request.is_advice;
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
    if request.kind == RequestKind::Change {
        let is_open = |path: &&String| !evidence.has_written(path) && !is_gone(&changes, path);
        changes.not_changed = request.existing.iter().chain(&request.to_write).filter(is_open).cloned().collect();
    }
    let shows_none = !changes.has_changes() && !changes.may_have_changed_more();
    if shows_none && request.kind == RequestKind::Change {
        let claims = answer_claims_change(answer);
        changes.missing = Some(if claims { MissingChange::Claimed } else { MissingChange::NotClaimed });
    }
    (!changes.is_empty()).then_some(changes)
}

/// Whether a file was deleted or moved away.
fn is_gone(changes: &RunChanges, path: &str) -> bool {
    changes.deleted.iter().any(|gone| gone == path) || changes.moved.iter().any(|moved| moved.from == path)
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
    /// Nothing: it is talk.
    None,
    /// An answer, for which files may have to be read.
    Look,
    /// A change, or work whose kind the words do not show.
    Change,
}

impl Run {
    /// Returns what the request needs of the tools that work with files, given the files of the workspace (T2).
    #[must_use]
    pub fn file_need(&self, files: &BTreeSet<String>) -> FileNeed {
        let request = read_request(&self.evidence.request.text, files);
        match request.kind {
            RequestKind::Change => FileNeed::Change,
            RequestKind::Question => FileNeed::Look,
            RequestKind::Other if request.is_talk => FileNeed::None,
            RequestKind::Other => FileNeed::Change,
        }
    }

    /// Returns what the run did to files so far, by its records; `None` where it did nothing.
    #[must_use]
    pub fn changes_so_far(&self) -> Option<RunChanges> {
        run_changes(&self.evidence, "").filter(RunChanges::has_changes)
    }

    /// Returns which changes of files the request does not speak of, though it orders others.
    #[must_use]
    pub fn unmentioned_changes(&self, files: &BTreeSet<String>) -> Vec<FileChangeKind> {
        let request = read_request(&self.evidence.request.text, files);
        let kinds = [(FileChangeKind::Move, request.may_move), (FileChangeKind::Delete, request.may_delete)];
        let orders = request.kind == RequestKind::Change;
        kinds.into_iter().filter(|(_, may_be)| orders && !may_be).map(|(kind, _)| kind).collect()
    }

    /// Returns why a call that changes these files, and loses the content of those, needs a person: the request did not
    /// ask for it, or the run was not allowed to delete one of them: a model that hears "no" empties the file instead.
    /// `None` where it did, or where the policy does not ask.
    #[must_use]
    pub fn unasked_change(&self, changes: &[String], loses: &[String]) -> Option<UnaskedChange> {
        if self.policy().unasked_changes == UnaskedChanges::Allow || (changes.is_empty() && loses.is_empty()) {
            return None;
        }
        if let Some(path) = changes.iter().chain(loses).find(|path| self.evidence.was_not_to_be_deleted(path)) {
            return Some(UnaskedChange::AfterDeniedDelete { path: path.clone() });
        }
        let request = &self.evidence.request.text;
        if read_request(request, &self.evidence.files).kind == RequestKind::Question {
            return Some(UnaskedChange::InAnswer {});
        }
        let is_named = |path: &str| !read_request(request, &BTreeSet::from([path.to_owned()])).existing.is_empty();
        let unnamed = loses.iter().find(|path| !is_named(path.trim_start_matches("./")))?;
        Some(UnaskedChange::Deletes { path: unnamed.clone() })
    }
}
