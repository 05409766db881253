//! What a rule about a command allows and forbids, however the command is written.

use serde_json::json;
use windlass_testkit::{Script, ScriptStep};

use crate::support::Bench;

/// A project with a git repository, where the model runs one command and then answers.
fn repository(command: &str) -> Bench {
    let bench =
        Bench::new(Script::of([ScriptStep::call("run_command", json!({"command": command})), ScriptStep::say("Aye.")]));
    let git = |arguments: &[&str]| {
        let ran = std::process::Command::new("git").args(arguments).current_dir(bench.workspace()).output();
        assert!(ran.expect("git is there").status.success(), "{arguments:?}");
    };
    git(&["init", "-q"]);
    // The alias `git land` creates a file, which shows that it ran.
    git(&["config", "alias.land", "!touch pwned"]);
    std::fs::write(bench.workspace().join("land"), "").expect("written");
    bench
}

/// Returns whether the command had its effect, and the tool result that the model got.
fn landed(command: &str, flags: &[&str]) -> (bool, String) {
    let bench = repository(command);
    let ran = bench.run(&[&["run", "go"], flags].concat());
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Aye.\n"), "{command}: {}", ran.stderr);
    (bench.read("pwned").is_some(), bench.last_request("tool").concat())
}

// proves X5: a `*` in a rule does not allow options that make a program run another one
#[test]
fn a_rule_with_a_star_does_not_let_a_program_become_another() {
    for (rule, command, runs) in [
        ("git status *", "git status -s && touch pwned", false),
        ("git *", "git -c alias.x='!touch pwned' x", false),
        ("git *", "git -calias.x='!touch pwned' x", false),
        ("git *", "git '-c' alias.x='!touch pwned' x", false),
        ("git *", "git --no-pager -c alias.x='!touch pwned' x", false),
        ("git *", "git config alias.x '!touch pwned' && git x", false),
        ("git *", "git log --output=pwned", false),
        ("git *", "git diff --outpu=pwned", false),
        ("git *", "git -C . land", false),
        ("git -C . *", "git -C . land", true),
        ("git land", "git land", true),
        ("git -c alias.x='!touch pwned' x", "git -c alias.x='!touch pwned' x", true),
        ("find *", "find . -maxdepth 0 -exec touch pwned ';'", false),
        ("sort *", "sort -uo pwned land", false),
        ("make *", "make -f land SHELL='touch pwned'", false),
    ] {
        let (has_run, heard) = landed(command, &["--allow", &format!("run_command({rule})")]);
        assert_eq!(has_run, runs, "{rule}: {command}: {heard}");
        assert_eq!(heard.contains("nobody is there"), !runs, "{rule}: {command}: {heard}");
    }
}

// proves X5: a denied subcommand is found behind options, and a shell pattern that may expand to it is not permitted
#[test]
fn a_forbidden_subcommand_is_not_run_however_it_is_spelled() {
    let deny = ["--deny", "run_command(git land *)"];
    for allow in [&["--mode", "bypass"][..], &["--allow", "run_command"], &["--allow", "run_command(git *)"]] {
        for command in [
            "git land",
            "git -C . land",
            "git --no-pager land",
            "git -c a.b=c land",
            "git --git-dir=.git land",
            "git --git-dir .git --work-tree . land",
            "/usr/bin/git -C . land",
            "g'i't \"-C\" . la\\nd",
            "env git -C . land",
            "timeout 5 git --no-pager land",
            "sh -c 'git -C . land'",
            "true && git -C . land",
            "echo $(git -C . land)",
        ] {
            let (has_run, heard) = landed(command, &[allow, &deny].concat());
            assert!(!has_run && heard.contains("the rule `run_command(git land *)` forbids it"), "{command}: {heard}");
        }
        for command in ["git l?nd", "git [l]and", "git -C . lan*", "git *", "/usr/bin/gi? land", "git {land,x}"] {
            let (has_run, heard) = landed(command, &[allow, &deny].concat());
            assert!(!has_run && heard.contains("nobody is there"), "{allow:?} {command}: {heard}");
        }
    }
    let (has_run, heard) = landed("git 'status' && touch pwned", &["--mode", "bypass", "--deny", deny[1]]);
    assert!(has_run, "{heard}");
}
