//! The workspace: the one folder that file tools work in, accessed through a capability.
//!
//! Every path is opened relative to the folder's handle, and the operating system refuses to leave
//! it: by `..`, by an absolute path, by a symlink, or by a symlink swapped in between two steps. There is
//! no check that a race could bypass. An absolute path inside the folder is taken as the relative one.
//!
//! Inside the folder rules apply, which go by names: a path is checked by the names it has with its symlinks resolved,
//! and exactly these are opened, following no symlink ([`crate::no_follow`]).

use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata};

use crate::about_files::{CHANGE, PathNames, READ, WRITE, closed_refusal};
use crate::cut::thousands;
use crate::flat_path::flatten;
use crate::new_folders::NewFolders;
use crate::no_follow;
use crate::other_names::{CachedNames, ChangeGuard, OtherNames};
use crate::place::FileLocation;
use crate::real_path::real_path;
use crate::refusal::Refusal;
use crate::tracked::is_tracked;
use crate::{FileRules, Secrets, contains_placeholder};

/// The workspace folder can't be opened.
#[derive(Debug, thiserror::Error)]
#[error("the workspace {path} can't be opened: {source}", path = path.display())]
pub struct WorkspaceError {
    path: PathBuf,
    source: io::Error,
}

/// The folder that file tools work in.
#[derive(Debug)]
pub struct Workspace {
    dir: Dir,
    given: PathBuf,
    root: PathBuf,
    /// Folders inside it that no tool may touch, relative to the root.
    closed: Vec<PathBuf>,
    /// Secrets that are never shown of a file's content.
    secrets: Secrets,
    /// A cache of the other names of files in the workspace.
    cached_names: CachedNames,
    /// Locked by the call that changes files.
    changing: Mutex<()>,
    #[cfg(debug_assertions)]
    on_restore: TestHook,
    #[cfg(debug_assertions)]
    on_open: TestHook,
}

/// A callback of a test.
#[cfg(debug_assertions)]
#[derive(Clone, Default)]
struct TestHook(Option<Arc<dyn Fn() + Send + Sync>>);

#[cfg(debug_assertions)]
impl std::fmt::Debug for TestHook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TestHook").finish_non_exhaustive()
    }
}

/// The content at a path.
pub(crate) enum FileContent {
    Nothing,
    Content(Vec<u8>),
    /// Too large to be shown.
    Large(u64),
}

impl Workspace {
    /// Opens a folder as workspace.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, WorkspaceError> {
        let path = path.as_ref();
        let error = |source| WorkspaceError { path: path.to_owned(), source };
        let root = path.canonicalize().map_err(error)?;
        let dir = Dir::open_ambient_dir(&root, ambient_authority()).map_err(error)?;
        let given = std::path::absolute(path).map_err(error)?;
        Ok(Self {
            dir,
            given,
            root,
            closed: Vec::new(),
            secrets: Secrets::default(),
            cached_names: CachedNames::default(),
            changing: Mutex::default(),
            #[cfg(debug_assertions)]
            on_restore: TestHook::default(),
            #[cfg(debug_assertions)]
            on_open: TestHook::default(),
        })
    }

    /// The same workspace with a callback before each change an undo makes; for tests.
    #[cfg(debug_assertions)]
    #[must_use]
    pub fn on_restore(mut self, each: impl Fn() + Send + Sync + 'static) -> Self {
        self.on_restore = TestHook(Some(Arc::new(each)));
        self
    }

    /// The same workspace with a callback each time a path was checked and is about to be opened; for tests.
    #[cfg(debug_assertions)]
    #[must_use]
    pub fn on_open(mut self, each: impl Fn() + Send + Sync + 'static) -> Self {
        self.on_open = TestHook(Some(Arc::new(each)));
        self
    }

    /// Calls the test hook that may replace a folder by a symlink.
    pub(crate) fn about_to_open(&self) {
        #[cfg(debug_assertions)]
        if let Some(each) = &self.on_open.0 {
            each();
        }
    }

    /// Calls the test hook that may end the process.
    pub(crate) fn about_to_restore(&self) {
        #[cfg(debug_assertions)]
        if let Some(each) = &self.on_restore.0 {
            each();
        }
    }

    /// The same workspace without a folder, or a file, that is closed to tools: no path into it can be used, whether it
    /// exists or not. A workspace inside that folder is refused.
    pub fn without(mut self, folder: &Path) -> Result<Self, WorkspaceError> {
        let folder = real_path(folder).map_err(|source| WorkspaceError { path: self.root.clone(), source })?;
        if self.root.starts_with(&folder) {
            let source = io::Error::other(format!("it is in {}, which is not for tools", folder.display()));
            return Err(WorkspaceError { path: self.root, source });
        }
        self.closed.extend(folder.strip_prefix(&self.root).map(Path::to_owned).ok());
        Ok(self)
    }

    /// The same workspace with secrets that are hidden from every reader of a file (X1).
    #[must_use]
    pub fn hiding(mut self, secrets: Secrets) -> Self {
        self.secrets = secrets;
        self
    }

    /// Returns the secrets to hide. Code that shows a part of a file must scrub it before cutting it.
    pub(crate) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Whether `relative` leads into a folder that is closed to tools.
    pub(crate) fn is_closed(&self, relative: &Path) -> bool {
        !self.closed.is_empty()
            && (self.is_in_closed(&flatten(relative)) || self.is_in_closed(&self.resolved(relative)))
    }

    /// The same for a path without symlinks.
    pub(crate) fn is_in_closed(&self, real: &Path) -> bool {
        self.closed.iter().any(|closed| real.starts_with(closed))
    }

    /// Whether `relative` contains a folder that is closed to tools, so that it can't be moved.
    fn holds_closed(&self, relative: &Path) -> bool {
        let real = self.resolved(relative);
        self.closed.iter().any(|closed| closed.starts_with(&real))
    }

    /// Waits until no other call changes files here: the meaning of a change depends on the files beside it.
    pub(crate) fn change(&self) -> ChangeGuard<'_> {
        self.cached_names.change_guard(self.changing.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the handle that all access goes through.
    pub(crate) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Returns the absolute path, symlinks resolved.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns `path` relative to the workspace; the operating system checks where it leads.
    pub(crate) fn relative(&self, path: &str) -> Result<PathBuf, Refusal> {
        if contains_placeholder(path) {
            return Err(Refusal::wrong_argument(
                "The path has a placeholder `⟦secret:…⟧` in it: the name it stands for is not shown to you, and can't be \
                 used here.",
            ));
        }
        let given = Path::new(path);
        let relative = if given.is_absolute() {
            let inside = given.strip_prefix(&self.root).or_else(|_| given.strip_prefix(&self.given));
            inside.map_err(|_| self.outside(path))?
        } else {
            given
        };
        // `Path::new("a/")` and "a/." name the same as "a".
        let relative: PathBuf = relative.components().filter(|part| *part != Component::CurDir).collect();
        if self.is_closed(&relative) {
            return Err(closed_refusal(path));
        }
        Ok(if relative.as_os_str().is_empty() { PathBuf::from(".") } else { relative })
    }

    /// Opens a regular file for reading. Nothing else is opened, and a pipe without a writer does
    /// not block.
    pub(crate) fn file(&self, path: &str, rules: &FileRules) -> Result<(File, Metadata), Refusal> {
        let relative = self.relative(path)?;
        let real = self.admit(path, READ, rules)?.real;
        let explain = |error| self.explain(path, &error);
        regular(path, &self.dir.metadata(&relative).map_err(explain)?)?;
        self.about_to_open();
        let FileLocation { parent, name } = self.place_at(path, &real)?;
        let file = no_follow::open_file(&parent, &name).map_err(explain)?;
        let metadata = file.metadata().map_err(explain)?;
        regular(path, &metadata)?;
        Ok((file, metadata))
    }

    /// Reads a whole regular file of at most `limit` bytes.
    pub(crate) fn read(&self, path: &str, limit: u64, rules: &FileRules) -> Result<Vec<u8>, Refusal> {
        let (file, metadata) = self.file(path, rules)?;
        let mut bytes = Vec::new();
        file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| self.explain(path, &error))?;
        if bytes.len() as u64 > limit {
            let (size, limit) = (thousands_of(metadata.len().max(limit + 1)), thousands_of(limit));
            return Err(format!("`{path}` has {size} bytes; this tool takes files of up to {limit}.").into());
        }
        Ok(bytes)
    }

    /// Opens a folder, and returns the names it was checked by.
    pub(crate) fn folder(&self, path: &str, rules: &FileRules) -> Result<(Dir, PathNames), Refusal> {
        let relative = self.relative(path)?;
        let names = self.admit(path, READ, rules)?;
        let explain = |error| self.explain(path, &error);
        if !self.dir.metadata(&relative).map_err(explain)?.is_dir() {
            let text = format!("`{path}` is a file, not a directory: read_file shows what is in it.");
            return Err(Refusal::wrong_argument(text));
        }
        self.about_to_open();
        let folder = no_follow::open_folder(&self.dir, &names.real).map_err(explain)?;
        Ok((folder, names))
    }

    /// Whether there is anything at `path`.
    pub(crate) fn exists(&self, path: &str) -> Result<bool, Refusal> {
        match self.dir.symlink_metadata(self.relative(path)?) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.explain(path, &error)),
        }
    }

    /// Reads a regular file of at most `limit` bytes, for display to people.
    pub(crate) fn read_for_people(&self, path: &str, limit: u64) -> Result<FileContent, Refusal> {
        let metadata = match self.dir.metadata(self.relative(path)?) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(FileContent::Nothing),
            Err(error) => return Err(self.explain(path, &error)),
        };
        regular(path, &metadata)?;
        if metadata.len() > limit {
            return Ok(FileContent::Large(metadata.len()));
        }
        self.read(path, limit, &FileRules::for_people()).map(FileContent::Content)
    }

    /// Describes the entry at `path` for people: `a file of 12 bytes`.
    pub(crate) fn kind(&self, path: &str) -> Result<Option<String>, Refusal> {
        let metadata = match self.dir.symlink_metadata(self.relative(path)?) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.explain(path, &error)),
        };
        Ok(Some(match () {
            () if metadata.is_dir() => "a directory".to_owned(),
            () if metadata.is_symlink() => "a link".to_owned(),
            () => format!("a file of {} bytes", thousands_of(metadata.len())),
        }))
    }

    /// Whether the entry at `path` is itself a symlink.
    pub(crate) fn is_link(&self, path: &str) -> bool {
        let relative = self.relative(path).ok();
        relative.and_then(|path| self.dir.symlink_metadata(path).ok()).is_some_and(|metadata| metadata.is_symlink())
    }

    /// Returns the target of `path`, if a symlink leads it elsewhere.
    pub(crate) fn leads_to(&self, path: &str) -> Option<PathBuf> {
        let written = flatten(&self.relative(path).ok()?);
        let real = self.resolved(&written);
        (real != written).then_some(real)
    }

    /// Whether `path` leads to a file that is not under version control.
    pub(crate) fn untracked(&self, path: &str) -> bool {
        let Ok(relative) = self.relative(path) else { return false };
        let real = self.leads_to(path).unwrap_or_else(|| flatten(&relative));
        !is_tracked(&self.root().join(real))
    }

    /// Returns the location that `path` itself names; a symlink as its last name is not followed.
    pub(crate) fn place(&self, path: &str, rules: &FileRules) -> Result<FileLocation, Refusal> {
        let entry = self.entry(path, rules)?;
        self.about_to_open();
        self.place_at(path, &entry)
    }

    /// The same for a new entry: creates missing parent folders, which are removed again unless they are
    /// kept.
    pub(crate) fn new_place(&self, path: &str, rules: &FileRules) -> Result<(FileLocation, NewFolders), Refusal> {
        let entry = self.entry(path, rules)?;
        self.make_place(path, &entry)
    }

    fn entry(&self, path: &str, rules: &FileRules) -> Result<PathBuf, Refusal> {
        let relative = self.relative(path)?;
        let entry = self.admit(path, CHANGE, rules)?.entry;
        if self.holds_closed(&relative) {
            let told =
                format!("`{path}` holds what Windlass keeps its own data or settings in, and stays where it is.");
            return Err(told.into());
        }
        Ok(entry)
    }

    /// Returns the location for the content of `path`: the target, if it is a symlink. Creates missing parent
    /// folders, which are removed again unless they are kept.
    pub(crate) fn place_for_content(
        &self,
        path: &str,
        rules: &FileRules,
    ) -> Result<(FileLocation, NewFolders), Refusal> {
        if path.ends_with('/') {
            return Err(Refusal::wrong_argument(format!("`{path}` names a directory; give the path of a file.")));
        }
        let relative = self.relative(path)?;
        let target = self.admit(path, WRITE, rules)?.real;
        let explain = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => Refusal::not_found(format!(
                "`{path}` is a link that leads nowhere: what it points at is not there. Write to that path, or remove \
                 the link first."
            )),
            _ => self.explain(path, &error),
        };
        if self.dir.symlink_metadata(&relative).is_ok_and(|metadata| metadata.is_symlink()) {
            self.dir.canonicalize(&relative).map_err(explain)?;
        }
        if let Ok(metadata) = self.dir.metadata(&target) {
            regular(path, &metadata)?;
        }
        self.make_place(path, &target)
    }

    /// Returns the location at `checked`, following no symlink.
    fn place_at(&self, path: &str, checked: &Path) -> Result<FileLocation, Refusal> {
        let (parent, name) = self.split_last(path, checked)?;
        let parent = no_follow::open_folder(&self.dir, parent).map_err(|error| self.explain(path, &error))?;
        Ok(FileLocation { parent, name })
    }

    /// The same, creating missing parent folders.
    fn make_place(&self, path: &str, checked: &Path) -> Result<(FileLocation, NewFolders), Refusal> {
        let (parent, name) = self.split_last(path, checked)?;
        self.about_to_open();
        let made = NewFolders::make(&self.dir, parent);
        let (folders, parent) = made.map_err(|error| self.explain(path, &error))?;
        Ok((FileLocation { parent, name }, folders))
    }

    /// Returns the folder and the name of the checked path.
    fn split_last<'p>(&self, path: &str, checked: &'p Path) -> Result<(&'p Path, OsString), Refusal> {
        let named = self.relative(path)?;
        match (named.components().next_back(), checked.parent(), checked.file_name()) {
            (Some(Component::Normal(_)), Some(parent), Some(name)) => Ok((parent, name.to_owned())),
            _ => {
                let text = format!("`{path}` names no file: give a path with a file name at its end.");
                Err(Refusal::wrong_argument(text))
            }
        }
    }

    /// Returns a message that says what went wrong with `path`.
    pub(crate) fn explain(&self, path: &str, error: &io::Error) -> Refusal {
        match error.kind() {
            _ if is_refused_by_capability(error) => self.outside(path),
            io::ErrorKind::NotFound => Refusal::not_found(format!("There is no `{path}` in the workspace.")),
            _ if no_follow::is_no_folder(error) => Refusal::wrong_argument(format!(
                "`{path}` leads through something that is not a directory of the workspace: a file, a link that \
                 leads out of it, or one that was not there when the path was judged."
            )),
            _ => format!("`{path}`: {error}.").into(),
        }
    }

    pub(crate) fn outside(&self, path: &str) -> Refusal {
        let root = self.root.display();
        Refusal::wrong_argument(format!(
            "`{path}` is outside the workspace {root}: only paths inside it can be used, and no links that lead out of it."
        ))
    }

    /// Returns the other names of files in the workspace, by target.
    pub(crate) fn other_names(&self) -> Arc<OtherNames> {
        self.cached_names.at(&self.root)
    }

    /// Returns the workspace's paths, by all its names.
    pub(crate) fn roots(&self) -> Vec<PathBuf> {
        vec![self.root.clone(), self.given.clone()]
    }

    /// Returns `path` with the symlinks in its existing part resolved. A path into a missing folder and back out of it
    /// leads where it would if that folder existed.
    pub(crate) fn resolved(&self, path: &Path) -> PathBuf {
        if let Ok(real) = self.dir.canonicalize(path) {
            return real;
        }
        let mut real = PathBuf::new();
        for part in path.components() {
            match part {
                Component::CurDir => {}
                Component::ParentDir if matches!(real.components().next_back(), Some(Component::Normal(_))) => {
                    real.pop();
                }
                Component::Normal(_) => real = self.behind_link(real.join(part)),
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => real.push(part),
            }
        }
        flatten(&real)
    }

    /// Returns the target of a symlink, or `path` if it is no symlink or a broken one.
    pub(crate) fn behind_link(&self, path: PathBuf) -> PathBuf {
        let is_link = self.dir.symlink_metadata(&path).is_ok_and(|metadata| metadata.is_symlink());
        let real = is_link.then(|| self.dir.canonicalize(&path).ok()).flatten();
        match real {
            Some(real) if real == Path::new(".") => PathBuf::new(),
            Some(real) => real,
            None => path,
        }
    }
}

/// Whether the folder's handle itself refused a path that leads out of it: such an error has no OS error number.
pub(crate) fn is_refused_by_capability(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

pub(crate) fn regular(path: &str, metadata: &Metadata) -> Result<(), Refusal> {
    if metadata.is_file() {
        Ok(())
    } else if metadata.is_dir() {
        Err(Refusal::wrong_argument(format!("`{path}` is a directory; list_directory shows what is in it.")))
    } else {
        let text = format!("`{path}` is no regular file but a pipe, socket or device, and is left alone.");
        Err(Refusal::wrong_argument(text))
    }
}

fn thousands_of(number: u64) -> String {
    thousands(usize::try_from(number).unwrap_or(usize::MAX))
}
