//! Finds skills (C8): folders with a SKILL.md, in the folders where agents look for them. Of each only the front matter
//! is read. The person's own skills come first: a project can't replace one of them by its name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use windlass::{Skill, SkillOwner};
use windlass_tools::{FileBeginningError, Workspace};

use super::front_matter::skill_header;
use super::notice::ContextProblem;
use super::reader::ContextReader;

/// Where a project and a home folder keep skills.
const PLACES: [&str; 2] = [".agents/skills", ".claude/skills"];
/// Where the configuration folder keeps them.
const IN_CONFIG: &str = "skills";
const FILE: &str = "SKILL.md";
/// The most of a SKILL.md that is read for its front matter.
const MOST_FRONT_MATTER: u64 = 16 * 1024;
/// The most skills that are listed.
const MOST_SKILLS: usize = 64;
/// How many entries of a folder of skills are looked at.
const MOST_ENTRIES: usize = 256;

/// Returns the folders of the person's own skills.
pub(super) fn user_folders(config_dir: Option<&Path>, home: Option<&Path>) -> Vec<PathBuf> {
    let config = config_dir.map(|folder| folder.join(IN_CONFIG));
    config.into_iter().chain(home.into_iter().flat_map(|home| PLACES.map(|place| home.join(place)))).collect()
}

/// Returns the folders of the project's skills, the nearest first.
pub(super) fn project_folders(reader: &ContextReader<'_>) -> Vec<PathBuf> {
    reader.folders.iter().flat_map(|folder| PLACES.map(|place| folder.join(place))).collect()
}

/// Returns the skills in these folders, by name.
pub(super) fn find(reader: &mut ContextReader<'_>, user: &[PathBuf], project: &[PathBuf]) -> Vec<Skill> {
    let Some(workspace) = reader.open(reader.workspace) else { return Vec::new() };
    let (mut found, mut seen): (BTreeMap<String, Skill>, BTreeSet<PathBuf>) = Default::default();
    let user = user.iter().map(|folder| (folder, SkillOwner::User));
    for (place, owner) in user.chain(project.iter().map(|folder| (folder, SkillOwner::Project))) {
        for folder in entries(place) {
            // One folder of skills is often a link to another.
            let Some(real) = folder.canonicalize().ok().filter(|real| seen.insert(real.clone())) else { continue };
            let candidate = SkillCandidate { path: &folder, real, owner };
            let Some(skill) = read(reader, &workspace, candidate) else { continue };
            match found.get(&skill.name) {
                Some(other) => {
                    let (name, used) = (skill.name, other.folder.clone());
                    reader.note(&folder, ContextProblem::DuplicateSkill { name, used });
                }
                None if found.len() == MOST_SKILLS => {
                    reader.note(&folder, ContextProblem::TooManySkills { most: MOST_SKILLS });
                    return found.into_values().collect();
                }
                None => {
                    found.insert(skill.name.clone(), skill);
                }
            }
        }
    }
    found.into_values().collect()
}

/// Returns the folders in a folder of skills, in the order of their names.
fn entries(place: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(place).into_iter().flatten().flatten().take(MOST_ENTRIES);
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort_unstable();
    folders
}

/// A folder that may be a skill.
struct SkillCandidate<'a> {
    path: &'a Path,
    /// The same without symlinks.
    real: PathBuf,
    owner: SkillOwner,
}

/// Reads the skill in a folder; `None` if there is none, or it can't be used, which is noted.
fn read(reader: &mut ContextReader<'_>, workspace: &Workspace, candidate: SkillCandidate<'_>) -> Option<Skill> {
    let SkillCandidate { path: folder, real, owner } = candidate;
    let opened = reader.open(&real)?;
    let read = opened.beginning(FILE, MOST_FRONT_MATTER, &reader.rules);
    if read == Err(FileBeginningError::Missing) {
        return None;
    }
    if owner == SkillOwner::Project && !real.starts_with(reader.root()) {
        reader.note(folder, ContextProblem::SkillOutside);
        return None;
    }
    if reader.is_hidden(workspace, &real.join(FILE)) {
        return None;
    }
    let read = match read {
        Ok(read) => read,
        Err(FileBeginningError::Missing | FileBeginningError::Forbidden) => return None,
        Err(error) => {
            reader.note(&folder.join(FILE), ContextProblem::Unreadable(error));
            return None;
        }
    };
    match skill_header(&read.text) {
        Ok(header) => Some(Skill { name: header.name, description: header.description, folder: real, owner }),
        Err(error) => {
            reader.note(folder, ContextProblem::FrontMatter(error));
            None
        }
    }
}
