//! A long run with tools and a restart in the middle: what was sent stays a prefix of what is sent next, on every wire.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;
use tokio::sync::OnceCell;
use windlass::{Agent, PolicyPatch, WireKind};
use windlass_testkit::{FaultKind, ModelServer, RecordedRequest, Script, ScriptStep};
use windlass_vocab::{ModelReplied, NanoMoney};

use super::{WIRES, WireCase, reply_in};

const TURNS: usize = 50;
/// The turn whose model call hangs until the agent is dropped.
const RESTART: usize = 25;
const MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;

fn script() -> Script {
    let turn = |number: usize| {
        let step = ScriptStep::say("Turn $STEP, «ok».").thinking("step by step").usage(1_000, 50).cache(800, 100);
        let step = match number {
            TURNS => step,
            // Some replies have two calls, and some no text.
            number if number.is_multiple_of(7) => {
                let calls = ScriptStep { text: String::new(), ..step };
                calls.and_call("note", json!({"n": "$STEP"})).and_call("note", json!({"n": "$STEP again"}))
            }
            _ => step.and_call("note", json!({"n": "$STEP"})),
        };
        if number == RESTART { step.fault(FaultKind::Delay { ms: 3_600_000 }) } else { step }
    };
    Script::of((1..=TURNS).map(turn))
}

fn agent(case: &WireCase, server: &ModelServer, dir: &Path) -> Agent {
    let policy = PolicyPatch { turn_cap: Some(60), ..PolicyPatch::default() };
    case.builder(server).data_dir(dir).policy(policy).build().expect("built")
}

/// The requests of a run, and its replies as recorded.
#[derive(Debug)]
struct LongRun {
    requests: Vec<RecordedRequest>,
    replies: Vec<ModelReplied>,
}

/// The run on each wire: it takes seconds, so the tests share it.
static LONG_RUNS: [OnceCell<LongRun>; 3] = [const { OnceCell::const_new() }; 3];

async fn long_runs() -> Vec<(&'static WireCase, &'static LongRun)> {
    let mut runs = Vec::new();
    for (case, cell) in WIRES.iter().zip(&LONG_RUNS) {
        runs.push((case, cell.get_or_init(|| long_run(case)).await));
    }
    runs
}

/// Runs the script with a restart in the middle.
async fn long_run(case: &WireCase) -> LongRun {
    let dir = tempfile::tempdir().expect("a folder");
    let server = ModelServer::start(script()).expect("a server");
    let mut replies = BTreeMap::new();
    let first = agent(case, &server, dir.path());
    let mut run = first.session("s").start("go").await.expect("started");
    while replies.len() < RESTART - 1 {
        replies.extend(reply_in(&run.next().await.expect("an event")));
    }
    while server.count() < RESTART {
        tokio::task::yield_now().await;
    }
    run.session().clone().close().await;
    drop((run, first));
    let second = agent(case, &server, dir.path());
    let mut run = second.session("s").resume().await.expect("opened").expect("an open run");
    while let Some(event) = run.next().await {
        replies.extend(reply_in(&event));
    }
    let ended = run.ended().await.expect("ended");
    assert_eq!((ended.answer.as_str(), ended.turns as usize), ("Turn 50, «ok».", TURNS), "{:?}", case.wire);
    assert_eq!((ended.usage.calls, ended.usage.cached), (50, 50 * 800), "{:?}", case.wire);
    assert_eq!(server.refused(), Vec::<String>::new(), "{:?}", case.wire);
    LongRun { requests: server.requests(), replies: replies.into_values().collect() }
}

/// The part of a request that must not change: all up to the end of the history, without the reminders of the turn and
/// the marks for the cache.
fn stable<'t>(case: &WireCase, text: &'t str) -> &'t str {
    let history = &text[..text.rfind(case.after_history).expect("an end of the history")];
    let reminders = history.rfind("<reminder>").expect("reminders");
    &history[..history[..reminders].rfind(",{").expect("the start of their message")]
}

// proves M6, J3: byte-stable over 50 turns with tools and a restart
#[tokio::test]
async fn what_was_sent_is_a_prefix_of_what_is_sent_next() {
    for (case, LongRun { requests, .. }) in long_runs().await {
        assert_eq!(requests.len(), TURNS + 1, "{:?}: the call cut short is made again", case.wire);
        let texts: Vec<String> = requests
            .iter()
            .map(|request| String::from_utf8(request.raw.clone()).expect("text").replace(MARK, ""))
            .collect();
        for (turn, pair) in texts.windows(2).enumerate() {
            let (before, after) = (stable(case, &pair[0]), stable(case, &pair[1]));
            assert!(after.starts_with(before), "{:?} {turn}:\n{before}\n{after}", case.wire);
            assert_eq!(before == after, turn + 1 == RESTART, "{:?} {turn}", case.wire);
        }
        let keys: Vec<&str> = requests.iter().filter_map(|request| request.body["prompt_cache_key"].as_str()).collect();
        match case.wire {
            // One key for the session, before and after the restart.
            WireKind::Responses => assert!(keys.len() == TURNS + 1 && keys.iter().all(|key| *key == keys[0])),
            WireKind::Chat | WireKind::Messages => assert_eq!(keys, Vec::<&str>::new()),
        }
    }
}

// proves M6: each turn reads at the mark before the last what the turn before wrote at its last
#[tokio::test]
async fn messages_marks_the_prefix_and_the_last_two_ends_of_the_users_side() {
    let LongRun { requests, .. } = long_runs().await[1].1;
    let mut last_mark = String::new();
    for (turn, request) in requests.iter().enumerate() {
        let text = String::from_utf8(request.raw.clone()).expect("text");
        let ends: Vec<usize> = text.match_indices(MARK).map(|(at, _)| at).collect();
        assert_eq!(ends.len(), if turn == 0 { 3 } else { 4 }, "{turn}");
        let marked: Vec<String> = ends.iter().map(|end| text[..*end].replace(MARK, "")).collect();
        if turn > 0 && turn != RESTART {
            assert_eq!(marked[2], last_mark, "{turn}");
        }
        last_mark.clone_from(&marked[ends.len() - 1]);
    }
}

// proves M5: what a model sealed goes back to it, in every later turn
#[tokio::test]
async fn reasoning_goes_back_to_the_model_that_made_it() {
    for (case, LongRun { requests, replies }) in long_runs().await {
        assert!(replies.iter().all(|reply| reply.parts.iter().any(is_thinking)), "{:?}", case.wire);
        let last = String::from_utf8(requests[TURNS].raw.clone()).expect("text");
        let returned = (0..TURNS - 1).filter(|number| last.contains(&format!("\"sealed-0-{number}\""))).count();
        let expected = if case.wire == WireKind::Chat { 0 } else { TURNS - 1 };
        assert_eq!(returned, expected, "{:?}", case.wire);
    }
}

fn is_thinking(part: &windlass_vocab::Part) -> bool {
    matches!(part, windlass_vocab::Part::Thinking { text, .. } if text == "step by step")
}

// proves M7: a hit costs what the provider asks for a hit
#[tokio::test]
async fn usage_with_cache_hits_is_recorded_and_costed() {
    for (case, LongRun { replies, .. }) in long_runs().await {
        assert_eq!(replies.len(), TURNS, "{:?}", case.wire);
        let (written, cost) = match case.wire {
            // Nothing is known of its prices.
            WireKind::Chat => (0, None),
            WireKind::Messages => (100, Some(NanoMoney(100 * 1_000 + 800 * 100 + 100 * 1_250 + 50 * 5_000))),
            WireKind::Responses => (100, Some(NanoMoney(200 * 1_250 + 800 * 125 + 50 * 10_000))),
        };
        for reply in replies {
            let usage = &reply.usage;
            assert_eq!((usage.input, usage.output, usage.cached), (1_000, 50, 800), "{:?}", case.wire);
            assert_eq!((usage.cache_written, reply.cost), (written, cost), "{:?}", case.wire);
        }
    }
}
