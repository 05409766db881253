//! `read_skill` (C8): the files of a skill's folder and no others.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use windlass_tools::{
    CallPermission, FileRules, Offer, Permissions, Registry, Secrets, Skill, SkillOwner, Workspace, read_skill,
};
use windlass_vocab::{Json, Outcome, OutcomeKind, ToolName, ToolSource};

use super::room::context;

fn skill(name: &str, folder: &Path, owner: SkillOwner) -> Skill {
    Skill { name: name.into(), description: "For tests.".into(), folder: folder.to_owned(), owner }
}

/// Two skills, one in the workspace and one outside, with links that lead out of them.
struct SkillRoom {
    dir: tempfile::TempDir,
    offer: Offer,
}

impl SkillRoom {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (inside, outside) = (dir.path().join("ws/.agents/skills/knots"), dir.path().join("home/skills/pdf"));
        for folder in [&inside, &outside] {
            std::fs::create_dir_all(folder.join("notes")).unwrap();
            std::fs::write(folder.join("SKILL.md"), "---\nname: x\n---\nDo it so.\n").unwrap();
            std::fs::write(folder.join("notes/more.md"), "More of it.\n").unwrap();
            std::fs::write(folder.parent().unwrap().join("private"), "a treasure").unwrap();
            symlink("../private", folder.join("link")).unwrap();
            symlink("..", folder.join("up")).unwrap();
            symlink("loop", folder.join("loop")).unwrap();
            symlink("notes/more.md", folder.join("alias.md")).unwrap();
        }
        let workspace = Arc::new(Workspace::open(dir.path().join("ws")).unwrap());
        let skills = [skill("knots", &inside, SkillOwner::Project), skill("pdf", &outside, SkillOwner::User)];
        let mut registry = Registry::new();
        registry.add(read_skill(&skills, Some(&workspace), &Secrets::default()).unwrap()).unwrap();
        let offer = registry.offer(&[ToolSource::BuiltIn].into_iter().collect());
        Self { dir, offer }
    }

    /// Makes a call as a run does under these permissions.
    fn read(&self, permissions: &Permissions, arguments: &Value) -> Outcome {
        let (tool, json) = (ToolName("local.read_skill".into()), Json::from(arguments));
        let checked = match self.offer.check_permission(&tool, &json, permissions, &[], []) {
            CallPermission::Run(checked) => checked,
            CallPermission::Ask { .. } => return Outcome::new(OutcomeKind::Denied, "asked"),
            CallPermission::Refused { reason, .. } => return Outcome::new(OutcomeKind::Denied, reason),
        };
        let files = FileRules::of(Arc::new(permissions.clone())).for_call(checked);
        let context = windlass_tools::CallContext { files, ..context() };
        let run = self.offer.run(&tool, context, &json, Duration::from_secs(20));
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(run)
    }
}

// proves C8
#[test]
fn a_skill_is_read_by_name_and_its_other_files_by_their_paths_in_it() {
    let room = SkillRoom::new();
    for name in ["knots", "pdf"] {
        for (arguments, part) in [
            (json!({"name": name}), "Do it so."),
            (json!({"name": name, "path": "notes/more.md"}), "More of it."),
            (json!({"name": name, "path": "./notes/../notes/more.md"}), "More of it."),
            (json!({"name": name, "path": "alias.md"}), "More of it."),
            (json!({"name": name, "offset": 4}), "[from line 4 to the end of the file]"),
        ] {
            let read = room.read(&Permissions::default(), &arguments);
            assert_eq!(read.kind, OutcomeKind::Ok, "{arguments}: {}", read.text);
            assert!(read.text.contains(part), "{arguments}: {}", read.text);
        }
    }
}

// proves C8, T10: no path leads out of the skill's folder
#[test]
fn nothing_outside_the_folder_of_a_skill_can_be_read() {
    let room = SkillRoom::new();
    let absolute = room.dir.path().join("home/skills/private").display().to_string();
    for name in ["knots", "pdf"] {
        for path in
            ["../private", "notes/../../private", "link", "up/private", "up", "loop", "nowhere", "notes", "", &absolute]
        {
            let read = room.read(&Permissions::default(), &json!({"name": name, "path": path}));
            assert_ne!(read.kind, OutcomeKind::Ok, "{name} {path:?}: {}", read.text);
            assert!(!read.text.contains("treasure"), "{name} {path:?}: {}", read.text);
        }
    }
    let unknown = room.read(&Permissions::default(), &json!({"name": "../pdf"}));
    assert_eq!(
        (unknown.kind, unknown.text.as_str()),
        (OutcomeKind::NotFound, "There is no skill `../pdf`; there are: knots, pdf.")
    );
}

// proves X5: a deny holds whatever tool does it
#[test]
fn a_rule_that_forbids_reading_a_file_holds_for_skills_too() {
    let room = SkillRoom::new();
    let outside = room.dir.path().canonicalize().unwrap().join("home/skills/pdf");
    for (rule, name) in [
        ("read(.agents/)".to_owned(), "knots"),
        ("read(**/SKILL.md)".to_owned(), "knots"),
        ("read(**/SKILL.md)".to_owned(), "pdf"),
        (format!("read({}/)", outside.display()), "pdf"),
        ("read_skill".to_owned(), "pdf"),
        ("read_skill(*knots*)".to_owned(), "knots"),
    ] {
        let permissions = Permissions { deny: vec![rule.parse().unwrap()], ..Permissions::default() };
        let read = room.read(&permissions, &json!({"name": name}));
        assert_eq!(read.kind, OutcomeKind::Denied, "{rule}: {}", read.text);
    }
}
