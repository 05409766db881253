//! `windlass replay`: a session displayed again from its journal alone.

use std::io::{BufRead as _, BufReader};
use std::time::{Duration, Instant};

use serde_json::json;
use windlass_testkit::{FaultKind, Script, ScriptStep};
use windlass_vocab::Record;

use crate::support::{Bench, interrupt, journal, ran};

fn bench() -> Bench {
    Bench::new(Script::of([
        ScriptStep::say("Looking.").and_call("list_directory", json!({"path": "."})),
        ScriptStep::call("run_command", json!({"command": "ls"})),
        ScriptStep::say("Seen.\nAll of it.").fault(FaultKind::status(503)),
    ]))
}

// proves J8: a replay prints the same output as the run
#[test]
fn a_replay_shows_what_the_run_showed() {
    let bench = bench();
    let live = bench.run(&["run", "look\naround", "--session", "s"]);
    assert_eq!(live.code, 0, "{}", live.stderr);
    let asked = bench.server.count();
    let replayed = bench.run(&["replay", "s"]);
    assert_eq!((replayed.code, &replayed.stdout), (0, &live.stdout), "{}", replayed.stderr);
    assert_eq!(replayed.stderr, format!("> look\n> around\n{}", live.stderr));
    assert!(live.stderr.contains("list_directory .") && live.stderr.contains("trying again in"), "{}", live.stderr);
    assert_eq!(bench.server.count(), asked, "no model is asked");
}

// proves J8, E1
#[test]
fn a_replay_as_json_gives_every_record() {
    let bench = bench();
    let live = bench.run(&["run", "look", "--session", "s", "--json"]);
    let records: Vec<&str> = live.stdout.lines().filter(|line| line.contains("\"seq\":")).collect();
    let replayed = bench.run(&["replay", "s", "--json"]);
    assert_eq!(replayed.stdout.lines().collect::<Vec<_>>(), records);
    assert_eq!((replayed.code, replayed.stderr.as_str()), (0, ""));
}

// proves J8: a replay prints questions and their answers too
#[test]
fn a_replay_shows_questions_and_answers() {
    let bench = Bench::new(Script::of([
        ScriptStep::call("run_command", json!({"command": "touch made"})),
        ScriptStep::say("Made."),
    ]));
    let line = ["run", "go", "--session", "s", "--preset", "operator", "--mode", "bypass"];
    // The fifth write is the snapshot: from there on the command may have run.
    let died = bench.run_with(&line, &[("WINDLASS_TEST_DIE", "after:4")]);
    assert_eq!(died.code, -9);
    assert_eq!(bench.run(&["resume", "s"]).code, 6);
    assert_eq!(bench.run(&["resume", "s", "--answer", "run-again", "--mode", "bypass"]).code, 0);
    let replayed = bench.run(&["replay", "s"]);
    for shown in ["> go\n", "? run_command was cut short by a crash", "\n> run again\n", "going on with"] {
        assert!(replayed.stderr.contains(shown), "{shown:?} is not in {}", replayed.stderr);
    }
    assert_eq!(bench.run(&["replay", "s", "--check"]).code, 0);
}

// proves J8
#[test]
fn a_check_names_the_first_difference() {
    let bench = bench();
    assert_eq!(bench.run(&["run", "look", "--session", "s"]).code, 0);
    let same = bench.run(&["replay", "s", "--check"]);
    assert_eq!(same.code, 0, "{}", same.stderr);
    assert!(same.stdout.starts_with("s: the same, "), "{}", same.stdout);
    let mut changed = 0;
    journal::rewrite(&bench.data(), "s", "t", |envelope| {
        if let Record::TurnStarted(started) = &mut envelope.record {
            started.turn.0 += u32::from(changed == 0);
            changed = if changed == 0 { envelope.seq } else { changed };
        }
    });
    let differs = bench.run(&["replay", "t", "--check"]);
    assert_eq!(differs.code, 1, "{}", differs.stderr);
    let lines: Vec<&str> = differs.stdout.lines().collect();
    let expected = format!("t: differs at record {changed}, in the batch that begins at {}", changed - 1);
    assert_eq!(lines[0], expected);
    assert!(lines[1].starts_with(r#"  recorded: TurnStarted {"turn":2,"mode":"tools""#), "{}", lines[1]);
    assert!(lines[2].starts_with(r#"  decided:  TurnStarted {"turn":1,"mode":"tools""#), "{}", lines[2]);
    assert_eq!(lines.len(), 3);
}

/// Stores a session `slow` whose records are `apart_ms` apart.
fn slow_session(bench: &Bench, apart_ms: u64) {
    assert_eq!(bench.run(&["run", "look", "--session", "s"]).code, 0);
    journal::rewrite(&bench.data(), "s", "slow", |envelope| {
        envelope.at = windlass_vocab::Timestamp(0).plus_ms(envelope.seq * apart_ms);
    });
}

#[test]
fn a_replay_in_real_time_takes_its_time_but_not_for_ever() {
    let bench = Bench::new(Script::of([ScriptStep::say("Done.")]));
    slow_session(&bench, 3_600_000);
    let batches = u32::try_from(bench.batches("slow").len()).expect("few");
    // A pause of an hour is cut to five seconds, which are 50 ms on the scaled test clock.
    let begun = Instant::now();
    let replayed = bench.run(&["replay", "slow", "--real-time"]);
    assert_eq!((replayed.code, replayed.stdout.as_str()), (0, "Done.\n"), "{}", replayed.stderr);
    assert!(begun.elapsed() >= Duration::from_millis(50) * (batches - 1));
}

#[test]
fn ctrl_c_ends_a_replay() {
    let bench = Bench::new(Script::of([ScriptStep::say("Done.")]));
    slow_session(&bench, 3_600_000);
    let mut command = bench.command(&["replay", "slow", "--real-time"]);
    let mut child = command.env("WINDLASS_TEST_CLOCK", "1").spawn().expect("the binary starts");
    let mut shown = String::new();
    BufReader::new(child.stderr.as_mut().expect("a pipe")).read_line(&mut shown).expect("a line");
    assert_eq!(shown, "> look\n");
    interrupt(&child);
    let replayed = ran(child);
    assert_eq!((replayed.code, replayed.stdout.as_str()), (4, ""), "{}", replayed.stderr);
}
