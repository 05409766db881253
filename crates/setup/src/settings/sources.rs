//! Everything settings are made of, gathered from the outside world before anything is decided.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::ownership::{Looker, search};
use super::programs::Behind;
use super::servers::programs_of_project;
use super::trust::Standing;
use super::{Env, Flags, Origin, SettingsError, SettingsFile, Sourced, Whose};

pub const FILE_NAME: &str = "windlass.toml";
/// The file other programs keep a project's MCP servers in.
const SERVERS_NAME: &str = ".mcp.json";
/// No settings file is nearly as long; a link to a device is.
const LONGEST_FILE: u64 = 256 * 1024;

/// What was said on the command line, in the environment and in the files.
#[derive(Clone, Debug)]
pub struct Sources {
    /// The command line.
    pub flags: Flags,
    /// The environment.
    pub env: Env,
    /// The folder that relative paths of flags and variables start from.
    pub cwd: PathBuf,
    /// The folder the tools work in, without symlinks.
    pub workspace: PathBuf,
    /// The project's file, if it has one.
    pub project: Option<SettingsFile>,
    /// The user's file, if there is one.
    pub user: Option<SettingsFile>,
    /// The files of MCP servers the command line names.
    pub(super) named_servers: Vec<ServerFile>,
    /// The project's file of MCP servers, if it has one.
    pub(super) project_servers: Option<ServerFile>,
    /// What a person should know of how they were found.
    pub(super) notices: Vec<String>,
    /// What stands behind the commands of the project's servers, as it was when the files were read: what a person is
    /// shown, what they agree to and what is started are compared with this, whatever is exchanged meanwhile.
    pub(super) programs: Behind,
    /// Whether the project says what the person trusts, where they trust its folder.
    pub(super) trusted: Standing,
    /// Folders on the way that they trust and that have no settings.
    pub(super) empty: Vec<PathBuf>,
}

/// A file of MCP servers: its text, or why it can't be read. Whoever starts none need not know.
#[derive(Clone, Debug)]
pub(super) struct ServerFile {
    pub(super) path: PathBuf,
    pub(super) text: Result<String, String>,
}

impl ServerFile {
    fn read(path: PathBuf) -> Self {
        let text = match read_text(&path) {
            Ok(Some(text)) => Ok(text),
            Ok(None) => Err("there is no such file".to_owned()),
            Err(SettingsError::Unreadable { problem, .. }) => Err(format!("the file can't be read: {problem}")),
            Err(error) => Err(error.to_string()),
        };
        Self { path, text }
    }
}

impl Sources {
    /// Finds the workspace and reads the files that count there.
    pub fn gather(flags: Flags, env: Env, cwd: PathBuf) -> Result<Self, SettingsError> {
        let workspace = workspace(&flags, &env, &cwd)?;
        let user_path = user_file(&env);
        let user = match &user_path {
            Some(path) => read(path, Whose::User)?,
            None => None,
        };
        let folders = folders_of_project(&workspace, env.home().as_deref());
        let (looker, mut notices) = (Looker::new(&env), Vec::new());
        let mut nearest = |name| {
            let search = search(&folders, name, looker, |folder| lists(user.as_ref(), folder, &env));
            let passed = search.passed_over.filter(|(file, _)| !same_file(file, user_path.as_deref()));
            notices.extend(passed.map(|(file, anybodys)| {
                anybodys.told(&file, &trusting(file.parent().unwrap_or(Path::new("/")), &env))
            }));
            search.found
        };
        let project = match nearest(FILE_NAME) {
            Some(path) if !same_file(&path, user_path.as_deref()) => read(&path, Whose::Project)?,
            Some(_) | None => None,
        };
        let project_servers = nearest(SERVERS_NAME).map(ServerFile::read);
        let named_servers = flags.mcp_config.iter().map(|file| ServerFile::read(cwd.join(file))).collect();
        let is_empty = |folder: &&Path| folder.join(FILE_NAME).symlink_metadata().is_err();
        let empty = folders.iter().copied().filter(|folder| lists(user.as_ref(), folder, &env)).filter(is_empty);
        let empty = empty.map(Path::to_owned).collect();
        let mut sources = Self {
            flags,
            env,
            cwd,
            project,
            user,
            named_servers,
            project_servers,
            notices,
            programs: Behind::default(),
            trusted: Standing::New,
            empty,
            workspace: workspace.clone(),
        };
        if sources.project.is_some() {
            sources.programs = programs_of_project(&sources);
        }
        sources.trusted = sources.standing().unwrap_or(Standing::New);
        Ok(sources)
    }

    /// What counts when the tools work in this folder, which has no symlinks. What was read for it is not read again.
    pub fn for_folder(self, folder: &Path) -> Result<Self, SettingsError> {
        if self.workspace == folder {
            return Ok(self);
        }
        Self::gather(Flags { workspace: Some(folder.to_owned()), ..self.flags }, self.env, self.cwd)
    }

    /// Sources without files, in this folder.
    #[must_use]
    pub fn of(flags: Flags, env: Env, folder: &str) -> Self {
        Self {
            flags,
            env,
            cwd: folder.into(),
            workspace: folder.into(),
            project: None,
            user: None,
            named_servers: Vec::new(),
            project_servers: None,
            notices: Vec::new(),
            programs: Behind::default(),
            trusted: Standing::AsTrusted,
            empty: Vec::new(),
        }
    }

    /// What tools must not reach: the folder of the user's file, and that file itself where it is a link to another place.
    pub(super) fn closed(&self) -> Vec<PathBuf> {
        let real = self.user_file().and_then(|file| file.canonicalize().ok());
        self.config_dir().into_iter().chain(real).collect()
    }

    /// Where the user's file is or would be.
    pub fn user_file(&self) -> Option<PathBuf> {
        user_file(&self.env)
    }

    /// Whether the project's file may be followed in everything: the user's file says so, and it says what it said then.
    pub fn trusts_project(&self) -> bool {
        let listed = self.project.as_ref().is_some_and(|project| self.lists(project.folder()));
        listed && self.trusted == Standing::AsTrusted
    }

    /// Whether the user's file lists this folder as one they trust.
    pub(super) fn lists(&self, folder: &Path) -> bool {
        lists(self.user.as_ref(), folder, &self.env)
    }

    /// Where the user's file and what belongs to it are.
    pub fn config_dir(&self) -> Option<PathBuf> {
        self.user_file()?.parent().map(Path::to_owned)
    }

    /// Adds something that a person should know.
    pub fn notice(&mut self, text: String) {
        self.notices.push(text);
    }

    /// How a folder is trusted, for people.
    pub(super) fn trusting(&self, folder: &Path) -> String {
        if self.lists(folder) {
            let text = "start windlass at a terminal: the file has changed since you trusted it, and you are shown the \
                        difference and asked";
            return text.to_owned();
        }
        trusting(folder, &self.env)
    }

    /// The refusal of something that only a trusted project may set.
    pub(super) fn untrusted(&self, setting: &'static str, origin: Origin) -> SettingsError {
        let folder = self.project.as_ref().map(|project| project.folder().to_owned()).unwrap_or_default();
        SettingsError::Untrusted { origin, setting, how: self.trusting(&folder) }
    }
}

/// Whether the user's file lists this folder as one they trust.
fn lists(user: Option<&SettingsFile>, folder: &Path, env: &Env) -> bool {
    let trusted = user.and_then(|file| file.settings.trusted.as_ref());
    trusted.is_some_and(|trusted| trusted.get_ref().iter().any(|listed| from_home(listed, env) == folder))
}

fn trusting(folder: &Path, env: &Env) -> String {
    format!("trust the folder with `trusted = [{folder:?}]` in {}", user_file_for_people(env))
}

/// Where the user's file is or would be, for people.
pub fn user_file_for_people(env: &Env) -> String {
    user_file(env).map_or_else(|| format!("~/.config/windlass/{FILE_NAME}"), |path| path.display().to_string())
}

/// `path` with `~` at its start replaced.
pub(super) fn from_home(path: &Path, env: &Env) -> PathBuf {
    match (path.strip_prefix("~"), env.home()) {
        (Ok(rest), Some(home)) => home.join(rest),
        (Ok(_), None) | (Err(_), _) => path.to_owned(),
    }
}

fn workspace(flags: &Flags, env: &Env, cwd: &Path) -> Result<PathBuf, SettingsError> {
    let variable = "WINDLASS_WORKSPACE";
    let named = Sourced::flag("--workspace", flags.workspace.clone())
        .or_else(|| env.raw(variable).map(|path| Sourced::new(path.into(), Origin::Variable(variable.into()))))
        .unwrap_or_else(|| Sourced::new(cwd.to_owned(), Origin::Default));
    let path = cwd.join(&named.value);
    let found = path.canonicalize().and_then(|path| {
        if path.is_dir() { Ok(path) } else { Err(io::Error::new(io::ErrorKind::NotADirectory, "it is not a folder")) }
    });
    found.map_err(|source| SettingsError::Workspace { origin: named.origin, path, source })
}

/// Where the user's file is or would be.
pub fn user_file(env: &Env) -> Option<PathBuf> {
    env.windlass_folder("XDG_CONFIG_HOME", ".config").map(|folder| folder.join(FILE_NAME))
}

/// The folders from the workspace up to the root of its repository, or else up to the home folder. Above
/// those a file may be anybody's.
fn folders_of_project<'w>(workspace: &'w Path, home: Option<&Path>) -> Vec<&'w Path> {
    let repository = workspace.ancestors().find(|folder| folder.join(".git").exists());
    let top = repository.or_else(|| home.filter(|home| workspace.starts_with(home))).unwrap_or(workspace);
    workspace.ancestors().take_while(|folder| folder.starts_with(top)).collect()
}

fn same_file(path: &Path, other: Option<&Path>) -> bool {
    match (path.canonicalize(), other.map(Path::canonicalize)) {
        (Ok(path), Some(Ok(other))) => path == other,
        (Err(_), _) | (_, None | Some(Err(_))) => false,
    }
}

/// The text of a settings file; `None` when there is none.
pub(super) fn read_text(path: &Path) -> Result<Option<String>, SettingsError> {
    let unreadable = |problem: &dyn std::fmt::Display| SettingsError::Unreadable {
        path: path.to_owned(),
        problem: problem.to_string(),
    };
    // Asked before opening: opening a pipe would wait for its writer.
    let metadata = match path.metadata() {
        Ok(metadata) => metadata,
        // A home that is no folder (/dev/null, for some services) holds no file either.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(unreadable(&error)),
    };
    if !metadata.is_file() {
        return Err(unreadable(&"it is not a plain file"));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| unreadable(&error))?;
    file.take(LONGEST_FILE + 1).read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
    if bytes.len() as u64 > LONGEST_FILE {
        return Err(unreadable(&format!("it is longer than {} KiB", LONGEST_FILE / 1024)));
    }
    String::from_utf8(bytes)
        .map(Some)
        .map_err(|error| unreadable(&format!("not UTF-8 at byte {}", error.utf8_error().valid_up_to())))
}

/// Reads a file; `None` when there is none.
fn read(path: &Path, whose: Whose) -> Result<Option<SettingsFile>, SettingsError> {
    let Some(text) = read_text(path)? else { return Ok(None) };
    let file = SettingsFile::parse(path, whose, &text)?;
    if let Some(key) = &file.settings.api_key
        && path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
    {
        let problem = format!("others can read this file and the key in it: run `chmod 600 {}`", path.display());
        return Err(SettingsError::wrong(file.origin(key), problem));
    }
    Ok(Some(file))
}

#[cfg(test)]
mod tests;
