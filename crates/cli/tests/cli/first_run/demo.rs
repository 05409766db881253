//! The demo, run to its end and killed in the middle. The tests check on disk what the demo claims.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{bench, fresh, run};
use crate::support::{Bench, Ran, ran};

/// Runs the demo and returns its output and its folder, which is inside the bench's folder.
fn demo(bench: &Bench, arguments: &[&str]) -> (Ran, PathBuf) {
    let mut command = fresh(bench, &[&["demo"], arguments].concat());
    command.env("TMPDIR", bench.dir.path());
    let ran = run(command);
    let folder = ran.stderr.lines().find_map(|line| line.strip_prefix("Folder: ")).expect("it says where").to_owned();
    (ran, PathBuf::from(folder))
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Asserts that there are seven different pictures, with names made from their texts.
fn assert_renamed(folder: &Path) {
    let names = names(folder);
    let pictures: Vec<&String> = names.iter().filter(|name| name.ends_with(".png")).collect();
    assert_eq!(pictures.len(), 7, "{names:?}");
    assert!(pictures.iter().all(|name| !name.starts_with("shot-")), "{names:?}");
    assert!(names.contains("error-disk-full-while-writing-backup.png"), "{names:?}");
    let contents: BTreeSet<Vec<u8>> =
        pictures.iter().map(|name| std::fs::read(folder.join(name)).expect("read")).collect();
    assert_eq!(contents.len(), 7, "no picture is there twice");
    assert_eq!(names.iter().filter(|name| name.starts_with("shot-") && name.ends_with(".txt")).count(), 7);
}

fn key(folder: &Path) -> String {
    folder
        .file_name()
        .and_then(|name| name.to_str())
        .and_then(|name| name.strip_prefix("windlass-"))
        .expect("a key")
        .to_owned()
}

// proves S5, S2 on the binary: a real job, labelled as a demo, with one empty reply in it
#[test]
fn the_demo_does_a_real_job_and_says_that_its_model_is_scripted() {
    let bench = bench();
    let (ran, folder) = demo(&bench, &[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.starts_with("demo model, scripted: done. 7 of 7"), "{}", ran.stdout);
    for line in ["    export OPENAI_API_KEY=", "    ollama pull "] {
        assert!(ran.stdout.lines().any(|said| said.starts_with(line)), "{line}: {}", ran.stdout);
    }
    assert_renamed(&folder);
    let key = key(&folder);
    assert_eq!(bench.records(&key, "Nudged"), 1, "the loop got over one empty reply");
    let journal = bench.journal(&key);
    let said = journal
        .iter()
        .filter(|record| record["kind"] == "ModelReplied")
        .flat_map(|record| record["body"]["parts"].as_array().cloned().unwrap_or_default());
    let said: Vec<String> = said.filter_map(|part| part["text"].as_str().map(str::to_owned)).collect();
    assert!(!said.is_empty() && said.iter().all(|text| text.starts_with("demo model, scripted: ")), "{said:?}");
    assert_eq!(bench.server.count(), 0, "nobody was called");
    bench.assert_whole("demo");
}

#[test]
fn each_demo_has_a_folder_of_its_own() {
    let bench = bench();
    let ((_, first), (_, second)) = (demo(&bench, &[]), demo(&bench, &[]));
    assert_ne!(first, second);
    assert_renamed(&second);
}

// proves J3: after a real kill it continues, and nothing is done twice
#[test]
fn a_demo_that_kills_itself_is_resumed_and_each_file_is_renamed_once() {
    let bench = bench();
    let (ran, folder) = demo(&bench, &["--crash"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stderr.contains("(SIGKILL)") && ran.stderr.contains("3 files are renamed, 4 not yet"),
        "{}",
        ran.stderr
    );
    assert!(ran.stdout.ends_with("Each file was renamed exactly once.\n"), "{}", ran.stdout);
    assert_renamed(&folder);
    let key = key(&folder);
    let journal = bench.journal(&key);
    let moves: Vec<&str> = journal
        .iter()
        .filter(|record| record["kind"] == "CallFinished" && record["body"]["outcome"] == "ok")
        .filter_map(|record| record["body"]["text"].as_str().filter(|text| text.starts_with("Moved ")))
        .collect();
    let distinct: BTreeSet<&str> = moves.iter().copied().collect();
    assert_eq!((moves.len(), distinct.len()), (7, 7), "{moves:?}");
    assert_eq!((bench.records(&key, "RunResumed"), bench.records(&key, "LeaseTaken")), (1, 2));
    bench.assert_whole("killed and resumed");
}

// proves J3: the demo is resumed by hand like any run, whatever model was configured since
#[test]
fn a_demo_that_died_is_taken_up_by_resume() {
    let bench = bench();
    let folder = bench.dir.path().join("windlass-demo-x");
    std::fs::create_dir(&folder).expect("a folder");
    for number in 1..=3 {
        std::fs::write(folder.join(format!("shot-{number}.png")), [number]).expect("written");
        std::fs::write(folder.join(format!("shot-{number}.txt")), format!("Picture {number}")).expect("written");
    }
    let mut dying = fresh(&bench, &["demo"]);
    dying.env("WINDLASS_DEMO_DIES", "demo-x").current_dir(&folder);
    assert_eq!(run(dying).code, -9, "it died of SIGKILL");
    for (context, command) in
        [("nothing configured", fresh(&bench, &["resume", "demo-x"])), ("again", fresh(&bench, &["resume", "demo-x"]))]
    {
        let ran = run(command);
        match context {
            "again" => assert!(ran.code == 2 && ran.stderr.contains("nothing to resume"), "{}", ran.stderr),
            _ => assert!(ran.code == 0 && ran.stdout.contains("3 of 3"), "{context}: {}{}", ran.stdout, ran.stderr),
        }
    }
    assert!(names(&folder).contains("picture-3.png"), "{:?}", names(&folder));
    assert_eq!(bench.server.count(), 0);
}

// proves W2: at normal speed, the first word appears at once
#[test]
fn the_demo_model_begins_to_talk_at_once() {
    let bench = bench();
    let mut command = fresh(&bench, &["run", "hello", "--model", "demo", "--json"]);
    command.env_remove("WINDLASS_TEST_CLOCK");
    let begun = Instant::now();
    let mut child = command.spawn().expect("the binary starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    assert!(lines.any(|line| line.expect("a line").contains("\"TextDelta\"")), "it talks");
    // It takes a quarter of a second on an idle machine.
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    lines.for_each(drop);
    assert_eq!(ran(child).code, 0);
}

#[test]
fn a_demo_begins_a_session_and_never_goes_on_with_one() {
    let bench = bench();
    assert_eq!(demo(&bench, &["--session", "shots"]).0.code, 0);
    for again in [&["demo", "--session", "shots"][..], &["demo", "--crash", "--session", "shots"]] {
        let ran = run(fresh(&bench, again));
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert!(ran.stderr.contains("`windlass sessions rm shots`"), "{}", ran.stderr);
    }
}
