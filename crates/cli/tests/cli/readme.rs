//! Runs the README's commands as written, in their order on the page. Only `cargo` is replaced: the binary it would
//! build exists already, and the tests it would run are these.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Bench, Ran, ran};
use windlass_testkit::{AfterSteps, Scene, Script, ScriptStep};

const README: &str = include_str!("../../../../README.md");
const MODELS_PAGE: &str = include_str!("../../../../docs/models.md");

const CARGO: &str = "#!/bin/sh
case \"$*\" in
    'run --release') exec windlass ;;
    'xtask test' | 'install --path crates/cli') ;;
    *) echo \"the README says cargo $*, which nobody can run here\" >&2; exit 1 ;;
esac
";

/// The lines of the page's code blocks in one language.
fn lines(language: &str) -> Vec<&'static str> {
    let mut found = Vec::new();
    let mut inside = false;
    for line in README.lines() {
        match line.strip_prefix("```") {
            Some(begins) => inside = begins == language,
            None if inside => found.push(line),
            None => {}
        }
    }
    found
}

fn bench() -> Bench {
    let always = Scene { steps: vec![ScriptStep::say("Aye.")], then: AfterSteps::RepeatLast, ..Scene::default() };
    let bench = Bench::new(Script::default().scene(always));
    let bin = bench.dir.path().join("bin");
    fs::create_dir(&bin).expect("a folder");
    symlink(env!("CARGO_BIN_EXE_windlass"), bin.join("windlass")).expect("a link");
    fs::write(bin.join("cargo"), CARGO).expect("written");
    fs::set_permissions(bin.join("cargo"), fs::Permissions::from_mode(0o755)).expect("a program");
    // Gives `git diff` something to print.
    let note = bench.workspace().join("note.txt");
    fs::write(&note, "one\n").expect("written");
    let commit = "git init -q . && git add . && git -c user.name=a -c user.email=a@b commit -qm one";
    assert_eq!(shell(&bench, commit, "").code, 0);
    fs::write(&note, "two\n").expect("written");
    bench
}

/// Runs a line as a person with a configured model would type it, with `input` on standard input.
fn shell(bench: &Bench, line: &str, input: &str) -> Ran {
    ran(typed(bench, line, input).spawn().expect("a shell"))
}

/// Runs the line that starts the server, and ends it once it has printed its address.
fn shell_serving(bench: &Bench, line: &str) -> Ran {
    // Whoever tests while a server of their own runs has the usual port taken.
    let is_free = TcpListener::bind(("127.0.0.1", 7700)).is_ok();
    let address = if is_free || line.starts_with("windlass open") { "" } else { "--address 127.0.0.1:0" };
    let command = line.split('#').next().expect("a command");
    let mut child = typed(bench, &format!("exec {command} {address}"), "").spawn().expect("a shell");
    let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut address = String::new();
    stdout.read_line(&mut address).expect("a line");
    kill_process(Pid::from_child(&child), Signal::TERM).expect("sent");
    let ended = ran(child);
    Ran { stdout: address, ..ended }
}

fn typed(bench: &Bench, line: &str, input: &str) -> Command {
    let said = bench.dir.path().join("input");
    fs::write(&said, input).expect("written");
    let path = std::env::var("PATH").expect("a path");
    let mut command = Command::new("sh");
    command
        .args(["-c", line])
        .current_dir(bench.workspace())
        .env_clear()
        .env("PATH", format!("{}:{path}", bench.dir.path().join("bin").display()))
        .env("HOME", bench.dir.path())
        .env("TMPDIR", bench.dir.path())
        .env("WINDLASS_TEST_OLLAMA", "http://127.0.0.1:1/v1")
        .stdin(fs::File::open(said).expect("opened"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // The README's first command is for people without a model.
    if !line.starts_with("cargo run") {
        command.env("OPENAI_BASE_URL", bench.server.base_url()).env("OPENAI_MODEL", "scripted");
    }
    command
}

#[test]
fn every_command_of_the_readme_works_as_written() {
    // proves W2, J3, J8
    let bench = bench();
    fs::write(bench.workspace().join("README.md"), README).expect("written");
    let commands = lines("sh");
    assert!(commands.len() > 15, "{commands:?}");
    for line in commands {
        let input = if line.starts_with("cargo run") { "" } else { "Hello.\n" };
        let is_server = line.starts_with("windlass serve") || line.starts_with("windlass open");
        let ran = if is_server { shell_serving(&bench, line) } else { shell(&bench, line, input) };
        assert_eq!(ran.code, 0, "{line}\n{}\n{}", ran.stdout, ran.stderr);
        let expected = match line {
            "cargo run --release" | "windlass resume shots" => "7 of 7 screenshots",
            "windlass replay shots --check" => "the same",
            _ if line.contains("windlass run ") => "Aye.",
            _ if is_server => "Open http://127.0.0.1:",
            _ => "",
        };
        assert!(ran.stdout.contains(expected), "{line}\n{}\n{}", ran.stdout, ran.stderr);
    }
    assert_renamed_once(bench.dir.path());
}

/// Asserts that the pictures of every demo, including the killed one, were renamed and exist once.
fn assert_renamed_once(parent: &Path) {
    let folders = fs::read_dir(parent).expect("a folder").map(|entry| entry.expect("an entry").path());
    let demos: Vec<_> = folders.filter(|folder| folder.to_string_lossy().contains("windlass-demo-")).collect();
    assert_eq!(demos.len(), 2, "{demos:?}");
    for demo in demos {
        let names = fs::read_dir(demo).expect("a folder").map(|entry| entry.expect("an entry").file_name());
        let pictures: Vec<_> = names.filter(|name| name.to_string_lossy().ends_with(".png")).collect();
        assert_eq!(pictures.len(), 7, "{pictures:?}");
        assert!(pictures.iter().all(|name| !name.to_string_lossy().starts_with("shot-")), "{pictures:?}");
    }
}

#[test]
fn the_settings_of_the_readme_are_understood() {
    let bench = bench();
    // The block before this one lists an embedder's dependencies.
    let settings: Vec<&str> = lines("toml").into_iter().skip_while(|line| !line.starts_with("model =")).collect();
    assert!(!settings.is_empty(), "the README has no settings");
    fs::write(bench.workspace().join("windlass.toml"), settings.join("\n")).expect("written");
    let ran = shell(&bench, "windlass run 'Hello.'", "");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Aye.\n"), "{}", ran.stderr);
}

#[test]
fn the_settings_of_the_page_about_models_are_understood() {
    let bench = bench();
    let block = MODELS_PAGE.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("settings");
    let folder = bench.dir.path().join(".config/windlass");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("windlass.toml"), block).expect("written");
    let mut command = bench.command(&["models"]);
    command.env_remove("OPENAI_BASE_URL").env_remove("OPENAI_MODEL").env_remove("WINDLASS_MODEL");
    let listed = ran(command.spawn().expect("it starts"));
    for row in ["fast", "window 32768", "careful", "window 200000", "$3 in, $15 out"] {
        assert!(listed.stdout.contains(row), "{row}: {} {}", listed.stdout, listed.stderr);
    }
}
