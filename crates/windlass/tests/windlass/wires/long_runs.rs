//! A long run with tools, a plan, a restart and a compaction: what was sent stays a prefix of what is sent next, on every
//! wire, and the server's cache has all of it but where the history was shortened.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;
use tokio::sync::OnceCell;
use windlass::{Agent, PolicyPatch, WireKind};
use windlass_testkit::{AfterSteps, CountFrom, FaultKind, ModelServer, RecordedRequest, Scene, Script, ScriptStep};
use windlass_vocab::{CacheMissCause, CacheReport, CacheResult, ModelReplied, NanoMoney, Usage};

use super::{WIRES, WireCase, reply_in};

const TURNS: usize = 50;
/// The turn in which the model sets the plan.
const PLANNED: usize = 3;
/// The turn whose model call hangs until the agent is dropped.
const RESTART: usize = 25;
/// The turn whose request the server finds too long, so that the history is summarised.
const SHORTENED: usize = 35;
/// Requests besides those of the turns: the one that hangs, the one that is too long, and the one for the summary.
const EXTRA: usize = 3;
const MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;
const PLAN: &str = "Your plan:";

fn script() -> Script {
    let turn = |number: usize| {
        let step = ScriptStep::say("Turn $STEP, «ok».").thinking("step by step").usage(0, 50);
        let line = || json!({"n": format!("$STEP {}", "haul away ".repeat(40))});
        let step = match number {
            TURNS => step,
            PLANNED => step.and_call("todo", json!({"items": [{"step": "Haul.", "status": "doing"}]})),
            // Some replies have two calls, and some no text.
            number if number.is_multiple_of(7) => {
                let calls = ScriptStep { text: String::new(), ..step };
                calls.and_call("note", line()).and_call("note", json!({"n": "$STEP again"}))
            }
            _ => step.and_call("note", line()),
        };
        match number {
            RESTART => step.fault(FaultKind::Delay { ms: 3_600_000 }),
            SHORTENED => {
                let body = json!({"error": {"message": "The prompt is too long.", "type": "invalid_request_error"}});
                step.fault(FaultKind::Status { code: 400, body: Some(body.to_string()), retry_after: None })
            }
            _ => step,
        }
    };
    let turns = Scene { steps: (1..=TURNS).map(turn).collect(), counting: CountFrom::Whole, ..Scene::default() };
    let summary = Scene::without_tools([ScriptStep::say("Lines were noted.").usage(0, 50)]);
    Script::default().scene(summary.then(AfterSteps::RepeatLast)).scene(turns).measured()
}

fn agent(case: &WireCase, server: &ModelServer, dir: &Path) -> Agent {
    let policy = PolicyPatch { turn_cap: Some(60), ..PolicyPatch::default() };
    let workspace = dir.join("work");
    std::fs::create_dir_all(&workspace).expect("a folder");
    let builder = case.builder(server).data_dir(dir.join("data")).workspace(workspace).deny("run_command");
    builder.policy(policy).build().expect("built")
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
    // The turn whose request was too long is begun again.
    assert_eq!((ended.answer.as_str(), ended.turns as usize), ("Turn 50, «ok».", TURNS + 1), "{:?}", case.wire);
    assert_eq!(ended.usage.calls, 51, "{:?}: the turns and the summary", case.wire);
    assert_eq!(server.refused(), Vec::<String>::new(), "{:?}", case.wire);
    LongRun { requests: server.requests(), replies: replies.into_values().collect() }
}

/// What kind of request it is, and the part of it that must not change: all up to the end of the history, without the
/// reminders of the turn and the marks for the cache.
fn stable(case: &WireCase, request: &RecordedRequest) -> (RequestKind, String) {
    let text = String::from_utf8(request.raw.clone()).expect("text").replace(MARK, "");
    let (kind, tail) = match request.scene {
        Some(0) => (RequestKind::Summary, "The conversation above is about to be left out"),
        _ => (RequestKind::Turn, "<reminder>"),
    };
    let history = &text[..text.rfind(case.after_history).expect("an end of the history")];
    let tail = history.rfind(tail).expect("the lines of the turn");
    let end = history[..tail].rfind(",{").expect("the start of their message");
    (kind, history[..end].to_owned())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestKind {
    Turn,
    Summary,
}

// proves M6, J3: byte-stable over 50 turns with tools, a restart and a compaction
#[tokio::test]
async fn what_was_sent_is_a_prefix_of_what_is_sent_next() {
    for (case, LongRun { requests, .. }) in long_runs().await {
        assert_eq!(requests.len(), TURNS + EXTRA, "{:?}", case.wire);
        let sent: Vec<(RequestKind, String)> = requests.iter().map(|request| stable(case, request)).collect();
        let summary = sent.iter().position(|(kind, _)| *kind == RequestKind::Summary).expect("a summary");
        // One more request before it, because of the restart.
        assert_eq!(summary, SHORTENED + 1, "{:?}", case.wire);
        assert!(sent[summary - 1].1.starts_with(&sent[summary].1), "{:?}: a summary sends what was sent", case.wire);
        for (place, pair) in sent.windows(2).enumerate().filter(|(place, _)| !(summary - 1..=summary).contains(place)) {
            let [(_, before), (_, after)] = pair else { panic!("a pair") };
            assert!(after.starts_with(before.as_str()), "{:?} {place}:\n{before}\n{after}", case.wire);
            assert_eq!(before == after, place + 1 == RESTART, "{:?} {place}", case.wire);
        }
        assert!(sent[summary + 1].1.len() < sent[summary - 1].1.len(), "{:?}: it is shorter", case.wire);
        let keys: Vec<&str> = requests.iter().filter_map(|request| request.body["prompt_cache_key"].as_str()).collect();
        match case.wire {
            // One key for the session, before and after the restart.
            WireKind::Responses => assert!(keys.len() == TURNS + EXTRA && keys.iter().all(|key| *key == keys[0])),
            WireKind::Chat | WireKind::Messages => assert_eq!(keys, Vec::<&str>::new()),
        }
    }
}

// proves M6, C1: what changes from turn to turn is behind what is cached
#[tokio::test]
async fn reminders_and_the_plan_stand_behind_the_last_mark() {
    for (case, LongRun { requests, .. }) in long_runs().await {
        let mut planned = 0;
        for (place, request) in requests.iter().enumerate() {
            let text = String::from_utf8(request.raw.clone()).expect("text");
            let (kind, stable) = stable(case, request);
            assert!(!stable.contains(PLAN) && !stable.contains("<reminder>"), "{:?} {place}", case.wire);
            let plan = text.rfind(PLAN).filter(|_| kind == RequestKind::Turn);
            planned += usize::from(plan.is_some());
            if case.wire == WireKind::Messages {
                let mark = text.rfind(MARK).expect("a mark");
                assert!(plan.is_none_or(|plan| plan > mark), "{place}");
                assert!(text.rfind("<reminder>").is_none_or(|reminder| reminder > mark), "{place}");
            }
        }
        assert_eq!(planned, TURNS + EXTRA - 1 - PLANNED, "{:?}", case.wire);
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
        // The request cut short is made again; the summary and what follows it send something else.
        if turn > 0 && turn != RESTART && !(SHORTENED + 1..=SHORTENED + 2).contains(&turn) {
            assert_eq!(marked[2], last_mark, "{turn}");
        }
        last_mark.clone_from(&marked[ends.len() - 1]);
    }
}

/// The report of each turn.
fn reports(run: &LongRun) -> Vec<Option<CacheReport>> {
    let turns = run.replies.iter().filter(|reply| reply.role.is_turn());
    turns.map(|reply| reply.cache.as_deref().copied()).collect()
}

// proves M6: a server with a cache finds there all that was sent before, but after the history was shortened
#[tokio::test]
async fn every_turn_is_read_from_the_cache_but_the_first_and_the_one_after_the_compaction() {
    for (case, run) in long_runs().await {
        let reports = reports(run);
        assert_eq!(reports.len(), TURNS, "{:?}", case.wire);
        for (turn, report) in (1..).zip(&reports) {
            let found = report.map(|report| (report.result, report.why));
            match (turn, case.wire) {
                // Nothing is known of that server's cache before it reports one.
                (1, WireKind::Chat) => assert_eq!(found, None),
                (1, WireKind::Messages | WireKind::Responses) => {
                    assert_eq!(found, Some((CacheResult::Missed, Some(CacheMissCause::FirstRequest))));
                }
                (SHORTENED, _) => {
                    let report = report.expect("a report");
                    assert_ne!(report.result, CacheResult::Hit, "{:?}", case.wire);
                    assert_eq!(report.why, Some(CacheMissCause::Compaction), "{:?}", case.wire);
                    assert!(report.missed > 0 && report.missed <= report.expected, "{:?} {report:?}", case.wire);
                    let priced = case.wire != WireKind::Chat;
                    assert_eq!(report.cost.is_some_and(|cost| cost > NanoMoney(0)), priced, "{:?}", case.wire);
                }
                _ => assert_eq!(found, Some((CacheResult::Hit, None)), "{:?} {turn}: {report:?}", case.wire),
            }
        }
    }
}

// proves M5: what a model sealed goes back to it, in every later turn
#[tokio::test]
async fn reasoning_goes_back_to_the_model_that_made_it() {
    for (case, LongRun { requests, replies }) in long_runs().await {
        let mut turns = replies.iter().filter(|reply| reply.role.is_turn());
        assert!(turns.all(|reply| reply.parts.iter().any(is_thinking)), "{:?}", case.wire);
        let last = String::from_utf8(requests[SHORTENED].raw.clone()).expect("text");
        let returned = (0..SHORTENED - 1).filter(|number| last.contains(&format!("\"sealed-1-{number}\""))).count();
        let expected = if case.wire == WireKind::Chat { 0 } else { SHORTENED - 1 };
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
        assert_eq!(replies.len(), TURNS + 1, "{:?}", case.wire);
        let cost = |Usage { input, output, cached, cache_written, .. }: Usage| {
            let plain = input - cached - cache_written;
            let nano = match case.wire {
                // Nothing is known of its prices.
                WireKind::Chat => return None,
                WireKind::Messages => plain * 1_000 + cached * 100 + cache_written * 1_250 + output * 5_000,
                WireKind::Responses => plain * 1_250 + cached * 125 + output * 10_000,
            };
            Some(NanoMoney(i64::try_from(nano).expect("an amount")))
        };
        for reply in replies {
            assert_eq!((reply.cost, reply.usage.output), (cost(reply.usage), 50), "{:?}", case.wire);
        }
        let cached: u64 = replies.iter().map(|reply| reply.usage.cached).sum();
        let input: u64 = replies.iter().map(|reply| reply.usage.input).sum();
        assert!(cached * 10 > input * 8, "{:?}: {cached} of {input}", case.wire);
        let written = replies.iter().filter(|reply| reply.usage.cache_written > 0).count();
        assert_eq!(written > TURNS / 2, case.wire == WireKind::Messages, "{:?}", case.wire);
    }
}
