//! A server that reads only a part of a request without saying so is found out, and the turns that follow fit its window.

use crate::support::{Ask, Move, World, call, policy};
use windlass_machine::{Fact, least_tokens};
use windlass_vocab::{
    Compacted, ContextBudget, CutInput, EffectClass, ModelReplied, ModelSoftware, Record, RunModel, Usage,
};

const WINDOW: u64 = 4_096;

fn read(number: usize, text: &str) -> Ask {
    call("read", EffectClass::ReadOnly).with(&format!("{{\"path\":\"file-{number}.txt {text}\"}}"))
}

/// A world whose model is said to have a large window.
fn world(window: Option<u64>, script: Vec<Move>) -> World {
    let mut world = World::with_policy(policy("operator"), script);
    let software = Some(ModelSoftware::Ollama);
    world.run_settings.models =
        vec![RunModel { window, software, ..RunModel::named("first") }, RunModel::named("second")];
    world
}

/// Performs effects until the run is over; `reads` says what the server reports, given our count of the request.
fn finish(world: &mut World, reads: impl Fn(u64) -> Usage) {
    while let Some(effect) = world.owed().into_iter().next() {
        let counted = world.state.control.run.as_ref().and_then(|run| run.budget).map_or(0, |budget| budget.used());
        let mut fact = world.perform(&effect);
        if let Fact::Replied { usage, .. } = &mut fact {
            *usage = reads(counted);
        }
        world.put(fact);
    }
}

fn replies(world: &World) -> Vec<ModelReplied> {
    let replied = |record: &Record| match record {
        Record::ModelReplied(replied) => Some(replied.clone()),
        _ => None,
    };
    world.journal.iter().flatten().filter_map(replied).collect()
}

fn budgets(world: &World) -> Vec<ContextBudget> {
    let budget = |record: &Record| match record {
        Record::TurnStarted(started) => started.budget,
        _ => None,
    };
    world.journal.iter().flatten().filter_map(budget).collect()
}

fn compactions(world: &World) -> Vec<Compacted> {
    let compacted = |record: &Record| match record {
        Record::Compacted(compacted) => Some(compacted.clone()),
        _ => None,
    };
    world.journal.iter().flatten().filter_map(compacted).collect()
}

fn input(input: u64) -> Usage {
    Usage { input, output: 5, calls: 1, ..Usage::default() }
}

// proves M8: what the server really has is the budget of the turns that follow, after a restart too
#[test]
fn a_silent_cut_is_recorded_and_the_next_turn_is_made_to_fit() {
    for believed in [None, Some(131_072)] {
        let words = "heave away haul away ".repeat(300);
        let script = vec![
            Move::Calls(vec![read(1, &words)]),
            Move::Calls(vec![read(2, &words)]),
            Move::Calls(vec![read(3, &words)]),
            Move::Text("done"),
        ];
        let mut world = world(believed, script);
        world.say(&"set the sails and ".repeat(1_500));
        finish(&mut world, |counted| input(counted.min(WINDOW)));
        let cuts: Vec<CutInput> = replies(&world).iter().filter_map(|replied| replied.cut).collect();
        let first = cuts.first().expect("a cut");
        assert_eq!((first.read, first.software), (WINDOW, Some(ModelSoftware::Ollama)));
        assert!(first.counted > WINDOW, "{first:?}");
        let budgets = budgets(&world);
        assert_eq!(budgets[0].window, believed);
        assert!(budgets[1..].iter().all(|budget| budget.window == Some(WINDOW)), "{budgets:?}");
        assert!(!compactions(&world).is_empty(), "what follows is shortened");
        assert_eq!(world.fold(), world.state, "another process knows the same");
    }
}

// proves M8: a window that was found is forgotten when the person has mended the server
#[test]
fn another_window_in_the_next_run_replaces_the_one_that_was_found() {
    let mut world = world(Some(131_072), vec![Move::Text("done")]);
    world.say(&"set the sails and ".repeat(3_000));
    finish(&mut world, |counted| input(counted.min(WINDOW)));
    world.say("go on");
    finish(&mut world, |counted| input(counted.min(WINDOW)));
    assert_eq!(budgets(&world).last().expect("a turn").window, Some(WINDOW), "still the same server");
    world.run_settings.models[0].window = Some(32_768);
    world.say("go on");
    assert_eq!(world.state.control.found_windows.len(), 0);
    finish(&mut world, input);
    assert_eq!(budgets(&world).last().expect("a turn").window, Some(32_768));
}

// proves M8: a server that reads more than was found has a larger window
#[test]
fn a_found_window_grows_with_what_the_server_reads() {
    let mut world = world(None, vec![Move::Text("done")]);
    world.say(&"set the sails and ".repeat(3_000));
    finish(&mut world, |_| input(2_000));
    world.say("go on");
    finish(&mut world, |_| input(3_000));
    let found: Vec<u64> = world.state.control.found_windows.values().map(|found| found.window).collect();
    assert_eq!(found, [3_000]);
}

// proves M8, C4: estimates that are far off are no proof of a cut, whatever the text and however cached tokens are counted
#[test]
fn only_what_no_tokenizer_could_explain_counts_as_a_cut() {
    let cached = |input, cached| Usage { cached, ..self::input(input) };
    let written = |input, cache_written| Usage { cache_written, ..self::input(input) };
    let estimated = Usage { estimated: true, ..input(4_096) };
    let prose = "set the sails and heave away ".repeat(4_000);
    let blanks = format!("{:>30000}", "x").repeat(4);
    let rule = "=".repeat(120_000);
    let base64 = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo".repeat(3_000);
    let han = "风帆".repeat(20_000);
    for (name, text, usage, is_cut) in [
        // Our estimate is 30,000 tokens; there are 24,000 words.
        ("prose, cut", &prose, input(4_096), true),
        ("prose, cut late", &prose, input(20_000), true),
        ("prose, whole", &prose, input(25_000), false),
        ("prose with a generous tokenizer", &prose, input(22_000), false),
        ("a server that counts nothing", &prose, input(0), false),
        ("a server that counts what it had not cached", &prose, input(40), false),
        // Chat Completions and Responses: the cached tokens are part of the input.
        ("cached, whole", &prose, cached(25_000, 24_000), false),
        ("cached, cut", &prose, cached(4_096, 4_000), true),
        // Other servers, and a codec that would not add them up: they stand beside it.
        ("cached beside the input", &prose, cached(1_500, 24_000), false),
        ("written beside the input", &prose, written(1_500, 24_000), false),
        ("our own estimate", &prose, estimated, false),
        ("blanks", &blanks, input(1_200), false),
        ("a line", &rule, input(1_600), false),
        ("base64", &base64, input(4_096), false),
        ("Chinese", &han, input(20_000), false),
    ] {
        let mut world = world(Some(1_000_000), vec![Move::Text("done")]);
        world.say(text);
        finish(&mut world, |_| usage);
        let seen = replies(&world)[0].cut.is_some();
        assert_eq!(seen, is_cut, "{name}: {} words at least", least_tokens(text));
    }
}

// proves M8: a request that grows while the server's count does not was cut, even if the whole has few words for its bytes
#[test]
fn a_count_that_stays_while_the_request_grows_is_a_cut() {
    let words = "heave away haul away ".repeat(400);
    for (second, is_cut) in [(3_900, true), (5_600, false), (1_200, false)] {
        let mut grown = world(None, vec![Move::Calls(vec![read(1, &words)]), Move::Text("done")]);
        // Much of it is blanks, so that the words alone prove nothing.
        grown.say(&format!("{:>16000}", "go"));
        let count = std::cell::Cell::new(0);
        finish(&mut grown, |_| {
            count.set(count.get() + 1);
            input(if count.get() == 1 { 3_900 } else { second })
        });
        let cuts: Vec<bool> = replies(&grown).iter().map(|replied| replied.cut.is_some()).collect();
        assert_eq!(cuts, [false, is_cut], "{second}");
    }
}
