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
use windlass_tools::{Readers, write_whole};
use windlass_vocab::Hash;

use super::sources::{Sources, from_home};
use super::standing::Standing;
use super::{SettingsFile, keep, kept_texts, servers};
use crate::folder_lock::lock_folder;

/// Beside the user's file.
const FILE: &str = "trusted.json";
/// There too: what the person was asked to trust, and does not.
const DECLINED: &str = "declined.json";

/// What a file says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// Settings.
    Text(String),
    /// A program, of which only this is kept.
    Digest(Hash),
    /// A folder that holds too much to be watched.
    Unwatched,
}

/// The files of a project that trust is about.
pub(super) type Contents = BTreeMap<PathBuf, Content>;

/// What was trusted, by folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Kept(BTreeMap<PathBuf, Contents>);

impl Kept {
    /// What is on record. What can't be read was not agreed to, so it is no first time either.
    fn read(folder: &Path) -> Option<Self> {
        match fs::read(folder.join(FILE)) {
            Ok(bytes) => serde_json::from_slice(&bytes).ok(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Some(Self::default()),
            Err(_) => None,
        }
    }

    fn standing(&self, folder: &Path, now: &Contents) -> Standing {
        match self.0.get(folder) {
            None => Standing::New,
            Some(trusted) if now.iter().all(|(path, content)| trusted.get(path) == Some(content)) => {
                Standing::AsTrusted
            }
            Some(_) => Standing::Changed,
        }
    }
}

/// A file that says something else than it did when it was trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Which.
    pub path: PathBuf,
    /// What it said, where that is kept.
    pub before: Option<String>,
    /// What it says.
    pub now: Content,
    /// That as text, where it is a short one.
    pub text: Option<String>,
}

impl Sources {
    /// Whether the project says what the person trusts; nothing where its folder is not listed.
    pub fn standing(&self) -> Option<Standing> {
        let project = self.project.as_ref().filter(|project| self.lists(project.folder()))?;
        let Some(kept) = self.kept_trust() else { return Some(Standing::Changed) };
        Some(kept.standing(project.folder(), &self.contents()))
    }

    /// What of the project is not as it was trusted.
    pub fn changes(&self) -> Vec<Changed> {
        let Some(project) = &self.project else { return Vec::new() };
        let kept = self.kept_trust().unwrap_or_default();
        let trusted = kept.0.get(project.folder()).cloned().unwrap_or_default();
        let place = self.config_dir();
        let before = |content: &Content| match content {
            Content::Text(text) => Some(text.clone()),
            Content::Digest(hash) => kept_texts::before(place.as_ref()?, hash),
            Content::Unwatched => None,
        };
        let differs = |(path, now): &(PathBuf, Content)| trusted.get(path) != Some(now);
        let text = |path: &Path, now: &Content| match now {
            Content::Text(text) => Some(text.clone()),
            Content::Digest(hash) => kept_texts::now(path, hash),
            Content::Unwatched => None,
        };
        let now = self.contents().into_iter().filter(differs);
        now.map(|(path, now)| Changed {
            before: trusted.get(&path).and_then(before),
            text: text(&path, &now),
            now,
            path,
        })
        .collect()
    }

    /// Takes down that the person trusts the project as it is.
    pub fn keep_trust(&mut self) -> io::Result<()> {
        let Some(project) = &self.project else { return Ok(()) };
        self.note(project.folder().to_owned(), self.contents())?;
        if let Some(place) = self.config_dir() {
            kept_texts::keep(&place, &self.programs.files);
        }
        self.trusted = Standing::AsTrusted;
        Ok(())
    }

    /// Trusts the project's folder from now on, as its files are: in the user's file, and with what they say taken down.
    pub fn trust_folder(mut self) -> io::Result<Self> {
        let Some(folder) = self.project.as_ref().map(|project| project.folder().to_owned()) else { return Ok(self) };
        // First what was seen: whatever is written there from now on is a change.
        self.keep_trust()?;
        keep::trust(&folder, self.user_file().as_deref()).map_err(|problem| io::Error::other(problem.to_string()))?;
        Self::gather(self.flags, self.env, self.cwd).map_err(|error| io::Error::other(error.to_string()))
    }

    /// Whether the person was asked to trust the project as it is, and said no.
    pub fn is_declined(&self) -> bool {
        let (Some(project), Some(place)) = (&self.project, self.config_dir()) else { return false };
        declined_in(&place).get(project.folder()) == Some(&self.contents_hash())
    }

    /// Whether the person said no to the project, as it is or as it was.
    pub fn was_declined(&self) -> bool {
        let (Some(project), Some(place)) = (&self.project, self.config_dir()) else { return false };
        declined_in(&place).contains_key(project.folder())
    }

    /// Trusts the project's folder no more, and does not ask about it before it changes.
    pub fn distrust_folder(&self) -> Result<keep::Kept, keep::NotKept> {
        let Some(folder) = self.project.as_ref().map(SettingsFile::folder) else { return Ok(keep::Kept::Known) };
        let path = self.user_file().ok_or(keep::NotKept::NoPlace)?;
        let removed = if path.exists() {
            keep::distrust(&path, |listed| from_home(Path::new(listed), &self.env) == folder)?
        } else {
            keep::Kept::Known
        };
        self.decline().map_err(|error| keep::NotKept::Disk(path, error))?;
        Ok(removed)
    }

    /// Takes down that the person does not trust the project as it is.
    pub fn decline(&self) -> io::Result<()> {
        let Some(project) = &self.project else { return Ok(()) };
        let place = self.config_dir().ok_or(io::ErrorKind::NotFound)?;
        DirBuilder::new().recursive(true).mode(0o700).create(&place)?;
        let _lock = lock_folder(&place)?;
        let mut declined = declined_in(&place);
        declined.insert(project.folder().to_owned(), self.contents_hash());
        write_whole(&place.join(DECLINED), &serde_json::to_vec_pretty(&declined)?, Readers::Owner)
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
        let Some(kept) = self.kept_trust() else { return };
        for folder in self.empty.iter().filter(|folder| !kept.0.contains_key(*folder)) {
            let _ = self.note(folder.clone(), Contents::new());
        }
    }

    fn note(&self, folder: PathBuf, contents: Contents) -> io::Result<()> {
        let place = self.config_dir().ok_or(io::ErrorKind::NotFound)?;
        DirBuilder::new().recursive(true).mode(0o700).create(&place)?;
        let _lock = lock_folder(&place)?;
        // One that can't be read is not written over: the folders in it would be trusted anew, unseen.
        let mut kept = Kept::read(&place).ok_or(io::ErrorKind::InvalidData)?;
        kept.0.entry(folder).or_default().extend(contents);
        write_whole(&place.join(FILE), &serde_json::to_vec_pretty(&kept)?, Readers::Owner)
    }

    fn kept_trust(&self) -> Option<Kept> {
        self.config_dir().map_or(Some(Kept::default()), |folder| Kept::read(&folder))
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
    fn contents(&self) -> Contents {
        let texts = self.texts_of_project().into_iter();
        let mut contents: Contents =
            texts.map(|(path, text)| (path.to_owned(), Content::Text(text.to_owned()))).collect();
        let programs = self.programs.files.iter();
        contents.extend(programs.map(|(path, hash)| (path.clone(), Content::Digest(*hash))));
        contents.extend(self.programs.unwatched.iter().map(|folder| (folder.clone(), Content::Unwatched)));
        contents
    }
}

/// What was declined, by folder. What can't be read is asked about again.
fn declined_in(place: &Path) -> BTreeMap<PathBuf, Hash> {
    fs::read(place.join(DECLINED)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(files: &[(&str, &str)]) -> Contents {
        files.iter().map(|(path, text)| ((*path).into(), Content::Text((*text).to_owned()))).collect()
    }

    // proves X2: trust is in the content
    #[test]
    fn what_says_what_it_said_is_trusted_and_nothing_else() {
        let toml = ("/p/windlass.toml", "mode = 'default'");
        let servers = ("/p/.mcp.json", "{}");
        let kept = Kept(BTreeMap::from([("/p".into(), contents(&[toml, servers])), ("/bare".into(), Contents::new())]));
        let standing = |folder: &str, files: &[(&str, &str)]| kept.standing(Path::new(folder), &contents(files));
        assert_eq!(standing("/p", &[toml, servers]), Standing::AsTrusted);
        assert_eq!(standing("/p", &[toml]), Standing::AsTrusted, "what is gone says nothing");
        assert_eq!(standing("/p", &[("/p/windlass.toml", "mode = 'bypass'")]), Standing::Changed);
        assert_eq!(standing("/p", &[toml, ("/p/sub/.mcp.json", "{}")]), Standing::Changed, "another file");
        assert_eq!(standing("/other", &[toml]), Standing::New);
        assert_eq!(standing("/bare", &[("/bare/windlass.toml", "")]), Standing::Changed, "there was none");
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
                        sources.note(format!("/{writer}/{turn}").into(), contents(&[("f", "x")])).expect("noted");
                    }
                });
            }
        });
        assert_eq!(Kept::read(&config).expect("it is whole").0.len(), 20);
    }

    // proves X2: a record that was tampered with agrees to nothing
    #[test]
    fn a_record_that_can_not_be_read_is_no_first_time() {
        let dir = tempfile::tempdir().expect("a folder");
        assert_eq!(Kept::read(dir.path()), Some(Kept::default()));
        fs::write(dir.path().join(FILE), "{").expect("a file");
        assert_eq!(Kept::read(dir.path()), None);
    }
}
