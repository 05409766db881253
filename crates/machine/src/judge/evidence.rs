//! What the records of a run show of its work: the request, the calls with their outcomes, and the changes of files.
//! The judge decides by it, and the end of the run states it. All lists are bounded: every decision works on a copy.

use std::collections::{BTreeMap, BTreeSet};

use windlass_vocab::{
    Attachment, CallFinished, CallRequested, Change, EffectClass, FileState, FilesChanged, MessageAccepted, MovedPath,
    OutcomeKind, PlanItem, RunChanges, SnapshotKind, ToolName, TurnId, WorkspaceOverview,
};

use super::named_files::name_tokens;
use super::replaced_text::files_with_replaced_text;
use super::request::{RequestKind, RequestReading};
use super::vague_order::names_nothing;
use crate::call::Call;
use crate::file_names::{base_name, may_mean, names_file};
use crate::notes::one_line;

/// The most bytes kept of a request, and characters of a command or of a call's arguments.
const REQUEST_BYTES: usize = 6_000;
const COMMAND_CHARS: usize = 200;
const ARGUMENT_CHARS: usize = 1_000;
/// The most entries of each list.
const KEPT: usize = 100;
/// The most calls whose arguments are kept.
const EFFECTS: usize = 40;

/// What the person asked for: their words alone, without what was added to the message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequestWords {
    pub(crate) text: String,
    /// Files whose text the model was shown with the message.
    pub(crate) shown_files: BTreeSet<String>,
    /// Set when it orders a change and nothing in it is found in the files.
    pub(super) names_nothing: bool,
    /// Files with a text that it asks to be replaced there.
    pub(super) to_replace_in: Vec<String>,
}

impl RequestWords {
    pub(crate) fn of(accepted: &MessageAccepted) -> Self {
        let mut words = Self::default();
        words.add(accepted);
        words
    }

    /// Adds a message that joined the run.
    pub(crate) fn add(&mut self, accepted: &MessageAccepted) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        (self.names_nothing, self.to_replace_in) = (false, Vec::new());
        self.text.push_str(&crate::notes::cut_text(&accepted.text, REQUEST_BYTES));
        self.shown_files.extend(accepted.attachments.iter().filter_map(|attachment| match attachment {
            Attachment::Text(text) => Some(text.name.clone()),
            Attachment::Image(_) => None,
        }));
    }
}

/// What shows the changes of a call that succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EffectsShownBy {
    /// Its arguments name what it may have changed.
    Arguments,
    /// The files before and after it.
    Comparison,
}

/// A call to which a person said no.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RefusedCall {
    turn: TurnId,
    tool: Option<ToolName>,
    arguments: String,
}

/// What the records of a run show of its work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunEvidence {
    pub(crate) request: RequestWords,
    /// Files that are known to exist, or to have existed when the run began.
    pub(crate) files: BTreeSet<String>,
    /// Of these, the ones that a successful call was about.
    pub(crate) used: BTreeSet<String>,
    /// Calls that succeeded, and calls that did not.
    pub(crate) succeeded: u32,
    pub(crate) failed: u32,
    /// The arguments of successful calls that may have changed something.
    effects: Vec<String>,
    /// The state of each changed path before its first change and after its last.
    changes: BTreeMap<String, Change>,
    more_changes: u32,
    /// Set where a comparison could not see all files.
    pub(crate) has_unseen_changes: bool,
    commands: Vec<String>,
    elsewhere: BTreeSet<ToolName>,
    /// Paths that child sessions report as changed.
    by_steps: BTreeSet<String>,
    /// Files that a call was not allowed to delete.
    not_to_be_deleted: BTreeSet<String>,
    /// Calls to which a person said no.
    refused: Vec<RefusedCall>,
    refusals: u32,
    /// The plan, if this run made one.
    pub(crate) plan: Vec<PlanItem>,
}

impl RunEvidence {
    /// Returns the evidence of a run that has just begun.
    pub(crate) fn new(request: RequestWords) -> Self {
        Self { request, ..Self::default() }
    }

    /// Adds what a child session reports as changed (S3).
    pub(crate) fn step_changed(&mut self, paths: &[String]) {
        self.succeeded = self.succeeded.saturating_add(1);
        for path in paths.iter().take(KEPT.saturating_sub(self.by_steps.len())) {
            self.used.insert(path.clone());
            self.by_steps.insert(path.clone());
        }
    }

    /// Adds what an overview of the workspace shows.
    pub(crate) fn add_overview(&mut self, overview: &WorkspaceOverview) {
        self.add_files(overview.files.iter().map(|file| &file.path));
        // The model has read these without a call.
        let shown = overview.files.iter().filter(|file| file.text.is_some()).map(|file| file.path.clone());
        self.request.shown_files.extend(shown);
        self.request.names_nothing = names_nothing(&self.request.text, overview);
        self.request.to_replace_in = files_with_replaced_text(&self.request.text, overview);
    }

    /// Adds files that are known to exist.
    pub(crate) fn add_files<'a>(&mut self, files: impl IntoIterator<Item = &'a String>) {
        let room = KEPT.saturating_sub(self.files.len());
        self.files.extend(files.into_iter().take(room).cloned());
    }

    /// Observes the result of a call.
    pub(crate) fn call_finished(&mut self, call: &Call, finished: &CallFinished, effects: EffectsShownBy) {
        let request = &call.request;
        if request.ending.is_some() {
            return;
        }
        let arguments = call.edited.as_ref().unwrap_or(&request.arguments).as_str();
        if finished.outcome != OutcomeKind::Ok {
            self.failed += 1;
            if finished.outcome == OutcomeKind::Denied {
                self.was_denied(request, arguments);
            }
            let is_refused = call.approval.is_some() || self.was_refused(request);
            if finished.outcome == OutcomeKind::Denied && is_refused {
                self.refusals += 1;
                let is_short = request.arguments.as_str().len() <= REQUEST_BYTES;
                if self.refused.len() < EFFECTS && is_short && !self.was_refused(request) {
                    let (turn, tool) = (request.call.turn, request.tool.clone());
                    self.refused.push(RefusedCall { turn, tool, arguments: request.arguments.as_str().to_owned() });
                }
            }
            // It ran, and may have changed files before it failed.
            if finished.exit.is_some() {
                self.ran_command(request, arguments, effects);
            }
            // After a crash nobody has compared the files.
            if finished.outcome == OutcomeKind::Interrupted && request.snapshot == SnapshotKind::Workspace {
                self.has_unseen_changes = true;
                self.ran_command(request, arguments, EffectsShownBy::Arguments);
            }
            return;
        }
        self.succeeded += 1;
        self.use_files(request, arguments, &finished.text);
        if request.effect != EffectClass::ReadOnly {
            self.had_effect(request, arguments, effects);
        }
    }

    /// Notes the file that a call was not allowed to delete.
    fn was_denied(&mut self, request: &CallRequested, arguments: &str) {
        let deletes = request.tool.as_ref().is_some_and(|tool| tool.is_local() && tool.bare() == "delete_file");
        let path = path_argument(arguments).filter(|_| deletes && self.not_to_be_deleted.len() < KEPT);
        self.not_to_be_deleted.extend(path.map(|path| path.trim_start_matches("./").to_owned()));
    }

    /// Whether a person said no to the same call, and the model has read that.
    pub(crate) fn was_refused(&self, request: &CallRequested) -> bool {
        let is_same = |known: &RefusedCall| {
            known.turn < request.call.turn
                && known.tool == request.tool
                && known.arguments == request.arguments.as_str()
        };
        self.refused.iter().any(is_same)
    }

    /// Whether nothing else became of the calls than that a person said no.
    pub(crate) fn was_only_refused(&self) -> bool {
        self.refusals > 0 && self.succeeded == 0 && self.failed == self.refusals
    }

    /// Whether a call was not allowed to delete this file.
    pub(crate) fn was_not_to_be_deleted(&self, path: &str) -> bool {
        self.not_to_be_deleted.contains(path.trim_start_matches("./"))
    }

    /// Notes the files that a call was about: those it names, and those in its result unless that is a mere listing.
    fn use_files(&mut self, request: &CallRequested, arguments: &str, result: &str) {
        let lists = request.tool.as_ref().is_some_and(|tool| tool.is_local() && tool.bare() == "list_directory");
        if lists {
            return self.add_listed(arguments, result);
        }
        let matches_all = request.snapshot == SnapshotKind::Workspace && arguments.contains('*');
        let is_used = |path: &&String| matches_all || names_file(arguments, path) || names_file(result, path);
        let used: Vec<String> = self.files.iter().filter(is_used).cloned().collect();
        self.used.extend(used);
        for path in named_paths(request, arguments)
            .into_iter()
            .filter(|_| request.tool.as_ref().is_some_and(ToolName::is_local))
        {
            if self.files.len() < KEPT && request.effect == EffectClass::ReadOnly {
                self.files.insert(path.clone());
            }
            if self.used.len() < KEPT {
                self.used.insert(path);
            }
        }
    }

    /// Adds the files of a listing: each line begins with a name.
    fn add_listed(&mut self, arguments: &str, result: &str) {
        let folder =
            path_argument(arguments).filter(|path| path != ".").map(|path| format!("{}/", path.trim_end_matches('/')));
        let folder = folder.unwrap_or_default();
        let names = result
            .lines()
            .filter_map(|line| line.split_whitespace().next())
            .filter(|name| name.contains('.') && !name.ends_with('/'));
        let listed: Vec<String> = names.map(|name| format!("{folder}{name}")).collect();
        self.add_files(&listed);
    }

    fn had_effect(&mut self, request: &CallRequested, arguments: &str, effects: EffectsShownBy) {
        if self.effects.len() < EFFECTS && effects == EffectsShownBy::Arguments {
            self.effects.push(arguments.chars().take(ARGUMENT_CHARS).collect());
        }
        let Some(tool) = &request.tool else { return };
        if request.snapshot == SnapshotKind::Workspace {
            self.ran_command(request, arguments, effects);
        } else if !tool.is_local() && self.elsewhere.len() < EFFECTS {
            self.elsewhere.insert(tool.clone());
        }
    }

    /// Notes a command, which may have changed files that no comparison shows. Of a script the comparison shows all.
    fn ran_command(&mut self, request: &CallRequested, arguments: &str, effects: EffectsShownBy) {
        let is_open = request.snapshot == SnapshotKind::Workspace && effects == EffectsShownBy::Arguments;
        if is_open && self.commands.len() < EFFECTS {
            self.commands.push(one_line(&command_of(arguments), COMMAND_CHARS));
        }
    }

    /// Observes what a call left behind.
    pub(crate) fn files_changed(&mut self, changed: &FilesChanged) {
        self.has_unseen_changes |= changed.unseen.is_some();
        for (path, change) in changed.changes.iter().filter(|(path, _)| !is_by_product(path)) {
            if let Some(known) = self.changes.get_mut(path) {
                known.now = change.now.clone();
            } else if self.changes.len() < KEPT {
                self.changes.insert(path.clone(), change.clone());
            } else {
                self.more_changes += 1;
            }
        }
    }

    /// Whether a change of files is asked for: by an order, or by a text that is to be replaced ("every red becomes blue").
    pub(super) fn asks_for_change(&self, request: &RequestReading) -> bool {
        match request.kind {
            RequestKind::Change => true,
            RequestKind::Other => !self.request.to_replace_in.is_empty(),
            RequestKind::Question => false,
        }
    }

    /// Whether the records show a change, or a call that may have made one.
    pub(crate) fn has_effects(&self) -> bool {
        !self.effects.is_empty()
            || !self.by_steps.is_empty()
            || self.has_unseen_changes
            || self.changes.values().any(|change| !change.was.is_like(&change.now))
    }

    /// Whether the comparison of files shows new folders and nothing else.
    pub(crate) fn only_made_folders(&self) -> bool {
        let is_new_folder = |change: &Change| !change.was.exists() && change.now.is_folder();
        let is_seen = self.effects.is_empty() && self.by_steps.is_empty() && !self.has_unseen_changes;
        is_seen && self.more_changes == 0 && self.changes.values().all(is_new_folder)
    }

    /// Whether the comparison of files shows a change, or could not show all.
    pub(crate) fn may_have_changed_files(&self) -> bool {
        self.has_unseen_changes || !self.by_steps.is_empty() || !self.changes.is_empty() || self.more_changes > 0
    }

    /// Whether a successful call wrote this file, or may have.
    pub(crate) fn has_written(&self, name: &str) -> bool {
        self.changes.iter().any(|(path, change)| may_mean(name, path) && change.now.exists())
            || self.effects.iter().any(|arguments| name_tokens(arguments).any(|token| may_mean(name, token)))
            || self.by_steps.iter().any(|path| may_mean(name, path))
    }

    /// Whether the workspace may have files that no comparison sees, because they are ignored.
    pub(crate) fn ignores_files(&self) -> bool {
        self.files.iter().any(|path| base_name(path) == ".gitignore")
    }

    /// Whether any call was finished.
    pub(crate) fn has_calls(&self) -> bool {
        self.succeeded + self.failed > 0
    }

    /// Returns what the run did, by its records.
    pub(crate) fn changes(&self) -> RunChanges {
        let mut listed = RunChanges {
            more: self.more_changes,
            commands: self.commands.clone(),
            elsewhere: self.elsewhere.clone(),
            ..RunChanges::default()
        };
        let mut gone: Vec<(&String, &FileState)> = Vec::new();
        for (path, change) in self.changes.iter().filter(|(path, change)| self.is_listed(path, change)) {
            match (change.was.exists(), change.now.exists()) {
                (true, true) if !change.was.is_like(&change.now) => listed.changed.push(path.clone()),
                (true, false) => gone.push((path, &change.was)),
                (true, true) | (false, true | false) => {}
            }
        }
        for (path, change) in self.changes.iter().filter(|(path, change)| self.is_listed(path, change)) {
            if change.was.exists() || !change.now.exists() {
                continue;
            }
            let from = gone.iter().position(|(_, was)| was.is_same_thing(&change.now));
            match from.map(|place| gone.remove(place)) {
                Some((from, _)) => listed.moved.push(MovedPath { from: from.clone(), to: path.clone() }),
                None => listed.created.push(if change.now.is_folder() { format!("{path}/") } else { path.clone() }),
            }
        }
        listed.deleted = gone.into_iter().map(|(path, _)| path.clone()).collect();
        let is_new = |path: &&String| !listed.changed.contains(*path) && !listed.created.contains(*path);
        let by_steps: Vec<String> = self.by_steps.iter().filter(is_new).cloned().collect();
        listed.changed.extend(by_steps);
        listed
    }

    /// Whether a path is listed: not a folder whose content is.
    fn is_listed(&self, path: &str, change: &Change) -> bool {
        let is_folder = change.was.is_folder() || change.now.is_folder();
        let holds = |other: &String| other.strip_prefix(path).is_some_and(|below| below.starts_with('/'));
        !is_folder || !self.changes.keys().any(holds)
    }
}

/// Whether a path is what an interpreter leaves behind, and nobody's work.
#[must_use]
pub fn is_by_product(path: &str) -> bool {
    path.split('/').any(|part| part == "__pycache__")
}

/// The arguments of built-in tools that are paths.
const PATH_ARGUMENTS: [&str; 4] = ["path", "from", "to", "file"];

/// Returns the paths that a call of a built-in tool names.
fn named_paths(request: &CallRequested, arguments: &str) -> Vec<String> {
    if request.snapshot == SnapshotKind::Workspace {
        return Vec::new();
    }
    let Ok(arguments) = windlass_vocab::Json::parse(arguments) else { return Vec::new() };
    let arguments = arguments.to_value();
    let path = |name: &str| arguments.get(name)?.as_str().map(|path| path.trim_start_matches("./").to_owned());
    PATH_ARGUMENTS.iter().filter_map(|name| path(name)).filter(|path| path.contains('.')).collect()
}

fn path_argument(arguments: &str) -> Option<String> {
    let arguments = windlass_vocab::Json::parse(arguments).ok()?.to_value();
    Some(arguments.get("path")?.as_str()?.to_owned())
}

/// Returns the command line of a call, or its arguments where there is none.
fn command_of(arguments: &str) -> String {
    let parsed = windlass_vocab::Json::parse(arguments).ok().map(|arguments| arguments.to_value());
    let line = parsed.as_ref().and_then(|arguments| arguments.get("command")?.as_str());
    line.unwrap_or(arguments).to_owned()
}
