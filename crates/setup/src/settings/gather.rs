//! Collects the sources of settings: flags, environment, and the files that apply in a folder.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::env::Env;
use super::error::SettingsError;
use super::file::{SettingsFile, SettingsScope};
use super::flags::Flags;
use super::notice::SettingsNotice;
use super::origin::{SettingOrigin, Sourced};
use super::ownership::{CurrentUser, own_folders, search};
use super::programs::CommandFiles;
use super::servers::programs_of_project;
use super::sources::{FILE_NAME, ServerFile, Sources, lists, read_text, untrusted_folder, user_file};
use super::trust_state::TrustState;
use crate::context_files::file_names::INSTRUCTIONS;

/// The file in which other programs keep a project's MCP servers.
const SERVERS_NAME: &str = ".mcp.json";

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
    /// Finds the workspace and reads the settings files that apply there.
    pub fn gather(flags: Flags, env: Env, cwd: PathBuf) -> Result<Self, SettingsError> {
        let workspace = workspace(&flags, &env, &cwd)?;
        let user_path = user_file(&env);
        let user = match &user_path {
            Some(path) => read(path, SettingsScope::User)?,
            None => None,
        };
        let folders = folders_of_project(&workspace, env.home().as_deref());
        let (current_user, mut notices) = (CurrentUser::new(&env), Vec::new());
        let mut nearest = |name| {
            let search = search(&folders, name, current_user, |folder| lists(user.as_ref(), folder, &env));
            let passed = search.not_used.filter(|(file, _)| !same_file(file, user_path.as_deref()));
            notices.extend(passed.map(|(file, untrusted)| {
                let folder = untrusted_folder(user.as_ref(), file.parent().unwrap_or(Path::new("/")), &env);
                untrusted.notice(file, folder)
            }));
            search.found
        };
        let project = match nearest(FILE_NAME) {
            Some(path) if !same_file(&path, user_path.as_deref()) => read(&path, SettingsScope::Project)?,
            Some(_) | None => None,
        };
        let repository = folders_of_repository(&workspace);
        let instruction_folders = own_folders(&repository, current_user, |folder| lists(user.as_ref(), folder, &env));
        let project_servers = nearest(SERVERS_NAME).map(ServerFile::read);
        let named_servers = flags.mcp_config.iter().map(|file| ServerFile::read(cwd.join(file))).collect();
        notices.extend(left_alone(&repository, &instruction_folders));
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
            programs: CommandFiles::default(),
            trusted: TrustState::New,
            empty,
            instruction_folders,
            workspace: workspace.clone(),
        };
        if sources.project.is_some() {
            sources.programs = programs_of_project(&sources);
        }
        sources.trusted = sources.trust_state().unwrap_or(TrustState::New);
        Ok(sources)
    }

    /// Returns the sources that apply when the tools work in this folder, a path without symlinks. If it is the
    /// current workspace, nothing is read again.
    pub fn for_folder(self, folder: &Path) -> Result<Self, SettingsError> {
        if self.workspace == folder {
            return Ok(self);
        }
        Self::gather(Flags { workspace: Some(folder.to_owned()), ..self.flags }, self.env, self.cwd)
    }
}

fn workspace(flags: &Flags, env: &Env, cwd: &Path) -> Result<PathBuf, SettingsError> {
    let variable = "WINDLASS_WORKSPACE";
    let named = Sourced::flag("workspace", flags.workspace.clone())
        .or_else(|| env.raw(variable).map(|path| Sourced::new(path.into(), SettingOrigin::Variable(variable.into()))))
        .unwrap_or_else(|| Sourced::new(cwd.to_owned(), SettingOrigin::Default));
    let path = cwd.join(&named.value);
    let found = path.canonicalize().and_then(|path| {
        if path.is_dir() { Ok(path) } else { Err(io::Error::new(io::ErrorKind::NotADirectory, "it is not a folder")) }
    });
    found.map_err(|source| SettingsError::Workspace { origin: named.origin, path, source })
}

/// Returns the folders from the workspace up to the root of its repository, or else up to the home folder. A file
/// above those may be anybody's.
fn folders_of_project<'w>(workspace: &'w Path, home: Option<&Path>) -> Vec<&'w Path> {
    let repository = workspace.ancestors().find(|folder| folder.join(".git").exists());
    let top = repository.or_else(|| home.filter(|home| workspace.starts_with(home))).unwrap_or(workspace);
    workspace.ancestors().take_while(|folder| folder.starts_with(top)).collect()
}

/// Returns the folders from the workspace up to the root of its repository; the workspace alone if it is in none.
fn folders_of_repository(workspace: &Path) -> Vec<&Path> {
    let repository = workspace.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(workspace);
    workspace.ancestors().take_while(|folder| folder.starts_with(repository)).collect()
}

/// Returns the notice about the nearest file of instructions in a folder that is not among the used ones.
fn left_alone(folders: &[&Path], used: &[PathBuf]) -> Option<SettingsNotice> {
    let unused = folders.iter().skip(used.len());
    let file = unused.flat_map(|folder| INSTRUCTIONS.map(|name| folder.join(name))).find(|file| file.exists())?;
    let file = file.display();
    Some(SettingsNotice::Sentence(format!("{file} is not used: another user may control its folder, or one below it")))
}

fn same_file(path: &Path, other: Option<&Path>) -> bool {
    match (path.canonicalize(), other.map(Path::canonicalize)) {
        (Ok(path), Some(Ok(other))) => path == other,
        (Err(_), _) | (_, None | Some(Err(_))) => false,
    }
}

/// Reads a settings file; `None` if there is none.
fn read(path: &Path, scope: SettingsScope) -> Result<Option<SettingsFile>, SettingsError> {
    let Some(text) = read_text(path)? else { return Ok(None) };
    let file = SettingsFile::parse(path, scope, &text)?;
    if let Some(key) = &file.settings.api_key
        && path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
    {
        return Err(SettingsError::KeyReadable { origin: file.origin(key), path: path.to_owned() });
    }
    Ok(Some(file))
}

#[cfg(test)]
mod tests;
