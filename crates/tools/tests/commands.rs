//! Commands under the guard. This program is its own guard and its own victim: started with
//! `guard` it is the guard process, started with `victim` it is a Windlass that runs one command
//! and can be killed; otherwise it runs the tests.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[macro_use]
mod trials;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use libtest_mimic::Arguments;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _};
use tokio_util::sync::CancellationToken;
use windlass_tools::guard::{ChildEnd, GuardedChild, GuardedProgram, SurvivorsError, wait_for_survivors};
use windlass_tools::{BoxFuture, CallContext, Commands, GuardProgram, Offer, Registry, Secrets, Workspace, builtins};
use windlass_vocab::{CallId, CommandExit, Json, Outcome, OutcomeKind, SessionId, ToolSource};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("guard") => windlass_tools::guard::run(),
        Some("victim") => victim(Path::new(&arguments[2]), &arguments[3]),
        Some(_) | None => libtest_mimic::run(&Arguments::from_args(), trials()).exit_code(),
    }
}

trials! {
    a_command_answers_with_its_output_and_its_exit_code,
    a_command_has_no_input_no_terminal_and_no_secrets,
    what_whoever_started_windlass_left_open_is_not_the_commands,
    a_command_that_never_ends_is_stopped_at_its_limit,
    a_stop_ends_a_command_and_keeps_what_it_printed,
    a_flood_of_output_is_counted_and_then_stopped,
    what_runs_in_the_background_dies_with_the_command,
    a_command_whose_future_is_dropped_dies,
    a_signal_meant_for_windlass_does_not_end_its_guard,
    whoever_breeds_faster_than_it_is_counted_is_killed,
    nothing_survives_the_death_of_windlass,
    a_guard_whose_lock_was_cleared_away_starts_nothing,
    a_guard_whose_windlass_is_gone_starts_nothing,
    a_lock_that_is_held_is_waited_for_and_a_stale_one_removed,
    a_guard_that_can_not_do_its_work_is_an_infrastructure_error,
    a_command_that_kills_its_guard_dies_too,
    a_command_that_can_not_be_started_says_so,
    a_program_that_is_talked_to_reads_what_is_said_and_ends_with_its_input,
    a_program_that_will_not_end_is_ended_and_whoever_it_started_with_it,
}

fn session() -> SessionId {
    SessionId(uuid::Uuid::nil())
}

fn guard() -> Option<GuardProgram> {
    Some(GuardProgram { program: std::env::current_exe().unwrap(), args: vec!["guard".into()] })
}

fn commands(room: &Path) -> Commands {
    Commands::new(guard(), room.join("locks"))
}

fn offer(room: &Path, commands: Commands) -> Offer {
    let mut registry = Registry::new();
    for tool in builtins(Arc::new(Workspace::open(room).unwrap()), commands) {
        registry.add(tool).unwrap();
    }
    registry.offer(&[ToolSource::BuiltIn].into_iter().collect())
}

fn context(cancel: &CancellationToken, progress: Arc<dyn Fn(&str) + Send + Sync>) -> CallContext {
    CallContext { cancel: cancel.clone(), progress, ..CallContext::detached(session()) }
}

fn start(room: &Path, commands: Commands, arguments: &Value, context: CallContext) -> BoxFuture<'static, Outcome> {
    let offer = offer(room, commands);
    offer.run(&"local.run_command".into(), context, &Json::from(arguments), Duration::from_secs(60))
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn run_with(commands: Commands, room: &Path, arguments: &Value) -> Outcome {
    let context = context(&CancellationToken::new(), Arc::new(|_| {}));
    block_on(async { start(room, commands, arguments, context).await })
}

fn run(room: &Path, command: &str) -> Outcome {
    run_with(commands(room), room, &json!({"command": command}))
}

/// The outcome of a command that ended by itself.
fn ended(exit: CommandExit, text: &str) -> Outcome {
    Outcome { exit: Some(exit), ..Outcome::ok(text) }
}

fn room() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// Waits for an expected condition.
fn until(what: &str, mut there: impl FnMut() -> bool) {
    let patience = Instant::now() + Duration::from_secs(20);
    while !there() {
        assert!(Instant::now() < patience, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Returns the name of a variable that no other run of these tests uses.
fn mark(name: &str) -> String {
    format!("{name}_{}", std::process::id())
}

/// Processes that carry `mark` in their environment: a command's descendants inherit it.
fn marked(mark: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        if environment.windows(mark.len()).any(|window| window == mark.as_bytes()) {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            found.push(format!("{:?} {}", entry.file_name(), String::from_utf8_lossy(&line)));
        }
    }
    found
}

/// Returns a line that starts processes that are hard to kill, each of which creates a file when it runs, and waits for
/// ever.
fn hydra(mark: &str) -> String {
    let head = |name: &str| format!("{mark}=1 sh -c 'touch {name}; while :; do sleep 60; done'");
    [
        format!("{} &", head("plain")),
        format!("setsid {} &", head("session").replacen(&format!("{mark}=1 "), &format!("env {mark}=1 "), 1)),
        format!("(nohup env {} >/dev/null 2>&1 &)", head("nohup")),
        format!("setsid sh -c \"(setsid env {} &) ; exit\" &", head("doubled")),
        format!("{mark}=1 sh -c 'trap \"\" TERM INT HUP; touch stubborn; while :; do sleep 60; done' &"),
        "wait".into(),
    ]
    .join("\n")
}

const HEADS: [&str; 5] = ["plain", "session", "nohup", "doubled", "stubborn"];

fn until_hydra_lives(room: &Path) {
    until("all heads", || HEADS.iter().all(|head| room.join(head).exists()));
}

// proves T7
fn a_command_answers_with_its_output_and_its_exit_code() {
    let room = room();
    let ok = |text: &str| ended(CommandExit::Code(0), text);
    assert_eq!(run(room.path(), "echo out; echo err >&2; echo more"), ok("out\nerr\nmore\n[exit code 0]"));
    assert_eq!(run(room.path(), "printf x; exit 3"), ended(CommandExit::Code(3), "x\n[exit code 3]"));
    assert_eq!(run(room.path(), "true"), ok("[no output; exit code 0]"));
    assert_eq!(run(room.path(), "kill -9 $$"), ended(CommandExit::Signal(9), "[no output; ended by signal 9]"));
    assert_eq!(run(room.path(), r"printf 'a\377b'"), ok("a\u{fffd}b\n[exit code 0]"));
    let here = room.path().canonicalize().unwrap();
    assert_eq!(run(room.path(), "pwd"), ok(&format!("{}\n[exit code 0]", here.display())));
    let effect = CallId::default().effect_id(session());
    assert_eq!(run(room.path(), "echo $WINDLASS_EFFECT_ID"), ok(&format!("{effect}\n[exit code 0]")));
    assert!(std::fs::read_dir(room.path().join("locks")).unwrap().next().is_none(), "a lock file is left");
}

// proves X3: an inherited file descriptor bypasses every isolation
fn what_whoever_started_windlass_left_open_is_not_the_commands() {
    let room = room();
    let file = std::fs::File::create(room.path().join("left-open")).unwrap();
    // A duplicate that child processes inherit.
    let inherited = rustix::io::dup(&file).unwrap();
    let listed = run(room.path(), "ls -l /proc/self/fd").text;
    assert!(listed.contains("/dev/null") && !listed.contains("left-open"), "{listed}");
    drop(inherited);
}

// proves X1
fn a_command_has_no_input_no_terminal_and_no_secrets() {
    let room = room();
    assert_eq!(run(room.path(), "cat; exec 2>/dev/null; true </dev/tty || echo none").text, "none\n[exit code 0]");
    let mut commands = commands(room.path());
    // One secret is recognized by its name, the other by its value.
    let held = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    commands.secrets = Secrets::new([("PATH", "unlike its value"), ("api_key", held.as_str())]);
    let look = "/usr/bin/env; /usr/bin/tr '\\0' '\\n' </proc/$PPID/environ";
    let outcome = run_with(commands, room.path(), &json!({"command": look}));
    assert!(!outcome.text.lines().any(|line| line.starts_with("PATH=")), "{}", outcome.text);
    assert!(!outcome.text.contains(&held), "a variable with a secret in it was inherited");
    assert!(outcome.text.contains("WINDLASS_EFFECT_ID="), "{}", outcome.text);
}

// proves T7
fn a_command_that_never_ends_is_stopped_at_its_limit() {
    let room = room();
    let mut commands = commands(room.path());
    commands.timeout_ceiling = Duration::from_millis(300);
    let command = "trap '' TERM; echo begun; while :; do sleep 60; done";
    let outcome = run_with(commands, room.path(), &json!({"command": command, "timeout_seconds": 1000}));
    assert_eq!(outcome.kind, OutcomeKind::TimedOut);
    assert!(outcome.text.starts_with("begun\n[not done within 0 s"), "{}", outcome.text);
    assert_eq!(outcome.exit, Some(CommandExit::Signal(9)));
}

// proves L8
fn a_stop_ends_a_command_and_keeps_what_it_printed() {
    let room = room();
    let cancel = CancellationToken::new();
    let seen = Arc::new(Mutex::new(String::new()));
    let progress = {
        let (cancel, seen) = (cancel.clone(), Arc::clone(&seen));
        Arc::new(move |text: &str| {
            seen.lock().unwrap().push_str(text);
            if seen.lock().unwrap().contains("begun") {
                cancel.cancel();
            }
        })
    };
    let context = context(&cancel, progress);
    let command = json!({"command": "trap 'echo heard; exit' TERM; echo begun; while :; do :; done"});
    let outcome = block_on(async { start(room.path(), commands(room.path()), &command, context).await });
    assert_eq!(outcome.kind, OutcomeKind::Cancelled);
    assert_eq!(outcome.text, "begun\nheard\n[stopped: it and all it started was killed]");
    assert_eq!(*seen.lock().unwrap(), "begun\nheard\n");
}

// proves T7
fn a_flood_of_output_is_counted_and_then_stopped() {
    let room = room();
    let mut commands = commands(room.path());
    commands.output_kept = 1000;
    let outcome = run_with(
        commands.clone(),
        room.path(),
        &json!({"command": "head -c 3000000 /dev/zero | tr '\\0' x; echo end"}),
    );
    assert_eq!(outcome.kind, OutcomeKind::Ok);
    assert!(outcome.text.contains("[2,999,004 bytes of output left out here]"), "{}", outcome.text);
    assert!(outcome.text.ends_with("xend\n[exit code 0]"), "{}", outcome.text);
    commands.output_ceiling = 10_000_000;
    let outcome = run_with(commands, room.path(), &json!({"command": "yes"}));
    assert_eq!(outcome.kind, OutcomeKind::ToolError);
    assert!(outcome.text.contains("make it print less") && outcome.text.len() < 2000, "{}", outcome.text);
}

// proves T7
fn what_runs_in_the_background_dies_with_the_command() {
    let room = room();
    let line = hydra(&mark("WINDLASS_TEST_BACKGROUND"));
    let waiting: Vec<String> = HEADS.iter().map(|head| format!("until [ -e {head} ]; do sleep 0.01; done")).collect();
    let outcome = run(room.path(), &format!("{}\n{}", line.trim_end_matches("wait"), waiting.join("\n")));
    assert_eq!(outcome, ended(CommandExit::Code(0), "[no output; exit code 0]"));
    assert_eq!(marked(&mark("WINDLASS_TEST_BACKGROUND")), Vec::<String>::new());
}

// proves T7
fn a_command_whose_future_is_dropped_dies() {
    let room = room();
    let line = hydra(&mark("WINDLASS_TEST_DROPPED"));
    let context = context(&CancellationToken::new(), Arc::new(|_| {}));
    block_on(async {
        let command = json!({"command": line});
        let running = start(room.path(), commands(room.path()), &command, context);
        tokio::select! {
            outcome = running => panic!("{outcome:?}"),
            () = async {
                while !HEADS.iter().all(|head| room.path().join(head).exists()) {
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
            } => {}
        }
    });
    wait_for_survivors(&room.path().join("locks"), session(), Duration::from_secs(20)).unwrap();
    assert_eq!(marked(&mark("WINDLASS_TEST_DROPPED")), Vec::<String>::new());
}

/// Acts as a Windlass that runs one command and prints its result.
fn victim(room: &Path, command: &str) -> ExitCode {
    println!("{}", run(room, command).text);
    ExitCode::SUCCESS
}

// proves T7
fn a_signal_meant_for_windlass_does_not_end_its_guard() {
    let room = room();
    for signal in ["HUP", "INT", "QUIT", "TERM"] {
        let outcome = run(room.path(), &format!("kill -{signal} $PPID; echo on"));
        assert_eq!(outcome, ended(CommandExit::Code(0), "on\n[exit code 0]"), "{signal}");
    }
    assert_eq!(run(room.path(), "cat /proc/$PPID/comm").text, "command-guard\n[exit code 0]");
    assert_eq!(run(room.path(), "kill -TERM $$").text, "[no output; ended by signal 15]");
}

// proves T7
fn whoever_breeds_faster_than_it_is_counted_is_killed() {
    let room = room();
    let mut commands = commands(room.path());
    commands.timeout_ceiling = Duration::from_millis(200);
    let line = format!("while :; do ({}=1 setsid sleep 60 &); done", mark("WINDLASS_TEST_BRED"));
    let outcome =
        run_with(commands, room.path(), &json!({"command": format!("trap '' TERM; {line}"), "timeout_seconds": 9}));
    assert_eq!(outcome.kind, OutcomeKind::TimedOut, "{}", outcome.text);
    assert!(outcome.text.contains("all it started was killed"), "{}", outcome.text);
    assert_eq!(marked(&mark("WINDLASS_TEST_BRED")), Vec::<String>::new());
}

// proves T7, J4
fn nothing_survives_the_death_of_windlass() {
    let room = room();
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["victim", &room.path().display().to_string(), &hydra(&mark("WINDLASS_TEST_KILLED"))])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    until_hydra_lives(room.path());
    assert!(marked(&mark("WINDLASS_TEST_KILLED")).len() >= HEADS.len());
    // SIGKILL: the process can't clean up.
    victim.kill().unwrap();
    victim.wait().unwrap();
    wait_for_survivors(&room.path().join("locks"), session(), Duration::from_secs(20)).unwrap();
    assert_eq!(marked(&mark("WINDLASS_TEST_KILLED")), Vec::<String>::new());
    assert_eq!(wait_for_survivors(&room.path().join("locks"), session(), Duration::ZERO).unwrap(), 0);
}

/// Starts a guard by hand; returns its lifeline and its process.
fn start_guard() -> (UnixStream, std::process::Child) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let guard = Command::new(std::env::current_exe().unwrap())
        .arg("guard")
        .stdin(std::os::fd::OwnedFd::from(theirs))
        .spawn()
        .unwrap();
    (ours, guard)
}

fn request(room: &Path, lock: &Path) -> String {
    json!({"command": "touch ran; sleep 60", "directory": room, "lock": lock, "grace_ms": 0}).to_string() + "\n"
}

fn lock_file(room: &Path) -> PathBuf {
    std::fs::create_dir_all(room.join("locks")).unwrap();
    let lock = room.join("locks").join(format!("{}.1.1.0.lock", session()));
    std::fs::File::create(&lock).unwrap();
    lock
}

// proves J4
fn a_guard_whose_lock_was_cleared_away_starts_nothing() {
    let room = room();
    let lock = lock_file(room.path());
    let (mut lifeline, mut guard) = start_guard();
    // Another process resumes the session before the guard has opened its lock.
    assert_eq!(wait_for_survivors(&room.path().join("locks"), session(), Duration::from_secs(20)).unwrap(), 1);
    lifeline.write_all(request(room.path(), &lock).as_bytes()).unwrap();
    assert!(guard.wait().unwrap().success());
    assert!(!room.path().join("ran").exists());
}

// proves T7
fn a_guard_whose_windlass_is_gone_starts_nothing() {
    let room = room();
    for half in [true, false] {
        let lock = lock_file(room.path());
        let (mut lifeline, mut guard) = start_guard();
        let request = request(room.path(), &lock);
        let sent = if half { &request[..10] } else { request.as_str() };
        // Hold the lock until Windlass is gone, so that the guard can't have started the command before.
        let held = std::fs::File::open(&lock).unwrap();
        held.lock().unwrap();
        lifeline.write_all(sent.as_bytes()).unwrap();
        drop(lifeline);
        assert!(guard.wait().unwrap().success());
        drop(held);
        assert!(!room.path().join("ran").exists());
    }
}

// proves J4
fn a_lock_that_is_held_is_waited_for_and_a_stale_one_removed() {
    let room = room();
    let (locks, lock) = (room.path().join("locks"), lock_file(room.path()));
    let (mut lifeline, mut guard) = start_guard();
    lifeline.write_all(request(room.path(), &lock).as_bytes()).unwrap();
    let mut report = String::new();
    BufReader::new(lifeline.try_clone().unwrap()).read_line(&mut report).unwrap();
    assert!(report.contains("started"), "{report}");
    let refused = wait_for_survivors(&locks, session(), Duration::ZERO).unwrap_err();
    let pid = guard.id().to_string();
    assert!(matches!(&refused, SurvivorsError::StillRunning { guard, .. } if *guard == pid), "{refused}");
    let other = SessionId(uuid::Uuid::max());
    assert_eq!(wait_for_survivors(&locks, other, Duration::ZERO).unwrap(), 0);
    drop(lifeline);
    wait_for_survivors(&locks, session(), Duration::from_secs(20)).unwrap();
    assert!(!lock.exists());
    guard.wait().unwrap();
    let stale = lock_file(room.path());
    assert_eq!(wait_for_survivors(&locks, session(), Duration::ZERO).unwrap(), 1);
    assert!(!stale.exists());
    assert_eq!(wait_for_survivors(&room.path().join("none"), session(), Duration::ZERO).unwrap(), 0);
}

// proves T5
fn a_guard_that_can_not_do_its_work_is_an_infrastructure_error() {
    let room = room();
    for program in ["/nowhere/guard", "/bin/true"] {
        let mut commands = commands(room.path());
        commands.guard = Some(GuardProgram { program: program.into(), args: Vec::new() });
        let outcome = run_with(commands, room.path(), &json!({"command": "touch ran"}));
        assert_eq!(outcome.kind, OutcomeKind::InfrastructureError, "{}", outcome.text);
        assert!(outcome.text.contains("guard"), "{}", outcome.text);
    }
    assert!(!room.path().join("ran").exists());
}

// proves T7
fn a_command_that_kills_its_guard_dies_too() {
    let room = room();
    let mark = mark("WINDLASS_TEST_ORPHAN");
    let outcome = run(room.path(), &format!("export {mark}=1; sleep 60 & kill -9 $PPID; sleep 60"));
    assert_eq!(outcome.kind, OutcomeKind::InfrastructureError, "{}", outcome.text);
    until("the death of all", || marked(&mark).is_empty());
}

// proves T5
fn a_command_that_can_not_be_started_says_so() {
    let room = room();
    let outcome = run(room.path(), &format!("true {}", "x".repeat(1 << 20)));
    assert_eq!(outcome.kind, OutcomeKind::ToolError);
    assert!(outcome.text.contains("write it to a file"), "{}", outcome.text);
    assert_eq!(run(room.path(), "a\0b").kind, OutcomeKind::ToolError);
    assert_eq!(run(room.path(), "nosuchprogram").text.lines().last(), Some("[exit code 127]"));
}

fn talked_to(room: &Path, script: &str) -> GuardedProgram {
    GuardedProgram {
        program: "sh".into(),
        args: vec!["-c".into(), script.into()],
        directory: room.to_owned(),
        environment: vec![("GIVEN".into(), "a 'word'".into())],
        scrubbed: std::collections::BTreeSet::new(),
        stop_grace: Duration::from_millis(50),
        confinement: None,
    }
}

// proves T7, P3
fn a_program_that_is_talked_to_reads_what_is_said_and_ends_with_its_input() {
    let room = tempfile::tempdir().unwrap();
    block_on(async {
        let script = r#"pwd; while read -r line; do echo "$GIVEN: $line"; done; echo bye >&2; exit 3"#;
        let mut child = GuardedChild::start(&guard().unwrap(), &talked_to(room.path(), script)).await.unwrap();
        child.input.write_all(b"one\ntwo\n").await.unwrap();
        drop(child.input);
        let (mut said, mut complained) = (String::new(), String::new());
        child.output.read_to_string(&mut said).await.unwrap();
        child.errors.read_to_string(&mut complained).await.unwrap();
        let here = room.path().canonicalize().unwrap();
        assert_eq!(said, format!("{}\na 'word': one\na 'word': two\n", here.display()));
        assert_eq!((complained.as_str(), child.life.ended().await), ("bye\n", ChildEnd::Exited(3)));
    });
}

// proves T7, P3
fn a_program_that_will_not_end_is_ended_and_whoever_it_started_with_it() {
    let room = tempfile::tempdir().unwrap();
    block_on(async {
        let script = "trap '' TERM; (setsid sh -c 'trap \"\" TERM; echo $$; sleep 600') & wait";
        let mut child = GuardedChild::start(&guard().unwrap(), &talked_to(room.path(), script)).await.unwrap();
        let mut lines = tokio::io::BufReader::new(child.output).lines();
        let grandchild = lines.next_line().await.unwrap().unwrap();
        drop(child.input);
        child.life.stop().await;
        assert_eq!(child.life.ended().await, ChildEnd::Signalled(9));
        assert!(!Path::new(&format!("/proc/{grandchild}")).exists(), "{grandchild} lives on");
    });
}
