//! The clear-up after a command writes and renames nothing but what the command could have (X3).

use std::os::unix::fs::symlink;

use windlass_sandbox::Network;

use super::{is_aside, talk_to};
use crate::{Room, guard, said};

trials! {
    a_link_that_a_project_ships_is_not_put_back_outside,
    what_is_not_the_commands_to_make_is_not_set_aside,
}

// proves X3: `~/.bash_profile` was made this way, and run at the next login
fn a_link_that_a_project_ships_is_not_put_back_outside() {
    let room = Room::new();
    room.file("rc", "evil");
    room.file("fixtures/home/x", "");
    symlink("../workspace/rc", room.workspace.join("fixtures/home/.bash_profile")).unwrap();
    let root = room.home.parent().unwrap();
    let text = said(&room, &format!("mv fixtures f2; ln -s {} fixtures", root.display()));
    assert_eq!(room.home.read_dir().unwrap().count(), 0, "{text}");
    assert!(is_aside(&room, "fixtures") && !text.contains("[Put back: "), "{text}");
}

// proves X3: a rule of a project's may list what is outside, and the person may make it while a command runs
fn what_is_not_the_commands_to_make_is_not_set_aside() {
    let room = Room::new();
    let mut held = room.sandbox.program_confinement(&guard(), Network::Off).unwrap().unwrap();
    let own = room.home.join(".pgpass");
    held.absent.push(own.clone());
    std::fs::write(&own, "as it was").unwrap();
    talk_to(&room, "echo evil > .envrc", held);
    assert!(own.exists() && is_aside(&room, ".envrc"));
}
