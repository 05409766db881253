//! `edit_file`: replaces one exact piece of text by another.
//!
//! After a crash the file itself shows whether the edit took place: it matches the state before (the edit would still
//! apply) or the state after (reverting it gives a file to which the edit applies). If it matches both or neither, the
//! result is unknown.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_vocab::{EffectClass, Outcome, Preview, SnapshotKind, ToolSpec};

use super::answer::{WRITE_GRACE, invalid_arguments, run_blocking, run_file_work};
use super::arguments::{parse_arguments, refuse_placeholder};
use super::file_preview;
use super::spec::spec;
use crate::about_files::CHANGE;
use crate::refusal::Refusal;
use crate::shorten::shorten;
use crate::{
    About, BoxFuture, CallContext, CertainFailure, FileRules, PlannedChange, Secrets, Tool, Verification, Workspace,
    contains_placeholder,
};

const LARGEST: u64 = 32 << 20;
const PLACEHOLDER_IN_OLD_TEXT: &str = "old_text has a placeholder `⟦secret:…⟧` in it, which is not what stands in the file: choose text \
    beside it.";

#[derive(Deserialize)]
struct FileEdit {
    path: String,
    old_text: String,
    new_text: String,
    #[serde(default)]
    replace_all: bool,
}

pub(super) struct EditFile {
    spec: ToolSpec,
    workspace: Arc<Workspace>,
}

impl EditFile {
    pub(super) fn new(workspace: Arc<Workspace>) -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "The file to change."},
                "old_text": {"type": "string", "minLength": 1, "description": "The text to replace, exactly as it stands in the file."},
                "new_text": {"type": "string", "description": "What takes its place; empty to delete."},
                "replace_all": {"type": "boolean", "description": "Replace every occurrence instead of the only one."}
            },
            "required": ["path", "old_text", "new_text"],
            "additionalProperties": false
        });
        let description = include_str!("edit_file.md");
        Self { spec: spec("edit_file", description, EffectClass::Verifiable, &schema), workspace }
    }
}

impl Tool for EditFile {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn about(&self, arguments: &Value) -> Option<About> {
        Some(self.workspace.about(arguments.get("path")?.as_str()?, CHANGE))
    }

    fn preview(&self, arguments: &Value) -> Result<Preview, String> {
        let edit: FileEdit = parse_arguments(arguments.clone())?;
        let apply = |text: &str| edit.fitted(text).apply_to(text, self.workspace.secrets()).ok();
        file_preview::edit_preview(&self.workspace, &edit.path, (&edit.old_text, &edit.new_text), apply)
    }

    fn certain_failure(&self, arguments: &Value) -> Option<CertainFailure> {
        let edit: FileEdit = parse_arguments(arguments.clone()).ok()?;
        if let Some(refusal) = edit.unusable(&self.workspace) {
            return Some(CertainFailure::by_arguments(refusal));
        }
        edit.edited(&self.workspace, &FileRules::default()).err().map(CertainFailure::by_file_content)
    }

    fn snapshot_kind(&self) -> SnapshotKind {
        SnapshotKind::Paths
    }

    fn planned_changes(&self, arguments: &Value) -> Vec<PlannedChange> {
        PlannedChange::content_of(arguments)
    }

    fn stop_grace(&self) -> Duration {
        WRITE_GRACE
    }

    fn run(&self, context: CallContext, arguments: Value) -> BoxFuture<'static, Outcome> {
        let workspace = Arc::clone(&self.workspace);
        match parse_arguments::<FileEdit>(arguments) {
            Ok(edit) => run_file_work(move || {
                let _alone = workspace.change();
                let edited = edit.edited(&workspace, &context.files)?;
                let (place, folders) = workspace.place_for_content(&edit.path, &context.files)?;
                place
                    .replace(edited.as_bytes(), &context.effect_id)
                    .map_err(|error| workspace.explain(&edit.path, &error))?;
                folders.keep();
                Ok(edit.done())
            }),
            Err(problem) => invalid_arguments(problem),
        }
    }

    fn verify(&self, context: CallContext, arguments: Value) -> BoxFuture<'static, Verification> {
        let workspace = Arc::clone(&self.workspace);
        Box::pin(run_blocking(move || {
            let Ok(edit) = parse_arguments::<FileEdit>(arguments) else {
                return Verification::Unknown;
            };
            match edit.content(&workspace, &context.files) {
                Ok(text) => edit.verify(&text),
                Err(_) => Verification::Unknown,
            }
        }))
    }
}

/// Why an edit does not apply.
#[derive(Debug, PartialEq, Eq)]
enum EditProblem {
    Same,
    Absent,
    Ambiguous,
}

impl FileEdit {
    fn content(&self, workspace: &Workspace, rules: &FileRules) -> Result<String, Refusal> {
        let bytes = workspace.read(&self.path, LARGEST, rules)?;
        let path = &self.path;
        String::from_utf8(bytes)
            .map_err(|_| format!("`{path}` is not UTF-8 text, and can't be changed with this tool.").into())
    }

    /// Returns why no file can be edited so, whatever is in it.
    fn unusable(&self, workspace: &Workspace) -> Option<Refusal> {
        self.refuse_placeholders().err().or_else(|| workspace.unusable_as_file(&self.path))
    }

    fn refuse_placeholders(&self) -> Result<(), Refusal> {
        refuse_placeholder(&self.new_text)?;
        if contains_placeholder(&self.old_text) {
            return Err(Refusal::wrong_argument(PLACEHOLDER_IN_OLD_TEXT));
        }
        Ok(())
    }

    /// Returns the content of the file with the edit applied.
    fn edited(&self, workspace: &Workspace, rules: &FileRules) -> Result<String, Refusal> {
        self.refuse_placeholders()?;
        let (text, secrets) = (self.content(workspace, rules)?, workspace.secrets());
        let edited = self.fitted(&text).apply_to(&text, secrets);
        edited.map_err(|problem| Refusal::not_found(problem.message(self, &secrets.scrub(&text))))
    }

    fn done(&self) -> String {
        if self.replace_all {
            format!("Edited {} in every place.", self.path)
        } else {
            format!("Edited {}.", self.path)
        }
    }

    /// Returns the edit with the line endings of the file, where the model wrote plain ones.
    fn fitted(&self, text: &str) -> Self {
        let fit = |part: &str| part.replace("\r\n", "\n").replace('\n', "\r\n");
        let foreign = !text.contains(&self.old_text) && text.contains("\r\n");
        let (old_text, new_text) = if foreign || only_crlf(text) && self.old_text.contains("\r\n") {
            (fit(&self.old_text), fit(&self.new_text))
        } else if only_crlf(text) {
            (self.old_text.clone(), fit(&self.new_text))
        } else {
            (self.old_text.clone(), self.new_text.clone())
        };
        Self { path: self.path.clone(), old_text, new_text, replace_all: self.replace_all }
    }

    /// Applies the edit to `text` as the model sees it: it can't find or change a part of a secret.
    fn apply_to(&self, text: &str, secrets: &Secrets) -> Result<String, EditProblem> {
        if let Cow::Owned(seen) = secrets.scrub(text)
            && seen.matches(&self.old_text).count() != text.matches(&self.old_text).count()
        {
            return Err(EditProblem::Absent);
        }
        self.apply(text)
    }

    fn apply(&self, text: &str) -> Result<String, EditProblem> {
        if self.old_text == self.new_text {
            return Err(EditProblem::Same);
        }
        match (occurrences(text, &self.old_text, 2), self.replace_all) {
            (0, _) => Err(EditProblem::Absent),
            (1, _) | (_, true) => Ok(text.replace(&self.old_text, &self.new_text)),
            (_, false) => Err(EditProblem::Ambiguous),
        }
    }

    fn verify(&self, text: &str) -> Verification {
        // The edit used the line endings of the text before it; both variants are checked.
        let (plain, fitted) = (self, self.fitted(text));
        let before = plain.apply(text).is_ok() || fitted.apply(text).is_ok();
        let after = plain.could_have_made(text) || fitted.could_have_made(text);
        match (before, after) {
            (true, false) => Verification::NotDone,
            (false, true) => Verification::Done(Outcome::ok(self.done())),
            (true, true) | (false, false) => Verification::Unknown,
        }
    }

    /// Whether the edit could have produced this text.
    fn could_have_made(&self, text: &str) -> bool {
        if self.new_text.is_empty() {
            return !text.contains(&self.old_text);
        }
        if self.replace_all {
            return text.contains(&self.new_text)
                && (self.new_text.contains(&self.old_text) || !text.contains(&self.old_text));
        }
        text.match_indices(&self.new_text).take(100).any(|(at, _)| {
            let before = [&text[..at], &self.old_text, &text[at + self.new_text.len()..]].concat();
            self.apply(&before).is_ok_and(|made| made == text)
        })
    }
}

fn only_crlf(text: &str) -> bool {
    text.contains("\r\n") && text.matches('\n').count() == text.matches("\r\n").count()
}

/// Counts the occurrences of `part`, including overlaps, up to `enough`.
fn occurrences(text: &str, part: &str, enough: usize) -> usize {
    let (mut count, mut from) = (0, 0);
    while count < enough
        && let Some(at) = text[from..].find(part)
    {
        count += 1;
        from += at + part.chars().next().map_or(1, char::len_utf8);
    }
    count
}

impl EditProblem {
    fn message(self, edit: &FileEdit, text: &str) -> String {
        let path = &edit.path;
        match self {
            Self::Same => "old_text and new_text are the same: there is nothing to change.".into(),
            Self::Ambiguous => {
                let lines: Vec<String> =
                    text.match_indices(&edit.old_text).take(5).map(|(at, _)| line_of(text, at).to_string()).collect();
                format!(
                    "old_text occurs more than once in `{path}` (at lines {}): add lines around it until it is unique, \
                     or set replace_all.",
                    lines.join(", ")
                )
            }
            Self::Absent => format!("old_text does not occur in `{path}`{}", nearest(text, &edit.old_text)),
        }
    }
}

fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// Describes the likely location: the line most similar to the first line of `old_text`.
fn nearest(text: &str, old_text: &str) -> String {
    let Some(wanted) = old_text.lines().map(str::trim).find(|line| !line.is_empty()) else {
        return ": it is only white space.".into();
    };
    let alike = |line: &str| match line.trim() {
        line if line == wanted => 1.0,
        line if line.len() > 400 || wanted.len() > 400 => 0.0,
        line => strsim::normalized_levenshtein(line, wanted),
    };
    let best = text.lines().take(20_000).map(alike).enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b));
    match best {
        Some((index, likeness)) if likeness > 0.5 => {
            let from = index.saturating_sub(1);
            let lines: Vec<&str> = text.lines().skip(from).take(old_text.lines().count().min(8) + 2).collect();
            let what = if likeness == 1.0 {
                "Its first line does, but what follows or the indentation differs"
            } else {
                "The nearest is"
            };
            format!(". {what}; from line {}:\n{}\nCopy the text exactly.", from + 1, shorten(&lines.join("\n"), 2_000))
        }
        Some(_) | None => ", and nothing like it does. Read the file first.".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(old: &str, new: &str) -> FileEdit {
        FileEdit { path: "f".into(), old_text: old.into(), new_text: new.into(), replace_all: false }
    }

    fn all(old: &str, new: &str) -> FileEdit {
        FileEdit { replace_all: true, ..edit(old, new) }
    }

    fn apply(edit: &FileEdit, text: &str) -> Result<String, EditProblem> {
        edit.fitted(text).apply(text)
    }

    #[test]
    fn an_edit_applies_to_the_only_place_or_to_all() {
        assert_eq!(apply(&edit("b", "x"), "abc"), Ok("axc".into()));
        assert_eq!(apply(&edit("b", "x"), "abcb"), Err(EditProblem::Ambiguous));
        assert_eq!(apply(&edit("aa", "x"), "aaa"), Err(EditProblem::Ambiguous));
        assert_eq!(apply(&all("b", ""), "abcb"), Ok("ac".into()));
        assert_eq!(apply(&edit("z", "x"), "abc"), Err(EditProblem::Absent));
        assert_eq!(apply(&edit("b", "b"), "abc"), Err(EditProblem::Same));
    }

    #[test]
    fn the_line_ends_of_the_file_are_kept() {
        assert_eq!(apply(&edit("a\nb", "x\ny"), "a\r\nb\r\nc\r\n"), Ok("x\r\ny\r\nc\r\n".into()));
        assert_eq!(apply(&edit("b", "x\ny"), "a\r\nb\r\nc\r\n"), Ok("a\r\nx\r\ny\r\nc\r\n".into()));
        assert_eq!(apply(&edit("a\r\nb", "x\r\ny"), "a\r\nb\r\n"), Ok("x\r\ny\r\n".into()));
        assert_eq!(apply(&edit("a\nb", "x\ny"), "a\nb\nc\n"), Ok("x\ny\nc\n".into()));
    }

    // proves J4
    #[test]
    fn the_file_says_whether_an_edit_took_place_and_nothing_is_claimed_in_doubt() {
        let done = |edit: &FileEdit| Verification::Done(Outcome::ok(edit.done()));
        for (edit, text) in [
            (edit("old", "new"), "an old thing"),
            (edit("old", "older"), "an old thing"),
            (edit("old", ""), "an old thing"),
            (all("o", "0"), "foo"),
            (edit("a\nb", "x\ny"), "a\r\nb\r\n"),
        ] {
            assert_eq!(edit.verify(text), Verification::NotDone, "{text}");
        }
        for (edit, text) in [
            (edit("old", "new"), "a new thing"),
            (edit("old", ""), "a thing"),
            (all("o", "0"), "f00"),
            (edit("a\nb", "x\ny"), "x\r\ny\r\n"),
        ] {
            assert_eq!(edit.verify(text), done(&edit), "{text}");
        }
        for (edit, text) in [
            // Before: "old thing" becomes "old thing thing"; after: it was "old" alone.
            (edit("old", "old thing"), "old thing"),
            (edit("old", "new"), "neither"),
            (edit("old", "new"), "old old new"),
            (all("a", "aa"), "aa"),
        ] {
            assert_eq!(edit.verify(text), Verification::Unknown, "{text}");
        }
    }

    #[test]
    fn a_missing_text_is_answered_with_the_nearest() {
        let text = "fn one() {\n    let value = 1;\n}\n";
        let told = EditProblem::Absent.message(&edit("  let valeu = 1;", "x"), text);
        assert!(told.contains("from line 1") && told.contains("let value = 1;"), "{told}");
        let told = EditProblem::Absent.message(&edit("let value = 1;\n}x", "x"), text);
        assert!(told.contains("indentation differs"), "{told}");
        let told = EditProblem::Absent.message(&edit("something else entirely", "x"), text);
        assert!(told.contains("Read the file first"), "{told}");
        let told = EditProblem::Ambiguous.message(&edit("a", "x"), "a\nb\na");
        assert!(told.contains("lines 1, 3"), "{told}");
    }
}
