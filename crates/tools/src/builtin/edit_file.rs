//! `edit_file`: replaces one piece of text by another: the exact one, or the only one that differs in white space alone.
//!
//! After a crash the file itself shows whether the edit took place: it matches the state before (the edit would still
//! apply) or the state after (reverting it gives a file to which the edit applies). If it matches both or neither, the
//! result is unknown.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_vocab::{EffectClass, Outcome, Preview, SnapshotKind, TextOrigin, ToolSpec};

use super::answer::WRITE_GRACE;
use super::arguments::{parse_arguments, refuse_placeholder};
use super::change_excerpt::change_excerpt;
use super::edit_problem::EditProblem;
use super::file_preview;
use super::file_work::{FileWork, run_on_file, text_to_change, verify_on_file};
use super::line_ends::{only_crlf, with_crlf};
use super::loose_match::loose_matches;
use super::spec::spec;
use crate::about_files::CHANGE;
use crate::refusal::Refusal;
use crate::{
    About, BoxFuture, CallContext, CertainFailure, FileRules, PlannedChange, Secrets, Tool, Verification, Workspace,
    contains_placeholder,
};

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

    fn origin(&self, arguments: &Value) -> Option<TextOrigin> {
        self.workspace.origin_of_existing(arguments.get("path")?.as_str()?)
    }

    fn preview(&self, arguments: &Value) -> Result<Preview, String> {
        let edit: FileEdit = parse_arguments(arguments.clone())?;
        let apply = |text: &str| Some(edit.fitted(text).apply_to(text, self.workspace.secrets()).ok()?.text);
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
        run_on_file::<FileEdit>(&self.workspace, context, arguments)
    }

    fn verify(&self, context: CallContext, arguments: Value) -> BoxFuture<'static, Verification> {
        verify_on_file(&self.workspace, context, arguments, FileEdit::verify_in)
    }
}

/// A text with an edit applied.
#[derive(Clone, Debug, PartialEq, Eq)]
struct AppliedEdit {
    text: String,
    fit: EditFit,
}

/// How the old text fits the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EditFit {
    Exact,
    /// But for white space.
    Loose,
    /// It stands in the new text only: the edit was made before, and making it again would add the difference twice.
    Made,
}

impl FileWork for FileEdit {
    fn path(&self) -> &str {
        &self.path
    }

    fn carry_out(&self, workspace: &Workspace, context: &CallContext) -> Result<String, Refusal> {
        let path = &self.path;
        let _alone = workspace.change();
        let (before, edited) = self.edited(workspace, &context.files)?;
        let how = match edited.fit {
            EditFit::Exact => "",
            EditFit::Loose => " old_text fits but for white space; new_text was indented as the file is.",
            EditFit::Made => return Ok(format!("`{path}` reads so already: new_text is there. Nothing was changed.")),
        };
        let (place, folders) = workspace.place_for_content(path, &context.files)?;
        place.replace(edited.text.as_bytes(), &context.effect_id).map_err(|error| workspace.explain(path, &error))?;
        folders.keep();
        Ok(format!("{}{how} {}", self.done(), change_excerpt(workspace.secrets(), &before, &edited.text)))
    }
}

impl FileEdit {
    fn content(&self, workspace: &Workspace, rules: &FileRules) -> Result<String, Refusal> {
        text_to_change(workspace, &self.path, rules)
    }

    fn verify_in(&self, workspace: &Workspace, rules: &FileRules) -> Verification {
        self.content(workspace, rules).map_or(Verification::Unknown, |text| self.verify(&text))
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

    /// Returns the content of the file, and the same with the edit applied.
    fn edited(&self, workspace: &Workspace, rules: &FileRules) -> Result<(String, AppliedEdit), Refusal> {
        self.refuse_placeholders()?;
        let (text, secrets) = (self.content(workspace, rules)?, workspace.secrets());
        match self.fitted(&text).apply_to(&text, secrets) {
            Ok(edited) => Ok((text, edited)),
            Err(problem) => {
                let texts = (self.old_text.as_str(), self.new_text.as_str());
                Err(Refusal::not_found(problem.message(&self.path, texts, &secrets.scrub(&text))))
            }
        }
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
        let foreign = !text.contains(&self.old_text) && text.contains("\r\n");
        let (old_text, new_text) = if foreign || only_crlf(text) && self.old_text.contains("\r\n") {
            (with_crlf(&self.old_text), with_crlf(&self.new_text))
        } else if only_crlf(text) {
            (self.old_text.clone(), with_crlf(&self.new_text))
        } else {
            (self.old_text.clone(), self.new_text.clone())
        };
        Self { path: self.path.clone(), old_text, new_text, replace_all: self.replace_all }
    }

    /// Applies the edit to `text` as the model sees it: it can't find or change a part of a secret.
    fn apply_to(&self, text: &str, secrets: &Secrets) -> Result<AppliedEdit, EditProblem> {
        let old = &self.old_text;
        if let Cow::Owned(seen) = secrets.scrub(text)
            && (seen.matches(old).count() != text.matches(old).count()
                || loose_matches(&seen, old).len() != loose_matches(text, old).len())
        {
            return Err(EditProblem::Absent);
        }
        self.apply(text)
    }

    /// Applies the edit where old_text occurs, else to the only place that differs from it in white space alone.
    fn apply(&self, text: &str) -> Result<AppliedEdit, EditProblem> {
        match self.apply_exactly(text) {
            Ok(_) if self.is_made(text) => Ok(AppliedEdit { text: text.to_owned(), fit: EditFit::Made }),
            Ok(text) => Ok(AppliedEdit { text, fit: EditFit::Exact }),
            Err(EditProblem::Absent) => {
                let edited = match loose_matches(text, &self.old_text).as_slice() {
                    [] => return Err(EditProblem::Absent),
                    [only] => only.replaced(text, &self.old_text, &self.new_text),
                    _ => return Err(EditProblem::LooselyAmbiguous),
                };
                let changed = AppliedEdit { text: edited, fit: EditFit::Loose };
                if changed.text == text { Err(EditProblem::Absent) } else { Ok(changed) }
            }
            Err(other) => Err(other),
        }
    }

    fn apply_exactly(&self, text: &str) -> Result<String, EditProblem> {
        if self.old_text == self.new_text {
            return Err(EditProblem::Same);
        }
        match (occurrences(text, &self.old_text, 2), self.replace_all) {
            (0, _) => Err(EditProblem::Absent),
            (1, _) | (_, true) => Ok(text.replace(&self.old_text, &self.new_text)),
            (_, false) => Err(EditProblem::Ambiguous),
        }
    }

    /// Whether the old text stands in the new text only.
    fn is_made(&self, text: &str) -> bool {
        let (old, new) = (&self.old_text, &self.new_text);
        // More white space may be wanted around a text that has some.
        old.trim() != new.trim()
            && new.contains(old.as_str())
            && occurrences(text, new, 1) > 0
            && !text.replace(new, "\0").contains(old.as_str())
    }

    fn verify(&self, text: &str) -> Verification {
        // The edit used the line endings of the text before it; both variants are checked.
        let (plain, fitted) = (self, self.fitted(text));
        let applies = |edit: &Self| edit.apply(text).is_ok_and(|edited| edited.fit != EditFit::Made);
        let before = applies(plain) || applies(&fitted);
        let after = plain.could_have_made(text) || fitted.could_have_made(text);
        match (before, after) {
            (true, false) => Verification::NotDone,
            (false, true) => Verification::Done(Outcome::ok(self.done())),
            (true, true) | (false, false) => Verification::Unknown,
        }
    }

    /// Whether the edit could have produced this text.
    fn could_have_made(&self, text: &str) -> bool {
        let is_old_gone = || !text.contains(&self.old_text) && loose_matches(text, &self.old_text).is_empty();
        if self.new_text.is_empty() {
            return is_old_gone();
        }
        if !loose_matches(text, &self.new_text).is_empty() && is_old_gone() {
            return true;
        }
        if self.replace_all {
            return text.contains(&self.new_text)
                && (self.new_text.contains(&self.old_text) || !text.contains(&self.old_text));
        }
        text.match_indices(&self.new_text).take(100).any(|(at, _)| {
            let before = [&text[..at], &self.old_text, &text[at + self.new_text.len()..]].concat();
            self.apply_exactly(&before).is_ok_and(|made| made == text)
        })
    }
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
        edit.fitted(text).apply(text).map(|edited| edited.text)
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

    // proves T3: a small model that repeats a call must not spoil what it did
    #[test]
    fn an_edit_that_is_made_already_changes_nothing() {
        let again = |edit: &FileEdit, text: &str| edit.fitted(text).apply(text);
        let made = |text: &str| Ok(AppliedEdit { text: text.into(), fit: EditFit::Made });
        let exact = |text: &str| Ok(AppliedEdit { text: text.into(), fit: EditFit::Exact });
        assert_eq!(again(&edit("f(a)", "f(a):"), "def f(a):\n"), made("def f(a):\n"));
        assert_eq!(again(&edit("f(a)", "f(a):"), "def f(a)\n"), exact("def f(a):\n"));
        assert_eq!(again(&edit("b", "a\nb\nc"), "a\nb\nc\nd\n"), made("a\nb\nc\nd\n"));
        assert_eq!(again(&edit("b", "a\nb\nc"), "b\nd\n"), exact("a\nb\nc\nd\n"));
        assert_eq!(again(&all("a", "ab"), "ab abc"), made("ab abc"));
        assert_eq!(again(&all("a", "ab"), "ab a"), exact("abb ab"));
        assert_eq!(again(&edit("a", "ab"), "ab a"), Err(EditProblem::Ambiguous));
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
            (edit("old", "old thing"), "old thing"),
            (all("a", "aa"), "aa"),
        ] {
            assert_eq!(edit.verify(text), done(&edit), "{text}");
        }
        for (edit, text) in [(edit("old", "new"), "neither"), (edit("old", "new"), "old old new")] {
            assert_eq!(edit.verify(text), Verification::Unknown, "{text}");
        }
    }

    // proves T3: a difference in white space alone does not cost a turn, and an exact place comes first
    #[test]
    fn the_only_place_that_differs_in_white_space_is_edited() {
        let loose = |edit: &FileEdit, text: &str| edit.fitted(text).apply(text);
        let edited = |text: &str| Ok(AppliedEdit { text: text.into(), fit: EditFit::Loose });
        assert_eq!(
            loose(&edit("if a:\n  b()", "if a:\n  c()"), "x\n    if a:\n      b()\n"),
            edited("x\n    if a:\n      c()\n")
        );
        assert_eq!(loose(&edit("b ", "c"), "a\r\n\tb\r\n"), edited("a\r\n\tc\r\n"));
        assert_eq!(loose(&edit("x  1", "x 2"), "x 1\n x 1\n"), Err(EditProblem::LooselyAmbiguous));
        let exact = AppliedEdit { text: "x 2\n x  1\n".into(), fit: EditFit::Exact };
        assert_eq!(loose(&edit("x 1", "x 2"), "x 1\n x  1\n"), Ok(exact));
    }

    // proves J4
    #[test]
    fn an_edit_that_fits_but_for_white_space_can_be_asked_about() {
        let edit = edit("a = 1\nb = 2", "a = 3\nb = 4");
        assert_eq!(edit.verify("x\n  a = 1\n  b = 2\n"), Verification::NotDone);
        assert_eq!(edit.verify("x\n  a = 3\n  b = 4\n"), Verification::Done(Outcome::ok("Edited f.")));
        assert_eq!(edit.verify("a = 3\nb = 4\n a = 1\n b = 2\n"), Verification::Unknown);
    }
}
