//! The judge in the loop (S1, S2): what is nudged, how often, and how the run ends.

use std::borrow::Cow;
use std::collections::BTreeSet;

use proptest::prelude::{ProptestConfig, Strategy, prop_assert, prop_assert_eq, prop_oneof, proptest};
use windlass_machine::{ChangeStage, Fact, legal};
use windlass_vocab::{
    CallId, Change, CommandExit, Dialect, EffectClass, EndReason, EndsBy, FileState, FilesChanged, Hash, Message,
    MissingChange, Nudge, NudgeCause, Nudged, OutcomeKind, OverviewFile, PinnedContext, ReplyFault, RunId, RunModel,
    TurnId, TurnMode, UnaskedChange, WorkspaceOverview,
};

use crate::support::{KEEPS, Move, World, call, policy};

/// Returns a run of `local-model` on this request, in a workspace with these files.
fn world(request: &'static str, files: &[&str], script: Vec<Move>) -> World {
    with_files(World::new("local-model", script), request, files)
}

/// Starts a run on this request, in a workspace with these files.
pub(crate) fn with_files(mut world: World, request: &'static str, files: &[&str]) -> World {
    world.say(request);
    let offer = world.specs();
    let context = PinnedContext { prefix: "You are a test.".into(), offer, ..PinnedContext::default() };
    let file = |path: &&str| OverviewFile { path: (*path).to_owned(), size: 1, text: None, origin: None };
    let overview = WorkspaceOverview { files: files.iter().map(file).collect(), is_for_judge: true, ..<_>::default() };
    world.put(Fact::Pinned(context, Some(Box::new(overview))));
    world
}

fn assistants(world: &World) -> usize {
    world.state.transcript.history.iter().filter(|message| matches!(message, Message::Assistant { .. })).count()
}

// proves S1, S2
#[test]
fn an_answer_without_a_look_at_the_named_file_is_sent_back_and_leaves_the_history() {
    let read = || call("t0", EffectClass::ReadOnly).with(r#"{"path":"prices.txt"}"#);
    let script = vec![Move::Text("Apples cost 3."), Move::Calls(vec![read()]), Move::Text("Apples cost 2.")];
    let mut world = world("What do apples cost, by prices.txt?", &["prices.txt"], script);
    let ended = world.finish();
    assert_eq!((ended.reason, ended.answer.as_str()), (EndReason::Completed, "Apples cost 2."));
    let nudges = world.nudges();
    assert_eq!(nudges.len(), 1);
    assert_eq!(nudges[0].why, NudgeCause::Reply(Nudge::Incomplete));
    assert_eq!(nudges[0].faults, [ReplyFault::NoCall { files: vec!["prices.txt".into()] }]);
    assert!(nudges[0].text.contains("`prices.txt` exists here"), "{}", nudges[0].text);
    // The request, the call with its result, and the answer: neither the first reply nor the nudge.
    assert_eq!((assistants(&world), world.state.transcript.history.len()), (2, 4));
}

// proves S2
#[test]
fn a_reply_is_sent_back_three_times_in_other_words_each_and_more_freely_sampled() {
    let mut world = world("Rename prices.txt to costs.txt.", &["prices.txt"], vec![Move::Text("I renamed it.")]);
    let mut temperatures = Vec::new();
    while world.state.control.run.is_some() {
        if let Some(run) = world.state.control.run.as_ref().filter(|run| run.attempt_key().is_some()) {
            temperatures.push(run.temperature_milli(TurnMode::Tools));
        }
        let effect = world.owed().into_iter().next().expect("an open run owes something");
        let fact = world.perform(&effect);
        world.put(fact);
    }
    let ended = world.state.control.last.clone().expect("an end").1;
    // What was asked for is not done, whatever the text claims.
    assert_eq!((ended.reason, ended.answer.as_str()), (EndReason::Unfinished, "I renamed it."));
    let texts: Vec<String> = world.nudges().into_iter().map(|nudged| nudged.text).collect();
    assert_eq!(texts.len(), 3);
    assert!(texts[0] != texts[1] && texts[1] != texts[2] && texts[0] != texts[2], "{texts:?}");
    assert_eq!(temperatures, [Some(100), Some(400), Some(700), Some(900)]);
}

// proves S2: a call that nobody makes is no answer
#[test]
fn a_run_that_only_shows_a_call_is_not_completed() {
    let shown = "<tool name=\"read_file\"><path>prices.txt</path></tool>";
    for offers_tools in [false, true] {
        let mut world = World::new("local-model", vec![Move::Text(shown)]);
        world.say("What do apples cost?");
        let offer = if offers_tools { world.specs() } else { Vec::new() };
        let context = PinnedContext { prefix: "You are a test.".into(), offer, ..PinnedContext::default() };
        world.put(Fact::Pinned(context, None));
        let ended = world.finish();
        assert_eq!((ended.reason, world.nudges().len()), (EndReason::Unfinished, 3), "{offers_tools}");
    }
}

// proves S1: nothing is judged where the policy does not ask for it
#[test]
fn other_presets_end_by_the_same_text_without_a_nudge() {
    for name in ["default", "assistant", "operator", "durable-chat"] {
        let mut world = World::new(name, vec![Move::Text("You can run `mv prices.txt costs.txt`.")]);
        world.say("Rename prices.txt to costs.txt.");
        assert_eq!(world.finish().reason, EndReason::Completed, "{name}");
        assert_eq!(world.nudges().len(), 0, "{name}");
    }
}

// proves S2: the two nudges are rows of the policy
#[test]
fn without_its_nudges_the_judge_only_decides_how_the_run_ends() {
    let mut policy = policy("default");
    policy.ends_by = EndsBy::JudgedText;
    let mut world = World::with_policy(policy, vec![Move::Text("Done: I have renamed it.")]);
    world.say("Rename `a.txt` to `b.txt`.");
    let ended = world.finish();
    assert_eq!((ended.reason, world.nudges().len()), (EndReason::Unfinished, 0));
}

// proves S2, L11
#[test]
fn a_model_that_repeats_a_call_is_not_nudged_further_but_wrapped_up() {
    let list = || Move::Calls(vec![call("t0", EffectClass::ReadOnly).with(r#"{"path":"."}"#)]);
    let script = vec![list(), list(), Move::Text("I renamed it.")];
    let mut world = world("Rename prices.txt to costs.txt.", &["prices.txt"], script);
    let ended = world.finish();
    assert_eq!((ended.reason, ended.answer.as_str()), (EndReason::Unfinished, world.wrap_up));
    let causes: Vec<NudgeCause> = world.nudges().into_iter().map(|nudged| nudged.why).collect();
    assert_eq!(causes, [NudgeCause::Halt]);
}

// proves S1: an honest report of failure is an answer
#[test]
fn a_run_whose_calls_all_failed_may_say_so_but_not_answer_anyway() {
    let fails = || call("t0", EffectClass::ReadOnly).with(r#"{"path":"price.txt"}"#).coming_out(OutcomeKind::NotFound);
    for (text, nudges) in [("There is no such file: price.txt was not found.", 0), ("Apples cost 3 euros.", 3)] {
        let script = vec![Move::Calls(vec![fails()]), Move::Text(text)];
        let mut world = world("What do apples cost, by prices.txt?", &["prices.txt"], script);
        world.finish();
        let judged = world.nudges().into_iter().filter(|nudged| nudged.rejects_reply()).count();
        assert_eq!(judged, nudges, "{text}");
    }
}

// proves L3: the end states what the records show
#[test]
fn the_end_of_a_run_states_what_was_changed_whatever_the_answer_says() {
    let mut world = World::new("default", vec![Move::Calls(vec![call(KEEPS, EffectClass::Once)]), Move::Text("Done.")]);
    world.say("Make the link f.");
    let changes = world.finish().changes.expect("changes");
    assert_eq!((changes.created.as_slice(), changes.missing), (["f".to_owned()].as_slice(), None));

    for (answer, missing) in
        [("I have renamed the file.", MissingChange::Claimed), ("That is a good idea.", MissingChange::NotClaimed)]
    {
        let mut world = World::new("default", vec![Move::Text(answer)]);
        world.say("Rename prices.txt to costs.txt.");
        let changes = world.finish().changes.expect("a statement");
        assert_eq!(
            (changes.missing, changes.not_changed.as_slice()),
            (Some(missing), ["costs.txt".to_owned()].as_slice())
        );
    }

    let mut world = World::new("default", vec![Move::Text("I have renamed nothing: hello!")]);
    world.say("Hello");
    assert_eq!(world.finish().changes, None, "there is nothing to say");
}

// proves X4: what a request did not ask for needs a person
#[test]
fn changes_that_were_not_asked_for_need_a_person() {
    let unasked = |preset: &str, request: &str, changes: &[&str], loses: &[&str]| {
        let mut world = World::new(preset, vec![Move::Text("hi")]);
        world.say(request);
        let paths = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
        world.state.control.run.as_ref().expect("a run").unasked_change(&paths(changes), &paths(loses))
    };
    let prices = ["prices.txt"];
    let question = "What do apples cost, by prices.txt?";
    assert_eq!(unasked("local-model", question, &prices, &[]), Some(UnaskedChange::InAnswer {}));
    assert_eq!(unasked("local-model", question, &[], &[]), None, "reading is no change");
    assert_eq!(unasked("default", question, &prices, &prices), None, "the row is off");
    let lost = Some(UnaskedChange::Deletes { path: "prices.txt".into() });
    assert_eq!(unasked("local-model", "Clean up here.", &prices, &prices), lost);
    assert_eq!(unasked("local-model", "Delete all .tmp files", &prices, &prices), lost);
    assert_eq!(unasked("local-model", "Delete everything but not prices.txt", &prices, &prices), lost);
    assert_eq!(unasked("local-model", "Delete prices.txt", &prices, &prices), None);
    assert_eq!(unasked("local-model", "Delete all .txt files", &prices, &prices), None);
    assert_eq!(unasked("local-model", "Set apples to 3 in prices.txt", &prices, &[]), None);
    assert_eq!(unasked("local-model", "Can you fix the prices?", &prices, &[]), None);
    let world =
        with_files(World::new("local-model", vec![]), "Set x to 2 in a.txt but not in b.txt.", &["a.txt", "b.txt"]);
    let run = world.state.control.run.as_ref().expect("a run");
    let kept_out = Some(UnaskedChange::NotNamed { path: "b.txt".into() });
    assert_eq!(run.unasked_change(&["b.txt".to_owned()], &[]), kept_out);
    assert_eq!(run.unasked_change(&["a.txt".to_owned()], &[]), None);
}

// proves S2: how far a run has come is told by what its records show
#[test]
fn the_progress_of_a_run_follows_its_request() {
    let stage = |request: &'static str, changed: &[&str]| {
        let mut world =
            world(request, &["a.ini", "b.ini", "c.md"], vec![Move::Calls(vec![call("t0", EffectClass::ReadOnly)])]);
        let call = CallId { run: RunId(1), turn: TurnId(1), index: 0 };
        let file = |number: u8| FileState::File { blob: Hash([number; 32]), mode: 0o644, inode: None };
        let change = |path: &&str| ((*path).to_owned(), Change { was: file(1), now: file(2) });
        world.put(Fact::FilesChanged(FilesChanged {
            call,
            changes: changed.iter().map(change).collect(),
            ..FilesChanged::default()
        }));
        world.state.control.run.as_ref().expect("a run").progress().stage
    };
    let nothing =
        |paths: &[&str]| ChangeStage::Nothing { to_rewrite: paths.iter().map(|path| (*path).to_owned()).collect() };
    let begun = |paths: &[&str]| ChangeStage::Begun { left: paths.iter().map(|path| (*path).to_owned()).collect() };
    for (request, changed, expected) in [
        ("What is the port in a.ini?", &[][..], ChangeStage::NotAsked),
        ("Set the port to 80 in a.ini.", &[], nothing(&["a.ini"])),
        ("Move c.md into the folder docs.", &[], nothing(&[])),
        ("Set the port to 80 in a.ini.", &["a.ini"], begun(&[])),
        ("Set the port to 80 in a.ini and b.ini.", &["a.ini"], begun(&["b.ini"])),
        ("Set the port in a.ini to 80 and the host in b.ini to x.", &["a.ini"], ChangeStage::Unclear),
        ("Write the port of a.ini into port.txt.", &["port.txt"], begun(&[])),
        ("Move c.md into the folder docs.", &["a.ini"], begun(&["c.md"])),
        ("Rename the key port in a.ini.", &["a.ini"], begun(&[])),
        ("Set the port to 80 in a.ini or b.ini.", &["a.ini"], ChangeStage::Unclear),
        ("Check b.ini and a.ini and fix the port in a.ini.", &["a.ini"], begun(&[])),
    ] {
        assert_eq!(stage(request, changed), expected, "{request} {changed:?}");
    }
}

// proves X4, T8: what was not to be deleted is not emptied either, where the policy asks about changes
#[test]
fn a_file_that_was_not_to_be_deleted_is_not_changed_unasked() {
    let unasked = |preset: &str, outcome: OutcomeKind| {
        let denied = call("local.delete_file", EffectClass::Verifiable).with(r#"{"path":"./prices.txt"}"#);
        let script = vec![Move::Calls(vec![denied.coming_out(outcome)]), Move::Text("hi")];
        let mut world = World::new(preset, script);
        world.say("Clean up prices.txt.");
        while world.state.control.run.as_ref().expect("a run").turn.0 < 2 {
            let effect = world.owed().into_iter().next().expect("something is owed");
            let fact = world.perform(&effect);
            world.put(fact);
        }
        let run = world.state.control.run.as_ref().expect("a run");
        (run.unasked_change(&["prices.txt".into()], &[]), run.unasked_change(&["b.txt".into()], &[]))
    };
    let denied = UnaskedChange::AfterDeniedDelete { path: "prices.txt".into() };
    assert_eq!(unasked("local-model", OutcomeKind::Denied), (Some(denied), None));
    assert_eq!(unasked("local-model", OutcomeKind::NotFound), (None, None));
    // Other presets leave it to the permissions.
    assert_eq!(unasked("default", OutcomeKind::Denied), (None, None));
}

/// What a model may do, whatever it was told.
fn moves() -> impl Strategy<Value = Move> {
    let texts = [
        "I renamed it.",
        "You can run `mv prices.txt costs.txt` in your terminal.",
        "{\"name\": \"t0\", \"arguments\": {}}",
        "I will now rename the file.",
        "There is no such file.",
        "Which file do you mean?",
        "Done.",
        "",
    ];
    let text = proptest::sample::select(texts.to_vec()).prop_map(Move::Text);
    let path = proptest::sample::select(vec![r#"{"path":"prices.txt"}"#, r#"{"path":"b.txt"}"#, "{}"]);
    let outcome = proptest::sample::select(vec![OutcomeKind::Ok, OutcomeKind::NotFound, OutcomeKind::Denied]);
    let calls = (path, outcome).prop_map(|(path, outcome)| {
        Move::Calls(vec![call("t0", EffectClass::ReadOnly).with(path).coming_out(outcome)])
    });
    prop_oneof![3 => text, 1 => calls]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn no_replies_make_the_judge_nudge_more_than_three_times_or_twice_in_the_same_words(
        script in proptest::collection::vec(moves(), 1..12),
        request in proptest::sample::select(vec![
            "Rename prices.txt to costs.txt.", "What is in prices.txt?", "Write prices.txt and b.txt into c.txt", "Hello",
        ]),
    ) {
        // proves S2
        let mut world = world(request, &["prices.txt", "b.txt"], script);
        world.finish();
        let nudges: Vec<Nudged> = world.nudges().into_iter().filter(Nudged::rejects_reply).collect();
        let texts: BTreeSet<&str> = nudges.iter().map(|nudged| nudged.text.as_str()).collect();
        prop_assert!(nudges.len() <= 3, "{}", nudges.len());
        prop_assert_eq!(texts.len(), nudges.len());
        let history = world.state.transcript.history.as_slice();
        prop_assert!(matches!(legal(history), Cow::Borrowed(_)), "{history:?}");
    }
}

/// Finishes a run whose first call is a command that ends with an error.
fn finish_with_failed_command(world: &mut World) {
    let mut failed = false;
    while world.state.control.run.is_some() {
        let effect = world.owed().into_iter().next().expect("an open run owes something");
        let mut fact = world.perform(&effect);
        if let Fact::CallDone { finished, .. } = &mut fact
            && !std::mem::replace(&mut failed, true)
        {
            finished.exit = Some(CommandExit::Code(1));
        }
        world.put(fact);
    }
}

// proves S1, S2: the exit code of a command may be an answer; a script that ended with an error has failed
#[test]
fn an_answer_after_a_script_that_failed_is_sent_back_in_words_of_scripts() {
    for (dialect, nudges) in [(Dialect::Script, 1), (Dialect::ToolTag, 0)] {
        let mut policy = policy("local-model");
        policy.dialects = vec![dialect];
        let run = || call("t0", EffectClass::ReadOnly);
        let script =
            vec![Move::Calls(vec![run()]), Move::Text("There are 3."), Move::Calls(vec![run()]), Move::Text("4.")];
        let world = World::with_policy(policy, script);
        let mut world = with_files(world, "How many lines has prices.txt?", &["prices.txt"]);
        finish_with_failed_command(&mut world);
        let told: Vec<String> = world.nudges().into_iter().map(|nudged| nudged.text).collect();
        assert_eq!(told.len(), nudges, "{dialect:?}: {told:?}");
        assert!(told.iter().all(|text| text.starts_with("Every script so far failed")), "{told:?}");
    }
}

// proves S2, M2: how a command counts follows the model that called it, not another of the run
#[test]
fn a_failed_command_is_no_failed_script_where_another_model_writes_scripts() {
    for (writes, nudges) in [("first", 1), ("second", 0)] {
        let mut policy = policy("local-model");
        policy.dialects = vec![Dialect::ToolTag];
        let run = || call("t0", EffectClass::ReadOnly);
        let script =
            vec![Move::Calls(vec![run()]), Move::Text("There are 3."), Move::Calls(vec![run()]), Move::Text("4.")];
        let mut world = World::with_policy(policy, script);
        world.run_settings.models = vec![RunModel { dialect: Some(Dialect::Script), ..RunModel::named(writes) }];
        let mut world = with_files(world, "How many lines has prices.txt?", &["prices.txt"]);
        finish_with_failed_command(&mut world);
        let told: Vec<String> = world.nudges().into_iter().map(|nudged| nudged.text).collect();
        assert_eq!(told.len(), nudges, "{writes}: {told:?}");
    }
}

// proves S1, T4: a call as the answer of a turn without tools is sent back, with words that ask for no call
#[test]
fn a_call_where_no_tool_is_offered_is_not_the_answer() {
    let tag = r#"<tool name="read_file"><path>a.txt</path></tool>"#;
    let json = r#"{"name": "delete_file", "arguments": {"path": "a.txt"}}"#;
    for (preset, reply, nudged) in
        [("local-model", tag, 1), ("local-model", json, 1), ("local-model", "A <tool> is one.", 0), ("default", tag, 0)]
    {
        let mut world = World::new(preset, vec![Move::Text(reply), Move::Text("It says hello.")]);
        world.say("What does a.txt say?");
        world.put(Fact::Pinned(PinnedContext { prefix: "You are a test.".into(), ..PinnedContext::default() }, None));
        let ended = world.finish();
        assert_eq!((ended.reason, world.nudges().len()), (EndReason::Completed, nudged), "{preset} {reply}");
        if nudged == 1 {
            assert_eq!(ended.answer, "It says hello.");
            assert!(world.nudges()[0].text.contains("Answer in words"), "{}", world.nudges()[0].text);
        }
    }
}
