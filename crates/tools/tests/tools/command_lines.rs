//! Runs lines that the rules allow in real shells. Programs are stubs that record how they were started, so the
//! test knows what a line runs, however it is written.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use proptest::prelude::{Strategy, prop};
use proptest::prop_assert;
use proptest::test_runner::{Config, TestRunner};
use tempfile::TempDir;
use windlass_tools::{About, AskPolicy, Mode, Permissions, Rule};
use windlass_vocab::{EffectClass, Json, ToolSpec, Verdict};

const PROGRAMS: &[&str] = &["cargo", "env", "git", "ls", "push", "rm", "sh", "touch", "x"];

/// Files whose names a pattern may expand to.
const FILES: &[&str] = &["--config", "--output=y", "-c", "a", "alias.x=!rm", "b c", "push", "status", "test"];

const RULES: &[&str] =
    &["run_command(git status *)", "run_command(cargo test *)", "run_command(ls *)", "run_command(rm a b)"];

/// Whether one of the rules allows a program started with these words.
fn is_allowed(words: &[String]) -> bool {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["ls", ..] | ["rm", "a", "b"] => true,
        ["git", "status", rest @ ..] => !rest.iter().any(|word| names_option(word, "--output")),
        ["cargo", "test", rest @ ..] => !rest.iter().any(|word| names_option(word, "--config")),
        _ => false,
    }
}

/// Whether programs take the word for this option: options may be abbreviated, and a value may follow `=`. A word that
/// only begins with the option, such as `--outputs`, is another one.
fn names_option(word: &str, option: &str) -> bool {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    name.len() > "--".len() && option.starts_with(name)
}

fn verdict(folder: &Path, line: &str) -> Verdict {
    let rules = RULES.iter().map(|rule| rule.parse::<Rule>().unwrap()).collect();
    let permissions = Permissions { mode: Mode::Default, allow: rules, ..Permissions::default() };
    let spec = ToolSpec {
        name: "local.run_command".into(),
        wire_name: "run_command".into(),
        description: "".into(),
        schema: Json::empty_object(),
        effect: EffectClass::Once,
        ending: None,
        repeatable: false,
        reads_files: false,
        tags: std::collections::BTreeSet::new(),
    };
    permissions.check(&spec, &About::command_in(folder, line), AskPolicy::ByEffect, &[]).verdict
}

/// A folder to run lines in.
struct Place {
    dir: TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { dir: tempfile::tempdir().unwrap() };
        std::fs::create_dir(place.programs()).unwrap();
        std::fs::create_dir(place.workspace()).unwrap();
        let stub = place.dir.path().join("stub");
        let script = "#!/bin/sh\nprintf '%s\\0' \"${0##*/}\" \"$@\" '\u{1e}' >> \"$STARTED\"\n";
        std::fs::write(&stub, script).unwrap();
        std::fs::set_permissions(&stub, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        for program in PROGRAMS {
            std::os::unix::fs::symlink(&stub, place.programs().join(program)).unwrap();
        }
        for file in FILES {
            std::fs::write(place.workspace().join(file), "").unwrap();
        }
        place
    }

    fn programs(&self) -> PathBuf {
        self.dir.path().join("bin")
    }

    fn workspace(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    /// Returns the programs that the shell starts, each with its arguments.
    fn started(&self, shell: &Path, line: &str) -> Vec<Vec<String>> {
        let started = self.dir.path().join("started");
        let _ = std::fs::remove_file(&started);
        let mut command = Command::new(shell);
        command.arg("-c").arg(line).current_dir(self.workspace()).env_clear();
        command.env("PATH", self.programs()).env("STARTED", &started).env("HOME", self.dir.path());
        // Background processes hold the pipe open, so its end is the end of all of them.
        let output = command.stdin(Stdio::null()).output();
        if output.is_err() {
            // A line with a NUL can't be passed to a program at all.
            return Vec::new();
        }
        let text = std::fs::read_to_string(&started).unwrap_or_default();
        let calls = text.split_terminator("\u{1e}\0");
        calls.map(|call| call.split_terminator('\0').map(str::to_owned).collect()).collect()
    }

    fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.workspace()).unwrap().flatten();
        let mut files: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
        files.sort();
        files
    }
}

fn shells() -> Vec<PathBuf> {
    ["/bin/sh", "/bin/bash", "/bin/zsh"].iter().map(PathBuf::from).filter(|shell| shell.exists()).collect()
}

const LINES: &[&str] =
    &["git status", "git status -s", "ls -l", "ls a 'b c'", "rm a b", "cargo test -p x", "ls | ls -1", "cd . && ls"];

/// Syntax with a meaning to shells, and words that would do harm after it.
const SYNTAX: &[&str] = &[
    ";",
    "&",
    "&&",
    "|",
    "||",
    "|&",
    ";;",
    "\n",
    "\t",
    "\r",
    " ",
    "\u{a0}",
    "\u{200b}",
    "\u{2003}",
    "'",
    "\"",
    "\\",
    "\\\n",
    "#",
    " #",
    "*",
    "?",
    "[",
    "]",
    "[s]",
    "-*",
    "{",
    "}",
    "{a,b}",
    "{1..3}",
    " {git,push} ",
    ">",
    "<",
    ">x",
    ">>x",
    "2>x",
    "&>x",
    ">&x",
    ">|x",
    ">/dev/null",
    " 2>&1 ",
    "<&0",
    "<<E\nrm x\nE\n",
    "<<<x",
    "<(rm x)",
    ">(rm x)",
    "$x",
    "${x}",
    "${x:-rm}",
    "$((1))",
    "$(rm x)",
    "`rm x`",
    "$'rm'",
    "$\"rm\"",
    "((",
    "))",
    "(",
    ")",
    "{ ",
    "; }",
    "!",
    "!!",
    "! ",
    "~",
    "~/",
    "=",
    "+=",
    "x=1 ",
    "PATH=. ",
    "x='1' ",
    "x=\"a b\" ",
    "alias ls=rm;",
    "ls() { rm x; };",
    "function ls { rm x; };",
    "if true; then ",
    "; fi",
    "for x in a; do ",
    "; done",
    "while ",
    "case a in a) ",
    ";; esac",
    "time ",
    "coproc ",
    "exec ",
    "cd . && ",
    "cd .. && ",
    "cd ",
    "command ",
    "eval ",
    "env ",
    "sh -c ",
    ". ./a;",
    "cd ..;",
    "trap 'rm x' EXIT;",
    "set -- rm;",
    "unset PATH;",
    "rm x",
    " rm ",
    "git ",
    " push",
    "git push",
    " -c ",
    " -C .. ",
    " --config ",
    " --output=y ",
    " --",
    "rm a b",
    "rm 'a b'",
    "a b",
    "''",
    "\"\"",
    "é",
    "%1",
    "@",
    "^",
    ",",
    ":",
    "\u{0}",
];

fn derived() -> impl Strategy<Value = String> {
    let change = (prop::sample::select(SYNTAX), prop::num::u16::ANY);
    (prop::sample::select(LINES), prop::collection::vec(change, 0..4)).prop_map(|(line, changes)| {
        changes.iter().fold(line.to_owned(), |mut line, (syntax, at)| {
            // Half of the changes are at the beginning or end of a word.
            let places: Vec<usize> = match at % 2 {
                0 => (0..=line.len()).filter(|place| line.is_char_boundary(*place)).collect(),
                _ => line.match_indices(' ').map(|(place, _)| place).chain([0, line.len()]).collect(),
            };
            line.insert_str(places[usize::from(at / 2) % places.len()], syntax);
            line
        })
    })
}

// proves X5, T8: an allowed line changed by shell syntax runs the same commands, or asks
#[test]
fn a_line_that_runs_unasked_starts_nothing_but_what_the_rules_name() {
    let (place, shells) = (Place::new(), shells());
    let before = place.files();
    let runs_only_what_is_named = |line: String| {
        if verdict(&place.workspace(), &line) != Verdict::Allow {
            return Ok(());
        }
        for shell in &shells {
            for words in place.started(shell, &line) {
                prop_assert!(is_allowed(&words), "{line:?} starts {words:?} in {}", shell.display());
            }
            prop_assert!(place.files() == before, "{line:?} makes files in {}", shell.display());
        }
        Ok(())
    };
    TestRunner::new(Config { cases: 1_500, ..Config::default() }).run(&derived(), runs_only_what_is_named).unwrap();
}

// proves X5, T8: another spelling of the same command needs no other rule
#[test]
fn the_same_command_spelled_otherwise_runs_unasked() {
    let place = Place::new();
    let here = place.workspace().display().to_string();
    for (line, want) in [
        ("git status", &["git status"][..]),
        ("  git   status\t-s ", &["git status -s"]),
        ("'git' \"status\"", &["git status"]),
        ("g\\it sta''tus", &["git status"]),
        ("git \\\n status", &["git status"]),
        ("git status 2>&1", &["git status"]),
        ("git status >/dev/null 2>&1", &["git status"]),
        ("git status; ls", &["git status", "ls"]),
        ("git status &&\nls -l || ls", &["git status", "ls -l"]),
        ("rm \"a\" 'b'", &["rm a b"]),
        ("cargo test -- --nocapture", &["cargo test -- --nocapture"]),
        ("cd . && cargo test", &["cargo test"]),
        ("cd './' && cargo test; ls", &["cargo test", "ls"]),
        (&format!("cd {here} && cargo test"), &["cargo test"]),
        (&format!("cd '{here}/'\ncargo test"), &["cargo test"]),
    ] {
        assert_eq!(verdict(&place.workspace(), line), Verdict::Allow, "{line:?}");
        for shell in shells() {
            let started = place.started(&shell, line);
            assert_eq!(started.iter().map(|words| words.join(" ")).collect::<Vec<_>>(), want, "{line:?}");
        }
    }
}

// proves X5, T8
#[test]
fn a_spelling_that_runs_something_else_asks() {
    for line in [
        "cd .",
        "cd /ws",
        "cd && ls",
        "cd .. && ls",
        "cd a && ls",
        "cd /ws/.. && ls",
        "cd /w* && ls",
        "cd /ws a && ls",
        "cd - && ls",
        "cd -P . && ls",
        "ls && cd /ws && ls",
        "cd . && cd . && ls",
        "git stat?s; push",
        "git s*",
        "git *",
        "gi* status",
        "git -c alias.status='!rm' status",
        "git -C .. status",
        "git 'status -s'",
        "git\u{a0}status",
        "git \u{200b}status",
        "ɡit status",
        "git status\u{a0}",
        "git status\r",
        "\u{2003}git status",
        "x='1' git status",
        "PATH=.:$PATH git status",
        "git status | rm a",
        "git status & rm a",
        "git status\nrm a",
        "git status `rm a`",
        "git status $(rm a)",
        "git status \"$(rm a)\"",
        "git status > a",
        "git status < a",
        "git status <<E\n$(rm a)\nE",
        "git status <(rm a)",
        "git status #",
        "git status {a,b}",
        "git status $x",
        "git status $((1))",
        "alias git=rm; git status",
        "git() { rm a; }; git status",
        "exec git status",
        "coproc git status",
        "command git status",
        "eval git status",
        "! git status",
        "!! git status",
        "cd ..; git status",
        ". ./a; git status",
        "rm 'a b'",
        "rm a\\ b",
        "rm a b c",
        "rm a b*",
        "rm a ''",
        "cargo +x test",
        "cargo test --config x",
        "cargo test *",
        "cargo test -?",
    ] {
        assert_eq!(verdict(Path::new("/ws"), line), Verdict::Ask, "{line:?}");
    }
}
