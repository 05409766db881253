//! Files that are run automatically or must not be read, under another name: behind symlinks, or where git's settings
//! say (X3).

use std::os::unix::fs::symlink;

use windlass_vocab::CommandExit;

use crate::{Room, needs_namespaces, said};

trials! {
    what_links_in_closed_folders_lead_to_is_closed(needs_namespaces),
    hooks_are_closed_wherever_settings_have_them(needs_namespaces),
    files_that_settings_include_are_closed(needs_namespaces),
    the_repositories_of_a_worktrees_submodules_are_closed(needs_namespaces),
}

/// Asserts that a command can't change the content of these files.
fn are_kept(room: &Room, paths: &[&str]) {
    for path in paths {
        let outcome = room.run(&format!("echo evil > {path}"));
        assert_ne!(outcome.exit, Some(CommandExit::Code(0)), "{path}: {}", outcome.text);
    }
}

fn link(room: &Room, path: &str, target: &str) {
    let path = room.workspace.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    symlink(target, path).unwrap();
}

// proves X3: a common way to have hooks in version control
fn what_links_in_closed_folders_lead_to_is_closed() {
    let room = Room::new();
    for path in ["scripts/pre-commit.sh", "ci/x.yml", "cfg/tasks.json", ".git/HEAD", "scripts/free"] {
        room.file(path, "as it was");
    }
    room.file("conf/k", "a-secret");
    link(&room, ".git/hooks/pre-commit", "../../scripts/pre-commit.sh");
    link(&room, ".github/workflows/x.yml", "../../ci/x.yml");
    link(&room, ".vscode/tasks.json", "../cfg/tasks.json");
    link(&room, "denied/key", "../conf/k");
    are_kept(&room, &["scripts/pre-commit.sh", "ci/x.yml", "cfg/tasks.json"]);
    let text = said(&room, "cat conf/k denied/key; echo x > scripts/free");
    assert!(!text.contains("a-secret"), "{text}");
    assert_eq!(std::fs::read_to_string(room.workspace.join("scripts/free")).unwrap(), "x\n");
}

// proves X3: in a submodule, whose `.git` is a file, and by the person's own settings
fn hooks_are_closed_wherever_settings_have_them() {
    let room = Room::new();
    for path in [".git/HEAD", ".git/modules/lib/HEAD", "lib/tools/pre-commit", "mine/pre-commit"] {
        room.file(path, "as it was");
    }
    room.file("lib/.git", "gitdir: ../.git/modules/lib\n");
    room.file(".git/modules/lib/config", "[core]\n\thooksPath = tools\n");
    std::fs::write(room.home.join(".gitconfig"), "[core]\n\thooksPath = mine\n").unwrap();
    are_kept(&room, &["lib/tools/pre-commit", "lib/tools/commit-msg", "mine/pre-commit", "mine/commit-msg"]);
}

// proves X3
fn files_that_settings_include_are_closed() {
    let room = Room::new();
    room.file(".git/HEAD", "");
    room.file(".git/config", "[include]\n\tpath = ../build/settings\n");
    room.file("build/settings", "[alias]\n");
    are_kept(&room, &["build/settings"]);
}

// proves X3: the opened part of a repository elsewhere contains the repositories of submodules
fn the_repositories_of_a_worktrees_submodules_are_closed() {
    let room = Room::new();
    let main = "../main/.git";
    let own = format!("{main}/worktrees/w");
    let modules = format!("{own}/modules/lib");
    for path in ["HEAD", "objects/x", "refs/x"] {
        room.file(&format!("{main}/{path}"), "");
        room.file(&format!("{modules}/{path}"), "");
    }
    room.file(&format!("{own}/commondir"), "../..\n");
    room.file(&format!("{own}/gitdir"), &format!("{}/.git\n", room.workspace.display()));
    room.file(".git", &format!("gitdir: {}\n", room.workspace.join(&own).canonicalize().unwrap().display()));
    for name in ["config", "hooks/post-commit"] {
        room.file(&format!("{modules}/{name}"), "as it was");
    }
    are_kept(&room, &[&format!("{modules}/config"), &format!("{modules}/hooks/post-commit")]);
    let text =
        said(&room, &format!("echo x > {modules}/index; mkdir {modules}/info; echo x > {modules}/info/attributes"));
    assert!(room.workspace.join(format!("{modules}/index")).exists(), "a commit writes there: {text}");
    assert!(!room.workspace.join(format!("{modules}/info/attributes")).exists(), "{text}");
}
