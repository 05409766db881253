//! Many followers that come and go: each ends with exactly the journal (E1).

use serde_json::{Value, json};
use windlass_testkit::{ReplyPace, Script, ScriptedCall, WriteSplit};

use crate::support::Bench;
use crate::support::served::Served;

const SESSIONS: usize = 50;
const FOLLOWERS: usize = 200;
const TURNS: usize = 4;

/// Follows a session to the end of its run, and drops the connection after a number of events that looks random.
/// Returns the records as they came.
fn follow_and_drop(served: &Served, session: &str, mut seed: u64) -> Vec<Value> {
    let mut records = Vec::<Value>::new();
    while records.last().is_none_or(|record| record["kind"] != "RunEnded") {
        let last = records.last().and_then(|record| record["seq"].as_u64()).unwrap_or(0);
        let mut events = served.follow(session, last);
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        for _ in 0..1 + (seed >> 33) % 12 {
            let Some((id, event)) = events.next() else { break };
            let ends = event["kind"] == "RunEnded";
            records.extend(id.map(|_| event));
            if ends {
                break;
            }
        }
    }
    records
}

// proves E1, W3: no record is lost and none comes twice, for any of them, wherever they drop the connection
#[test]
fn two_hundred_followers_that_drop_and_reconnect_get_exactly_the_journal() {
    let arguments = json!({"path": "$STEP.txt", "content": "x"});
    let write = ScriptedCall { name: "write_file".to_owned(), arguments, id: None };
    let pace = ReplyPace { pause_ms: 5, writes: WriteSplit::Events, ..ReplyPace::default() };
    let bench = Bench::new(Script { pace, ..Script::turns(TURNS, 100, &write) });
    let served = Served::start(&bench, &[]);
    let sessions: Vec<String> = (0..SESSIONS).map(|_| served.new_session()).collect();
    let followed: Vec<(usize, Vec<Value>)> = std::thread::scope(|scope| {
        let (served, sessions) = (&served, &sessions);
        let followers: Vec<_> = (0..FOLLOWERS)
            .map(|number| {
                let at = number % SESSIONS;
                let small = std::thread::Builder::new().stack_size(512 * 1024);
                let follow = move || (at, follow_and_drop(served, &sessions[at], number as u64));
                small.spawn_scoped(scope, follow).expect("a thread")
            })
            .collect();
        sessions.iter().for_each(|session| drop(served.say(session, "write them")));
        followers.into_iter().map(|follower| follower.join().expect("a follower")).collect()
    });
    let journals: Vec<Value> =
        sessions.iter().map(|session| served.get(&format!("/api/sessions/{session}/records")).json()).collect();
    for (at, records) in followed {
        assert_eq!(journals[at]["more"], json!(false));
        let journal = journals[at]["records"].as_array().expect("records");
        assert_eq!(records.len(), journal.len(), "of session {at}");
        assert!(records == *journal, "of session {at}");
    }
}
