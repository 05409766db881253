//! Trust in a project is trust in what its files say, not in where they stand (X2): a tool that writes into a trusted
//! folder must not be able to write itself more rights. `trusted` in the user's file names the folder; what its files
//! said when it was first used, or when the person last agreed, is kept beside the user's file. What says something
//! else is not trusted before the person has seen the difference.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use windlass_mcp::{ServerConfig, ServerName};
use windlass_store::hash_of;
use windlass_tools::{ReadableBy, write_whole};
use windlass_vocab::Hash;

use super::sources::{Sources, from_home};
use super::trust_state::TrustState;
use super::{SettingsFile, file_edit, saved_texts, servers};
use crate::folder_lock::lock_folder;

/// Beside the user's file.
const FILE: &str = "trusted.json";
/// There too: what the person was asked to trust, and does not.
const DECLINED: &str = "declined.json";

/// What a file says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProjectFileContent {
    /// Settings.
    Text(String),
    /// A program, of which only this is kept.
    Digest(Hash),
    /// A folder that holds too much to be watched.
    Unwatched,
}

/// The files of a project that trust is about.
pub(super) type ProjectContents = BTreeMap<PathBuf, ProjectFileContent>;

/// What was trusted, by folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct TrustRecord(BTreeMap<PathBuf, ProjectContents>);

impl TrustRecord {
    /// What is on record. What can't be read was not agreed to, so it is no first time either.
    fn read(folder: &Path) -> Option<Self> {
        match fs::read(folder.join(FILE)) {
            Ok(bytes) => serde_json::from_slice(&bytes).ok(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Some(Self::default()),
            Err(_) => None,
        }
    }

    fn trust_state(&self, folder: &Path, now: &ProjectContents) -> TrustState {
        match self.0.get(folder) {
            None => TrustState::New,
            Some(trusted) if now.iter().all(|(path, content)| trusted.get(path) == Some(content)) => {
                TrustState::AsTrusted
            }
            Some(_) => TrustState::Changed,
        }
    }
}

/// A file that says something else than it did when it was trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// Which.
    pub path: PathBuf,
    /// What it said, where that is kept.
    pub before: Option<String>,
    /// What it says.
    pub now: ProjectFileContent,
    /// That as text, where it is a short one.
    pub text: Option<String>,
}

impl Sources {
    /// Whether the project says what the person trusts; nothing where its folder is not listed.
    pub fn trust_state(&self) -> Option<TrustState> {
        let project = self.project.as_ref().filter(|project| self.lists(project.folder()))?;
        let Some(recorded) = self.recorded_trust() else { return Some(TrustState::Changed) };
        Some(recorded.trust_state(project.folder(), &self.contents()))
    }

    /// What of the project is not as it was trusted.
    pub fn changes(&self) -> Vec<ChangedFile> {
        let Some(project) = &self.project else { return Vec::new() };
        let recorded = self.recorded_trust().unwrap_or_default();
        let trusted = recorded.0.get(project.folder()).cloned().unwrap_or_default();
        let place = self.config_dir();
        let before = |content: &ProjectFileContent| match content {
            ProjectFileContent::Text(text) => Some(text.clone()),
            ProjectFileContent::Digest(hash) => saved_texts::saved_text(place.as_ref()?, hash),
            ProjectFileContent::Unwatched => None,
        };
        let differs = |(path, now): &(PathBuf, ProjectFileContent)| trusted.get(path) != Some(now);
        let text = |path: &Path, now: &ProjectFileContent| match now {
            ProjectFileContent::Text(text) => Some(text.clone()),
            ProjectFileContent::Digest(hash) => saved_texts::current_text(path, hash),
            ProjectFileContent::Unwatched => None,
        };
        let now = self.contents().into_iter().filter(differs);
        now.map(|(path, now)| ChangedFile {
            before: trusted.get(&path).and_then(before),
            text: text(&path, &now),
            now,
            path,
        })
        .collect()
    }

    /// Takes down that the person trusts the project as it is.
    pub fn record_trust(&mut self) -> io::Result<()> {
        let Some(project) = &self.project else { return Ok(()) };
        self.record(project.folder().to_owned(), self.contents())?;
        if let Some(place) = self.config_dir() {
            saved_texts::save(&place, &self.programs.files);
        }
        self.trusted = TrustState::AsTrusted;
        Ok(())
    }

    /// Trusts the project's folder from now on, as its files are: in the user's file, and with what they say taken down.
    pub fn trust_folder(mut self) -> io::Result<Self> {
        let Some(folder) = self.project.as_ref().map(|project| project.folder().to_owned()) else { return Ok(self) };
        // First what was seen: whatever is written there from now on is a change.
        self.record_trust()?;
        file_edit::trust(&folder, self.user_file().as_deref())
            .map_err(|problem| io::Error::other(problem.to_string()))?;
        Self::gather(self.flags, self.env, self.cwd).map_err(|error| io::Error::other(error.to_string()))
    }

    /// Whether the person was asked to trust the project as it is, and said no.
    pub fn is_declined(&self) -> bool {
        let (Some(project), Some(place)) = (&self.project, self.config_dir()) else { return false };
        read_declined(&place).get(project.folder()) == Some(&self.contents_hash())
    }

    /// Whether the person said no to the project, as it is or as it was.
    pub fn was_declined(&self) -> bool {
        let (Some(project), Some(place)) = (&self.project, self.config_dir()) else { return false };
        read_declined(&place).contains_key(project.folder())
    }

    /// Trusts the project's folder no more, and does not ask about it before it changes.
    pub fn distrust_folder(&self) -> Result<file_edit::SettingsWrite, file_edit::SettingsWriteError> {
        let Some(folder) = self.project.as_ref().map(SettingsFile::folder) else {
            return Ok(file_edit::SettingsWrite::Known);
        };
        let path = self.user_file().ok_or(file_edit::SettingsWriteError::NoPlace)?;
        let removed = if path.exists() {
            file_edit::distrust(&path, |listed| from_home(Path::new(listed), &self.env) == folder)?
        } else {
            file_edit::SettingsWrite::Known
        };
        self.decline().map_err(|error| file_edit::SettingsWriteError::Disk(path, error))?;
        Ok(removed)
    }

    /// Takes down that the person does not trust the project as it is.
    pub fn decline(&self) -> io::Result<()> {
        let Some(project) = &self.project else { return Ok(()) };
        let place = self.config_dir().ok_or(io::ErrorKind::NotFound)?;
        DirBuilder::new().recursive(true).mode(0o700).create(&place)?;
        let _lock = lock_folder(&place)?;
        let mut declined = read_declined(&place);
        declined.insert(project.folder().to_owned(), self.contents_hash());
        write_whole(&place.join(DECLINED), &serde_json::to_vec_pretty(&declined)?, ReadableBy::Owner)
    }

    /// The MCP servers that come with the project: where it is trusted they start unasked.
    pub fn servers_of_project(&self) -> Vec<(ServerName, ServerConfig)> {
        servers::servers_of_project(self)
    }

    fn contents_hash(&self) -> Hash {
        hash_of(format!("{:?}", self.contents()).as_bytes())
    }

    /// Takes down that folders the person trusts have no settings yet, so that such as come later are a change. Where it
    /// can't be taken down they are looked at when they come.
    pub fn note_empty(&self) {
        let Some(recorded) = self.recorded_trust() else { return };
        for folder in self.empty.iter().filter(|folder| !recorded.0.contains_key(*folder)) {
            let _ = self.record(folder.clone(), ProjectContents::new());
        }
    }

    fn record(&self, folder: PathBuf, contents: ProjectContents) -> io::Result<()> {
        let place = self.config_dir().ok_or(io::ErrorKind::NotFound)?;
        DirBuilder::new().recursive(true).mode(0o700).create(&place)?;
        let _lock = lock_folder(&place)?;
        // One that can't be read is not written over: the folders in it would be trusted anew, unseen.
        let mut recorded = TrustRecord::read(&place).ok_or(io::ErrorKind::InvalidData)?;
        recorded.0.entry(folder).or_default().extend(contents);
        write_whole(&place.join(FILE), &serde_json::to_vec_pretty(&recorded)?, ReadableBy::Owner)
    }

    fn recorded_trust(&self) -> Option<TrustRecord> {
        self.config_dir().map_or(Some(TrustRecord::default()), |folder| TrustRecord::read(&folder))
    }

    /// The files behind the project's servers that are part of what is trusted.
    pub fn watched(&self) -> Vec<PathBuf> {
        self.programs.files.keys().cloned().collect()
    }

    /// Folders behind the project's servers that hold too much to be part of it.
    pub fn unwatched(&self) -> &BTreeSet<PathBuf> {
        &self.programs.unwatched
    }

    /// The project's settings and its file of servers, with what they say.
    pub fn texts_of_project(&self) -> Vec<(&Path, &str)> {
        let settings = self.project.as_ref().map(|file| (file.path(), file.text()));
        let servers =
            self.project_servers.as_ref().and_then(|file| Some((file.path.as_path(), file.text.as_deref().ok()?)));
        settings.into_iter().chain(servers).collect()
    }

    /// Everything of the project that trust is about: its settings, its servers, and the files behind their commands.
    fn contents(&self) -> ProjectContents {
        let texts = self.texts_of_project().into_iter();
        let mut contents: ProjectContents =
            texts.map(|(path, text)| (path.to_owned(), ProjectFileContent::Text(text.to_owned()))).collect();
        let programs = self.programs.files.iter();
        contents.extend(programs.map(|(path, hash)| (path.clone(), ProjectFileContent::Digest(*hash))));
        contents.extend(self.programs.unwatched.iter().map(|folder| (folder.clone(), ProjectFileContent::Unwatched)));
        contents
    }
}

/// What was declined, by folder. What can't be read is asked about again.
fn read_declined(place: &Path) -> BTreeMap<PathBuf, Hash> {
    fs::read(place.join(DECLINED)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(files: &[(&str, &str)]) -> ProjectContents {
        files.iter().map(|(path, text)| ((*path).into(), ProjectFileContent::Text((*text).to_owned()))).collect()
    }

    // proves X2: trust is in the content
    #[test]
    fn what_says_what_it_said_is_trusted_and_nothing_else() {
        let toml = ("/p/windlass.toml", "mode = 'default'");
        let servers = ("/p/.mcp.json", "{}");
        let recorded = TrustRecord(BTreeMap::from([
            ("/p".into(), contents(&[toml, servers])),
            ("/bare".into(), ProjectContents::new()),
        ]));
        let trust_state =
            |folder: &str, files: &[(&str, &str)]| recorded.trust_state(Path::new(folder), &contents(files));
        assert_eq!(trust_state("/p", &[toml, servers]), TrustState::AsTrusted);
        assert_eq!(trust_state("/p", &[toml]), TrustState::AsTrusted, "what is gone says nothing");
        assert_eq!(trust_state("/p", &[("/p/windlass.toml", "mode = 'bypass'")]), TrustState::Changed);
        assert_eq!(trust_state("/p", &[toml, ("/p/sub/.mcp.json", "{}")]), TrustState::Changed, "another file");
        assert_eq!(trust_state("/other", &[toml]), TrustState::New);
        assert_eq!(trust_state("/bare", &[("/bare/windlass.toml", "")]), TrustState::Changed, "there was none");
    }

    // proves X2: no process loses what another has taken down
    #[test]
    fn many_who_take_down_their_trust_at_once_all_find_it_again() {
        let dir = tempfile::tempdir().expect("a folder");
        let config = dir.path().join("windlass");
        let home = dir.path().to_str().expect("a path").to_owned();
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let home = home.clone();
                scope.spawn(move || {
                    let env = [("XDG_CONFIG_HOME", home.as_str())].into_iter().collect();
                    let sources = Sources::of(super::super::Flags::default(), env, "/p");
                    for turn in 0..5 {
                        sources.record(format!("/{writer}/{turn}").into(), contents(&[("f", "x")])).expect("noted");
                    }
                });
            }
        });
        assert_eq!(TrustRecord::read(&config).expect("it is whole").0.len(), 20);
    }

    // proves X2: a record that was tampered with agrees to nothing
    #[test]
    fn a_record_that_can_not_be_read_is_no_first_time() {
        let dir = tempfile::tempdir().expect("a folder");
        assert_eq!(TrustRecord::read(dir.path()), Some(TrustRecord::default()));
        fs::write(dir.path().join(FILE), "{").expect("a file");
        assert_eq!(TrustRecord::read(dir.path()), None);
    }
}
