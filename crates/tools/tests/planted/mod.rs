//! What one command leaves for the next, or for the person: none of it opens the sandbox or stays where something
//! protected would be (X3).

use std::os::unix::fs::symlink;

use serde_json::json;
use windlass_sandbox::Surroundings;
use windlass_vocab::CommandExit;

use crate::Room;

trials! {
    a_repository_that_a_command_makes_up_opens_no_folder,
    a_link_in_place_of_a_package_cache_is_not_written_through,
}

// proves X3
fn a_repository_that_a_command_makes_up_opens_no_folder() {
    let room = Room::new();
    for (path, text) in [
        (".git", "gitdir: fake/worktrees/w\n"),
        ("fake/worktrees/w/gitdir", &format!("{}/.git\n", room.workspace.display())),
        ("fake/worktrees/w/commondir", "../..\n"),
        ("fake/HEAD", "ref: refs/heads/main\n"),
        ("fake/refs/x", ""),
    ] {
        room.file(path, text);
    }
    symlink(&room.home, room.workspace.join("fake/objects")).unwrap();
    let outcome = room.run("echo evil > ../home/.bashrc");
    assert_ne!(outcome.exit, Some(CommandExit::Code(0)), "{}", outcome.text);
    assert!(!room.home.join(".bashrc").exists());
}

// proves X3
fn a_link_in_place_of_a_package_cache_is_not_written_through() {
    let mut room = Room::with(|surroundings: &mut Surroundings| {
        surroundings.workspace = surroundings.home.clone().unwrap();
    });
    room.workspace = room.home.clone();
    let victim = room.data().with_file_name("victim");
    std::fs::create_dir(&victim).unwrap();
    let line = format!("mkdir -p .cache; mv .cache .c2; ln -s {} .cache", victim.display());
    assert_eq!(room.run(&line).exit, Some(CommandExit::Code(0)));
    let outcome = room.call(&json!({"command": "echo x > .cache/x", "network": true}));
    assert_ne!(outcome.exit, Some(CommandExit::Code(0)), "{}", outcome.text);
    assert!(!victim.join("x").exists());
}
