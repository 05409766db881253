//! Changing a file that is run automatically needs approval, whichever tool changes it and whatever allows it (X5).

use serde_json::{Value, json};
use windlass_tools::{Mode, Permissions, Rule};
use windlass_vocab::{Grant, PreparedCall, ReplyCall, Verdict, VerdictReason};

use super::room::Room;

/// Files that are run, or instruct agents, by convention.
pub(crate) const CONVENTIONAL: [&str; 27] = [
    ".git/hooks/pre-commit",
    ".git/config",
    ".hg/hgrc",
    ".envrc",
    ".vscode/tasks.json",
    ".idea/workspace.xml",
    ".husky/pre-commit",
    ".devcontainer/devcontainer.json",
    ".github/workflows/ci.yml",
    ".gitlab-ci.yml",
    ".cargo/config.toml",
    ".npmrc",
    ".ssh/authorized_keys",
    ".bashrc",
    ".bash_profile",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".config/fish/config.fish",
    ".pre-commit-config.yaml",
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    "skills/x/SKILL.md",
    ".claude/settings.json",
    "windlass.toml",
    ".mcp.json",
];

fn rules(texts: &[&str]) -> Vec<Rule> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn prepared(room: &Room, permissions: &Permissions, tool: &str, arguments: &Value, grants: &[&str]) -> PreparedCall {
    let grants: Vec<Grant> = grants.iter().map(|rule| Grant { rule: (*rule).into() }).collect();
    let call = ReplyCall { name: tool.into(), arguments: arguments.to_string(), provider_id: None, mended: None };
    room.offer.prepare(&call, permissions, &grants)
}

fn ways(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("write_file", json!({"path": path, "content": "x"})),
        ("edit_file", json!({"path": path, "old_text": "a", "new_text": "x"})),
        ("move_file", json!({"from": path, "to": "elsewhere"})),
        ("move_file", json!({"from": "plain", "to": path, "overwrite": true})),
        ("append_file", json!({"path": path, "text": "x"})),
        ("delete_file", json!({"path": path})),
    ]
}

// proves X5
#[test]
fn every_file_that_runs_by_convention_asks_in_every_mode_but_bypass_whatever_allows_it() {
    let allow = ["write_file", "edit_file(*)", "move_file", "write", "*"];
    for path in CONVENTIONAL {
        let room = Room::with(&[(path, "a"), ("plain", "a"), (&format!("sub/{path}"), "a")]);
        for (mode, want) in
            [(Mode::Default, Verdict::Ask), (Mode::Strict, Verdict::Ask), (Mode::Bypass, Verdict::Allow)]
        {
            let permissions = Permissions { mode, allow: rules(&allow), ..Permissions::default() };
            for path in [path.to_owned(), format!("sub/{path}"), format!("./sub/../{path}"), path.to_uppercase()] {
                for (tool, arguments) in ways(&path) {
                    let call = prepared(&room, &permissions, tool, &arguments, &allow);
                    assert_eq!(call.verdict, want, "{mode:?}: {tool} {arguments}");
                    let is_protected = matches!(call.because, Some(VerdictReason::Protected { .. }));
                    assert_eq!(is_protected, mode != Mode::Bypass, "{tool} {arguments}: {:?}", call.because);
                }
            }
        }
        let read = prepared(&room, &Permissions::default(), "read_file", &json!({"path": path}), &[]);
        assert_eq!(read.verdict, Verdict::Allow, "{path}");
    }
}

// proves X5
#[test]
fn a_folder_that_holds_a_protected_path_asks_and_so_does_one_that_becomes_one() {
    let room = Room::with(&[("sub/.git/hooks/x.sample", ""), ("hooks/pre-commit", ""), ("src/main.rs", "")]);
    for (from, to, want) in [
        ("sub/.git/hooks/x.sample", "sub/.git/hooks/x", Verdict::Ask),
        ("sub", "lib", Verdict::Ask),
        ("hooks", ".git/hooks", Verdict::Ask),
        ("hooks", ".husky", Verdict::Ask),
        ("hooks/pre-commit", ".bashrc", Verdict::Ask),
        ("src", "lib", Verdict::Allow),
    ] {
        let call = prepared(&room, &Permissions::default(), "move_file", &json!({"from": from, "to": to}), &[]);
        assert_eq!(call.verdict, want, "{from} to {to}");
    }
}

// proves X5: a symlink does not bypass the protection
#[test]
fn a_link_to_a_protected_path_asks() {
    let room = Room::with(&[(".git/config", "a")]);
    std::os::unix::fs::symlink(".git", room.root().join("g")).unwrap();
    std::os::unix::fs::symlink(".git/config", room.root().join("settings")).unwrap();
    for path in ["g/config", "settings", "g/hooks/new"] {
        let arguments = json!({"path": path, "content": "x"});
        let call = prepared(&room, &Permissions::default(), "write_file", &arguments, &[]);
        assert_eq!(call.verdict, Verdict::Ask, "{path}");
    }
}

// proves X5: a protected path that is a symlink protects its target
#[test]
fn what_a_protected_link_leads_to_asks() {
    let room = Room::with(&[("docs/ai.md", "a"), ("ci/workflows/x.yml", "a"), ("plain", "a"), ("src/a.rs", "a")]);
    let link = |name: &str, target: &str| std::os::unix::fs::symlink(target, room.root().join(name)).unwrap();
    link("CLAUDE.md", "docs/ai.md");
    link(".vscode", "gen/vscode");
    link(".github", "ci");
    link("src/AGENTS.md", "instructions.md");
    link(".envrc", "through");
    link("through", "env/rc");
    let all = ["write_file", "edit_file", "move_file", "write"];
    for path in ["docs/ai.md", "gen/vscode/tasks.json", "ci/workflows/x.yml", "src/instructions.md", "env/rc"] {
        for (tool, arguments) in ways(path) {
            let call = prepared(&room, &Permissions::default(), tool, &arguments, &all);
            assert_eq!(call.verdict, Verdict::Ask, "{tool} {arguments}");
            let told = call.preview.unwrap().body;
            assert!(told.contains("is a link to it"), "{told}");
        }
    }
    for (from, to, want) in [
        ("docs", "texts", Verdict::Ask),
        ("plain", "docs/ai.md", Verdict::Ask),
        ("through", "elsewhere", Verdict::Ask),
        ("plain", "docs/other.md", Verdict::Allow),
        ("src/a.rs", "src/b.rs", Verdict::Allow),
    ] {
        let call = prepared(&room, &Permissions::default(), "move_file", &json!({"from": from, "to": to}), &all);
        assert_eq!(call.verdict, want, "{from} to {to}");
    }
    let write = json!({"path": "docs/ai.md", "content": "x"});
    let asked = prepared(&room, &Permissions::default(), "write_file", &write, &[]).preview.unwrap();
    assert!(
        asked.body.starts_with("docs/ai.md is protected (**/CLAUDE.md; CLAUDE.md is a link to it): "),
        "{}",
        asked.body
    );
    assert_eq!(asked.rule.as_deref(), Some("write_file(docs/ai.md)"));
    let granted = prepared(&room, &Permissions::default(), "write_file", &write, &["write_file(docs/ai.md)"]);
    assert_eq!(granted.verdict, Verdict::Allow, "a yes for this session is one to what was seen");
    let mut permissions = Permissions::default();
    permissions.protected.except("docs/").unwrap();
    assert_eq!(prepared(&room, &permissions, "write_file", &write, &[]).verdict, Verdict::Allow);
    let strict = Permissions { mode: Mode::Strict, allow: rules(&["write(plain)"]), ..Permissions::default() };
    link("other", "plain");
    let write = json!({"path": "plain", "content": "x"});
    assert_eq!(
        prepared(&room, &strict, "write_file", &write, &[]).verdict,
        Verdict::Allow,
        "a link takes nothing away"
    );
}

// proves X5: git runs the hooks in the folder that its settings name, and in the target of `.git/hooks`
#[test]
fn hooks_ask_wherever_the_repository_has_them() {
    let config = "[core]\n\thooksPath = tools/hooks\n";
    let room =
        Room::with(&[(".git/config", config), ("tools/hooks/pre-commit", "a"), ("sub/.git/HEAD", ""), ("s/h", "a")]);
    std::os::unix::fs::symlink("../../scripts", room.root().join("sub/.git/hooks")).unwrap();
    for path in ["tools/hooks/pre-commit", "tools/hooks/new", "scripts/pre-push"] {
        for (tool, arguments) in ways(path) {
            let call = prepared(&room, &Permissions::default(), tool, &arguments, &["write", "move_file"]);
            assert_eq!(call.verdict, Verdict::Ask, "{tool} {arguments}");
        }
    }
    let edit = json!({"path": "tools/hooks/pre-commit", "old_text": "a", "new_text": "x"});
    let told = prepared(&room, &Permissions::default(), "edit_file", &edit, &[]).preview.unwrap().body;
    assert!(told.contains("git: core.hooksPath names it"), "{told}");
    let write = json!({"path": "tools/x", "content": "x"});
    assert_eq!(prepared(&room, &Permissions::default(), "write_file", &write, &[]).verdict, Verdict::Allow);
}

// proves X5: a grant for the session covers exactly that path
#[test]
fn a_grant_counts_for_exactly_the_path_it_spells_out() {
    let room = Room::with(&[(".git/config", "a"), (".git/hooks/x.sample", "")]);
    let verdict = |tool: &str, arguments: &Value, grants: &[&str]| {
        prepared(&room, &Permissions::default(), tool, arguments, grants).verdict
    };
    let write = json!({"path": ".git/config", "content": "x"});
    let asked = prepared(&room, &Permissions::default(), "write_file", &write, &[]);
    let preview = asked.preview.unwrap();
    assert_eq!(preview.rule.as_deref(), Some("write_file(.git/config)"));
    assert!(preview.body.starts_with(".git/config is protected (**/.git/): "), "{}", preview.body);
    assert_eq!(verdict("write_file", &write, &["write_file(.git/config)"]), Verdict::Allow);
    for grant in ["write_file(.git/*)", "write_file", "write_file(*)", "edit_file(.git/config)", "write(.git/)"] {
        assert_eq!(verdict("write_file", &write, &[grant]), Verdict::Ask, "{grant}");
    }
    let hook = json!({"path": ".git/hooks/x", "content": "x"});
    assert_eq!(verdict("write_file", &hook, &["write_file(.git/config)"]), Verdict::Ask);
    let moved = json!({"from": ".git/hooks/x.sample", "to": ".git/hooks/x"});
    let rule = prepared(&room, &Permissions::default(), "move_file", &moved, &[]).preview.unwrap().rule.unwrap();
    assert_eq!(rule, "move_file(.git/hooks/x.sample .git/hooks/x)");
    assert_eq!(verdict("move_file", &moved, &[&rule]), Verdict::Allow);
}

// proves X5: a deny takes precedence, and a path that a person exempted is checked like any other
#[test]
fn a_deny_is_a_deny_and_an_exception_is_like_any_other_path() {
    let room = Room::with(&[("AGENTS.md", "a")]);
    let write = json!({"path": "AGENTS.md", "content": "x"});
    let mut permissions = Permissions { deny: rules(&["write(*.md)"]), ..Permissions::default() };
    assert!(matches!(prepared(&room, &permissions, "write_file", &write, &[]).verdict, Verdict::Deny { .. }));
    permissions.deny.clear();
    permissions.protected.except("AGENTS.md").unwrap();
    assert_eq!(prepared(&room, &permissions, "write_file", &write, &[]).verdict, Verdict::Allow);
    permissions.mode = Mode::Strict;
    assert_eq!(prepared(&room, &permissions, "write_file", &write, &[]).verdict, Verdict::Ask);
    permissions.protected.add("data/").unwrap();
    let write = json!({"path": "data/x", "content": "x"});
    permissions.mode = Mode::Default;
    assert_eq!(prepared(&room, &permissions, "write_file", &write, &[]).verdict, Verdict::Ask);
}

/// A room in which `docs/x` lacks only one of the files that make it a repository to git.
fn nearly_a_repository(missing: &str) -> Room {
    let parts = [("docs/x/HEAD", "ref: refs/heads/m\n"), ("docs/x/objects/x", ""), ("docs/x/refs/x", "")];
    let mut files: Vec<_> = parts.into_iter().filter(|(path, _)| *path != missing).collect();
    files.push(("docs/x/HEAD.txt", "ref: refs/heads/m\n"));
    files.push(("docs/stuff/a", "[core]\n"));
    Room::with(&files)
}

// proves X5: git obeys the config of any folder that looks like a repository, under any name
#[test]
fn what_git_obeys_in_a_bare_repository_asks_and_so_does_what_completes_one() {
    let write = |path: &str| ("write_file", json!({"path": path, "content": "x"}));
    let moved = |from: &str, to: &str| ("move_file", json!({"from": from, "to": to}));
    for (missing, (tool, arguments), want) in [
        ("", write("docs/x/config"), Verdict::Ask),
        ("", write("docs/x/CONFIG"), Verdict::Ask),
        ("", write("docs/x/config.worktree"), Verdict::Ask),
        ("", write("docs/x/hooks/pre-commit"), Verdict::Ask),
        ("", write("docs/x/hooks/../config"), Verdict::Ask),
        ("", ("edit_file", json!({"path": "docs/x/HEAD", "old_text": "m", "new_text": "n"})), Verdict::Ask),
        ("", moved("docs/stuff/a", "docs/x/config"), Verdict::Ask),
        ("", moved("docs/stuff", "docs/x/hooks"), Verdict::Ask),
        ("", write("docs/x/objects/y"), Verdict::Allow),
        ("", write("docs/x/README"), Verdict::Allow),
        ("", write("docs/config"), Verdict::Allow),
        ("", moved("docs/x", "docs/y"), Verdict::Allow),
        ("docs/x/HEAD", write("docs/x/config"), Verdict::Allow),
        ("docs/x/HEAD", write("docs/x/HEAD"), Verdict::Ask),
        ("docs/x/HEAD", moved("docs/x/HEAD.txt", "docs/x/HEAD"), Verdict::Ask),
        ("docs/x/refs/x", write("docs/x/config"), Verdict::Allow),
        ("docs/x/refs/x", write("docs/x/refs/heads/m"), Verdict::Ask),
        ("docs/x/refs/x", moved("docs/stuff", "docs/x/refs"), Verdict::Ask),
        ("docs/x/refs/x", write("docs/x/commondir"), Verdict::Ask),
        ("docs/x/objects/x", write("docs/x/objects/pack/x"), Verdict::Ask),
    ] {
        let room = nearly_a_repository(missing);
        let call =
            prepared(&room, &Permissions::default(), tool, &arguments, &["write_file", "edit_file", "move_file"]);
        assert_eq!(call.verdict, want, "without {missing:?}: {tool} {arguments}");
        if want == Verdict::Ask {
            let told = call.preview.unwrap().body;
            assert!(told.contains("is protected (git: it would take docs/x for a repository, and obey its"), "{told}");
        }
    }
    let room = nearly_a_repository("");
    std::os::unix::fs::symlink("docs/x", room.root().join("link")).unwrap();
    let (tool, arguments) = write("link/config");
    assert_eq!(prepared(&room, &Permissions::default(), tool, &arguments, &[]).verdict, Verdict::Ask, "by a link");
    let bypass = Permissions { mode: Mode::Bypass, ..Permissions::default() };
    assert_eq!(prepared(&room, &bypass, tool, &arguments, &[]).verdict, Verdict::Allow);
    let mut excepting = Permissions::default();
    excepting.protected.except("docs/x/config").unwrap();
    let (tool, arguments) = write("docs/x/config");
    assert_eq!(prepared(&room, &excepting, tool, &arguments, &[]).verdict, Verdict::Allow);
}

// proves X5: calls of one reply that were permitted one by one make no repository together
#[test]
fn a_call_that_came_to_complete_a_repository_after_it_was_cleared_is_refused() {
    let room = nearly_a_repository("docs/x/HEAD");
    let permissions = Permissions::default();
    let config = json!({"path": "docs/x/config", "content": "[core]\n"});
    let call = prepared(&room, &permissions, "write_file", &config, &[]);
    let head = room.root().join("docs/x/HEAD");
    let outcome = room.run_cleared(&permissions, &call, || std::fs::write(head, "ref: refs/heads/m\n").unwrap());
    assert!(outcome.text.contains("git would obey it by now"), "{}", outcome.text);
    assert!(!room.root().join("docs/x/config").exists());
}

// proves X5: the rule is the same as git's own
#[test]
fn git_takes_for_a_repository_what_is_taken_for_one_here() {
    let is_repository = |room: &Room| {
        let mut git = std::process::Command::new("git");
        git.args(["-C", "docs/x", "rev-parse", "--git-dir"]).current_dir(room.root());
        git.env("GIT_CEILING_DIRECTORIES", room.folder.path()).output().unwrap().status.success()
    };
    assert!(is_repository(&nearly_a_repository("")));
    for missing in ["docs/x/HEAD", "docs/x/objects/x", "docs/x/refs/x"] {
        let room = nearly_a_repository(missing);
        assert!(!is_repository(&room), "{missing}");
        if missing != "docs/x/HEAD" {
            std::fs::create_dir_all(room.root().join("docs/common/objects")).unwrap();
            std::fs::create_dir_all(room.root().join("docs/common/refs")).unwrap();
            std::fs::write(room.root().join("docs/x/commondir"), "../common\n").unwrap();
            assert!(is_repository(&room), "{missing}, elsewhere");
        }
    }
}
