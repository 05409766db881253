use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::*;
use crate::settings::{Flags, Sources};

/// A repository with a workspace in it, and the home of a person, in one folder.
struct Places {
    _dir: tempfile::TempDir,
    root: PathBuf,
}

impl Places {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().canonicalize().expect("a path");
        for folder in ["repo/.git", "repo/a/ws", "home/.config/windlass"] {
            fs::create_dir_all(root.join(folder)).expect("a folder");
        }
        Self { _dir: dir, root }
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, content).expect("written");
        self
    }

    fn skill(&self, folder: &str, name: &str) -> &Self {
        self.write(&format!("{folder}/SKILL.md"), format!("---\nname: {name}\ndescription: For {name}.\n---\nDo.\n"))
    }

    fn link(&self, path: &str, target: impl AsRef<Path>) -> &Self {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        symlink(target, path).expect("a link");
        self
    }

    fn find_with(&self, flags: Flags) -> ContextFiles {
        let home = self.root.join("home").display().to_string();
        let env: Env = [("HOME", home.as_str()), ("DOOR_PASSWORD", "open-sesame-9")].into_iter().collect();
        let flags = Flags { workspace: Some(self.root.join("repo/a/ws")), ..flags };
        let settings =
            Sources::gather(flags, env.clone(), self.root.clone()).expect("gathered").resolve().expect("valid");
        find(&settings, &env, &crate::secrets::known_secrets(&env, Some(&settings)))
    }

    fn find(&self) -> ContextFiles {
        self.find_with(Flags::default())
    }

    /// What was found, with the place of this test left out.
    fn texts(&self, found: &ContextFiles) -> Vec<String> {
        let file = |file: &InstructionFile| format!("{}: {}", file.path, file.text);
        let files = found.user.iter().chain(&found.project.files).map(file);
        let nested = found.project.nested.iter().map(|path| format!("below: {path}"));
        let skills = found.skills.iter().map(|skill| {
            format!("{:?} skill {} ({}) in {}", skill.owner, skill.name, skill.description, skill.folder.display())
        });
        let notices = found.notices.iter().map(ToString::to_string);
        let root = format!("{}/", self.root.display());
        files.chain(nested).chain(skills).chain(notices).map(|text| text.replace(&root, "")).collect()
    }

    fn found(&self) -> Vec<String> {
        self.texts(&self.find())
    }
}

// proves C1: the most general first, and nothing from outside the repository
#[test]
fn instructions_are_read_from_the_workspace_up_to_the_root_of_the_repository() {
    let places = Places::new();
    assert_eq!(places.found(), Vec::<String>::new());
    places.write("AGENTS.md", "Nobody's.").write("repo/AGENTS.md", "Whole.").write("repo/a/CLAUDE.md", "Part.\n");
    places.write("repo/a/ws/AGENTS.md", "Here, with open-sesame-9.").write("repo/a/ws/CLAUDE.md", "Not beside it.");
    places.write("home/.config/windlass/AGENTS.md", "Mine.").write("repo/a/ws/empty/AGENTS.md", "");
    places.write("repo/a/ws/x/y/AGENTS.md", "Deep.").write("repo/a/ws/w/CLAUDE.md", "Alias.");
    places.write("repo/a/ws/node_modules/m/AGENTS.md", "No.").write("repo/a/ws/.cache/AGENTS.md", "No.");
    let want = [
        "home/.config/windlass/AGENTS.md: Mine.",
        "repo/AGENTS.md: Whole.",
        "repo/a/CLAUDE.md: Part.",
        "AGENTS.md: Here, with ⟦secret:DOOR_PASSWORD⟧.",
        "below: empty/AGENTS.md",
        "below: w/CLAUDE.md",
        "below: x/y/AGENTS.md",
    ];
    assert_eq!(places.found(), want);
    // Without a repository the workspace stands alone.
    fs::remove_dir(places.root.join("repo/.git")).expect("removed");
    assert_eq!(places.find().project.files.len(), 1);
}

// proves C1: of 10 MB only the beginning is read, and the model is told so
#[test]
fn instructions_that_are_too_long_are_cut_and_those_that_are_too_many_left_out() {
    let places = Places::new();
    places.write("repo/a/ws/AGENTS.md", "é".repeat(5 * 1024 * 1024));
    let found = places.find();
    let text = &found.project.files[0].text;
    assert!(
        text.len() < 33 * 1024
            && text.ends_with("[AGENTS.md is longer: only its beginning is here, and the rest is in the file]")
    );
    assert_eq!(
        places.texts(&ContextFiles { notices: found.notices, ..ContextFiles::default() }),
        ["repo/a/ws/AGENTS.md is longer than 32 KiB: the model is given only its beginning"]
    );

    let mut folder = "repo/a/ws".to_owned();
    for depth in 0..9 {
        folder += &format!("/{depth}");
        places.write(&format!("{folder}/AGENTS.md"), depth.to_string());
    }
    let flags = Flags { workspace: Some(places.root.join(&folder)), ..Flags::default() };
    let env: Env = [("HOME", "/nowhere")].into_iter().collect();
    let settings = Sources::gather(flags, env.clone(), "/".into()).expect("gathered").resolve().expect("valid");
    let found = find(&settings, &env, &[]);
    let texts: String = found.project.files.iter().map(|file| file.text.as_str()).collect();
    assert_eq!(texts, "12345678");
    assert!(found.notices[0].to_string().ends_with("is not used: only the nearest 8 files of instructions are"));
}

// proves C1, T10: links are resolved, and those that lead nowhere good are refused with a notice
#[test]
fn instructions_behind_links_are_read_inside_the_repository_and_refused_elsewhere() {
    for (target, want) in [
        ("../../docs/agents.md", "AGENTS.md: Linked."),
        ("../../../private", "repo/a/ws/AGENTS.md is not used: it is a link that leads out of"),
        ("/etc/hostname", "repo/a/ws/AGENTS.md is not used: it is a link that leads out of"),
        ("CLAUDE.md", "repo/a/ws/AGENTS.md is not used: "),
        ("nothing", "repo/a/ws/AGENTS.md is not used: it is a link to nothing"),
    ] {
        let places = Places::new();
        places.write("private", "A treasure.").write("repo/docs/agents.md", "Linked.");
        places.link("repo/a/ws/AGENTS.md", target).link("repo/a/ws/CLAUDE.md", "AGENTS.md");
        let found = places.found();
        assert!(found.len() == 1 && found[0].starts_with(want), "{target}: {found:?}");
    }
    let places = Places::new();
    places
        .write("repo/AGENTS.md", "Once.")
        .link("repo/a/AGENTS.md", "../AGENTS.md")
        .link("repo/a/ws/AGENTS.md", "../../AGENTS.md");
    assert_eq!(places.found(), ["AGENTS.md: Once."], "one file is not included twice");
    // The person's own file may be kept elsewhere, but not in a circle.
    places
        .write("dotfiles/mine.md", "Mine.")
        .link("home/.config/windlass/AGENTS.md", places.root.join("dotfiles/mine.md"));
    assert_eq!(places.found()[0], "home/.config/windlass/AGENTS.md: Mine.");
}

#[test]
fn instructions_that_are_not_utf8_are_taken_with_a_notice_and_those_that_are_no_text_are_not() {
    let places = Places::new();
    places.write("repo/a/ws/AGENTS.md", b"caf\xe9");
    let notice = "repo/a/ws/AGENTS.md is not UTF-8: what is not is replaced by \u{fffd}";
    assert_eq!(places.found(), ["AGENTS.md: caf\u{fffd}", notice]);
    places.write("repo/a/ws/AGENTS.md", b"\x89PNG\0");
    assert_eq!(places.found(), ["repo/a/ws/AGENTS.md is not used: it is a PNG image, not text"]);
}

// proves X5
#[test]
fn what_a_rule_forbids_to_read_is_not_shown_to_the_model() {
    let places = Places::new();
    places.write("repo/AGENTS.md", "Whole.").write("repo/a/ws/private/x.md", "A treasure.");
    places.link("repo/a/AGENTS.md", "ws/private/x.md").write("repo/a/ws/sub/AGENTS.md", "Deep.");
    places.skill("repo/a/ws/.agents/skills/knots", "knots");
    assert_eq!(places.find().project.files.len(), 2);
    let denied = |rule: &str| places.texts(&places.find_with(Flags { deny: vec![rule.into()], ..Flags::default() }));
    assert!(!denied("read(private/)").concat().contains("treasure"));
    assert!(!denied("read(sub/)").concat().contains("below"));
    assert!(!denied("read(.agents/)").concat().contains("skill"));
    assert_eq!(denied("read"), Vec::<String>::new());
}

// proves C8
#[test]
fn skills_are_found_in_the_project_and_in_the_folders_of_the_person() {
    let places = Places::new();
    for (folder, name) in [
        ("repo/a/ws/.agents/skills/knots", "knots"),
        ("repo/a/ws/.claude/skills/pdf", "pdf"),
        ("repo/.agents/skills/root", "root"),
        ("home/.config/windlass/skills/mine", "mine"),
        ("home/.agents/skills/agents", "agents"),
        ("home/.claude/skills/claude", "claude"),
    ] {
        places.skill(folder, name);
    }
    places.write("repo/.agents/skills/README.md", "No skill.").write("repo/.agents/skills/shared/x.md", "No skill.");
    let want = [
        "User skill agents (For agents.) in home/.agents/skills/agents",
        "User skill claude (For claude.) in home/.claude/skills/claude",
        "Project skill knots (For knots.) in repo/a/ws/.agents/skills/knots",
        "User skill mine (For mine.) in home/.config/windlass/skills/mine",
        "Project skill pdf (For pdf.) in repo/a/ws/.claude/skills/pdf",
        "Project skill root (For root.) in repo/.agents/skills/root",
    ];
    assert_eq!(places.found(), want);
}

// proves C8: what is wrong with a skill is said, and the others are kept
#[test]
fn a_skill_that_can_t_be_used_is_left_out_with_a_notice() {
    let places = Places::new();
    let at = "repo/a/ws/.agents/skills";
    places.skill(&format!("{at}/good"), "good").skill("home/.agents/skills/good", "good");
    places.write(&format!("{at}/a/SKILL.md"), "No front matter.").skill(&format!("{at}/b"), "../../b");
    places.write(&format!("{at}/c/SKILL.md"), "---\nname: c\n---\n").skill("elsewhere/d", "d");
    places.link(&format!("{at}/d"), places.root.join("elsewhere/d")).link(&format!("{at}/e/SKILL.md"), "../a/SKILL.md");
    places.link(&format!("{at}/f/SKILL.md"), "SKILL.md").link("repo/a/ws/.claude/skills", "../.agents/skills");
    let want = [
        "User skill good (For good.) in home/.agents/skills/good",
        "the skill repo/a/ws/.agents/skills/a is left out: SKILL.md does not begin with front matter (a line `---`)",
        "the skill repo/a/ws/.agents/skills/b is left out: the name \"../../b\" must be 1 to 64 lower-case letters, digits \
         and hyphens",
        "the skill repo/a/ws/.agents/skills/c is left out: the front matter of SKILL.md has no \"description\"",
        "the skill repo/a/ws/.agents/skills/d is left out: it is a link that leads out of the project",
        "repo/a/ws/.agents/skills/e/SKILL.md is not used: it is a link that leads out of repo/a/ws/.agents/skills/e",
    ];
    let found = places.found();
    assert_eq!(found[..6], want);
    assert!(found[6].starts_with("repo/a/ws/.agents/skills/f/SKILL.md is not used: "), "{found:?}");
    let duplicate =
        "the skill repo/a/ws/.agents/skills/good is left out: home/.agents/skills/good has the same name, \"good\"";
    assert_eq!(found[7], duplicate);
    assert_eq!(found.len(), 8, "the same folder by another name is not told again: {found:?}");
}

// proves X2: the person decides whether a project instructs the agent
#[test]
fn a_project_s_instructions_and_skills_can_be_turned_off() {
    let places = Places::new();
    places.write("repo/a/ws/AGENTS.md", "Here.").skill("repo/.agents/skills/root", "root");
    places.skill("home/.agents/skills/mine", "mine");
    places.write("home/.config/windlass/windlass.toml", "project_instructions = false\n");
    assert_eq!(places.found(), ["User skill mine (For mine.) in home/.agents/skills/mine"]);
}

// proves X2: a file above the workspace that another user may have put there is not obeyed
#[test]
fn instructions_above_the_workspace_are_not_taken_from_a_folder_that_others_can_write_to() {
    use std::os::unix::fs::PermissionsExt as _;
    let places = Places::new();
    places.write("repo/AGENTS.md", "Planted.").write("repo/a/AGENTS.md", "Ours.").skill("repo/.agents/skills/x", "x");
    fs::set_permissions(places.root.join("repo"), fs::Permissions::from_mode(0o777)).expect("changed");
    assert_eq!(places.found(), ["repo/a/AGENTS.md: Ours."]);
    let flags = Flags { workspace: Some(places.root.join("repo/a")), ..Flags::default() };
    let env: Env = [("HOME", "/nowhere")].into_iter().collect();
    let notices = Sources::gather(flags, env, "/".into()).expect("gathered").resolve().expect("valid").notices;
    assert!(notices.len() == 1 && notices[0].to_string().contains("repo/AGENTS.md is not used"), "{notices:?}");
}
