//! Trust in a project is trust in the contents of its files, not in their location (X2): a tool that writes into a
//! trusted folder must not be able to grant itself more rights. `trusted` in the user's file names the folder; the
//! contents of its files when it was first used, or when the person last agreed, are kept next to the user's file.
//! Changed contents are not trusted before the person has seen the difference.

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

/// Next to the user's file: what the person trusts.
const FILE: &str = "trusted.json";
/// Next to the user's file: what the person was asked to trust and refused.
const DECLINED: &str = "declined.json";

/// The recorded content of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProjectFileContent {
    /// The text of a settings file.
    Text(String),
    /// The digest of a program, whose content is not recorded here.
    Digest(Hash),
    /// A folder with too many files to watch.
    Unwatched,
}

/// The files of a project that trust covers.
pub(super) type ProjectContents = BTreeMap<PathBuf, ProjectFileContent>;

/// The trusted contents, by folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct TrustRecord(BTreeMap<PathBuf, ProjectContents>);

impl TrustRecord {
    /// Reads the record. An unreadable record agrees to nothing, and does not count as a first use either.
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

/// A file whose content has changed since it was trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// The file.
    pub path: PathBuf,
    /// The former text, if it was saved.
    pub before: Option<String>,
    /// The content now.
    pub now: ProjectFileContent,
    /// The text now, if it is short.
    pub text: Option<String>,
}

impl Sources {
    /// Whether the project matches what the person trusted; `None` if its folder is not listed.
    pub fn trust_state(&self) -> Option<TrustState> {
        let project = self.project.as_ref().filter(|project| self.lists(project.folder()))?;
        let Some(recorded) = self.recorded_trust() else { return Some(TrustState::Changed) };
        Some(recorded.trust_state(project.folder(), &self.contents()))
    }

    /// Returns the project's files that have changed since it was trusted.
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

    /// Records that the person trusts the project as it is.
    pub fn record_trust(&mut self) -> io::Result<()> {
        let Some(project) = &self.project else { return Ok(()) };
        self.record(project.folder().to_owned(), self.contents())?;
        if let Some(place) = self.config_dir() {
            saved_texts::save(&place, &self.programs.files);
        }
        self.trusted = TrustState::AsTrusted;
        Ok(())
    }

    /// Trusts the project's folder as its files are now: records their contents and adds the folder to the user's
    /// file.
    pub fn trust_folder(mut self) -> io::Result<Self> {
        let Some(folder) = self.project.as_ref().map(|project| project.folder().to_owned()) else { return Ok(self) };
        // Record what was seen first: anything written to the files from now on is a change.
        self.record_trust()?;
        file_edit::trust(&folder, self.user_file().as_deref())
            .map_err(|problem| io::Error::other(problem.to_string()))?;
        Self::gather(self.flags, self.env, self.cwd).map_err(|error| io::Error::other(error.to_string()))
    }

    /// Whether the person was asked to trust the project as it is and refused.
    pub fn is_declined(&self) -> bool {
        let (Some(project), Some(place)) = (&self.project, self.config_dir()) else { return false };
        read_declined(&place).get(project.folder()) == Some(&self.contents_hash())
    }

    /// Whether the person refused to trust the project, in its present or an earlier state.
    pub fn was_declined(&self) -> bool {
        let (Some(project), Some(place)) = (&self.project, self.config_dir()) else { return false };
        read_declined(&place).contains_key(project.folder())
    }

    /// Withdraws the trust in the project's folder, and does not ask about it until it changes.
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

    /// Records that the person does not trust the project as it is.
    pub fn decline(&self) -> io::Result<()> {
        let Some(project) = &self.project else { return Ok(()) };
        let place = self.config_dir().ok_or(io::ErrorKind::NotFound)?;
        DirBuilder::new().recursive(true).mode(0o700).create(&place)?;
        let _lock = lock_folder(&place)?;
        let mut declined = read_declined(&place);
        declined.insert(project.folder().to_owned(), self.contents_hash());
        write_whole(&place.join(DECLINED), &serde_json::to_vec_pretty(&declined)?, ReadableBy::Owner)
    }

    /// Returns the MCP servers of the project: where it is trusted they start without asking.
    pub fn servers_of_project(&self) -> Vec<(ServerName, ServerConfig)> {
        servers::servers_of_project(self)
    }

    fn contents_hash(&self) -> Hash {
        hash_of(format!("{:?}", self.contents()).as_bytes())
    }

    /// Records that trusted folders have no settings yet, so that settings added later count as a change. If
    /// recording fails, such settings are checked when they appear.
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
        // An unreadable record is not overwritten: its folders would become trusted again without being reviewed.
        let mut recorded = TrustRecord::read(&place).ok_or(io::ErrorKind::InvalidData)?;
        recorded.0.entry(folder).or_default().extend(contents);
        write_whole(&place.join(FILE), &serde_json::to_vec_pretty(&recorded)?, ReadableBy::Owner)
    }

    fn recorded_trust(&self) -> Option<TrustRecord> {
        self.config_dir().map_or(Some(TrustRecord::default()), |folder| TrustRecord::read(&folder))
    }

    /// The files behind the project's servers that trust covers.
    pub fn watched(&self) -> Vec<PathBuf> {
        self.programs.files.keys().cloned().collect()
    }

    /// Folders behind the project's servers with too many files to cover.
    pub fn unwatched(&self) -> &BTreeSet<PathBuf> {
        &self.programs.unwatched
    }

    /// The project's settings file and file of servers, with their texts.
    pub fn texts_of_project(&self) -> Vec<(&Path, &str)> {
        let settings = self.project.as_ref().map(|file| (file.path(), file.text()));
        let servers =
            self.project_servers.as_ref().and_then(|file| Some((file.path.as_path(), file.text.as_deref().ok()?)));
        settings.into_iter().chain(servers).collect()
    }

    /// Everything that trust covers: the project's settings, its servers, and the files behind their commands.
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

/// Reads what was declined, by folder. If the record is unreadable, the person is asked again.
fn read_declined(place: &Path) -> BTreeMap<PathBuf, Hash> {
    fs::read(place.join(DECLINED)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(files: &[(&str, &str)]) -> ProjectContents {
        files.iter().map(|(path, text)| ((*path).into(), ProjectFileContent::Text((*text).to_owned()))).collect()
    }

    // proves X2: trust depends on the content
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

    // proves X2: no process overwrites what another has recorded
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

    // proves X2: a damaged record agrees to nothing
    #[test]
    fn a_record_that_can_not_be_read_is_no_first_time() {
        let dir = tempfile::tempdir().expect("a folder");
        assert_eq!(TrustRecord::read(dir.path()), Some(TrustRecord::default()));
        fs::write(dir.path().join(FILE), "{").expect("a file");
        assert_eq!(TrustRecord::read(dir.path()), None);
    }
}
