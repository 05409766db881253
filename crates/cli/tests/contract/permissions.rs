//! What may run where nobody can be asked. The model is told why something may not, and which rule
//! would allow it.

use serde_json::{Value, json};
use windlass_testkit::{Script, Step};

use crate::support::Bench;

struct Case {
    flags: &'static [&'static str],
    command: &'static str,
    /// The files it leaves behind, of `keep` and `made`.
    files: &'static [&'static str],
    /// What the model is told.
    told: &'static str,
}

/// The files of the workspace after a run with one call, and what the model was told of it.
fn call(flags: &[&str], tool: &str, arguments: Value) -> (Vec<String>, String) {
    let bench = Bench::new(Script::of([Step::call(tool, arguments), Step::say("Aye.")]));
    std::fs::write(bench.workspace().join("keep"), "").expect("written");
    let ran = bench.run(&[&["run", "go"], flags].concat());
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Aye.\n"), "{flags:?}: {}", ran.stderr);
    bench.assert_whole("one call");
    let entries = std::fs::read_dir(bench.workspace()).expect("a folder").flatten();
    let mut files: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    files.sort();
    (files, bench.last_request("tool").concat())
}

// proves T8
#[test]
fn a_command_runs_only_under_a_rule_that_covers_all_of_it() {
    let allow = &["--allow", "run_command(touch *)"][..];
    for Case { flags, command, files, told } in [
        Case { flags: &[], command: "touch made", files: &["keep"], told: "--allow 'run_command(touch *)'" },
        Case { flags: &[], command: "touch made", files: &["keep"], told: "nobody is there" },
        Case { flags: allow, command: "touch made", files: &["keep", "made"], told: "" },
        Case { flags: allow, command: "touch made; rm keep", files: &["keep"], told: "--allow" },
        Case { flags: allow, command: "touch made && rm keep", files: &["keep"], told: "--allow" },
        Case { flags: allow, command: "touch made | rm keep", files: &["keep"], told: "--allow" },
        Case { flags: allow, command: "touch made\nrm keep", files: &["keep"], told: "--allow" },
        Case { flags: allow, command: "touch made $(rm keep)", files: &["keep"], told: "--allow" },
        Case { flags: allow, command: "touch made `rm keep`", files: &["keep"], told: "--allow" },
        Case { flags: allow, command: "touchy made", files: &["keep"], told: "--allow" },
        Case {
            flags: &["--allow", "run_command(touch *)", "--deny", "run_command(touch made)"],
            command: "touch made",
            files: &["keep"],
            told: "--deny 'run_command(touch made)'",
        },
        Case {
            flags: &["--mode", "bypass", "--deny", "run_command(rm *)"],
            command: "touch made; rm keep",
            files: &["keep"],
            told: "--deny 'run_command(rm *)'",
        },
        Case { flags: &["--mode", "bypass"], command: "touch made; rm keep", files: &["made"], told: "" },
        Case { flags: &["--mode", "strict"], command: "touch made", files: &["keep"], told: "--allow" },
    ] {
        let (left, heard) = call(flags, "run_command", json!({"command": command}));
        assert_eq!(left, files, "{flags:?} {command}: {heard}");
        assert!(heard.contains(told), "{flags:?} {command}: {heard}");
    }
}

// proves T8
#[test]
fn strict_asks_before_every_change_and_default_does_not() {
    let write = || json!({"path": "made", "content": "x"});
    assert_eq!(call(&[], "write_file", write()).0, ["keep", "made"]);
    let (files, heard) = call(&["--mode", "strict"], "write_file", write());
    assert!(files == ["keep"] && heard.contains("--allow 'write_file"), "{files:?} {heard}");
    assert_eq!(call(&["--mode", "strict", "--allow", "write_file"], "write_file", write()).0, ["keep", "made"]);
    assert_eq!(call(&["--mode", "strict"], "list_directory", json!({"path": "."})).0, ["keep"]);
    let (files, heard) = call(&["--deny", "write_file"], "write_file", write());
    assert!(files == ["keep"] && heard.contains("--deny 'write_file'"), "{files:?} {heard}");
}

#[test]
fn a_rule_that_is_none_is_refused_before_anything_starts() {
    let bench = Bench::new(Script::of([Step::say("Aye.")]));
    for flag in ["--allow", "--deny"] {
        let ran = bench.run(&["run", "go", flag, "run_command(git *"]);
        assert!(
            ran.code == 2 && ran.stderr.contains(flag) && ran.stderr.contains("run_command(git *"),
            "{}",
            ran.stderr
        );
    }
    assert_eq!(bench.server.count(), 0);
}

// proves T8: nobody can have said yes to a question that was not asked yet
#[test]
fn an_answer_is_not_kept_for_the_next_question() {
    let call = Step::call("run_command", json!({"command": "touch made"}));
    let bench = Bench::new(Script::of([call, Step::say("Aye.")]));
    let died = bench.run_with(&["run", "go", "--session", "s"], &[("WINDLASS_TEST_DIE", "after:3")]);
    assert_eq!(died.code, -9);
    let refused = bench.run(&["resume", "s", "--answer", "yes"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{}", refused.stderr);
    assert!(refused.stderr.contains("the run waits with no question"), "{}", refused.stderr);
    let ran = bench.run(&["resume", "s"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Aye.\n"), "{}", ran.stderr);
    assert_eq!(bench.read("made"), None);
    bench.assert_whole("answered too early");
}
