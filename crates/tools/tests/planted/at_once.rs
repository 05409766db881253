//! Commands that run concurrently, or outlive their shell (X3, T7).

use serde_json::json;
use windlass_vocab::{CommandExit, SessionId};

use super::is_aside;
use crate::{Room, needs_namespaces};

trials! {
    what_a_command_makes_anew_that_another_made_is_set_aside,
    a_signal_of_the_commands_own_keeps_nothing_running(needs_namespaces),
}

// proves X3: the second command finds the first one's file, which is set aside before the second creates it again
fn what_a_command_makes_anew_that_another_made_is_set_aside() {
    let room = Room::new();
    let wait = |path: &str| {
        while !room.workspace.join(path).exists() {
            std::thread::yield_now();
        }
    };
    room.file(".git/HEAD", "");
    let made = ".vscode .git/hooks";
    let first = format!("mkdir {made}; : > made; until [ -e go ]; do sleep 0.01; done");
    let second = format!(
        ": > go; until [ ! -e .vscode ] && [ ! -e .git/hooks ]; do sleep 0.01; done; mkdir {made}; \
         echo evil > .vscode/tasks.json; echo evil > .git/hooks/pre-commit"
    );
    let call =
        |session: u128, line: &str| room.call_in(SessionId(uuid::Uuid::from_u128(session)), &json!({"command": line}));
    std::thread::scope(|scope| {
        let running = scope.spawn(|| call(1, &first));
        wait("made");
        let outcome = call(2, &second);
        assert_eq!(outcome.exit, Some(CommandExit::Code(0)), "{}", outcome.text);
        assert!(is_aside(&room, ".vscode") && is_aside(&room, ".git/hooks"), "{}", outcome.text);
        assert_eq!(running.join().unwrap().exit, Some(CommandExit::Code(0)));
    });
}

// proves T7: only the guard decides whether a command is waited for
fn a_signal_of_the_commands_own_keeps_nothing_running() {
    let room = Room::new();
    let outcome = room.run("kill -TERM 1; setsid sleep 1000 >/dev/null 2>&1 & exit 0");
    assert_eq!(outcome.exit, Some(CommandExit::Code(0)), "{}", outcome.text);
}
