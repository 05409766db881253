//! What is kept of the conversation when older messages are no longer sent (C5): the person's requests, the calls that
//! changed something, and the files touched. It is rebuilt from the records alone, never from a summary, and bounded, so
//! that it does not grow with the session; of the plan, the latest is kept.

use std::collections::{BTreeMap, VecDeque};

use windlass_vocab::{
    CallFinished, CallId, CallRequested, EffectClass, OutcomeKind, PlanItem, Record, ToolName, Verdict, shown_path,
};

/// The most entries kept of each kind.
const KEPT: usize = 40;
/// The most characters of a request, and of a call's arguments.
const REQUEST_CHARS: usize = 200;
const ARGUMENT_CHARS: usize = 100;
/// The most characters of the message about an undo: what it is about, and some of the files.
const UNDO_CHARS: usize = 300;

/// The newest entries of a list, and how many there were in all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Newest {
    entries: VecDeque<String>,
    total: u64,
}

impl Newest {
    fn push(&mut self, entry: String) {
        self.total += 1;
        self.entries.push_back(entry);
        if self.entries.len() > KEPT {
            self.entries.pop_front();
        }
    }

    /// Removes the newest entries.
    fn drop_newest(&mut self, count: usize) {
        self.entries.truncate(self.entries.len().saturating_sub(count));
        self.total = self.total.saturating_sub(u64::try_from(count).unwrap_or(u64::MAX));
    }

    /// Adds an entry that may be there already: then it becomes the newest.
    fn push_once(&mut self, entry: String) {
        if let Some(place) = self.entries.iter().position(|known| *known == entry) {
            self.entries.remove(place);
            self.total -= 1;
        }
        self.push(entry);
    }

    /// Returns the newest entries that fit, newest first, and how many are left out.
    fn listed(&self, room: usize) -> Option<String> {
        let mut text = String::new();
        let mut count = 0;
        for entry in self.entries.iter().rev() {
            if count > 0 && text.len() + entry.len() > room {
                break;
            }
            text.push_str(&format!("\n- {entry}"));
            count += 1;
        }
        let left_out = self.total - count;
        if left_out > 0 {
            text.push_str(&format!("\n- and {left_out} earlier"));
        }
        (self.total > 0).then_some(text)
    }
}

/// What is kept from the records of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkNotes {
    first_request: Option<String>,
    requests: Newest,
    effects: Newest,
    files: Newest,
    /// Calls without a result that may change something.
    open: BTreeMap<CallId, String>,
}

impl WorkNotes {
    pub(crate) fn apply(&mut self, record: &Record) {
        match record {
            Record::MessageAccepted(accepted) => {
                let request = one_line(&accepted.text, REQUEST_CHARS);
                self.first_request.get_or_insert_with(|| request.clone());
                self.requests.push(request);
            }
            Record::CallRequested(requested) => self.requested(requested),
            Record::CallFinished(finished) => self.finished(finished),
            Record::FilesChanged(changed) => {
                changed.changes.keys().for_each(|path| self.files.push_once(shown_path(path).into()));
            }
            // Whatever was undone and brought back since a call, the newest entry says how its files are now.
            Record::Undone(undone) => self.effects.push(one_line(&undone.told, UNDO_CHARS)),
            Record::RunEnded(ended) => {
                self.open.clear();
                // Messages that a stop dropped are the newest ones.
                self.requests.drop_newest(ended.dropped.len());
                self.first_request = self.first_request.take().filter(|_| self.requests.total > 0);
            }
            // What was done before an import was done elsewhere.
            Record::SessionChanged(changed) if changed.imported.is_some() => {
                (self.effects, self.files) = (Newest::default(), Newest::default());
                self.open.clear();
            }
            Record::SessionOpened(_)
            | Record::SessionChanged(_)
            | Record::LeaseTaken(_)
            | Record::RunStarted(_)
            | Record::RunResumed(_)
            | Record::ContextPinned(_)
            | Record::TurnStarted(_)
            | Record::AttemptFailed(_)
            | Record::ModelReplied(_)
            | Record::CallStarted(_)
            | Record::CallPaused(_)
            | Record::CallSettled(_)
            | Record::SnapshotTaken(_)
            | Record::UndoStarted(_)
            | Record::QuestionAsked(_)
            | Record::QuestionAnswered(_)
            | Record::Nudged(_)
            | Record::ToolWithheld(_)
            | Record::PlanChanged(_)
            | Record::ChildSpawned(_)
            | Record::ChildReported(_)
            | Record::Compacted(_)
            | Record::CancelAsked(_)
            | Record::Unknown(_) => {}
        }
    }

    fn requested(&mut self, requested: &CallRequested) {
        let may_run = match requested.verdict {
            Verdict::Allow | Verdict::Ask => true,
            Verdict::Unknown { .. } | Verdict::Invalid { .. } | Verdict::Deny { .. } => false,
        };
        if may_run && requested.effect != EffectClass::ReadOnly && requested.ending.is_none() {
            let name = requested.tool.as_ref().map_or(requested.name.as_str(), ToolName::bare);
            let arguments = one_line(requested.arguments.as_str(), ARGUMENT_CHARS);
            self.open.insert(requested.call, format!("{name} {arguments}"));
        }
    }

    fn finished(&mut self, finished: &CallFinished) {
        let Some(call) = self.open.remove(&finished.call) else { return };
        if let Some(outcome) = effect_of(finished.outcome) {
            self.effects.push(format!("{} {call}: {outcome}", finished.call));
        }
    }

    /// Returns the notes, in at most about this many bytes.
    pub(crate) fn text(&self, plan: &[PlanItem], room: usize) -> String {
        let mut sections = Vec::new();
        if let Some(first) = &self.first_request {
            sections.push(format!("The conversation began with: {first}"));
        }
        let steps: Vec<String> = plan.iter().map(ToString::to_string).collect();
        let lists = [
            ("The person's requests, newest first:", self.requests.listed(room / 4)),
            ("The plan:", (!steps.is_empty()).then(|| format!("\n{}", steps.join("\n")))),
            ("Calls that changed something, newest first:", self.effects.listed(room / 2)),
            ("Files touched, newest first:", self.files.listed(room / 4)),
        ];
        sections.extend(lists.into_iter().filter_map(|(title, list)| Some(format!("{title}{}", list?))));
        sections.join("\n\n")
    }
}

/// Returns what a result says about a call's effect; `None` where it certainly had none.
fn effect_of(outcome: OutcomeKind) -> Option<&'static str> {
    match outcome {
        OutcomeKind::Ok => Some("done"),
        OutcomeKind::ToolError | OutcomeKind::NotFound => Some("failed"),
        OutcomeKind::TimedOut => Some("timed out; may have taken effect"),
        OutcomeKind::InfrastructureError => Some("not answered; may have taken effect"),
        OutcomeKind::Cancelled => Some("cancelled; may have taken effect"),
        OutcomeKind::Interrupted => Some("interrupted; may have taken effect"),
        OutcomeKind::Unknown | OutcomeKind::InvalidArguments | OutcomeKind::Denied => None,
    }
}

/// Returns the words of a text with one blank between them.
pub(crate) fn joined_words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the text on one line, cut to this many characters.
pub(crate) fn one_line(text: &str, chars: usize) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        let room = chars.saturating_sub(line.chars().count());
        if word.chars().count() + 1 > room {
            line.extend(word.chars().take(if line.is_empty() { room } else { 0 }));
            line.push('…');
            return line;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Cuts a text to this many bytes, at a character.
pub(crate) fn cut_text(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let end = (0..=bytes).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}…", text.get(..end).unwrap_or_default())
}
