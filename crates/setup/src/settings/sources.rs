//! Everything settings are made of, before anything is decided.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::env::Env;
use super::error::SettingsError;
use super::file::SettingsFile;
use super::flags::Flags;
use super::origin::SettingOrigin;
use super::programs::CommandFiles;
use super::trust_state::TrustState;

pub const FILE_NAME: &str = "windlass.toml";
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
    pub(super) programs: CommandFiles,
    /// Whether the project says what the person trusts, where they trust its folder.
    pub(super) trusted: TrustState,
    /// Folders on the way that they trust and that have no settings.
    pub(super) empty: Vec<PathBuf>,
}

/// A file of MCP servers: its text, or why it can't be read. Whoever starts none need not know.
#[derive(Clone, Debug)]
pub(super) struct ServerFile {
    pub(super) path: PathBuf,
    pub(super) text: Result<String, String>,
}

impl Sources {
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
            programs: CommandFiles::default(),
            trusted: TrustState::AsTrusted,
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
        listed && self.trusted == TrustState::AsTrusted
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
            return "run `windlass trust`: it shows how the project has changed since you trusted it, and asks"
                .to_owned();
        }
        format!("run `windlass trust`, or {}", trusting(folder, &self.env))
    }

    /// The refusal of something that only a trusted project may set.
    pub(super) fn untrusted(&self, setting: &'static str, origin: SettingOrigin) -> SettingsError {
        let folder = self.project.as_ref().map(|project| project.folder().to_owned()).unwrap_or_default();
        SettingsError::Untrusted { origin, setting, how: self.trusting(&folder) }
    }
}

/// Whether the user's file lists this folder as one they trust.
pub(super) fn lists(user: Option<&SettingsFile>, folder: &Path, env: &Env) -> bool {
    let trusted = user.and_then(|file| file.settings.trusted.as_ref());
    trusted.is_some_and(|trusted| trusted.get_ref().iter().any(|listed| from_home(listed, env) == folder))
}

pub(super) fn trusting(folder: &Path, env: &Env) -> String {
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

/// Where the user's file is or would be.
pub fn user_file(env: &Env) -> Option<PathBuf> {
    env.windlass_folder("XDG_CONFIG_HOME", ".config").map(|folder| folder.join(FILE_NAME))
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
