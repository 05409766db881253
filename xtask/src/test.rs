//! `cargo xtask test`: runs all checks, cheapest first. [`STAGES`] lists them.
//!
//! If the tool of a stage is missing, it is installed, else another command does the same,
//! else the stage is skipped with the reason; with `CI=true` a skip is a failure. The first stage that fails
//! ends the run. The test runner's summary lines are printed again at the end.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::{packages, tidy};

/// One part of the whole check.
struct Stage {
    name: &'static str,
    what: What,
}

/// What a stage does.
enum What {
    /// A check of this program.
    Own(fn(&Path) -> Result<(), String>),
    /// Installs things for later stages; if that fails, the later stages skip what needs them.
    Get(fn(&Path) -> Result<(), String>),
    /// Runs `cargo` with these arguments.
    Cargo(&'static [&'static str], Need),
}

/// What a stage needs besides `cargo` itself.
enum Need {
    Nothing,
    /// A component of the toolchain, which `rustup` can install, for this subcommand of cargo.
    Component {
        subcommand: &'static str,
        component: &'static str,
    },
    /// A subcommand of cargo with a replacement: the arguments to use instead.
    Subcommand {
        subcommand: &'static str,
        otherwise: &'static [&'static str],
    },
}

const STAGES: &[Stage] = &[
    Stage {
        name: "format",
        what: What::Cargo(&["fmt", "--all", "--check"], Need::Component { subcommand: "fmt", component: "rustfmt" }),
    },
    Stage { name: "tidy", what: What::Own(tidy::run) },
    Stage {
        name: "clippy",
        what: What::Cargo(
            &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"],
            Need::Component { subcommand: "clippy", component: "clippy" },
        ),
    },
    // The library as embedded without any feature: it must compile without a warning.
    Stage {
        name: "features",
        what: What::Cargo(
            &["clippy", "-p", "windlass", "--lib", "--no-default-features", "--locked", "--", "-D", "warnings"],
            Need::Component { subcommand: "clippy", component: "clippy" },
        ),
    },
    Stage { name: "packages", what: What::Get(packages::install) },
    Stage {
        name: "tests",
        what: What::Cargo(
            &["nextest", "run", "--workspace", "--locked"],
            Need::Subcommand {
                subcommand: "nextest",
                // Tests that count something print the number; nextest displays it through its own configuration.
                otherwise: &["test", "--workspace", "--locked", "--tests", "--", "--show-output"],
            },
        ),
    },
    Stage { name: "doc tests", what: What::Cargo(&["test", "--doc", "--workspace", "--locked"], Need::Nothing) },
];

/// The result of a stage.
enum Verdict {
    Passed,
    Skipped(String),
    Failed(String),
}

/// Whether a skip is accepted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rigour {
    Lenient,
    Strict,
}

impl Rigour {
    fn asked() -> Self {
        if std::env::var("CI").is_ok_and(|value| value == "true") { Self::Strict } else { Self::Lenient }
    }
}

/// Runs every stage up to the first that fails.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let rigour = Rigour::asked();
    let begun = Instant::now();
    let mut closing = Vec::new();
    let mut summary = Vec::new();
    let mut failure = None;
    for stage in STAGES {
        println!("\n== {}", stage.name);
        let start = Instant::now();
        let verdict = strictly(stage.what.run(root, &mut closing), rigour);
        let (word, reason) = match &verdict {
            Verdict::Passed => ("passed", String::new()),
            Verdict::Skipped(reason) => ("SKIPPED", format!(": {reason}")),
            Verdict::Failed(reason) => ("FAILED", format!(": {reason}")),
        };
        let line = format!("{:10} {word} in {:.1} s{reason}", stage.name, start.elapsed().as_secs_f32());
        println!("== {line}");
        summary.push(line);
        if let Verdict::Failed(reason) = verdict {
            failure = Some(format!("{} failed: {reason}", stage.name));
            break;
        }
    }
    println!("\n== all stages, {:.1} s", begun.elapsed().as_secs_f32());
    for line in summary.iter().chain(&closing) {
        println!("{line}");
    }
    failure.map_or(Ok(()), Err)
}

/// Turns a skip into a failure if everything must be available.
fn strictly(verdict: Verdict, rigour: Rigour) -> Verdict {
    match verdict {
        Verdict::Skipped(reason) if rigour == Rigour::Strict => {
            Verdict::Failed(format!("a skip counts as a failure where CI=true: {reason}"))
        }
        other => other,
    }
}

impl What {
    fn run(&self, root: &Path, closing: &mut Vec<String>) -> Verdict {
        match self {
            Self::Own(check) => check(root).map_or_else(Verdict::Failed, |()| Verdict::Passed),
            Self::Get(get) => get(root).map_or_else(Verdict::Skipped, |()| Verdict::Passed),
            Self::Cargo(words, need) => match need.words(words, root) {
                Ok(words) => cargo(words, root, closing),
                Err(reason) => Verdict::Skipped(reason),
            },
        }
    }
}

impl Need {
    /// The arguments to run, or why nothing can be run.
    fn words(&self, words: &'static [&'static str], root: &Path) -> Result<&'static [&'static str], String> {
        match self {
            Self::Nothing => Ok(words),
            Self::Component { subcommand, component } => {
                if !answers("cargo", &[subcommand, "--version"], root) {
                    println!("{component} is missing; trying to install it");
                    if !answers("rustup", &["component", "add", component], root) {
                        return Err(format!(
                            "{component} is missing; install it with `rustup component add {component}`"
                        ));
                    }
                }
                Ok(words)
            }
            Self::Subcommand { subcommand, otherwise } => {
                if answers("cargo", &[subcommand, "--version"], root) {
                    return Ok(words);
                }
                println!("cargo-{subcommand} is missing; `cargo {}` runs the same tests", otherwise.join(" "));
                Ok(otherwise)
            }
        }
    }
}

/// The program with this name; for `cargo`, the cargo that runs this program.
fn program(name: &str) -> Command {
    let cargo = std::env::var_os("CARGO").filter(|_| name == "cargo");
    Command::new(cargo.unwrap_or_else(|| name.into()))
}

fn answers(name: &str, words: &[&str], root: &Path) -> bool {
    let quiet = program(name).args(words).current_dir(root).stdout(Stdio::null()).stderr(Stdio::null()).status();
    quiet.is_ok_and(|status| status.success())
}

/// Runs cargo, passes its output on and keeps the summary lines of test runners.
fn cargo(words: &[&str], root: &Path, closing: &mut Vec<String>) -> Verdict {
    println!("   cargo {}", words.join(" "));
    let mut command = program("cargo");
    if Rigour::asked() == Rigour::Strict {
        // CI builds everything once, so the incremental cache would only take gigabytes.
        command.env("CARGO_INCREMENTAL", "0");
    }
    command.args(words).current_dir(root).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Verdict::Failed(format!("cargo can't be started: {error}")),
    };
    let (out, err) = (child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        let err = scope.spawn(|| err.map(|err| pass_on(err, std::io::stderr())).unwrap_or_default());
        closing.extend(out.map(|out| pass_on(out, std::io::stdout())).unwrap_or_default());
        closing.extend(err.join().unwrap_or_default());
    });
    match child.wait() {
        Ok(status) if status.success() => Verdict::Passed,
        Ok(status) => Verdict::Failed(format!("cargo {} ended with {status}", words[0])),
        Err(error) => Verdict::Failed(format!("cargo can't be waited for: {error}")),
    }
}

/// Copies line by line and returns the summary lines among them.
fn pass_on(from: impl Read, mut to: impl Write) -> Vec<String> {
    let mut closing = Vec::new();
    let mut lines = BufReader::new(from);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        // If nobody reads the output any more, testing goes on.
        let _ = to.write_all(&line);
        let text = String::from_utf8_lossy(&line);
        if is_closing(&text) {
            closing.push(text.trim().to_owned());
        }
        line.clear();
    }
    closing
}

/// Whether a line is the summary of a test runner: nextest's summary, cargo's result. An indented
/// result is part of the output of a failed test.
fn is_closing(line: &str) -> bool {
    line.trim_start().starts_with("Summary [") || line.starts_with("test result:")
}

#[cfg(test)]
mod tests {
    use super::{Need, Rigour, STAGES, Verdict, What, is_closing, pass_on, strictly};

    #[test]
    fn closing_lines_are_kept_and_everything_is_passed_on() {
        let output =
            "running 2 tests\ntest result: ok. 2 passed\n     Summary [   0.1s] 2 tests run: 2 passed\nlast \u{fffd}";
        let mut copy = Vec::new();
        let closing = pass_on(output.as_bytes(), &mut copy);
        assert_eq!(copy, output.as_bytes());
        assert_eq!(closing, ["test result: ok. 2 passed", "Summary [   0.1s] 2 tests run: 2 passed"]);
    }

    #[test]
    fn a_line_that_only_mentions_a_result_is_no_closing_line() {
        assert!(!is_closing("    test result: FAILED"));
        assert!(!is_closing("the test result: ok"));
        assert!(!is_closing("Summary of changes"));
    }

    #[test]
    fn a_skip_is_a_failure_where_everything_must_be_there() {
        let skipped = || Verdict::Skipped("no clippy".to_owned());
        assert!(matches!(strictly(skipped(), Rigour::Strict), Verdict::Failed(reason) if reason.contains("no clippy")));
        assert!(matches!(strictly(skipped(), Rigour::Lenient), Verdict::Skipped(_)));
        assert!(matches!(strictly(Verdict::Passed, Rigour::Strict), Verdict::Passed));
    }

    #[test]
    fn every_stage_of_the_one_test_command_is_there() {
        let names: Vec<&str> = STAGES.iter().map(|stage| stage.name).collect();
        assert_eq!(names, ["format", "tidy", "clippy", "features", "packages", "tests", "doc tests"]);
    }

    #[test]
    fn what_passing_tests_count_is_shown_without_nextest_too() {
        let tests = STAGES.iter().find(|stage| stage.name == "tests").unwrap();
        let What::Cargo(_, Need::Subcommand { otherwise, .. }) = &tests.what else { panic!("no stand-in") };
        let to_the_tests = otherwise.iter().skip_while(|word| **word != "--");
        assert!(to_the_tests.skip(1).any(|word| *word == "--show-output"), "{otherwise:?}");
    }
}
