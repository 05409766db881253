//! Commands in the sandbox, which really try to get out of it (X3). This program is its own guard: started with
//! `guard` it is the guard process; otherwise it runs the tests. Where the kernel lacks what a test is about, it
//! says so and passes.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Trial};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use windlass_sandbox::{SandboxMode, Support, Surroundings, Walls};
use windlass_tools::guard::wait_for_survivors;
use windlass_tools::{CallContext, Commands, GuardProgram, Offer, Registry, Sandbox, Workspace, builtins};
use windlass_vocab::{CommandExit, Json, Outcome, OutcomeKind, SessionId, ToolSource};

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("guard") => windlass_tools::guard::run(),
        Some(_) | None => libtest_mimic::run(&Arguments::from_args(), trials()).exit_code(),
    }
}

macro_rules! trials {
    ($($name:ident,)*) => {
        fn trials() -> Vec<Trial> {
            vec![$(Trial::test(stringify!($name), || { $name(); Ok(()) }),)*]
        }
    };
}

trials! {
    a_command_writes_in_the_workspace_and_nowhere_else,
    a_command_ends_as_it_would_outside,
}

fn guard() -> GuardProgram {
    GuardProgram { program: std::env::current_exe().unwrap(), args: vec!["guard".into()] }
}

fn support() -> &'static Support {
    static SUPPORT: std::sync::OnceLock<Support> = std::sync::OnceLock::new();
    SUPPORT.get_or_init(|| windlass_tools::guard::support(&guard()))
}

/// Whether there are namespaces; if not, says that the test is skipped.
fn has_namespaces() -> bool {
    let has = support().walls == Walls::Namespaces;
    if !has {
        println!("skipped: this kernel gives no namespaces: {:?}", support().why);
    }
    has
}

/// A workspace and a home folder, apart from the temporary folder that commands don't see.
struct Room {
    _folder: tempfile::TempDir,
    workspace: PathBuf,
    home: PathBuf,
    sandbox: Sandbox,
}

impl Room {
    fn new() -> Self {
        Self::with(|_| {})
    }

    fn with(change: impl FnOnce(&mut Surroundings)) -> Self {
        let folder = tempfile::Builder::new().prefix("sandbox").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (workspace, home) = (root.join("workspace"), root.join("home"));
        for path in [&workspace, &home, &root.join("data")] {
            std::fs::create_dir(path).unwrap();
        }
        let mut surroundings = Surroundings {
            workspace: workspace.clone(),
            home: Some(home.clone()),
            unreadable: vec![root.join("data")],
            ..Surroundings::default()
        };
        change(&mut surroundings);
        Self { _folder: folder, workspace, home, sandbox: Sandbox::new(surroundings) }
    }

    fn data(&self) -> PathBuf {
        self.workspace.with_file_name("data")
    }

    fn offer(&self) -> Offer {
        let mut commands = Commands::new(Some(guard()), self.data().join("guards"));
        commands.sandbox = Some(self.sandbox.clone());
        let mut registry = Registry::new();
        for tool in builtins(Arc::new(Workspace::open(&self.workspace).unwrap()), commands) {
            registry.add(tool).unwrap();
        }
        registry.offer(&[ToolSource::BuiltIn].into_iter().collect())
    }

    fn call(&self, arguments: &Value) -> Outcome {
        let offer = self.offer();
        let context = CallContext::apart(SessionId(uuid::Uuid::nil()));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            offer.run(&"local.run_command".into(), context, &Json::from(arguments), Duration::from_secs(60)).await
        })
    }

    fn run(&self, command: &str) -> Outcome {
        self.call(&json!({"command": command}))
    }

    fn file(&self, path: &str, text: &str) -> PathBuf {
        let path = self.workspace.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }
}

/// What a command that ended by itself answers.
fn ended(exit: CommandExit, text: &str) -> Outcome {
    Outcome { exit: Some(exit), ..Outcome::ok(text) }
}

// proves X3
fn a_command_writes_in_the_workspace_and_nowhere_else() {
    let room = Room::new();
    let outcome = room.run("echo in > a && mkdir -p b/c && mv a b/c/d && echo t > /tmp/t && cat b/c/d /tmp/t");
    assert_eq!(outcome, ended(CommandExit::Code(0), "in\nt\n[exit code 0]"));
    assert_eq!(std::fs::read_to_string(room.workspace.join("b/c/d")).unwrap(), "in\n");
    assert!(!Path::new("/tmp/t").exists());
    let outside = room.home.join("x");
    let outcome = room.run(&format!("echo out > {}", outside.display()));
    assert!(outcome.text.contains("\"sandbox\": \"off\""), "{}", outcome.text);
    assert!(!outside.exists());
    for line in ["touch /etc/x", "touch $HOME/x", "touch /var/tmp/x", "rm -f /etc/hostname", "touch /dev/x"] {
        let outcome = room.run(line);
        assert_ne!(outcome.exit, Some(CommandExit::Code(0)), "{line}: {}", outcome.text);
    }
}

// proves T7, X3
fn a_command_ends_as_it_would_outside() {
    let room = Room::new();
    assert_eq!(room.run("exit 3"), ended(CommandExit::Code(3), "[no output; exit code 3]"));
    assert_eq!(room.run("kill -9 $$"), ended(CommandExit::Signal(9), "[no output; ended by signal 9]"));
    assert_eq!(room.run("kill -TERM $$"), ended(CommandExit::Signal(15), "[no output; ended by signal 15]"));
    let here = room.workspace.display();
    assert_eq!(room.run("pwd; cat").text, format!("{here}\n[exit code 0]"));
}
