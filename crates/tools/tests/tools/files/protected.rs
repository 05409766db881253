//! What runs by itself is asked for, whichever tool changes it and whatever allows it (X5).

use serde_json::{Value, json};
use windlass_tools::{Mode, Permissions, Rule};
use windlass_vocab::{Because, Grant, PreparedCall, ReplyCall, Verdict};

use super::room::Room;

/// Files that run, or instruct, by convention.
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
                    let is_protected = matches!(call.because, Some(Because::Protected { .. }));
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

// proves X5: a link does not lead past it
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

// proves X5: "this session" is for exactly that path
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

// proves X5: a deny goes before it, and what a person took out of the list is judged like any other path
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
