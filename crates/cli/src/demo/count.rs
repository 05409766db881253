//! Counts what a demo did: from the journal how often each file was renamed, and on the disk where each picture is now.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use windlass_setup::demo::{PICTURES, picture};
use windlass_vocab::{CallId, Envelope, OutcomeKind, Record};

/// The counts of one demo.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DemoCount {
    /// Renames that the journal records as done.
    pub(crate) renames: usize,
    /// Files that were renamed more than once.
    pub(crate) twice: usize,
    /// How often a process resumed the run.
    pub(crate) resumes: usize,
    /// Pictures in the folder that now have another name and are unchanged byte for byte.
    pub(crate) renamed: usize,
    /// Pictures that still have their old name.
    pub(crate) left: usize,
    /// Pictures that exist more than once.
    pub(crate) copies: usize,
}

impl DemoCount {
    /// Counts the renames in the records and the pictures in the folder.
    pub(crate) fn of(records: &[Envelope], folder: &Path) -> io::Result<Self> {
        let mut count = Self::default();
        let mut sources: BTreeMap<CallId, String> = BTreeMap::new();
        let mut done: BTreeMap<&str, usize> = BTreeMap::new();
        for envelope in records {
            match &envelope.record {
                Record::CallRequested(call) if call.name == "move_file" => {
                    let from = call.arguments.to_value()["from"].as_str().unwrap_or_default().to_owned();
                    sources.insert(call.call, from);
                }
                Record::RunResumed(_) => count.resumes += 1,
                _ => {}
            }
        }
        for envelope in records {
            if let Record::CallFinished(call) = &envelope.record
                && call.outcome == OutcomeKind::Ok
                && let Some(from) = sources.get(&call.call)
            {
                *done.entry(from).or_default() += 1;
            }
        }
        count.renames = done.values().sum();
        count.twice = done.values().filter(|times| **times > 1).count();
        count.look(folder)?;
        Ok(count)
    }

    fn look(&mut self, folder: &Path) -> io::Result<()> {
        let pictures: BTreeSet<Vec<u8>> = (1..).take(PICTURES).map(picture).collect();
        let mut seen: BTreeSet<Vec<u8>> = BTreeSet::new();
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_none_or(|extension| extension != "png") {
                continue;
            }
            let bytes = std::fs::read(&path)?;
            if !pictures.contains(&bytes) {
                continue;
            }
            let is_old = path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("shot-"));
            *(if is_old { &mut self.left } else { &mut self.renamed }) += 1;
            if !seen.insert(bytes) {
                self.copies += 1;
            }
        }
        Ok(())
    }

    /// Whether every file was renamed exactly once.
    pub(crate) fn is_right(&self) -> bool {
        let all = PICTURES;
        (self.renames, self.twice, self.renamed, self.left, self.copies) == (all, 0, all, 0, 0)
    }
}

#[cfg(test)]
mod tests {
    use windlass_setup::demo::make_scratch;

    use super::DemoCount;

    #[test]
    fn the_disk_is_counted_picture_by_picture() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = make_scratch(dir.path(), "x").expect("made");
        let count = |expected: (usize, usize, usize)| {
            let count = DemoCount::of(&[], &folder).expect("counted");
            assert_eq!((count.renamed, count.left, count.copies), expected);
            assert!(!count.is_right(), "the journal says nothing");
        };
        count((0, 7, 0));
        std::fs::rename(folder.join("shot-3.png"), folder.join("error.png")).expect("renamed");
        count((1, 6, 0));
        std::fs::copy(folder.join("shot-4.png"), folder.join("risotto.png")).expect("copied");
        count((2, 6, 1));
        std::fs::write(folder.join("other.png"), "not one of ours").expect("written");
        count((2, 6, 1));
    }

    #[test]
    fn only_seven_renames_and_seven_new_names_are_right() {
        let right = DemoCount { renames: 7, twice: 0, resumes: 1, renamed: 7, left: 0, copies: 0 };
        assert!(right.is_right());
        for wrong in [
            DemoCount { renames: 8, twice: 1, ..right.clone() },
            DemoCount { renames: 6, ..right.clone() },
            DemoCount { left: 1, ..right.clone() },
            DemoCount { copies: 1, ..right },
        ] {
            assert!(!wrong.is_right(), "{wrong:?}");
        }
    }
}
