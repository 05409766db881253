//! The record of a person's consent (X2): for each file of a project, the digest of the servers it named at that
//! time. A different digest needs a new answer.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use windlass_tools::{ReadableBy, write_whole};
use windlass_vocab::Hash;

use crate::folder_lock::lock_folder;
use crate::settings::{ServerConsent, saved_texts};

const FILE: &str = "consent.json";

/// The recorded answer about the servers of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct RecordedConsent {
    digest: Hash,
    answer: ConsentAnswer,
    /// The digests of the files behind the servers at that time, so that the next question can name those that
    /// changed.
    #[serde(default)]
    files: BTreeMap<PathBuf, Hash>,
}

/// A person's answer about a project's servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConsentAnswer {
    /// The servers may start.
    Yes,
    /// The servers may start in the sandbox.
    InSandbox,
    /// The servers may not start.
    No,
}

/// All recorded answers.
#[derive(Clone, Debug, Default)]
pub struct ConsentAnswers {
    folder: PathBuf,
    answers: BTreeMap<PathBuf, RecordedConsent>,
}

impl ConsentAnswers {
    /// Reads the recorded answers. An unreadable record agrees to nothing.
    #[must_use]
    pub fn read(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), answers: read_answers(folder) }
    }

    /// Whether a person agreed to exactly these servers and files.
    #[must_use]
    pub fn is_agreed(&self, consent: &ServerConsent) -> bool {
        matches!(self.answer(consent), Some(ConsentAnswer::Yes | ConsentAnswer::InSandbox))
    }

    /// Whether a person agreed to exactly these servers and files, but only in the sandbox.
    #[must_use]
    pub fn is_in_sandbox(&self, consent: &ServerConsent) -> bool {
        self.answer(consent) == Some(ConsentAnswer::InSandbox)
    }

    /// Whether nobody has answered about exactly these servers and files.
    #[must_use]
    pub fn is_open(&self, consent: &ServerConsent) -> bool {
        self.answer(consent).is_none()
    }

    /// Whether a person refused exactly these servers and files.
    #[must_use]
    pub fn is_refused(&self, consent: &ServerConsent) -> bool {
        self.answer(consent) == Some(ConsentAnswer::No)
    }

    /// Returns the content of a file behind these servers when a person last answered and its content now, if both
    /// are known and short enough to display.
    #[must_use]
    pub fn texts(&self, consent: &ServerConsent, path: &Path) -> Option<(String, String)> {
        let before = self.answers.get(&consent.file)?.files.get(path)?;
        Some((
            saved_texts::saved_text(&self.folder, before)?,
            saved_texts::current_text(path, consent.files.get(path)?)?,
        ))
    }

    fn answer(&self, consent: &ServerConsent) -> Option<ConsentAnswer> {
        self.answers.get(&consent.file).filter(|answers| answers.digest == consent.digest).map(|answers| answers.answer)
    }

    /// Returns the files behind these servers that have changed since a person last answered.
    #[must_use]
    pub fn changed<'c>(&'c self, consent: &'c ServerConsent) -> Vec<&'c Path> {
        let Some(answers) = self.answers.get(&consent.file).filter(|answers| !answers.files.is_empty()) else {
            return Vec::new();
        };
        let now =
            consent.files.iter().filter(|(path, hash)| answers.files.get(*path) != Some(hash)).map(|(path, _)| path);
        let gone = answers.files.keys().filter(|path| !consent.files.contains_key(*path));
        now.chain(gone).map(PathBuf::as_path).collect()
    }

    /// Records the person's answer, keeping what other processes have recorded meanwhile.
    pub fn record(&mut self, consent: &ServerConsent, answer: ConsentAnswer) -> io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let _lock = lock_folder(&self.folder)?;
        self.answers = read_answers(&self.folder);
        let answers = RecordedConsent { digest: consent.digest, answer, files: consent.files.clone() };
        self.answers.insert(consent.file.clone(), answers);
        saved_texts::save(&self.folder, &consent.files);
        write_whole(&self.folder.join(FILE), &serde_json::to_vec_pretty(&self.answers)?, ReadableBy::Owner)
    }
}

fn read_answers(folder: &Path) -> BTreeMap<PathBuf, RecordedConsent> {
    fs::read(folder.join(FILE)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn consent(file: &str, files: &[(&str, &[u8])]) -> ServerConsent {
        let files = files.iter().map(|(path, bytes)| (PathBuf::from(path), windlass_store::hash_of(bytes))).collect();
        let digest = windlass_store::hash_of(format!("{files:?}").as_bytes());
        ServerConsent { file: file.into(), digest, files, unwatched: BTreeSet::new() }
    }

    // proves X2: no process overwrites the answer that another has recorded
    #[test]
    fn many_who_are_answered_at_once_all_find_their_answer_again() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = |writer: i32, turn: i32| format!("/{writer}/{turn}/.mcp.json");
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let folder = dir.path();
                scope.spawn(move || {
                    let mut agreements = ConsentAnswers::read(folder);
                    for turn in 0..5 {
                        agreements.record(&consent(&file(writer, turn), &[]), ConsentAnswer::Yes).expect("taken down");
                    }
                });
            }
        });
        let agreements = ConsentAnswers::read(dir.path());
        for (writer, turn) in (0..4).flat_map(|writer| (0..5).map(move |turn| (writer, turn))) {
            assert!(agreements.is_agreed(&consent(&file(writer, turn), &[])), "{writer} {turn}");
        }
    }
}
