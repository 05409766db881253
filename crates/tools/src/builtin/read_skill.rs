//! `read_skill`: a window of a text file in the folder of a skill (C8), which may be outside the workspace.
//!
//! A skill in the workspace is read as a file of the workspace, so that rules about its path apply. Any other is opened
//! by a capability of its own folder. In both cases no path leaves the folder of the skill.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_vocab::{EffectClass, Outcome, TextOrigin, ToolSpec};

use super::answer::{invalid_arguments, ready, run_file_work};
use super::arguments::parse_arguments;
use super::read_file::{ReadFileArguments, from_file, one};
use super::spec::spec;
use crate::about_files::READ;
use crate::refusal::Refusal;
use crate::{About, BoxFuture, CallContext, Secrets, Skill, SkillOwner, Tool, Workspace};

/// The file that every skill has.
const MAIN_FILE: &str = "SKILL.md";

#[derive(Deserialize)]
struct ReadSkillArguments {
    name: String,
    #[serde(default = "main_file")]
    path: String,
    #[serde(default = "one")]
    offset: u64,
    #[serde(default = "one")]
    column: u64,
    limit: Option<u64>,
}

fn main_file() -> String {
    MAIN_FILE.to_owned()
}

/// The folder of a skill, and the handle that it is read through.
struct SkillFolder {
    handle: Arc<Workspace>,
    /// The folder relative to the handle's; empty for the handle's own.
    base: PathBuf,
    owner: SkillOwner,
}

struct ReadSkill {
    spec: ToolSpec,
    folders: BTreeMap<String, SkillFolder>,
}

/// Returns the tool that reads these skills; `None` if there is none to read. `workspace` is the folder whose rules
/// apply to the skills in it.
#[must_use]
pub fn read_skill(skills: &[Skill], workspace: Option<&Arc<Workspace>>, secrets: &Secrets) -> Option<Arc<dyn Tool>> {
    let open = |skill: &Skill| Some((skill.name.clone(), SkillFolder::open(skill, workspace, secrets)?));
    let folders: BTreeMap<String, SkillFolder> = skills.iter().filter_map(open).collect();
    if folders.is_empty() {
        return None;
    }
    let schema = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "The skill."},
            "path": {"type": "string", "description": "A file in the skill's folder, relative to it; SKILL.md if left out."},
            "offset": {"type": "integer", "minimum": 1, "description": "The first line to show, from 1."},
            "limit": {"type": "integer", "minimum": 1, "description": "How many lines to show at most; 2000 if left out."},
            "column": {"type": "integer", "minimum": 1, "description": "Where in the first line to begin, in bytes from 1; only for lines too long to show whole."}
        },
        "required": ["name"],
        "additionalProperties": false
    });
    let spec = spec("read_skill", include_str!("read_skill.md"), EffectClass::ReadOnly, &schema);
    Some(Arc::new(ReadSkill { spec, folders }))
}

impl SkillFolder {
    fn open(skill: &Skill, workspace: Option<&Arc<Workspace>>, secrets: &Secrets) -> Option<Self> {
        let folder = skill.folder.canonicalize().ok()?;
        let in_workspace = workspace.and_then(|workspace| {
            let base = folder.strip_prefix(workspace.root()).ok().filter(|base| !workspace.is_closed(base))?;
            Some((Arc::clone(workspace), base.to_owned()))
        });
        let (handle, base) = match in_workspace {
            Some(found) => found,
            None => (Arc::new(Workspace::open(&folder).ok()?.hiding(secrets.clone())), PathBuf::new()),
        };
        Some(Self { handle, base, owner: skill.owner })
    }

    /// Returns where `path` leads, relative to the handle's folder, if that is inside the skill's folder.
    fn located(&self, path: &str) -> Result<String, Refusal> {
        let outside = || {
            Refusal::wrong_argument(format!(
                "`{path}` is outside the skill's folder: only files in it can be read, and no links that lead out of it."
            ))
        };
        if Path::new(path).is_absolute() {
            return Err(outside());
        }
        let whole = self.base.join(path).to_string_lossy().into_owned();
        if self.handle.unusable(&whole).is_some() {
            return Err(outside());
        }
        let real = self.handle.names(&whole).real;
        if !real.starts_with(&self.base) {
            return Err(outside());
        }
        if self.handle.dir().metadata(&real).is_ok_and(|metadata| metadata.is_dir()) || real.as_os_str().is_empty() {
            return Err(Refusal::wrong_argument(format!("`{path}` is a folder of the skill: name a file in it.")));
        }
        Ok(real.to_string_lossy().into_owned())
    }
}

impl ReadSkill {
    fn folder(&self, name: &str) -> Result<&SkillFolder, Refusal> {
        let known = || self.folders.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        let missing = || Refusal::not_found(format!("There is no skill `{name}`; there are: {}.", known()));
        self.folders.get(name).ok_or_else(missing)
    }

    /// Returns the skill's folder, and the file in it that the arguments name.
    fn named(&self, arguments: &Value) -> Option<(&SkillFolder, String)> {
        let folder = self.folder(arguments.get("name")?.as_str()?).ok()?;
        let path = folder.located(arguments.get("path").map_or(Some(MAIN_FILE), Value::as_str)?).ok()?;
        Some((folder, path))
    }
}

impl Tool for ReadSkill {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn about(&self, arguments: &Value) -> Option<About> {
        let (folder, path) = self.named(arguments)?;
        Some(folder.handle.about(&path, READ))
    }

    fn origin(&self, arguments: &Value) -> Option<TextOrigin> {
        let (folder, path) = self.named(arguments)?;
        let is_outside = match folder.owner {
            SkillOwner::User => false,
            SkillOwner::Project => folder.handle.untracked(&path),
        };
        is_outside.then_some(TextOrigin::File { path })
    }

    fn run(&self, context: CallContext, arguments: Value) -> BoxFuture<'static, Outcome> {
        let arguments: ReadSkillArguments = match parse_arguments(arguments) {
            Ok(arguments) => arguments,
            Err(problem) => return invalid_arguments(problem),
        };
        let located = self.folder(&arguments.name).and_then(|folder| Ok((folder, folder.located(&arguments.path)?)));
        let (folder, path) = match located {
            Ok(located) => located,
            Err(refusal) => return ready(refusal.into()),
        };
        let ReadSkillArguments { offset, column, limit, .. } = arguments;
        let window = ReadFileArguments { path, offset, column, limit }.without_zeros();
        let handle = Arc::clone(&folder.handle);
        run_file_work(move || from_file(&handle, &window, &context.files))
    }
}
