//! Rules about commands: what they allow, what they forbid, and when they ask.

use windlass_vocab::EffectClass;

use crate::command_line::{self, ParsedLine};
use crate::permission::allowing_rule;
use crate::permission::tests::{command, permissions, spec};
use crate::{About, Mode};

use super::*;

/// Returns the part of the line that a rule must contain literally.
fn spelled(line: &str) -> String {
    let ParsedLine::Clear(commands) = command_line::parse(line) else { panic!("{line} is opaque") };
    command_text(&commands[0][..literal_words(&commands[0])])
}

// proves X5
#[test]
fn what_makes_a_program_something_else_must_be_spelled_out() {
    for (line, want) in [
        ("git -c alias.x='!y' x", "git -c"),
        ("git -calias.x=y x", "git -calias.x=y"),
        ("git -C sub status", "git -C"),
        ("git --no-pager -C sub status", "git --no-pager -C"),
        ("git --exec-path=x status", "git --exec-path=x"),
        ("git --git-dir x status", "git --git-dir"),
        ("git --work-tree=x status", "git --work-tree=x"),
        ("git --config-env=a=B status", "git --config-env=a=B"),
        ("git -p log", "git -p"),
        ("git --unheard-of log", "git --unheard-of"),
        ("git --unheard-of config a b", "git --unheard-of config"),
        ("/usr/bin/git -c a=b x", "/usr/bin/git -c"),
        ("g'i't '-c' a=b x", "git -c"),
        ("git log --output=x", "git log --output=x"),
        ("git log --outp x", "git log --outp"),
        ("git log -p --ext-diff", "git log -p --ext-diff"),
        ("git grep -nO x", "git grep -nO"),
        ("git grep --open-files x", "git grep --open-files"),
        ("git fetch --upload-pack=x", "git fetch --upload-pack=x"),
        ("git push --receive-pack x y", "git push --receive-pack"),
        ("git rebase -ix y", "git rebase -ix"),
        ("git rebase main --exec y", "git rebase main --exec"),
        ("git bisect run x", "git bisect run"),
        ("git submodule --quiet foreach x", "git submodule --quiet foreach"),
        ("git config alias.x '!y'", "git config"),
        ("git difftool -x y", "git difftool"),
        ("git clone --template=x y", "git clone --template=x"),
        ("git st*", "git st*"),
        ("git add *", "git add *"),
        ("git add -?", "git add -?"),
        ("cargo --config x test", "cargo --config"),
        ("cargo test --config x", "cargo test --config"),
        ("cargo +nightly test", "cargo +nightly"),
        ("cargo test --manifest-path=../x/Cargo.toml", "cargo test --manifest-path=../x/Cargo.toml"),
        ("cargo clippy -- -C linker=x", "cargo clippy -- -C"),
        ("cargo build --target-dir x", "cargo build --target-dir"),
        ("npm --prefix sub test", "npm --prefix"),
        ("npm test --script-shell=x", "npm test --script-shell=x"),
        ("npm exec x", "npm exec"),
        ("go test -exec x", "go test -exec"),
        ("go test --exec=x", "go test --exec=x"),
        ("make -f x", "make -f"),
        ("make -kf x", "make -kf"),
        ("make all SHELL=./x", "make all SHELL=./x"),
        ("find . -name x -exec y ;", "find . -name x -exec"),
        ("sort -uo x y", "sort -uo"),
        ("rg --pre=x y", "rg --pre=x"),
        ("tar -xf x --to-command=y", "tar -xf x --to-command=y"),
    ] {
        let line = line.replace(" ;", " ';'");
        assert_eq!(spelled(&line), want, "{line}");
    }
    for line in [
        "git status",
        "git --no-pager log -5 --oneline",
        "git --version",
        "git commit -c HEAD",
        "git rev-parse --git-dir",
        "git diff -C HEAD",
        "git commit -m config",
        "git log -- config",
        "git add src/*.rs",
        "git submodule update",
        "git bisect good",
        "cargo test -p x -- --nocapture",
        "cargo build --target wasm32-unknown-unknown",
        "cargo clippy --all-targets -- -D warnings",
        "npm run build",
        "go test -count=1 ./...",
        "make -j4 test",
        "find . -name x",
        "ls *",
        "grep -o x y",
        "unheard-of -c x",
    ] {
        assert_eq!(spelled(line), "", "{line}");
    }
}

// proves X5: only a rule that contains the option literally allows an option that makes a program do something else
#[test]
fn an_option_that_changes_a_program_is_not_covered_by_a_star() {
    let git = permissions(Mode::Default, &["run_command(git *)", "run_command(git -C sub *)"], &[], &[]);
    for (line, want) in [
        ("git status", "allow"),
        ("git --no-pager log", "allow"),
        ("git -C sub log", "allow"),
        ("git -C sub -C .. log", "ask"),
        ("git -C sub -c a=b log", "ask"),
        ("git -C . log", "ask"),
        ("git -c alias.x='!touch pwned' x", "ask"),
        ("git status && git -c alias.x='!touch pwned' x", "ask"),
        ("git config alias.x '!touch pwned'", "ask"),
        ("git log --output=x", "ask"),
        ("git add src/*.rs", "allow"),
        ("git add *.rs", "ask"),
    ] {
        assert_eq!(command(&git, line, &[]), want, "{line}");
        assert_eq!(
            command(&permissions(Mode::Strict, &[], &[], &[]), line, &["run_command(git *)"]),
            match line {
                "git -C sub log" => "ask",
                _ => want,
            },
            "granted long ago: {line}"
        );
    }
    let line = "git -c alias.x='!touch pwned' x";
    let exact = format!("run_command({line})");
    for rule in [exact.as_str(), "run_command", "run_command(*)", "*"] {
        assert_eq!(command(&permissions(Mode::Default, &[rule], &[], &[]), line, &[]), "allow", "{rule}");
    }
    let parts = permissions(Mode::Default, &["run_command(git -c a=b x)", "run_command(ls *)"], &[], &[]);
    assert_eq!(command(&parts, "git -c a=b x && ls", &[]), "allow");
    assert_eq!(command(&parts, "git -c a=b x y && ls", &[]), "ask");
}

// proves X5: a deny of a subcommand ignores options before it
#[test]
fn a_forbidden_subcommand_is_found_behind_options() {
    let rules = ["git push *", "cargo publish *", "npm publish *", "docker push *", "kubectl delete *"];
    let rules: Vec<String> = rules.iter().map(|rule| format!("run_command({rule})")).collect();
    let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
    let all = permissions(Mode::Bypass, &[], &[], &rules);
    for line in [
        "git -C . push",
        "git --no-pager push",
        "git -c a=b push origin",
        "git --git-dir=x push",
        "git --git-dir x push",
        "sudo git -C . push",
        "sh -c 'git -C . push'",
        "git status; git -C . push",
        "cargo +nightly publish",
        "cargo --locked publish",
        "npm --prefix x publish",
        "docker --context x push y",
        "kubectl -n x delete pod y",
    ] {
        assert_eq!(command(&all, line, &[]), "deny", "{line}");
    }
    for line in ["git -C . pull", "git --no-pager log", "cargo --locked test", "git commit -m 'git push'"] {
        assert_eq!(command(&all, line, &[]), "allow", "{line}");
    }
    let asking = permissions(Mode::Default, &["run_command"], &["run_command(git push *)"], &[]);
    assert_eq!(command(&asking, "git -C . push", &[]), "ask");
    assert_eq!(command(&asking, "git -C . pull", &[]), "allow");
}

// proves X5: if the shell may expand a pattern to a forbidden command, a person is asked
#[test]
fn a_pattern_that_may_stand_for_what_is_forbidden_asks() {
    let deny = ["run_command(git push *)", "run_command(rm *)"];
    for (allow, mode) in
        [(&["run_command"][..], Mode::Default), (&["run_command(*)"], Mode::Strict), (&[], Mode::Bypass)]
    {
        let all = permissions(mode, allow, &[], &deny);
        for line in [
            "git pu?h",
            "git pus[h] origin",
            "git -C . pu*",
            "git *",
            "gi[t] push",
            "/bin/r? x",
            "/b?n/rm x",
            "sudo /bin/r? x",
            "{git,push}",
            "git {push,origin}",
            "git pus{h,}",
            "echo $(/bin/r? x)",
        ] {
            let want = if line == "/b?n/rm x" { "deny" } else { "ask" };
            assert_eq!(command(&all, line, &[]), want, "{mode:?} {line}");
            let exact = allowing_rule(&spec("local.run_command", EffectClass::Once), &About::command(line));
            assert_eq!(command(&all, line, &[&exact]), if want == "ask" { "allow" } else { want }, "{exact}");
        }
        for line in [
            "ls *",
            "git add *.rs",
            "git 'pu?h'",
            "rg '[r]m' x",
            "for x in *; do ls $x; done",
            "if [ -f x ]; then ls; fi",
        ] {
            assert_eq!(command(&all, line, &[]), "allow", "{mode:?} {line}");
        }
    }
    let asking = permissions(Mode::Default, &["run_command(git *)"], &["run_command(git push *)"], &[]);
    assert_eq!(command(&asking, "git pu?h", &[]), "ask");
}

// proves X5: a command is its list of words, not the joined text
#[test]
fn another_quoting_is_another_command_where_the_words_differ() {
    let exact = permissions(Mode::Default, &["run_command(rm a b)", r"run_command(rm \*.o)"], &[], &[]);
    for (line, want) in [
        ("rm a b", "allow"),
        ("rm  a   b", "allow"),
        ("'rm' \"a\" b", "allow"),
        ("rm 'a b'", "ask"),
        ("rm a\\ b", "ask"),
        ("rm a '' b", "ask"),
        ("rm *.o", "allow"),
        ("rm '*.o'", "ask"),
        ("rm \\*.o", "ask"),
    ] {
        assert_eq!(command(&exact, line, &[]), want, "{line}");
    }
    let denied = permissions(Mode::Bypass, &[], &[], &["run_command(/bin/rm a b)"]);
    assert_eq!(command(&denied, "/bin/rm 'a b'", &[]), "deny");
}
