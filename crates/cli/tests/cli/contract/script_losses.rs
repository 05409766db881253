//! Files that a script changed or deleted unasked, on the real binary: the person is told which were put back and which are
//! lost, by the end of the run, its exit code and its records; also after a crash in the middle of the script.

use serde_json::{Value, json};
use windlass_testkit::{Script, ScriptStep};

use super::sandbox::holds;
use crate::support::{Bench, ran};

const FLAGS: [&str; 6] = ["--preset", "local-model", "--dialect", "script", "--allow", "run_command"];
const REQUEST: &str = "Change old to new in a.txt.";
const CHANGES: &str = "open('a.txt', 'w').write('new\\n')";

/// A bench whose model writes this script and then answers; `None` where no sandbox holds scripts.
fn bench(script: &str) -> Option<Bench> {
    let steps = [format!("```python\nimport os\n{script}\n```"), "I changed a.txt.".to_owned()];
    let bench = Bench::new(Script::of(steps.map(ScriptStep::say)));
    for (name, text) in [("a.txt", "old\n"), ("b.txt", "other\n")] {
        std::fs::write(bench.workspace().join(name), text).expect("written");
    }
    holds(&bench).then_some(bench)
}

fn changes(bench: &Bench) -> Value {
    let journal = bench.journal("s");
    let ended = journal.iter().rfind(|record| record["kind"] == "RunEnded").expect("an end");
    ended["body"]["changes"].clone()
}

// proves X4, L3: who reads only standard error is told of what was put back
#[test]
fn the_person_is_told_of_files_that_were_put_back() {
    let Some(bench) = bench(&format!("{CHANGES}\nos.remove('b.txt')")) else { return };
    let ran = bench.run(&[&["run", REQUEST, "--session", "s"], &FLAGS[..]].concat());
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "I changed a.txt.\n"), "{}", ran.stderr);
    let said = "windlass: Put back: b.txt, which the request did not ask to change. Files: changed a.txt.";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    assert_eq!(bench.read("b.txt").as_deref(), Some("other\n"));
    assert_eq!((&changes(&bench)["restored"], &changes(&bench)["lost"]), (&json!(["b.txt"]), &Value::Null));
    assert!(bench.run(&["sessions", "show", "s"]).stdout.contains("put back: b.txt"));
    assert_eq!(bench.run(&["replay", "s", "--check"]).code, 0);
    bench.assert_whole("put back");
}

// proves X4, W2: a file that can't be put back is told in every form, and the run did not do what was asked for
#[test]
fn the_person_is_told_of_a_file_that_is_lost() {
    for form in [&[][..], &["--json"]] {
        let Some(bench) = bench(&format!("{CHANGES}\nos.remove('big.bin')")) else { return };
        std::fs::write(bench.workspace().join("big.bin"), vec![7; (1 << 20) + 1]).expect("written");
        let ran = bench.run(&[&["run", REQUEST, "--session", "s"], &FLAGS[..], form].concat());
        assert_eq!(ran.code, 3, "{}", ran.stderr);
        let said =
            "windlass: LOST, though the request did not ask for it: big.bin (deleted; it was too large to be kept).";
        assert!(ran.stderr.contains(said), "{form:?}: {}", ran.stderr);
        assert_eq!(changes(&bench)["lost"], json!({"big.bin": "deleted; it was too large to be kept"}));
        assert_eq!(bench.read("a.txt").as_deref(), Some("new\n"));
        bench.assert_whole("lost");
    }
}

// proves X4, J3: what a script did unasked before a crash is put back by whoever resumes, once, and both are told
#[test]
fn what_a_killed_script_did_unasked_is_put_back_on_resume() {
    let waits = "open('waits', 'w').close()\nimport time\ntime.sleep(600)";
    let Some(bench) = bench(&format!("os.remove('b.txt')\n{waits}")) else { return };
    let mut child = bench.spawn(&[&["run", REQUEST, "--session", "s"], &FLAGS[..]].concat());
    bench.wait_for_file("waits", &mut child);
    child.kill().expect("killed");
    ran(child);
    assert_eq!(bench.read("b.txt"), None);
    let resumed = bench.run(&["resume", "s", "--allow", "run_command"]);
    assert_eq!(bench.read("b.txt").as_deref(), Some("other\n"), "{}", resumed.stderr);
    assert!(resumed.stderr.contains("Put back: b.txt, which the request did not ask to change."), "{}", resumed.stderr);
    let told = bench.last_request("user").concat();
    assert!(told.contains("It had changed or deleted b.txt, which the request does not ask for"), "{told}");
    assert_eq!(changes(&bench)["restored"], json!(["b.txt"]));
    assert_eq!(bench.run(&["replay", "s", "--check"]).code, 0);
    bench.assert_whole("killed script");
}
