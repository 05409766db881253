//! Completions, manual pages and the version.

use clap::CommandFactory as _;

use super::{bench, fresh, run};

fn commands() -> Vec<String> {
    let command = windlass_cli::args::Cli::command();
    command.get_subcommands().map(|below| below.get_name().to_owned()).collect()
}

#[test]
fn completions_know_every_command_in_every_shell() {
    let bench = bench();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = run_without_data(&bench, &["completions", shell]);
        for command in commands() {
            assert!(ran.contains(&command), "{shell}: {command}");
        }
    }
}

#[test]
fn the_manual_names_every_command_and_each_has_a_page() {
    let bench = bench();
    let page = run_without_data(&bench, &["man"]);
    assert!(page.contains(".TH WINDLASS 1"), "{page}");
    for command in commands() {
        let named = format!("windlass\\-{}(1)", command.replace('-', "\\-"));
        assert!(page.contains(&named), "{command}: {page}");
    }
    let pages = bench.dir.path().join("man");
    run_without_data(&bench, &["man", "--dir", pages.to_str().expect("a path")]);
    for command in commands() {
        let page = std::fs::read_to_string(pages.join(format!("windlass-{command}.1"))).unwrap_or_default();
        assert!(page.contains(".SH SYNOPSIS"), "{command}: {page}");
    }
    assert!(pages.join("windlass.1").exists() && pages.join("windlass-sessions-list.1").exists());
}

#[test]
fn the_version_names_the_commit_where_git_knows_it() {
    let version = run_without_data(&bench(), &["--version"]);
    let rest = version.strip_prefix(&format!("windlass {}", env!("CARGO_PKG_VERSION"))).expect("name and number");
    let rest = rest.trim();
    // A build from sources without a git repository has no commit.
    let Some(commit) = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else {
        return assert_eq!(rest, "");
    };
    let (hash, day) = commit.split_once(' ').expect("a hash and a day");
    assert!(hash.len() >= 10 && hash.chars().all(|c| c.is_ascii_hexdigit()), "{version}");
    assert!(day.len() == 10 && day.chars().all(|c| c.is_ascii_digit() || c == '-'), "{version}");
}

fn run_without_data(bench: &crate::support::Bench, arguments: &[&str]) -> String {
    let ran = run(fresh(bench, arguments));
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{arguments:?}");
    assert!(!bench.data().exists(), "nothing is made for {arguments:?}");
    ran.stdout
}
