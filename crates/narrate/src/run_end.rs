//! The end of a run: its answer, or why there is none.

use windlass_vocab::{EndReason, MissingChange, RunChanges, RunEnded, shown_path};

use crate::line::Tone;

/// Returns the answer of a run that ended with one.
#[must_use]
pub fn answer_of(ended: &RunEnded) -> Option<&str> {
    match ended.reason {
        EndReason::Completed | EndReason::Asked | EndReason::Conversed | EndReason::Unfinished => Some(&ended.answer),
        EndReason::Cancelled | EndReason::TurnCap | EndReason::BudgetSpent | EndReason::Failed => None,
    }
}

/// Why there is no answer, or only a partial one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunEndWords<'a> {
    /// The reason, in a few words.
    pub reason: &'static str,
    /// More about the reason; may be empty.
    pub detail: &'a str,
    /// The tone of the line.
    pub tone: Tone,
}

impl<'a> RunEndWords<'a> {
    /// Returns `None` if the run ended with an answer.
    #[must_use]
    pub fn of(ended: &'a RunEnded) -> Option<Self> {
        let detail = ended.failure.as_ref().map_or(ended.answer.as_str(), |failure| &failure.message);
        let (reason, detail, tone) = match ended.reason {
            EndReason::Completed if ended.answer.trim().is_empty() => ("the model gave no answer", "", Tone::Plain),
            EndReason::Completed | EndReason::Asked | EndReason::Conversed => return None,
            EndReason::Unfinished if ended.cut_off => ("the answer was cut off by the length limit", "", Tone::Quiet),
            EndReason::Unfinished => ("the work is not finished", "", Tone::Quiet),
            EndReason::Cancelled if !ended.dropped.is_empty() => {
                ("stopped; the model has not read what was said last, and will not", detail, Tone::Quiet)
            }
            EndReason::Cancelled => ("stopped", detail, Tone::Quiet),
            EndReason::TurnCap => ("the run reached its turn cap", detail, Tone::Failure),
            EndReason::BudgetSpent => ("a spending limit is reached", detail, Tone::Failure),
            EndReason::Failed => ("the run failed", detail, Tone::Failure),
        };
        Some(Self { reason, detail, tone })
    }

    /// Returns the reason, the door's advice and the detail. `advice` begins with a blank unless it is empty.
    #[must_use]
    pub fn advised(&self, advice: &str) -> String {
        let colon = if self.detail.is_empty() { "" } else { ": " };
        format!("{}{advice}{colon}{}", self.reason, self.detail)
    }
}

/// The most paths of each kind that are named.
const PATHS: usize = 8;

/// What a run really did to files, by its records, in a line: "Files: created …; changed …. Not changed: …."; `None` where that adds
/// nothing to the answer.
#[must_use]
pub fn changes_line(ended: &RunEnded) -> Option<String> {
    let changes = ended.changes.as_deref()?;
    let done = done_words(changes);
    let mut sentences = unasked_sentences(changes);
    match changes.missing {
        Some(MissingChange::Claimed) => sentences.push("No file was changed, although the answer says so.".to_owned()),
        Some(MissingChange::NotClaimed) => sentences.push("No file was changed.".to_owned()),
        None if done.is_empty() => {}
        None => sentences.push(format!("Files: {}.", done.join("; "))),
    }
    if states_unchanged(changes) && !done.is_empty() {
        sentences.push(format!("Not changed: {}.", listed(changes.not_changed.iter().map(String::as_str))));
    }
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// Whether scripts of the run changed or deleted files unasked, which were restored or lost.
#[must_use]
pub fn changed_unasked(ended: &RunEnded) -> bool {
    ended.changes.as_ref().is_some_and(|changes| !changes.restored.is_empty()) || lost_files(ended)
}

/// Whether scripts of the run changed or deleted files unasked that could not be restored.
#[must_use]
pub fn lost_files(ended: &RunEnded) -> bool {
    ended.changes.as_ref().is_some_and(|changes| !changes.lost.is_empty())
}

/// Returns what became of files that scripts changed unasked, what is worst first.
fn unasked_sentences(changes: &RunChanges) -> Vec<String> {
    let lost = changes.lost.iter().take(PATHS).map(|(path, why)| format!("{} ({why})", shown_path(path)));
    let mut lost: Vec<String> = lost.collect();
    let more = changes.lost.len().saturating_sub(PATHS);
    if more > 0 {
        lost.push(format!("{more} more"));
    }
    let mut sentences = Vec::new();
    if !lost.is_empty() {
        sentences.push(format!("LOST, though the request did not ask for it: {}.", lost.join(", ")));
    }
    if !changes.restored.is_empty() {
        let restored = listed(changes.restored.iter().map(String::as_str));
        sentences.push(format!("Put back: {restored}, which the request did not ask to change."));
    }
    sentences
}

/// Whether the answer of a run claims a change that its records do not show.
#[must_use]
pub fn claims_too_much(ended: &RunEnded) -> bool {
    ended.changes.as_ref().is_some_and(|changes| changes.missing == Some(MissingChange::Claimed))
}

/// Whether a file that the request names was certainly left as it was, in a request for a change.
#[must_use]
pub fn left_unchanged(ended: &RunEnded) -> bool {
    ended.changes.as_ref().is_some_and(|changes| states_unchanged(changes))
}

/// Whether it is stated which files are not changed: only where nothing can have changed them unseen.
fn states_unchanged(changes: &RunChanges) -> bool {
    !changes.not_changed.is_empty() && changes.missing.is_none() && !changes.may_have_changed_more()
}

fn done_words(changes: &RunChanges) -> Vec<String> {
    let kinds = [("created", &changes.created), ("changed", &changes.changed), ("deleted", &changes.deleted)];
    let mut done: Vec<String> = Vec::new();
    for (kind, paths) in kinds.into_iter().filter(|(_, paths)| !paths.is_empty()) {
        done.push(format!("{kind} {}", listed(paths.iter().map(String::as_str))));
    }
    for moved in changes.moved.iter().take(PATHS) {
        done.push(format!("moved {} to {}", shown_path(&moved.from), shown_path(&moved.to)));
    }
    let more = changes.more as usize + changes.moved.len().saturating_sub(PATHS);
    if more > 0 {
        done.push(format!("{more} more"));
    }
    done
}

fn listed<'a>(paths: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = paths.len().saturating_sub(PATHS);
    let named = paths.take(PATHS).map(shown_path).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{named} and {more} more") } else { named }
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{MissingChange, MovedPath, RunChanges, RunEnded};

    use super::{changed_unasked, changes_line, claims_too_much, lost_files};

    fn ended(changes: RunChanges) -> RunEnded {
        let plain = r#"{"reason":"completed","answer":"I have changed it."}"#;
        let plain: RunEnded = serde_json::from_str(plain).expect("a record");
        RunEnded { changes: (!changes.is_empty()).then(|| Box::new(changes)), ..plain }
    }

    // proves L3
    #[test]
    fn the_end_says_what_was_changed_and_what_was_not() {
        let done = RunChanges {
            created: vec!["a.txt".into()],
            deleted: vec!["b.txt".into(), "c.txt".into()],
            moved: vec![MovedPath { from: "d".into(), to: "e".into() }],
            not_changed: vec!["f.txt".into()],
            ..RunChanges::default()
        };
        let line = "Files: created a.txt; deleted b.txt, c.txt; moved d to e. Not changed: f.txt.";
        assert_eq!(changes_line(&ended(done)).as_deref(), Some(line));
        assert_eq!(changes_line(&ended(RunChanges::default())), None);
        let commands = RunChanges { commands: vec!["ls".into()], not_changed: vec!["f".into()], ..<_>::default() };
        assert_eq!(changes_line(&ended(commands)), None, "a command may have changed it");
        for (missing, says) in
            [(MissingChange::Claimed, ", although the answer says so"), (MissingChange::NotClaimed, "")]
        {
            let end = ended(RunChanges { missing: Some(missing), ..RunChanges::default() });
            assert_eq!(changes_line(&end), Some(format!("No file was changed{says}.")));
            assert_eq!(claims_too_much(&end), missing == MissingChange::Claimed);
        }
    }

    // proves X4, L3: a person is told of files that a script changed unasked, of lost ones first
    #[test]
    fn the_end_names_files_that_were_put_back_or_lost() {
        let restored = vec!["b.txt".to_owned(), "c.txt".to_owned()];
        let put_back = "Put back: b.txt, c.txt, which the request did not ask to change.";
        let end = ended(RunChanges { restored: restored.clone(), ..RunChanges::default() });
        assert_eq!(changes_line(&end).as_deref(), Some(put_back));
        assert_eq!((changed_unasked(&end), lost_files(&end)), (true, false));
        let lost = [("y.jpg".to_owned(), "deleted; it was too large to be kept".to_owned())].into();
        let end = ended(RunChanges { restored, lost, deleted: vec!["y.jpg".into()], ..RunChanges::default() });
        let said = "LOST, though the request did not ask for it: y.jpg (deleted; it was too large to be kept).";
        assert_eq!(changes_line(&end), Some(format!("{said} {put_back} Files: deleted y.jpg.")));
        assert_eq!((changed_unasked(&end), lost_files(&end)), (true, true));
        assert!(!changed_unasked(&ended(RunChanges { deleted: vec!["y.jpg".into()], ..RunChanges::default() })));
    }
}
