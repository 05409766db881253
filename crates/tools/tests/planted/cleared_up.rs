//! The cleanup after a command changes only files that the command could have changed, and discloses nothing (X3).

use std::os::unix::fs::{PermissionsExt as _, symlink};

use windlass_sandbox::Network;

use super::{is_aside, talk_to};
use crate::{Room, guard, needs_namespaces, said};

trials! {
    a_link_that_a_project_ships_is_not_put_back_outside,
    what_is_not_the_commands_to_make_is_not_set_aside,
    what_is_set_aside_and_denied_to_reading_is_not_read(needs_namespaces),
}

// proves X3: `~/.bash_profile` was created this way, and run at the next login
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

// proves X3: a project's rule may name a path outside, which the person may create while a command runs
fn what_is_not_the_commands_to_make_is_not_set_aside() {
    let room = Room::new();
    let mut held = room.sandbox.program_confinement(&guard(), Network::Off).unwrap().unwrap();
    let own = room.home.join(".pgpass");
    held.absent.push(own.clone());
    std::fs::write(&own, "as it was").unwrap();
    talk_to(&room, "echo evil > .envrc", held);
    assert!(own.exists() && is_aside(&room, ".envrc"));
}

// proves X3: the file may be the person's own, created while the command ran
fn what_is_set_aside_and_denied_to_reading_is_not_read() {
    let room = Room::new();
    let text = said(&room, "mkdir a target; echo a-secret > a/denied; echo a-secret > target/key");
    assert!(is_aside(&room, "a/denied") && is_aside(&room, "target/key"), "{text}");
    let text = said(&room, "ls -R; cat a/denied.set-aside a/denied.set-aside/*; grep -r secret a");
    assert!(text.contains("denied.set-aside") && !text.contains("a-secret"), "{text}");
    // No rule matches the new name, so the file mode must prevent reading.
    assert_eq!(room.workspace.join("target/key.set-aside").metadata().unwrap().permissions().mode() & 0o777, 0);
    let text = said(&room, "true");
    assert!(!text.contains("[Set aside as "), "{text}");
}
