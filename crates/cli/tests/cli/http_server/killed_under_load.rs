//! The server is killed again and again while clients send: every message that was accepted is answered, once (J2, J3, J6).

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use windlass_testkit::{AfterSteps, Scene, Script, ScriptStep};

use crate::support::served::{Address, Served};
use crate::support::{Bench, count};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";
const SESSIONS: usize = 4;
const KILLS: u64 = 20;

/// Numbers that look random and are the same at each run of the test.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// What the clients share with the test.
struct Load {
    address: Mutex<Address>,
    accepted: AtomicUsize,
    over: AtomicBool,
}

impl Load {
    fn address(&self) -> Address {
        self.address.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sends messages to a session until the load is over, each until it is accepted. Returns their ids.
    fn send_all(&self, session: &str) -> Vec<String> {
        let (path, mut sent) = (format!("/api/sessions/{session}/messages"), Vec::new());
        while !self.over.load(Ordering::SeqCst) {
            let id = format!("{session}-{}", sent.len());
            let body = json!({"text": format!("message {id}")}).to_string();
            // A server that is gone, or dies before it answers, leaves it open whether the message counts: it is sent again.
            while self.address().try_send("POST", &path, &[("idempotency-key", &id)], &body) != Some(202) {
                std::thread::sleep(Duration::from_millis(5));
            }
            self.accepted.fetch_add(1, Ordering::SeqCst);
            sent.push(id);
        }
        sent
    }

    fn wait_for_accepted(&self, count: usize) {
        let begun = Instant::now();
        while self.accepted.load(Ordering::SeqCst) < count {
            assert!(begun.elapsed() < Duration::from_secs(60), "no more messages are accepted");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

fn start(bench: &Bench) -> Served {
    let file = bench.dir.path().join("token");
    std::fs::write(&file, TOKEN).expect("written");
    Served::start(bench, &["--token-file", &file.display().to_string(), "--preset", "durable-chat"])
}

/// Returns the journal of a session once all its messages are answered. Too many kills without progress park a run: then a
/// person has to say that it goes on.
fn settled(served: &Served, session: &str, messages: usize) -> Vec<Value> {
    let (mut events, mut records) = (served.follow(session, 0), Vec::<Value>::new());
    while count(&records, "RunEnded") < messages {
        let (_, event) = events.next().expect("the stream goes on");
        if event["kind"] == "QuestionAsked" {
            let path = format!("/api/sessions/{session}/questions/{}/answer", event["body"]["question"]);
            served.post(&path, &json!({"option": "once"}));
        }
        if event["seq"].is_u64() {
            records.push(event);
        }
    }
    records
}

// proves J2, J3, J6: twenty SIGKILLs at any moment lose no accepted message and answer none twice
#[test]
fn every_accepted_message_is_answered_once_however_often_the_server_is_killed() {
    let answers = Scene { steps: vec![ScriptStep::say("Aye.")], ..Scene::default() };
    let bench = Bench::new(Script::default().scene(answers.then(AfterSteps::RepeatLast)));
    let mut served = start(&bench);
    let sessions: Vec<String> = (0..SESSIONS).map(|_| served.new_session()).collect();
    let load =
        Load { address: Mutex::new(served.address()), accepted: AtomicUsize::new(0), over: AtomicBool::new(false) };
    let sent: Vec<Vec<String>> = std::thread::scope(|scope| {
        let clients: Vec<_> = sessions.iter().map(|session| scope.spawn(|| load.send_all(session))).collect();
        let mut numbers = Numbers(17);
        for _ in 0..KILLS {
            let more = 1 + numbers.below(8) as usize;
            load.wait_for_accepted(load.accepted.load(Ordering::SeqCst) + more);
            // The moment is what the test is about, and it is another one each time.
            std::thread::sleep(Duration::from_micros(numbers.below(20_000)));
            served.child.kill().expect("killed");
            served.child.wait().expect("ended");
            served = start(&bench);
            *load.address.lock().unwrap_or_else(PoisonError::into_inner) = served.address();
        }
        load.over.store(true, Ordering::SeqCst);
        clients.into_iter().map(|client| client.join().expect("a client")).collect()
    });
    for (session, sent) in sessions.iter().zip(&sent) {
        let journal = settled(&served, session, sent.len());
        let accepted: Vec<&Value> = journal.iter().filter(|record| record["kind"] == "MessageAccepted").collect();
        let ids: Vec<&str> = accepted.iter().filter_map(|record| record["body"]["message_id"].as_str()).collect();
        assert_eq!(ids, *sent, "each message is taken up once, in order");
        let reasons: Vec<&str> = journal
            .iter()
            .filter(|record| record["kind"] == "RunEnded")
            .filter_map(|record| record["body"]["reason"].as_str())
            .collect();
        assert_eq!(reasons, vec!["completed"; sent.len()], "each is answered once");
    }
    drop(served);
    bench.assert_whole("after twenty kills");
}
