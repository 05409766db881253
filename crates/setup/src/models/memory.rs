//! What was found out about models, kept between runs (M8): a small file for each server and model, written atomically. A
//! file that can't be read is as good as none, and the person is told.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use windlass_provider::{Ability, DeclaredModel};
use windlass_tools::{ReadableBy, write_whole};
use windlass_vocab::{ModelSoftware, Timestamp};

/// How long an answer counts, in milliseconds: 30 days.
const FRESH_MS: u64 = 30 * DAY_MS;
/// An answer that has not changed is written again after a day.
const DAY_MS: u64 = 24 * 60 * 60 * 1000;
/// How long a server that did not answer is not asked again, in milliseconds: 5 minutes.
const SILENCE_MS: u64 = 5 * 60 * 1000;

/// What is remembered of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RememberedModel {
    /// The address of its server.
    pub server: String,
    /// Its id there.
    pub model: String,
    /// What the server declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared: Option<DatedAnswers>,
    /// What real calls showed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probed: Option<DatedAnswers>,
    /// When its server was asked last and did not answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silent: Option<Timestamp>,
}

/// Answers about a model; absent ones are not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatedAnswers {
    /// When they were given.
    pub at: Timestamp,
    /// The server's software.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub software: Option<ModelSoftware>,
    /// The context window, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// Whether it calls tools by the wire's own means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_calls: Option<bool>,
    /// Whether one reply may contain several calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel_calls: Option<bool>,
    /// Whether an answer can be held to a JSON schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub json_schema: Option<bool>,
    /// Whether it takes images.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<bool>,
}

impl DatedAnswers {
    /// Returns these answers with their date.
    #[must_use]
    pub fn new(at: Timestamp, answers: &DeclaredModel) -> Self {
        Self {
            at,
            software: answers.software,
            window: answers.window,
            native_calls: known(answers.native_calls),
            parallel_calls: known(answers.parallel_calls),
            json_schema: known(answers.json_schema),
            images: known(answers.images),
        }
    }

    /// Returns the answers without their date.
    #[must_use]
    pub fn answers(&self) -> DeclaredModel {
        DeclaredModel {
            software: self.software,
            window: self.window,
            native_calls: ability(self.native_calls),
            parallel_calls: ability(self.parallel_calls),
            json_schema: ability(self.json_schema),
            images: ability(self.images),
        }
    }

    /// Whether they are recent enough not to be asked for again.
    #[must_use]
    pub fn is_fresh(&self, now: Timestamp) -> bool {
        now.ms_since(self.at) < FRESH_MS
    }

    /// Whether the file needs them, when it holds these.
    pub(super) fn replaces(&self, before: Option<&Self>) -> bool {
        let is_same = |before: &Self| Self { at: self.at, ..*before } == *self;
        before.is_none_or(|before| !is_same(before) || self.at.ms_since(before.at) > DAY_MS)
    }
}

fn known(ability: Ability) -> Option<bool> {
    match ability {
        Ability::Yes => Some(true),
        Ability::No => Some(false),
        Ability::Unknown => None,
    }
}

fn ability(known: Option<bool>) -> Ability {
    match known {
        Some(true) => Ability::Yes,
        Some(false) => Ability::No,
        None => Ability::Unknown,
    }
}

impl RememberedModel {
    /// Returns a model of which nothing is remembered.
    #[must_use]
    pub fn nothing(server: &str, model: &str) -> Self {
        Self { server: server.to_owned(), model: model.to_owned(), ..Self::default() }
    }

    /// Whether its server did not answer a short time ago.
    pub(super) fn was_just_silent(&self, now: Timestamp) -> bool {
        self.silent.is_some_and(|silent| now.ms_since(silent) < SILENCE_MS)
    }

    /// Returns what is known of it: what calls showed, else what the server declared. The window is the server's: it may
    /// have changed since the calls.
    #[must_use]
    pub fn answers(&self) -> DeclaredModel {
        let of = |answers: Option<DatedAnswers>| answers.map(|answers| answers.answers()).unwrap_or_default();
        of(self.probed).or(of(self.declared))
    }
}

/// A file that can't be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableMemory {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: String,
}

/// The folder with what is remembered of models, in the data folder.
#[derive(Clone, Debug)]
pub struct ModelMemory {
    data_dir: PathBuf,
}

impl ModelMemory {
    /// Returns the memory in this data folder.
    #[must_use]
    pub fn at(data_dir: &Path) -> Self {
        Self { data_dir: data_dir.to_owned() }
    }

    /// Loads what is remembered of a model; nothing if there is no file about it.
    pub fn load(&self, server: &str, model: &str) -> Result<RememberedModel, UnreadableMemory> {
        let path = self.path(server, model);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(RememberedModel::nothing(server, model));
            }
            Err(error) => return Err(UnreadableMemory { path, problem: error.to_string() }),
        };
        match serde_json::from_slice::<RememberedModel>(&bytes) {
            Ok(remembered) if remembered.server == server && remembered.model == model => Ok(remembered),
            // Another model whose name has the same digits: it is written anew.
            Ok(_) => Ok(RememberedModel::nothing(server, model)),
            Err(error) => Err(UnreadableMemory { path, problem: error.to_string() }),
        }
    }

    /// Writes what is remembered of a model, if there is a data folder. An address that contains credentials must not be
    /// written down.
    pub fn save(&self, remembered: &RememberedModel) -> io::Result<()> {
        if remembered.server.contains('@') || !self.data_dir.is_dir() {
            return Ok(());
        }
        let path = self.path(&remembered.server, &remembered.model);
        std::fs::create_dir_all(self.folder())?;
        write_whole(&path, &serde_json::to_vec(remembered)?, ReadableBy::Usual)
    }

    fn folder(&self) -> PathBuf {
        self.data_dir.join("models")
    }

    fn path(&self, server: &str, model: &str) -> PathBuf {
        self.folder().join(format!("{:016x}.json", digest(&[server, model])))
    }
}

/// FNV-1a, which is the same in every version and on every machine.
fn digest(texts: &[&str]) -> u64 {
    let bytes = texts.iter().flat_map(|text| text.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |digest, byte| (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use windlass_provider::{Ability, DeclaredModel};
    use windlass_vocab::Timestamp;

    use super::{DAY_MS, DatedAnswers, ModelMemory, RememberedModel};

    const AT: Timestamp = Timestamp(1_700_000_000_000);

    fn answers(native_calls: Ability, window: Option<u64>) -> DatedAnswers {
        DatedAnswers::new(AT, &DeclaredModel { native_calls, window, ..DeclaredModel::default() })
    }

    // proves M8: remembered once for each server and model, with its date
    #[test]
    fn what_is_remembered_of_one_model_is_not_told_of_another() {
        let room = tempfile::tempdir().unwrap();
        let memory = ModelMemory::at(room.path());
        let remembered = RememberedModel {
            declared: Some(answers(Ability::No, Some(4_096))),
            probed: Some(answers(Ability::Yes, None)),
            ..RememberedModel::nothing("http://a/v1", "m")
        };
        memory.save(&remembered).unwrap();
        assert_eq!(memory.load("http://a/v1", "m").unwrap(), remembered);
        for (server, model) in [("http://a/v1", "n"), ("http://b/v1", "m"), ("http://a/v", "1m")] {
            assert_eq!(memory.load(server, model).unwrap(), RememberedModel::nothing(server, model));
        }
        let secret = RememberedModel::nothing("http://me:pw@a/v1", "m");
        memory.save(&secret).unwrap();
        assert_eq!(std::fs::read_dir(room.path().join("models")).unwrap().count(), 1, "credentials are not written");
        let known = remembered.answers();
        assert_eq!((known.native_calls, known.window), (Ability::Yes, Some(4_096)), "calls count more than words");
    }

    #[test]
    fn what_is_damaged_is_named_with_its_file() {
        let room = tempfile::tempdir().unwrap();
        let memory = ModelMemory::at(room.path());
        memory.save(&RememberedModel::nothing("s", "m")).unwrap();
        let file = std::fs::read_dir(room.path().join("models")).unwrap().next().unwrap().unwrap().path();
        std::fs::write(&file, "{\"server\": 17").unwrap();
        let damaged = memory.load("s", "m").expect_err("it can't be read");
        assert_eq!(damaged.path, file);
        assert!(!damaged.problem.is_empty());
    }

    #[test]
    fn an_answer_is_asked_for_again_after_thirty_days_and_written_again_after_one() {
        let before = answers(Ability::Yes, None);
        let later = |days: u64, window| DatedAnswers { at: AT.plus_ms(days * DAY_MS + 1), window, ..before };
        assert!(before.is_fresh(AT.plus_ms(29 * DAY_MS)) && !before.is_fresh(AT.plus_ms(30 * DAY_MS)));
        for (new, is_written) in [(later(0, None), false), (later(0, Some(9)), true), (later(1, None), true)] {
            assert_eq!(new.replaces(Some(&before)), is_written, "{new:?}");
        }
        assert!(before.replaces(None));
    }
}
