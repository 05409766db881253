//! Commands in the sandbox that try to escape from it (X3). This program is its own guard: started with
//! `guard` it is the guard process; otherwise it runs the tests. If the kernel lacks a feature that a test needs, the
//! test is ignored and the reason printed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[macro_use]
mod trials;
mod planted;

use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::{Duration, Instant};

use libtest_mimic::Arguments;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_util::sync::CancellationToken;
use windlass_sandbox::{Isolation, SandboxMode, SandboxSupport, Surroundings};
use windlass_tools::guard::{ChildEnd, GuardedChild, GuardedProgram, wait_for_survivors};
use windlass_tools::{CallContext, Commands, GuardProgram, Offer, Permissions, Registry, Sandbox, Workspace, builtins};
use windlass_vocab::{CommandExit, Json, Outcome, OutcomeKind, Remedy, SessionId, ToolSource};

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("guard") => windlass_tools::guard::run(),
        Some(_) | None => {
            let planted = planted::trials().into_iter().chain(planted::cleared_up::trials());
            let planted = planted.chain(planted::led_elsewhere::trials()).chain(planted::at_once::trials());
            let trials = trials().into_iter().chain(planted);
            libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
        }
    }
}

trials! {
    a_command_writes_in_the_workspace_and_nowhere_else,
    a_command_ends_as_it_would_outside,
    what_is_protected_is_not_changed_moved_away_or_made(needs_namespaces),
    what_rules_forbid_to_file_tools_is_closed_to_commands(needs_namespaces),
    what_rules_spell_out_is_closed_wherever_it_is_and_where_nothing_is_yet(needs_namespaces),
    what_leads_a_bare_repository_is_not_changed(needs_namespaces),
    nothing_of_what_is_outside_changes_its_mode_or_owner(needs_namespaces),
    secrets_are_not_read,
    the_machine_and_its_sockets_are_not_reached_and_loopback_works(needs_python),
    other_processes_are_not_seen_read_traced_or_ended,
    nothing_outlives_its_command_though_its_guard_is_killed(needs_namespaces),
    a_file_is_not_made_to_run_as_its_owner,
    the_kernel_is_not_asked_for_what_leads_out,
    a_read_only_sandbox_writes_to_its_own_folder_only,
    a_stopped_command_has_time_to_end_by_itself,
    temporary_folders_are_removed_and_those_of_killed_guards_too,
    a_program_that_is_talked_to_is_held_too,
    bubblewrap_holds_as_well(needs_bubblewrap),
    landlock_alone_holds_what_it_can(needs_landlock),
    what_is_in_tmp_is_seen_where_it_is_the_workspace,
    a_home_folder_in_tmp_is_seen_without_its_secrets(needs_namespaces),
    a_command_is_not_run_where_the_sandbox_could_not_be_tried,
    a_machine_that_could_not_be_tried_is_tried_again,
    a_repository_is_committed_to(needs_git),
    cargo_builds_and_tests_with_a_warm_cache(needs_cargo),
    npm_tests(needs_npm),
    pytest_tests(needs_pytest),
}

fn guard() -> GuardProgram {
    GuardProgram { program: std::env::current_exe().unwrap(), args: vec!["guard".into()] }
}

fn support() -> &'static SandboxSupport {
    static SUPPORT: std::sync::OnceLock<SandboxSupport> = std::sync::OnceLock::new();
    SUPPORT.get_or_init(|| windlass_tools::guard::probe_support(&guard()))
}

/// Returns why tests of namespaces can't run, if they can't.
fn needs_namespaces() -> Option<String> {
    (!has_namespaces()).then(|| format!("this kernel gives no namespaces: {:?}", support().why))
}

fn has_namespaces() -> bool {
    support().isolation == Isolation::Namespaces
}

fn needs_landlock() -> Option<String> {
    (support().landlock == 0).then(|| "this kernel has no Landlock".to_owned())
}

fn needs_bubblewrap() -> Option<String> {
    let lack = installed_bubblewrap().is_none().then(|| "bubblewrap is not installed".to_owned());
    lack.or_else(needs_namespaces)
}

fn installed_bubblewrap() -> Option<PathBuf> {
    windlass_sandbox::BUBBLEWRAP_PATHS.iter().map(PathBuf::from).find(|path| path.is_file())
}

fn needs_git() -> Option<String> {
    (!has("git")).then(|| "git is not installed".to_owned())
}

fn needs_python() -> Option<String> {
    (!has("python3")).then(|| "python3 is not installed".to_owned())
}

fn needs_npm() -> Option<String> {
    (!has("npm")).then(|| "npm is not installed".to_owned())
}

fn needs_pytest() -> Option<String> {
    let pytest = Command::new("python3").args(["-m", "pytest", "--version"]).output();
    (!pytest.is_ok_and(|output| output.status.success())).then(|| "pytest is not installed".to_owned())
}

fn needs_cargo() -> Option<String> {
    (!has("cargo")).then(|| "cargo is not installed".to_owned())
}

/// A workspace and a home folder, outside the temporary folder, which commands don't see.
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
        let deny = ["read_file(**/denied)", "write_file(fixed.txt)", "read(target/key)", "write(later/)"];
        let deny = deny.map(|rule| rule.parse().unwrap()).to_vec();
        let mut surroundings = Surroundings {
            workspace: workspace.clone(),
            home: Some(home.clone()),
            unreadable: vec![root.join("data")],
            ..Surroundings::default()
        };
        change(&mut surroundings);
        let permissions = Arc::new(Permissions { deny, ..Permissions::default() });
        Self { _folder: folder, workspace, home, sandbox: Sandbox::new(surroundings, permissions) }
    }

    /// The same room with this isolation.
    fn behind(self, isolation: Isolation) -> Self {
        let sandbox = self.sandbox.with_support(SandboxSupport { isolation, ..support().clone() });
        Self { sandbox, ..self }
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
        self.call_in(SessionId(uuid::Uuid::nil()), arguments)
    }

    fn call_in(&self, session: SessionId, arguments: &Value) -> Outcome {
        let offer = self.offer();
        let context = CallContext::detached(session);
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

/// The outcome of a command that ended by itself.
fn ended(exit: CommandExit, text: &str) -> Outcome {
    Outcome { exit: Some(exit), ..Outcome::ok(text) }
}

// proves X3
fn a_command_writes_in_the_workspace_and_nowhere_else() {
    let room = Room::new();
    let private = format!("/tmp/windlass-test-{}", std::process::id());
    let line = format!("echo in > a && mkdir -p b/c && mv a b/c/d && echo t > {private} && cat b/c/d {private}");
    let outcome = room.run(&line);
    assert_eq!(outcome, ended(CommandExit::Code(0), "in\nt\n[exit code 0]"));
    assert_eq!(std::fs::read_to_string(room.workspace.join("b/c/d")).unwrap(), "in\n");
    assert!(!Path::new(&private).exists());
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

/// Returns the output of `command`, with its exit note.
fn said(room: &Room, command: &str) -> String {
    room.run(command).text
}

// proves X3
fn what_is_protected_is_not_changed_moved_away_or_made() {
    let room = Room::new();
    for path in [".git/config", ".git/hooks/pre-commit.sample", "windlass.toml", "deep/er/.envrc", ".cargo/config.toml"]
    {
        room.file(path, "as it was");
    }
    for line in [
        "echo evil > .git/hooks/pre-commit",
        "mv .git/hooks/pre-commit.sample .git/hooks/pre-commit",
        "echo evil >> .git/config",
        "mv .git .was && mkdir .git && echo evil > .git/config",
        "rm -rf .git/hooks",
        "cp .git/config x && mv -f x .git/config",
        "ln -f x .git/config",
        "echo evil > windlass.toml",
        "rm -f windlass.toml",
        "echo x > y && mv y windlass.toml",
        "mv deep gone && mkdir -p deep/er && echo evil > deep/er/.envrc",
        "mv .cargo gone && mkdir .cargo && echo evil > .cargo/config.toml",
        "chmod +x .git/config",
        "truncate -s 0 windlass.toml",
        "git config core.fsmonitor evil 2>&1",
    ] {
        let outcome = room.run(line);
        assert_ne!(outcome.exit, Some(CommandExit::Code(0)), "{line}: {}", outcome.text);
    }
    for path in [".git/config", ".git/hooks/pre-commit.sample", "windlass.toml", "deep/er/.envrc", ".cargo/config.toml"]
    {
        assert_eq!(std::fs::read_to_string(room.workspace.join(path)).unwrap(), "as it was", "{path}");
    }
    for path in [
        ".envrc",
        ".mcp.json",
        ".git/commondir",
        ".vscode/tasks.json",
        ".github/workflows/x.yml",
        ".mvn/jvm.config",
        "lefthook.yaml",
        ".gradle/init.d/x",
        "Jenkinsfile",
    ] {
        let text = said(&room, &format!("mkdir -p $(dirname {path}) && echo evil > {path}"));
        assert!(text.contains("[Set aside as "), "{path}: {text}");
        assert!(!room.workspace.join(path).exists(), "{path}");
    }
    assert!(room.workspace.join(".github").is_dir());
    // If a parent folder is a symlink, the symlink itself is set aside, not its target.
    std::fs::remove_dir_all(room.workspace.join(".github")).unwrap();
    std::fs::create_dir(room.home.join("workflows")).unwrap();
    let text = said(&room, &format!("ln -s {} .github", room.home.display()));
    assert!(text.contains(".github.set-aside") && room.home.join("workflows").is_dir(), "{text}");
    let text = said(&room, &format!("ln -s {} .vscode && echo done", room.home.display()));
    assert!(text.contains("[Set aside as ") && room.home.is_dir(), "{text}");
}

// proves X3
fn what_rules_forbid_to_file_tools_is_closed_to_commands() {
    let room = Room::new();
    room.file("a/denied", "a-secret");
    room.file("fixed.txt", "as it was");
    let text =
        said(&room, "cat a/denied; cp a/denied b; cat b; mv a c; cat c/denied; echo x > fixed.txt; cat fixed.txt");
    assert!(!text.contains("a-secret") && text.contains("as it was"), "{text}");
    assert_eq!(std::fs::read_to_string(room.workspace.join("fixed.txt")).unwrap(), "as it was");
}

// proves X3
fn what_rules_spell_out_is_closed_wherever_it_is_and_where_nothing_is_yet() {
    let room = Room::new();
    room.file("target/key", "a-secret");
    let text = said(&room, "cat target/key; cp target/key x; mv target y; cat x y/key");
    assert!(!text.contains("a-secret"), "{text}");
    let text = said(&room, "mkdir later && echo x > later/x");
    assert!(text.contains("later.set-aside") && !room.workspace.join("later").exists(), "{text}");
}

// proves X3
fn what_leads_a_bare_repository_is_not_changed() {
    let room = Room::new();
    for path in ["store/HEAD", "store/config", "store/objects/x", "store/refs/x", "store/hooks/x"] {
        room.file(path, "as it was");
    }
    for line in ["echo evil >> store/config", "echo evil > store/hooks/post-update", "mv store/hooks was"] {
        assert_ne!(room.run(line).exit, Some(CommandExit::Code(0)), "{line}");
    }
    assert_eq!(room.run("echo x > store/objects/y").exit, Some(CommandExit::Code(0)));
}

// proves X3
fn nothing_of_what_is_outside_changes_its_mode_or_owner() {
    let room = Room::new();
    let file = room.home.join("notes");
    std::fs::write(&file, "x").unwrap();
    for what in ["chmod 777", "touch -d 2001-01-01", "chown 1:1", "truncate -s 0", "rm -f", "ln -sf /etc/passwd"] {
        let outcome = room.run(&format!("{what} {}", file.display()));
        assert_ne!(outcome.exit, Some(CommandExit::Code(0)), "{what}: {}", outcome.text);
    }
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o644);
}

// proves X3
fn secrets_are_not_read() {
    let key = "private-key-of-nobody";
    let room = Room::with(|surroundings| {
        let home = surroundings.home.clone().unwrap();
        for path in [".ssh/id_ed25519", ".aws/credentials", ".netrc", "mine/list"] {
            std::fs::create_dir_all(home.join(path).parent().unwrap()).unwrap();
            std::fs::write(home.join(path), key).unwrap();
        }
        surroundings.unreadable.push(home.join("mine"));
    });
    std::fs::write(room.data().join("journal"), key).unwrap();
    let home = room.home.display();
    for path in [".ssh/id_ed25519", ".aws/credentials", ".netrc", "mine/list"] {
        let text = said(&room, &format!("cat {home}/{path}; cat /proc/1/root/{home}/{path}; ls -la {home}/{path}"));
        assert!(!text.contains(key), "{path}: {text}");
    }
    assert!(!said(&room, "cat ../data/journal; ls ../data/*; grep -r key ../data ../home").contains(key));
    assert!(
        !said(&room, &format!("cp {home}/.netrc x; cat x; ln {home}/.netrc y; cat y; mv {home}/.ssh z")).contains(key)
    );
    assert_eq!(std::fs::read_to_string(room.home.join(".ssh/id_ed25519")).unwrap(), key);
}

// proves X3
fn the_machine_and_its_sockets_are_not_reached_and_loopback_works() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let room = Room::new();
    let reach = |family: &str, address: &str| {
        format!("python3 -c \"import socket; socket.socket(socket.{family}).connect({address}); print('reached')\"")
    };
    let text = said(&room, &reach("AF_INET", &format!("('127.0.0.1', {port})")));
    assert!(!text.contains("reached"), "{text}");
    assert!(listener.accept().is_err(), "somebody reached the server");
    let text = said(&room, &reach("AF_INET", "('192.0.2.1', 80)"));
    assert!(text.contains("\"network\": true"), "{text}");
    if has_namespaces() {
        let abstract_name = format!("windlass-test-{}", std::process::id());
        let name = SocketAddr::from_abstract_name(abstract_name.as_bytes()).unwrap();
        let _held = UnixListener::bind_addr(&name).unwrap();
        let text = said(&room, &reach("AF_UNIX", &format!("'\\\\0{abstract_name}'")));
        assert!(!text.contains("reached"), "{text}");
        let own = "import socket; s = socket.create_server(('127.0.0.1', 0)); c = socket.create_connection(s.getsockname()); \
                   u = socket.socket(socket.AF_UNIX); u.bind('x'); print('talked')";
        assert_eq!(said(&room, &format!("python3 -c \"{own}\"")), "talked\n[exit code 0]");
        assert_eq!(said(&room, "ls /run | grep -v systemd; echo $SSH_AUTH_SOCK"), "\n[exit code 0]");
    }
    let text = said(&room, "python3 -c 'import socket; socket.socket(40, socket.SOCK_STREAM); print(1)'");
    assert!(!text.starts_with('1'), "a socket to the machine's host: {text}");
    let with = room.call(&json!({"command": reach("AF_INET", &format!("('127.0.0.1', {port})")), "network": true}));
    assert_eq!(with.text, "reached\n[exit code 0]");
}

/// Whether a program is installed; if not, prints that a test is skipped.
fn has(program: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output().unwrap().status.success();
    if !found {
        println!("skipped: {program} is not installed");
    }
    found
}

// proves X3
fn other_processes_are_not_seen_read_traced_or_ended() {
    let room = Room::new();
    let mut neighbour = Command::new("sleep").arg("600").env("NEIGHBOUR", "their-secret").spawn().unwrap();
    let (pid, ours) = (neighbour.id(), std::process::id());
    for line in [
        format!("kill -9 {pid}"),
        format!("kill -9 {ours}"),
        format!("cat /proc/{pid}/environ"),
        format!("cat /proc/{ours}/environ"),
        format!("ls -l /proc/{pid}/root/"),
        format!("head -c 1 /proc/{pid}/mem"),
        "cat /proc/$PPID/environ".to_owned(),
        "kill -9 -1; exit 1".to_owned(),
    ] {
        let text = said(&room, &line);
        assert!(!text.contains("their-secret") && !text.contains("CARGO"), "{line}: {text}");
        assert!(!text.contains("exit code 0"), "{line}: {text}");
    }
    if has_namespaces() {
        assert_eq!(said(&room, "echo $PPID; ls -d /proc/[0-9]* | wc -l | awk '{print $1 < 6}'"), "1\n1\n[exit code 0]");
    }
    if has("python3") {
        let trace = format!("import ctypes; print(ctypes.CDLL(None).ptrace(16, {pid}, 0, 0))");
        assert_eq!(said(&room, &format!("python3 -c '{trace}'")), "-1\n[exit code 0]");
    }
    assert!(neighbour.try_wait().unwrap().is_none(), "it was ended");
    neighbour.kill().unwrap();
    neighbour.wait().unwrap();
}

/// Returns the processes whose command line contains `mark`.
fn marked(mark: &str) -> Vec<String> {
    let lines = std::fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        Some((entry.file_name().into_string().ok()?, String::from_utf8_lossy(&line).into_owned()))
    });
    let own = std::process::id().to_string();
    lines.filter(|(pid, line)| *pid != own && line.contains(mark)).map(|(pid, _)| pid).collect()
}

/// Waits for an expected condition.
fn until(what: &str, mut there: impl FnMut() -> bool) {
    let patience = Instant::now() + Duration::from_secs(20);
    while !there() {
        assert!(Instant::now() < patience, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

// proves X3, T7
fn nothing_outlives_its_command_though_its_guard_is_killed() {
    let room = Room::new();
    let outcome =
        room.run("setsid sh -c ': outlives-1; sleep 600' & sh -c '(setsid nohup sleep 601 &)'; sleep 0.05; echo on");
    assert_eq!(outcome.text, "on\n[exit code 0]");
    assert_eq!((marked("outlives-1"), marked("sleep\x00601")), (Vec::new(), Vec::new()));
    let offer = room.offer();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let command = json!({"command": "setsid sh -c ': outlives-2; touch there; sleep 600' & wait"});
    let lock = room.data().join("guards");
    let outcome = runtime.block_on(async {
        let context = CallContext::detached(SessionId(uuid::Uuid::nil()));
        let running = offer.run(&"local.run_command".into(), context, &Json::from(&command), Duration::from_secs(60));
        let killing = async {
            while !room.workspace.join("there").exists() {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            let lock =
                std::fs::read_dir(&lock).unwrap().flatten().find(|file| file.path().extension().unwrap() == "lock");
            let guard = std::fs::read_to_string(lock.unwrap().path()).unwrap();
            assert!(Command::new("kill").args(["-9", guard.trim()]).status().unwrap().success());
        };
        tokio::join!(running, killing).0
    });
    assert_eq!(outcome.kind, OutcomeKind::InfrastructureError);
    until("the end of all it started", || marked("outlives-2").is_empty());
}

// proves X3
fn a_file_is_not_made_to_run_as_its_owner() {
    let room = Room::new();
    for line in [
        "cp /bin/true x && chmod u+s x",
        "cp /bin/true x && chmod 4755 x",
        "install -m 4755 /bin/true y",
        "python3 -c \"import os; os.open('z', os.O_CREAT | os.O_WRONLY, 0o4755)\"",
    ] {
        let outcome = room.run(line);
        assert_ne!(outcome.exit, Some(CommandExit::Code(0)), "{line}: {}", outcome.text);
    }
    for name in ["x", "y", "z"] {
        let mode = std::fs::metadata(room.workspace.join(name)).map_or(0, |found| found.permissions().mode());
        assert_eq!(mode & 0o4000, 0, "{name} {mode:o}");
    }
    assert!(said(&room, "grep NoNewPrivs /proc/self/status").contains('1'));
}

// proves X3
fn the_kernel_is_not_asked_for_what_leads_out() {
    let room = Room::new();
    for line in [
        "mount -t tmpfs none /mnt",
        "umount /tmp",
        "umount -l .",
        "unshare -Ur true",
        "unshare -m true",
        "nsenter -t 1 -m true",
        "mknod x b 8 0",
        "echo x > /proc/sys/kernel/core_pattern",
        "echo x > /sys/kernel/uevent_helper",
        "chroot / true",
        "dmesg",
        "hostname other",
        "date -s 2001-01-01",
        "cat /dev/mem",
        "ls /dev/vda /dev/sda /dev/kvm 2>/dev/null",
    ] {
        let outcome = room.run(line);
        assert_ne!(outcome.exit, Some(CommandExit::Code(0)), "{line}: {}", outcome.text);
    }
    if has("python3") {
        for (name, number) in [("keyctl", 250), ("bpf", 321), ("perf_event_open", 298), ("io_uring_setup", 425)] {
            if cfg!(target_arch = "x86_64") {
                let line = format!(
                    "python3 -c \"import ctypes; l = ctypes.CDLL(None, use_errno=True); l.syscall({number}, 0, 0, 0, 0, 0); print(ctypes.get_errno())\""
                );
                assert_eq!(said(&room, &line), "1\n[exit code 0]", "{name}");
            }
        }
    }
}

// proves X3
fn a_read_only_sandbox_writes_to_its_own_folder_only() {
    let room = Room::with(|surroundings| surroundings.mode = SandboxMode::ReadOnly);
    room.file("a", "text");
    let text = said(&room, "cat a; echo x > $TMPDIR/x && cat $TMPDIR/x; echo y > a; echo z > b");
    assert!(text.starts_with("textx\n") && text.contains("[exit code 2]"), "{text}");
    assert_eq!(std::fs::read_to_string(room.workspace.join("a")).unwrap(), "text");
    assert!(!room.workspace.join("b").exists());
}

// proves X3, L8
fn a_stopped_command_has_time_to_end_by_itself() {
    let room = Room::new();
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let progress = Arc::new(move |text: &str| {
        if text.contains("begun") {
            stop.cancel();
        }
    });
    let context = CallContext { cancel, progress, ..CallContext::detached(SessionId(uuid::Uuid::nil())) };
    let command = json!({"command": "sh -c 'trap \"echo heard; exit\" TERM; echo begun; while :; do :; done' & wait"});
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let offer = room.offer();
    let outcome = runtime.block_on(async {
        offer.run(&"local.run_command".into(), context, &Json::from(&command), Duration::from_secs(60)).await
    });
    assert_eq!(outcome.text, "begun\nheard\n[stopped: it and all it started was killed]");
}

// proves X3, J4
fn temporary_folders_are_removed_and_those_of_killed_guards_too() {
    let room = Room::new();
    let guards = room.data().join("guards");
    room.run("mkdir -p $TMPDIR/a/b; touch $TMPDIR/a/b/c");
    assert_eq!(std::fs::read_dir(&guards).unwrap().count(), 0);
    let session = SessionId(uuid::Uuid::nil());
    std::fs::write(guards.join(format!("{session}.1.1.0.lock")), "1").unwrap();
    std::fs::create_dir_all(guards.join(format!("{session}.1.1.0.tmp/a"))).unwrap();
    wait_for_survivors(&guards, session, Duration::from_secs(5)).unwrap();
    assert_eq!(std::fs::read_dir(&guards).unwrap().count(), 0);
}

// proves X3, P3
fn a_program_that_is_talked_to_is_held_too() {
    let room = Room::new();
    let script = "while read -r line; do echo \"heard $line\"; done; touch ../home/x; touch y; exit 3";
    let program = GuardedProgram {
        program: "sh".into(),
        args: vec!["-c".into(), script.into()],
        directory: room.workspace.clone(),
        environment: Vec::new(),
        scrubbed: std::collections::BTreeSet::new(),
        stop_grace: Duration::from_millis(50),
        confinement: room.sandbox.program_confinement(&guard(), windlass_sandbox::Network::Off).unwrap(),
    };
    assert!(program.confinement.is_some() || !support().enforces_anything());
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        let mut child = GuardedChild::start(&guard(), &program).await.unwrap();
        child.input.write_all(b"one\ntwo\n").await.unwrap();
        drop(child.input);
        let mut said = String::new();
        child.output.read_to_string(&mut said).await.unwrap();
        assert_eq!((said.as_str(), child.life.ended().await), ("heard one\nheard two\n", ChildEnd::Exited(3)));
    });
    assert!(room.workspace.join("y").exists() && !room.home.join("x").exists());
}

// proves X3
fn bubblewrap_holds_as_well() {
    let room = Room::new().behind(Isolation::Bubblewrap(installed_bubblewrap().unwrap()));
    room.file("windlass.toml", "as it was");
    room.file("a/.envrc", "as it was");
    room.file(".git/config", "as it was");
    room.file(".git/hooks/pre-commit.sample", "as it was");
    std::fs::write(room.data().join("journal"), "a-secret").unwrap();
    assert_eq!(room.run("echo x > a/b; cat a/b; echo $PPID; exit 3").text, "x\n1\n[exit code 3]");
    assert_eq!(room.run("kill -9 $$").exit, Some(CommandExit::Signal(9)));
    for line in [
        "echo x > windlass.toml",
        "echo x > .git/config",
        "echo x > .git/hooks/pre-commit",
        "mv a b",
        "echo x > ../home/y",
        "cat ../data/journal",
        "touch /etc/x",
        "mount -t tmpfs x /mnt",
    ] {
        let outcome = room.run(line);
        assert!(
            outcome.exit != Some(CommandExit::Code(0)) && !outcome.text.contains("a-secret"),
            "{line}: {}",
            outcome.text
        );
    }
    assert!(said(&room, "echo x > .envrc").contains("[Set aside as "));
}

// proves X3
fn landlock_alone_holds_what_it_can() {
    let room = Room::new().behind(Isolation::Landlock);
    std::fs::create_dir(room.home.join(".ssh")).unwrap();
    std::fs::write(room.home.join(".ssh/key"), "a-secret").unwrap();
    let text = said(&room, "echo x > a; cat a; echo y > $TMPDIR/y; cat $TMPDIR/y; ls /usr/bin/env; exit 4");
    assert!(text.starts_with("x\ny\n/usr/bin/env\n[exit code 4]"), "{text}");
    for line in ["echo x > ../home/y", "cat ../home/.ssh/key", "touch /tmp/x-of-sandbox", "kill -9 $PPID; kill -9 1"] {
        let outcome = room.run(line);
        assert!(
            outcome.exit != Some(CommandExit::Code(0)) && !outcome.text.contains("a-secret"),
            "{line}: {}",
            outcome.text
        );
    }
    if has("python3") {
        assert_ne!(room.run("python3 -c 'import socket; socket.socket()'").exit, Some(CommandExit::Code(0)));
    }
}

// proves X3
fn what_is_in_tmp_is_seen_where_it_is_the_workspace() {
    let folder = tempfile::Builder::new().prefix("sandbox").tempdir_in("/tmp").unwrap();
    let workspace = folder.path().canonicalize().unwrap();
    std::fs::write(folder.path().join("AGENTS.md"), "as it was").unwrap();
    let mut room = Room::with(|surroundings| surroundings.workspace = workspace.clone());
    room.workspace = workspace.clone();
    let outcome = room.run("cat AGENTS.md; echo x > made; ls -A /tmp | wc -l; echo y > AGENTS.md");
    assert!(outcome.text.starts_with("as it was1\n"), "{}", outcome.text);
    assert_eq!(outcome.exit, Some(CommandExit::Code(2)));
    assert_eq!(std::fs::read_to_string(workspace.join("made")).unwrap(), "x\n");
}

/// A room with the person's own home folder.
fn at_home() -> Room {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    Room::with(|surroundings| surroundings.home = home)
}

/// The same with another workspace.
fn at_home_in(workspace: &Path) -> Room {
    let (home, workspace) = (std::env::var_os("HOME").map(PathBuf::from), workspace.to_owned());
    Room::with(|surroundings| (surroundings.home, surroundings.workspace) = (home, workspace))
}

fn must(room: &Room, line: &str) -> String {
    let outcome = room.run(line);
    assert_eq!(outcome.exit, Some(CommandExit::Code(0)), "{line}: {}", outcome.text);
    outcome.text
}

// proves X3
fn a_home_folder_in_tmp_is_seen_without_its_secrets() {
    let home = tempfile::tempdir_in("/tmp").unwrap();
    let path = home.path().canonicalize().unwrap();
    std::fs::write(path.join("notes"), "for-all").unwrap();
    std::fs::write(path.join(".netrc"), "a-secret").unwrap();
    let room = Room::with(|surroundings| surroundings.home = Some(path.clone()));
    let text = said(&room, &format!("cd {}; cat notes .netrc; echo x > notes; ls -A /tmp | wc -l", path.display()));
    assert!(text.contains("for-all") && !text.contains("a-secret") && text.contains("\n1\n"), "{text}");
    assert_eq!(std::fs::read_to_string(path.join("notes")).unwrap(), "for-all");
}

// proves X3: if probing the kernel fails for another reason, commands must not run unconfined
fn a_command_is_not_run_where_the_sandbox_could_not_be_tried() {
    let broken = GuardProgram { program: PathBuf::from("/bin/false"), args: Vec::new() };
    let support = windlass_tools::guard::probe_support(&broken);
    assert!(support.failure.is_some() && !support.enforces_anything(), "{support:?}");
    let mut room = Room::new();
    room.sandbox = room.sandbox.with_support(support);
    let outcome = room.run("touch made");
    assert_eq!((outcome.kind, &outcome.remedy), (OutcomeKind::InfrastructureError, &Some(Remedy::MendSandbox)));
    assert!(outcome.text.starts_with("The command was not run: ") && !outcome.text.contains("--"), "{outcome:?}");
    assert!(!room.workspace.join("made").exists());
}

// proves X3: a temporary failure is neither taken for missing support nor cached
fn a_machine_that_could_not_be_tried_is_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let (mark, own) = (folder.path().join("mark"), std::env::current_exe().unwrap());
    let line = format!("test -e {0} && exec {1} guard; touch {0}; exit 1", mark.display(), own.display());
    let guard = GuardProgram { program: PathBuf::from("/bin/sh"), args: vec!["-c".into(), line] };
    let sandbox = Sandbox::new(Surroundings::default(), Arc::default());
    let first = sandbox.support(&guard);
    assert!(first.failure.is_some() && !first.enforces_anything(), "{first:?}");
    assert_eq!(sandbox.support(&guard), *support());
}

// proves X3
fn a_repository_is_committed_to() {
    let room = at_home();
    let git = |arguments: &[&str]| {
        let status = Command::new("git").args(arguments).current_dir(&room.workspace).output().unwrap().status;
        assert!(status.success(), "git {arguments:?}");
    };
    git(&["init", "-q"]);
    git(&["config", "user.email", "a@example.org"]);
    git(&["config", "user.name", "A"]);
    room.file("a", "one\n");
    must(&room, "git add a && git commit -qm one && echo two >> a && git status --short && git diff");
    let text = must(
        &room,
        "git commit -qam two && git log --oneline | wc -l && git branch x && git checkout -q x && git stash list && git gc -q",
    );
    assert!(text.starts_with("2\n"), "{text}");
    git(&["fsck"]);
    git(&["worktree", "add", "-q", "../linked", "-b", "y"]);
    let linked = room.workspace.with_file_name("linked");
    let mut other = at_home_in(&linked);
    other.workspace.clone_from(&linked);
    must(&other, "echo three > b && git add b && git commit -qm three && git status --short");
    for line in
        ["echo gitdir: evil > .git", "git config core.fsmonitor evil", "echo x > $(git rev-parse --git-dir)/commondir"]
    {
        assert_ne!(other.run(line).exit, Some(CommandExit::Code(0)), "{line}");
    }
}

// proves X3
fn cargo_builds_and_tests_with_a_warm_cache() {
    let room = at_home();
    let lock = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock")).unwrap();
    let memchr = lock.split("name = \"memchr\"\nversion = \"").nth(1).unwrap().split('"').next().unwrap();
    room.file("Cargo.toml", &format!("[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[dependencies]\nmemchr = \"={memchr}\"\n[workspace]\n"));
    room.file("src/lib.rs", "#[test]\nfn it_is_found() { assert_eq!(memchr::memchr(b'b', b\"abc\"), Some(1)); }\n");
    let locked =
        Command::new("cargo").args(["generate-lockfile", "--offline"]).current_dir(&room.workspace).output().unwrap();
    if !locked.status.success() {
        println!("skipped: the cache is cold: {}", String::from_utf8_lossy(&locked.stderr));
        return;
    }
    must(&room, "cargo build");
    assert!(must(&room, "cargo test 2>&1").contains("1 passed"));
}

// proves X3
fn npm_tests() {
    let room = at_home();
    room.file("package.json", r#"{"name": "small", "version": "1.0.0", "scripts": {"test": "node --test"}}"#);
    let test = "const http = require('http'); require('node:test')('talks to itself', async () => {\n\
                const s = http.createServer((_, r) => r.end('x')).listen(0); await new Promise(d => s.on('listening', d));\n\
                const r = await fetch('http://127.0.0.1:' + s.address().port); if (await r.text() !== 'x') throw 1; s.close(); });";
    room.file("a.test.js", test);
    must(&room, "npm test");
}

// proves X3
fn pytest_tests() {
    let room = at_home();
    room.file("test_a.py", "import tempfile\ndef test_a(tmp_path):\n    (tmp_path / 'x').write_text('y')\n    assert tempfile.gettempdir() == '/tmp'\n");
    assert!(must(&room, "python3 -m pytest -q").contains("1 passed"));
}
