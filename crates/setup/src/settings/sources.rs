//! Everything that settings are resolved from.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::env::Env;
use super::error::SettingsError;
use super::file::SettingsFile;
use super::flags::Flags;
use super::notice::SettingsNotice;
use super::origin::SettingOrigin;
use super::programs::CommandFiles;
use super::trust_state::TrustState;
use super::untrusted_folder::{FormerTrust, UntrustedFolder};

pub const FILE_NAME: &str = "windlass.toml";
/// No settings file is nearly as long, but a symlink to a device is.
const LONGEST_FILE: u64 = 256 * 1024;

/// The settings from the command line, the environment and the files.
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
    /// Notices about how the files were found.
    pub(super) notices: Vec<SettingsNotice>,
    /// The files behind the commands of the project's servers when the settings were read. What a person sees, what
    /// they agree to and what is started are all compared with this, in case a file is replaced meanwhile.
    pub(super) programs: CommandFiles,
    /// Whether the project's files still match what the person trusted, if they trust its folder.
    pub(super) trusted: TrustState,
    /// The folders whose instructions are read: the workspace and those above it up to the root of its repository, as
    /// far as no other user may control them.
    pub(super) instruction_folders: Vec<PathBuf>,
    /// Trusted folders on the search path that have no settings.
    pub(super) empty: Vec<PathBuf>,
}

/// A file of MCP servers: its text, or why it can't be read, which matters only to commands that start servers.
#[derive(Clone, Debug)]
pub(super) struct ServerFile {
    pub(super) path: PathBuf,
    pub(super) text: Result<String, String>,
}

impl Sources {
    /// Returns sources without files, in this folder.
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
            instruction_folders: vec![folder.into()],
            empty: Vec::new(),
        }
    }

    /// Paths closed to tools: the folder of the user's file, and the file itself where it is a symlink to another
    /// place.
    pub(super) fn closed(&self) -> Vec<PathBuf> {
        let real = self.user_file().and_then(|file| file.canonicalize().ok());
        self.config_dir().into_iter().chain(real).collect()
    }

    /// Where the user's file is or would be.
    pub fn user_file(&self) -> Option<PathBuf> {
        user_file(&self.env)
    }

    /// Whether all settings of the project's file apply: the user's file lists its folder, and its contents are
    /// unchanged.
    pub fn trusts_project(&self) -> bool {
        let listed = self.project.as_ref().is_some_and(|project| self.lists(project.folder()));
        listed && self.trusted == TrustState::AsTrusted
    }

    /// Whether the user's file lists this folder as one they trust.
    pub(super) fn lists(&self, folder: &Path) -> bool {
        lists(self.user.as_ref(), folder, &self.env)
    }

    /// The folder of the user's file and of the files that belong to it.
    pub fn config_dir(&self) -> Option<PathBuf> {
        self.user_file()?.parent().map(Path::to_owned)
    }

    /// Adds a notice for the person.
    pub fn notice(&mut self, notice: SettingsNotice) {
        self.notices.push(notice);
    }

    /// Describes a folder that is not trusted, or not as it is now.
    pub(super) fn untrusted_folder(&self, folder: &Path) -> UntrustedFolder {
        untrusted_folder(self.user.as_ref(), folder, &self.env)
    }

    /// Returns the error about a setting that only a trusted project may make.
    pub(super) fn untrusted(&self, setting: &'static str, origin: SettingOrigin) -> SettingsError {
        let folder = self.project.as_ref().map(|project| project.folder().to_owned()).unwrap_or_default();
        SettingsError::Untrusted { origin, setting, folder: self.untrusted_folder(&folder) }
    }
}

/// Whether the user's file lists this folder as one they trust.
pub(super) fn lists(user: Option<&SettingsFile>, folder: &Path, env: &Env) -> bool {
    let trusted = user.and_then(|file| file.settings.trusted.as_ref());
    trusted.is_some_and(|trusted| trusted.get_ref().iter().any(|listed| from_home(listed, env) == folder))
}

/// Describes a folder that is not trusted, or not as it is now.
pub(super) fn untrusted_folder(user: Option<&SettingsFile>, folder: &Path, env: &Env) -> UntrustedFolder {
    let former = if lists(user, folder, env) { FormerTrust::Changed } else { FormerTrust::Never };
    UntrustedFolder { folder: folder.to_owned(), former, user_file: user_file_for_people(env).into() }
}

/// The path of the user's file, for messages.
pub fn user_file_for_people(env: &Env) -> String {
    user_file(env).map_or_else(|| format!("~/.config/windlass/{FILE_NAME}"), |path| path.display().to_string())
}

/// Replaces `~` at the start of `path` with the home folder.
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

/// Reads the text of a settings file; `None` if there is none.
pub(super) fn read_text(path: &Path) -> Result<Option<String>, SettingsError> {
    let unreadable = |problem: &dyn std::fmt::Display| SettingsError::Unreadable {
        path: path.to_owned(),
        problem: problem.to_string(),
    };
    // Check before opening: opening a pipe would block until it has a writer.
    let metadata = match path.metadata() {
        Ok(metadata) => metadata,
        // A home that is not a folder (/dev/null, for some services) contains no file either.
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
