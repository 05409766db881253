//! What a restart finds: open runs go on, and pending questions are asked again under their ids (J3).

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use windlass_testkit::{AfterSteps, ReplyPace, Scene, Script, ScriptStep};

use crate::support::Bench;
use crate::support::served::Served;

// proves J3, T8: a killed server asks again, under the same id, and an answer finishes the run
#[test]
fn a_question_survives_a_killed_server_under_its_id() {
    let bench = Bench::new(Script::of([
        ScriptStep::call("run_command", json!({"command": "echo once >> made.txt"})),
        ScriptStep::say("Made."),
    ]));
    let served = Served::start(&bench, &["--sandbox", "off"]);
    let session = served.new_session();
    served.say(&session, "make it");
    let asked = served.follow(&session, 0).records_to("QuestionAsked").pop().expect("a question");
    drop(served);
    let served = Served::start(&bench, &["--sandbox", "off"]);
    let row = served.get(&format!("/api/sessions/{session}")).json();
    assert_eq!((&row["status"], &row["driver"]), (&json!("waiting"), &json!("here")));
    let path = format!("/api/sessions/{session}/questions/{}/answer", asked["body"]["question"]);
    assert_eq!(served.post(&path, &json!({"option": "once"})).json(), json!({"outcome": "answered"}));
    let end = served.follow(&session, 0).records_to("RunEnded").pop().expect("an end");
    assert_eq!(end["body"]["reason"], json!("completed"));
    assert_eq!(bench.read("made.txt").as_deref(), Some("once\n"));
}

// proves J3, J5: a run whose process dies is found while the server serves, also one of a terminal
#[test]
fn a_run_whose_process_dies_is_found_within_a_minute_and_goes_on() {
    let bench = Bench::new(Script::of([
        ScriptStep::call("run_command", json!({"command": "echo x >> ran; touch begun; test -e go || sleep 600"})),
        ScriptStep::say("Done."),
    ]));
    let served = Served::start(&bench, &["--sandbox", "off", "--allow", "run_command"]);
    let mut other = bench.spawn(&["run", "wait", "--session", "s", "--sandbox", "off", "--allow", "run_command"]);
    bench.wait_for_file("begun", &mut other);
    let row = served.get("/api/sessions").json()["sessions"][0].clone();
    assert_eq!(row["driver"], json!({"pid": other.id()}));
    std::fs::write(bench.workspace().join("go"), "").expect("written");
    other.kill().expect("killed");
    other.wait().expect("ended");
    let session = row["id"].as_str().expect("an id");
    let records = served.follow(session, 0).records_to("RunEnded");
    // Nobody attended the run, so nobody is asked what became of its command.
    let settled = records.iter().find(|record| record["kind"] == "CallSettled").expect("a settlement");
    assert_eq!(settled["body"]["settlement"], json!("interrupt"), "{settled}");
    assert_eq!(records.last().expect("an end")["body"]["reason"], json!("completed"));
    assert_eq!(bench.read("ran").as_deref(), Some("x\n"));
}

// proves J3: a thousand open runs are resumed by and by, archived ones too
#[test]
fn many_open_runs_are_resumed_a_few_at_a_time() {
    let answers = Scene { steps: vec![ScriptStep::say("Aye.")], ..Scene::default() };
    let slow = ReplyPace { latency_ms: 1_500, ..ReplyPace::default() };
    let bench = Bench::new(Script { pace: slow, ..Script::default() }.scene(answers.then(AfterSteps::RepeatLast)));
    // By the usual clock of tests, an answer that takes so long would have timed out.
    let line = ["serve", "--address", "127.0.0.1:0"];
    let start = || Served::started(bench.command(&line).env("WINDLASS_TEST_CLOCK", "1"));
    let served = start();
    let sessions: Vec<String> = (0..MANY).map(|_| served.new_session()).collect();
    for session in &sessions {
        served.say(session, "hello");
    }
    let archived = served.send("PATCH", &format!("/api/sessions/{}", sessions[0]), "{\"archived\": true}");
    assert_eq!(archived.status, 200, "{archived:?}");
    drop(served);
    let served = start();
    let done = AtomicBool::new(false);
    let most = std::thread::scope(|scope| {
        let (served, over) = (&served, &done);
        let watcher = scope.spawn(move || {
            let mut most = 0;
            while !over.load(Ordering::SeqCst) {
                most = most.max(working(&served.get("/metrics").body));
            }
            most
        });
        for session in &sessions {
            let end = served.follow(session, 0).records_to("RunEnded").pop().expect("an end");
            assert_eq!(end["body"]["reason"], json!("completed"));
        }
        done.store(true, Ordering::SeqCst);
        watcher.join().expect("a watcher")
    });
    assert!((1..=16).contains(&most), "{most} runs worked at once");
}

/// How many sessions are made for it: more than may work at once, and few enough to be quick.
const MANY: usize = 48;

/// Reads how many sessions work from the metrics.
fn working(metrics: &str) -> u32 {
    let line = metrics.lines().find_map(|line| line.strip_prefix("windlass_live_sessions{activity=\"working\"} "));
    line.and_then(|count| count.parse().ok()).expect("a count")
}
